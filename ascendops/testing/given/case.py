"""A case whose inputs come from a file of another tool, and what reading such a file came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, CasesUnreadable, SpecError
from ascendops.spec.attrs import complete
from ascendops.spec.model import Case
from ascendops.testing.cases import TestCase

if TYPE_CHECKING:
    import torch

    from ascendops.spec.model import OpSpec

Load = Callable[[int], "Mapping[str, Any]"]


def recorded(tensors: Mapping[str, Any]) -> Load:
    """Inputs that are the same for every seed."""

    def load(_seed: int) -> Mapping[str, Any]:
        return tensors

    return load


@dataclass(frozen=True)
class GivenCase(TestCase):
    """A case of another tool.

    Attributes:
        load: Inputs by name for a seed; TTK's ranges need one, recorded tensors do not.
        content: Hash of what the inputs come from: part of the case's digest.
        outputs: Outputs that were recorded with the inputs, or None.
        how: What recorded them, e.g. `msprobe dump`.
    """

    load: Load = field(compare=False, default_factory=lambda: recorded({}))
    content: str = ""
    outputs: tuple[torch.Tensor | None, ...] | None = field(compare=False, default=None)
    how: str = ""

    def values(self, seed: int) -> dict[str, Any]:
        """Inputs in schema order, then every attribute; tensors are fresh copies."""
        found = self.load(seed)
        return {**{tensor.name: _copy(found.get(tensor.name)) for tensor in self.spec.inputs}, **self.attrs}

    def recipe(self, seed: int) -> dict[str, Any]:
        """The case as plain data, with the hash of its source."""
        return {**super().recipe(seed), "given": self.content}


@dataclass
class Given:
    """What a file holds for one operator: cases, entries that cannot run here with the reason, and the operators that it has entries of."""

    cases: list[GivenCase] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def add(self, spec: OpSpec, name: str, tensors: Mapping[str, Any], attrs: Mapping[str, Any], **fields: Any) -> None:
        """Adds a case with these inputs (None, a description with `shape` and `dtype`, or a list of them), or notes why it does not fit the operator."""
        try:
            self.cases.append(_case(spec, name, tensors, attrs, fields))
        except AscendOpsError as error:
            self.left_out[name] = error.what


def read(spec: OpSpec, source: Path) -> Given:
    """Cases for an operator from TTK's CSV, the folder (or dump.json) of an msprobe dump, or the folder of a TritonBench export.

    Raises:
        CasesUnreadable: The source has none of these formats, or is damaged.
    """
    from ascendops.testing.given import msprobe, tritonbench, ttk

    if source.suffix == ".csv" and source.is_file():
        return ttk.read(spec, source)
    if msprobe.recognises(source):
        return msprobe.read(spec, source)
    if tritonbench.recognises(source):
        return tritonbench.read(spec, source)
    raise CasesUnreadable(
        "there are no cases that can be read" if source.exists() else "there is no such file or folder", where=str(source),
        help="give TTK's CSV, the folder of an msprobe dump (dump.json) or of a TritonBench export (x_*-input.pkl)",
    )  # fmt: skip


def _case(spec: OpSpec, name: str, tensors: Mapping[str, Any], attrs: Mapping[str, Any], fields: Mapping[str, Any]) -> GivenCase:
    shapes = {key: _shape(value) for key, value in tensors.items() if value is not None}
    missing = [tensor.name for tensor in spec.inputs if tensor.name not in shapes and not tensor.optional]
    if missing:
        raise SpecError(f"input {missing[0]} is missing")
    values = complete(spec.attrs, attrs)
    case = Case(name, shapes, values, values="given", layout="as given")
    spec.output_shapes(shapes, values)
    return GivenCase(spec, case, _column(spec, tensors), **fields)


def _column(spec: OpSpec, tensors: Mapping[str, Any]) -> int:
    """The dtype column that has the inputs' dtypes.

    Raises:
        SpecError: None has.
    """
    have = {name: _dtype(value) for name, value in tensors.items() if value is not None}
    for column in range(spec.columns):
        if all(spec.tensor(name).dtypes[column] == dtype for name, dtype in have.items()):
            return column
    raise SpecError(f"no dtype column of {spec.name} has {', '.join(f'{name} {dtype}' for name, dtype in have.items())}")


def _shape(value: Any) -> Any:
    return tuple(map(_shape, value)) if isinstance(value, (list, tuple)) else tuple(value.shape)


def _dtype(value: Any) -> str:
    first = value[0] if isinstance(value, (list, tuple)) else value
    return str(first.dtype).removeprefix("torch.")


def _copy(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return None if value is None else value.clone()


def assign(spec: OpSpec, positional: Sequence[Any], named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(inputs, attributes) of a call with these arguments: by name where there is one, else tensors and None to inputs and other values to attributes in order.

    Raises:
        SpecError: There are more arguments than the schema has.
    """
    import torch

    inputs = [tensor.name for tensor in spec.inputs]
    attrs = [attr.name for attr in spec.attrs]
    tensors = {name: value for name, value in named.items() if name in inputs}
    values = {name: value for name, value in named.items() if name in attrs}
    unknown = set(named) - {*inputs, *attrs}
    if unknown:
        raise SpecError(f"argument {sorted(unknown)[0]} is none of {spec.name}'s")
    free_inputs, free_attrs = ([name for name in names if name not in named] for names in (inputs, attrs))
    for value in positional:
        is_tensor = isinstance(value, torch.Tensor) or (isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], torch.Tensor))
        place, names = (tensors, free_inputs) if is_tensor or (value is None and free_inputs) else (values, free_attrs)
        if not names:
            raise SpecError(f"the call has more {'tensors' if is_tensor else 'values'} than {spec.name} has {'inputs' if is_tensor else 'attributes'}")
        place[names.pop(0)] = tuple(value) if isinstance(value, list) and not is_tensor else value
    return tensors, values
