"""Operators as their op_host code declares them (OpDef), read from the description of a compiled library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

AttrValue = Any  # bool, int, float, str, or tuples of them

ATTR_TYPES = {
    "b": "bool", "i": "int", "f": "float", "s": "str", "B": "bool[]", "I": "int[]", "F": "float[]", "L": "int[][]",
}  # fmt: skip


@dataclass(frozen=True)
class OpParam:
    """One declared input or output.

    Attributes:
        name: Name in the OpDef.
        param_type: `required`, `optional` or `dynamic`.
        dtypes: torch dtype name of each column (`int4` and the like where torch has none).
        formats: GE format of each column, e.g. `ND`.
        value_depend: `required`, `optional` or empty: host functions may read this input's elements.
        shape_like: Name of the input whose shape this output takes (Follow), or empty.
        dtype_like: Name of the input whose dtype this takes (Follow), or empty.
        scalar: `scalar` or `list` when aclnn takes a host scalar (list) instead of a tensor, else empty.
        auto_contiguous: AutoContiguous was asked for.
        init_value: Numbers that the output is filled with before the kernel runs (InitValue).
        shape_depends_on_compute: The kernel writes the output's shape.
    """

    name: str
    param_type: str
    dtypes: tuple[str, ...]
    formats: tuple[str, ...]
    value_depend: str = ""
    tiling_only: bool = False
    shape_like: str = ""
    dtype_like: str = ""
    scalar: str = ""
    auto_contiguous: bool = False
    init_value: tuple[float, ...] = ()
    shape_depends_on_compute: bool = False


@dataclass(frozen=True)
class OpAttr:
    """One declared attribute; `type` is the schema's word (`int`, `float`, `bool`, `str`, `int[]`, ..., `int[][]`).

    `default` is what an absent optional attribute is given: the declared default, else the type's zero.
    """

    name: str
    type: str
    required: bool
    default: AttrValue
    kind: str = "i"


@dataclass(frozen=True)
class TilingField:
    """One field of a macro tiling structure: `length` is the array length, `struct` the layout of a nested structure."""

    name: str
    type: str
    offset: int
    size: int
    length: int | None = None
    struct: TilingStruct | None = None


@dataclass(frozen=True)
class TilingStruct:
    """Layout of a macro tiling structure, as the host writes it and the kernel reads it."""

    name: str
    size: int
    fields: tuple[TilingField, ...]


@dataclass(frozen=True)
class TemplateKey:
    """A tiling key that stands for kernel template arguments (ASCENDC_TPL_SEL): `args` are their C++ texts, in order.

    `bf16`: one of them is the data type bfloat16, which not every SoC has.
    """

    key: int
    args: tuple[str, ...]
    bf16: bool = False


@dataclass(frozen=True)
class OpDef:
    """One operator of a library.

    Attributes:
        op_type: Name in OP_ADD.
        inputs: Declared inputs, in order.
        outputs: Declared outputs, in order.
        attrs: Declared attributes, in order.
        units: Compute units of AddConfig, sorted.
        tiling_struct: Layout of the macro tiling structure; None for plain structs.
        keyed_tilings: Layouts registered for one tiling key each (`REGISTER_TILING_DATA_CLASS(Op_KEY, T)`).
        unit_columns: Inputs and outputs of units whose OpAICoreConfig overrides them.
        templates: Combinations of template arguments that the kernel is compiled for; empty for a kernel without them.
        kernel_file: Stem of the kernel source that the unit's configuration names (opFile.value), or empty; set by `for_unit`.
        kernel_entry: The entry function that it names (opInterface.value), or empty.
        unit_info: ExtendCfgInfo values of each unit.
    """

    op_type: str
    inputs: tuple[OpParam, ...]
    outputs: tuple[OpParam, ...]
    attrs: tuple[OpAttr, ...]
    units: tuple[str, ...]
    has_infershape: bool
    has_inferdtype: bool
    has_tiling: bool
    tiling_struct: TilingStruct | None
    keyed_tilings: Mapping[str, TilingStruct]
    unit_columns: Mapping[str, tuple[tuple[OpParam, ...], tuple[OpParam, ...]]]
    shape_depends: frozenset[str] = frozenset()
    tiling_depends: frozenset[str] = frozenset()
    templates: tuple[TemplateKey, ...] = ()
    kernel_file: str = ""
    kernel_entry: str = ""
    unit_info: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def columns(self) -> int:
        """Number of dtype columns."""
        params = self.inputs or self.outputs
        return len(params[0].dtypes) if params else 0

    def for_unit(self, unit: str) -> OpDef:
        """The definition as it holds for one compute unit (its OpAICoreConfig applied)."""
        inputs, outputs = self.unit_columns.get(unit, (self.inputs, self.outputs))
        info = self.unit_info.get(unit, {})
        own = replace(self, inputs=inputs, outputs=outputs, kernel_file=info.get("opFile.value", ""), kernel_entry=info.get("opInterface.value", ""))
        return self if own == self else own


