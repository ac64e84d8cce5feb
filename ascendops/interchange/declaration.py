"""What a file says about an operator's interface, whatever format the file has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendops.spec.model import AttrValue

_MARKS = {"required": "", "optional": "?", "dynamic": "[]"}


@dataclass(frozen=True)
class ParamDecl:
    """One input or output.

    Attributes:
        name: Its name.
        kind: `required`, `optional` or `dynamic` (a list of tensors).
        dtypes: One torch dtype name per dtype column; empty when the file says nothing about dtypes.
        format: GE format.
    """

    name: str
    kind: str = "required"
    dtypes: tuple[str, ...] = ()
    format: str = "ND"


@dataclass(frozen=True)
class AttrDecl:
    """One attribute; `type` is the schema's word, such as `int[]`."""

    name: str
    type: str
    required: bool = True
    default: AttrValue = None


@dataclass(frozen=True)
class Declaration:
    """The interface of one operator as a file declares it.

    Attributes:
        name: The operator's name in the file.
        inputs: Inputs in order.
        outputs: Outputs in order; one with the name of an input is that input, written in place.
        attrs: Attributes in order.
        where: File, and line where that is known.
        notes: What had to be guessed or left out, a sentence each.
        files: Files that go into the project with the operator, by path in the project.
        constructs: What the kernel in the file uses and its Ascend C counterpart, in order of appearance.
    """

    name: str
    inputs: tuple[ParamDecl, ...]
    outputs: tuple[ParamDecl, ...]
    attrs: tuple[AttrDecl, ...] = ()
    where: str = ""
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    constructs: tuple[tuple[str, str], ...] = ()

    @property
    def in_place(self) -> frozenset[str]:
        """Names of the inputs that are also outputs."""
        return frozenset(out.name for out in self.outputs) & frozenset(arg.name for arg in self.inputs)

    def schema(self, name: str) -> str:
        """The PyTorch schema of the operator, called `name`."""
        aliases = {tensor: chr(ord("a") + index) for index, tensor in enumerate(sorted(self.in_place))}
        last = max((index for index, arg in enumerate(self.inputs) if arg.kind != "optional"), default=-1)
        arguments = [_tensor(arg, aliases.get(arg.name), default=index > last) for index, arg in enumerate(self.inputs)]
        attrs = [f"{attr.type} {attr.name}" + ("" if attr.required else f"={literal(attr.default)}") for attr in self.attrs]
        order = [*(not argument.endswith("=None") for argument in arguments), *(attr.required for attr in self.attrs)]
        if attrs and order != sorted(order, reverse=True):
            arguments.append("*")
        returns = [_tensor(out, aliases.get(out.name)) for out in self.outputs]
        result = returns[0] if len(returns) == 1 else f"({', '.join(returns)})"
        return f"{name}({', '.join([*arguments, *attrs])}) -> {result}"


def _tensor(param: ParamDecl, alias: str | None, *, default: bool = False) -> str:
    if alias:
        return f"Tensor({alias}!) {param.name}"
    return f"Tensor{_MARKS[param.kind]} {param.name}" + ("=None" if default and param.kind == "optional" else "")


def literal(value: AttrValue) -> str:
    """A default as a schema writes it: `[1, 2]`, `True`, `1e-05`, `"text"`, `None`."""
    if isinstance(value, tuple):
        return f"[{', '.join(literal(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

