"""What the family `custom` reads as `op`: any schema, with the C++ and Python spelling of its parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendops.errors import SchemaMisfit
from ascendops.render.env import python_parameter
from ascendops.spec.attrs import op_def_type
from ascendops.spec.tensors import attributes

if TYPE_CHECKING:
    from ascendops.interchange import Declaration
    from ascendops.spec.model import AttrSpec
    from ascendops.spec.schema import FunctionSchema

DEFAULT_DTYPES = ("float32", "float16", "bfloat16")
_SCALARS = {"Int": ("int64_t", "int64_t"), "Float": ("float", "float"), "Bool": ("int64_t", "bool")}
_VALUES: Mapping[str, str] = {"int": "1", "float": "0.5", "bool": "true", "str": '"text"'}


@dataclass(frozen=True)
class FreeTensor:
    """A tensor: `param` is the kernel's parameter, `macro` its element type there, `same` whether it is split like the output."""

    name: str
    role: str
    index: int
    dtypes: tuple[str, ...]
    format: str
    param: str
    macro: str
    optional: bool = False
    variadic: bool = False
    same: bool = False


@dataclass(frozen=True)
class FreeAttr:
    """An attribute: `cpp` is its type in the tiling data, `host` in op_host; `read` says how to get one that is not a scalar."""

    name: str
    index: int
    method: str
    cpp: str = ""
    host: str = ""
    read: str = ""


@dataclass(frozen=True)
class Copies:
    """The input that the kernel copies as it stands, the output, and their element type."""

    source: str
    target: str
    macro: str


@dataclass(frozen=True)
class Free:
    """Everything about a signature that the templates of `custom` spell out."""

    params: tuple[FreeTensor, ...]
    scalar_attrs: tuple[FreeAttr, ...]
    other_attrs: tuple[FreeAttr, ...]
    same_as: str
    case_attrs: tuple[tuple[str, str], ...]
    python_arguments: str
    python_returns: str
    kernel_params: tuple[str, ...]
    comment: str
    copies: Copies | None

    @property
    def gm_args(self) -> list[str]:
        """The kernel's tensors as C++ parameters."""
        return [f"GM_ADDR {param}" for param in self.kernel_params]

    @property
    def kernel_args(self) -> list[str]:
        """Their names."""
        return list(self.kernel_params)

    @property
    def plain(self) -> tuple[FreeTensor, ...]:
        """Tensors that are always there, inputs and outputs."""
        return tuple(t for t in self.params_and_refs if not t.optional and not t.variadic)

    @property
    def params_and_refs(self) -> tuple[FreeTensor, ...]:
        """Inputs and outputs in the kernel's order; an output written in place once more, as `NAME_ref`."""
        by_param = {t.param: t for t in self.params}
        known = {t.name: t for t in self.params}
        return tuple(
            by_param.get(param)
            or FreeTensor(param.removesuffix("_ref"), "output", 0, (), "ND", param, known[param.removesuffix("_ref")].macro)
            for param in self.kernel_params
        )

    @property
    def optional(self) -> tuple[FreeTensor, ...]:
        """Inputs that may be absent."""
        return tuple(t for t in self.params if t.optional)

    @property
    def dynamic(self) -> tuple[FreeTensor, ...]:
        """Lists of tensors."""
        return tuple(t for t in self.params if t.variadic)

    @property
    def case_inputs(self) -> tuple[FreeTensor, ...]:
        """The inputs that a case gives a shape."""
        return tuple(t for t in self.params if t.role == "input")


def check(signature: FunctionSchema) -> None:
    """Refuse a signature that the family cannot start from.

    Raises:
        SchemaMisfit: No input is always one tensor, nothing is returned, or an output written in place has not its input's name.
    """
    owners = {arg.type.alias: arg.name for arg in signature.tensors if arg.type.alias}
    problem = ""
    if not any(not arg.type.optional and not arg.type.is_list for arg in signature.tensors):
        problem, hint = "no input is a plain Tensor", "add one: the outputs have its shape until op.toml says otherwise"
    elif not signature.returns:
        problem, hint = "nothing is returned", "write -> Tensor y, or -> Tensor(a!) x for an input that is written"
    else:
        wrong = next((ret for ret in signature.returns if ret.type.alias and owners.get(ret.type.alias) != ret.name), None)
        if wrong is not None:
            name = owners.get(str(wrong.type.alias))
            problem = f"the output '{wrong.name}' is written in place"
            hint = f"give it its input's name: -> {wrong.type} {name}" if name else f"no input is {wrong.type}"
    if problem:
        raise SchemaMisfit(f"the family custom cannot start from this schema: {problem}", where="--schema", why=signature.text, help=hint)


def free(signature: FunctionSchema, declaration: Declaration | None) -> Free:
    """The view of a signature; dtypes and formats are the declaration's where it has them."""
    columns, formats = _declared(signature, declaration)
    written = [str(ret.name) for ret in signature.returns if ret.type.alias is None]
    in_place = [str(ret.name) for ret in signature.returns if ret.type.alias is not None]
    same_as = next((arg.name for arg in signature.tensors if not arg.type.optional and not arg.type.is_list), signature.tensors[0].name)
    inputs = [
        FreeTensor(
            arg.name, "input", index, columns[arg.name], formats[arg.name], arg.name, _macro(arg.name, columns[arg.name]),
            optional=arg.type.optional, variadic=arg.type.is_list, same=arg.name == same_as,
        )
        for index, arg in enumerate(signature.tensors)
    ]  # fmt: skip
    outputs = [
        FreeTensor(name, "output", index, columns[name], formats[name], name, _macro(name, columns[name]), same=True)
        for index, name in enumerate(written)
    ]
    first = next((f"{name}_ref" if name in in_place else name for name in map(str, [r.name for r in signature.returns])), "")
    target_dtypes = columns[first.removesuffix("_ref")]
    source = next((t for t in inputs if t.name == same_as and t.dtypes == target_dtypes), None)
    attrs = attributes(signature)
    return Free(
        params=(*inputs, *outputs),
        scalar_attrs=tuple(a for a in map(_attr, attrs, range(len(attrs))) if a.cpp),
        other_attrs=tuple(a for a in map(_attr, attrs, range(len(attrs))) if not a.cpp),
        same_as=same_as,
        case_attrs=tuple((attr.name, _case_value(attr)) for attr in attrs if attr.required),
        python_arguments=_python(signature),
        python_returns="torch.Tensor" if len(signature.returns) == 1 else "tuple[torch.Tensor, ...]",
        kernel_params=(*(t.name for t in inputs), *(f"{ret.name}_ref" if ret.type.alias else str(ret.name) for ret in signature.returns)),
        comment="\n".join(f"// {line}" for line in textwrap.wrap(signature.text, 116)),
        copies=Copies(source.param, first, source.macro) if source and not source.variadic else None,
    )


def _declared(signature: FunctionSchema, declaration: Declaration | None) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    params = {p.name: p for p in (*declaration.inputs, *declaration.outputs)} if declaration else {}
    names = [*(arg.name for arg in signature.tensors), *(str(ret.name) for ret in signature.returns)]
    said = [params[name].dtypes for name in names if name in params and params[name].dtypes]
    size = max((len(dtypes) for dtypes in said), default=0)
    usual = next((dtypes for dtypes in said if len(dtypes) == size), DEFAULT_DTYPES)
    columns = {}
    for name in names:
        dtypes = params[name].dtypes if name in params else ()
        columns[name] = dtypes if len(dtypes) == len(usual) else dtypes * len(usual) if len(dtypes) == 1 else usual
    return columns, {name: params[name].format if name in params else "ND" for name in names}


def _macro(name: str, dtypes: tuple[str, ...]) -> str:
    """The element type in the kernel: its macro; a plain integer type where bool has no vector instructions."""
    return "int8_t" if dtypes == ("bool",) else f"DTYPE_{name.upper()}"


def _attr(attr: AttrSpec, index: int) -> FreeAttr:
    method = op_def_type(attr)
    if method in _SCALARS:
        cpp, host = _SCALARS[method]
        return FreeAttr(attr.name, index, method, cpp, host)
    how = f"attrs->GetStr({index})" if method == "String" else f"attrs->Get{method}({index}): GetSize(), GetData()"
    absent = "; None is an empty list" if attr.type.endswith("?") and method != "String" else ""
    return FreeAttr(attr.name, index, method, read=f"{how}{absent}")


def _case_value(attr: AttrSpec) -> str:
    value = _VALUES[attr.type.removesuffix("?").removesuffix("[]")]
    return f"[{', '.join([value] * (attr.length or 1))}]" if "[]" in attr.type else value


def _python(signature: FunctionSchema) -> str:
    parts: list[str] = []
    star = False
    for arg in signature.arguments:
        if arg.kwarg_only and not star:
            parts.append("*")
            star = True
        parts.append(python_parameter(arg) + ("" if arg.required else f" = {arg.default!r}"))
    return ", ".join(parts)
