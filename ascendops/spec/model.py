"""The operator as op.toml declares it: plain frozen data that every later stage reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.spec.policy import TorchPolicy
from ascendops.spec.random import RandomPolicy

if TYPE_CHECKING:
    from ascendops.spec.autograd import Autograd
    from ascendops.spec.dims import Shape
    from ascendops.spec.expr import Expr
    from ascendops.spec.schema import FunctionSchema
    from ascendops.spec.tunables import Tunable

AttrValue = bool | int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[bool, ...] | None


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of the schema.

    Attributes:
        name: Name in the schema; also the kernel parameter and the DTYPE_<NAME> macro.
        shape: Its dims over named axes (`["*batch", "n"]`), or a rule such as `broadcast(x1, x2)`.
        dtypes: One torch dtype name per dtype column (parallel over all tensors, as in OpDef).
        optional: `Tensor?` in the schema.
        variadic: `Tensor[]` in the schema.
        mutated: `Tensor(a!)` in the schema.
        format: GE format, `ND` unless declared.
        range: Of an input of whole numbers: the lowest and one past the highest value that it may hold, or None.
        sorted: Of such an input: no value is below the one before it.
        made_by: Of an input: the function of golden.py that makes it from the other inputs for tests, or None.
    """

    name: str
    shape: Shape
    dtypes: tuple[str, ...]
    optional: bool = False
    variadic: bool = False
    mutated: bool = False
    format: str = "ND"
    range: tuple[Expr, Expr] | None = None
    sorted: bool = False
    made_by: str | None = None


@dataclass(frozen=True)
class AttrSpec:
    """One attribute: `type` is the schema's word (`int`, `float`, `bool`, `str`, `int[]`, `int?`, `int[]?`, ...); `length` is 2 for `int[2]`."""

    name: str
    type: str
    required: bool
    default: AttrValue = None
    length: int | None = None


@dataclass(frozen=True)
class TilingKey:
    """One strategy of the kernel: the value given to SetTilingKey, its name, and when it applies (a sentence)."""

    key: int
    name: str
    why: str


@dataclass(frozen=True)
class Case:
    """One declared test case; it runs for every dtype column, or for those in `dtypes` (dtypes of the first input).

    Attributes:
        name: Word used in the test's id.
        shapes: Shape of each input by name.
        attrs: Attribute values by name (missing: the default).
        tiling_key: Name of the key that the case must reach, or None.
        layout: How inputs lie in memory: `contiguous`, `transposed`, `sliced`, `expanded` or `offset`.
        values: Recipe of the input values: `random`, `exact`, `special`, `tail`, `negative`, `positive`, `wide`, `coded`.
    """

    name: str
    shapes: Mapping[str, tuple[int, ...]]
    attrs: Mapping[str, AttrValue]
    dtypes: tuple[str, ...] | None = None
    tiling_key: str | None = None
    layout: str = "contiguous"
    values: str = "random"


@dataclass(frozen=True)
class AxisRule:
    """What the size of an axis must be: a multiple of a number, of another axis or of an int attribute (by name), at least a number, and at most one (0: any)."""

    multiple: int | str = 1
    minimum: int = 0
    maximum: int = 0

    @property
    def rule(self) -> str:
        """The rule in words."""
        parts = [f"a multiple of {self.multiple}"] * (self.multiple != 1)
        parts += [f"{self.minimum} or more"] * (self.minimum > 0) + [f"{self.maximum} or less"] * (self.maximum > 0)
        return " and ".join(parts) or "any size"

    def allows(self, size: int, axes: Mapping[str, Any]) -> bool:
        """Whether a size keeps the rule, given the other axes and the attributes; a size that is a symbol is not known yet."""
        unit = axes.get(self.multiple, 1) if isinstance(self.multiple, str) else self.multiple
        whole = not isinstance(unit, int) or (size % unit == 0 if unit else size == 0)
        return whole and size >= self.minimum and (self.maximum == 0 or size <= self.maximum)


@dataclass(frozen=True)
class OpSpec:
    """A whole operator declaration. `path` is the op.toml it came from; `root` the project folder.

    `dialect` is `ascendc` or `tbe`. One op.toml may declare several operators: `operators` of the one at the top level has all of them, `project` is its name, and `first`
    leads to it from the others. `benches` are the [[bench]] tables, `tunables` the [tune] tables of the project.
    """

    edition: int
    name: str
    op_type: str
    family: str | None
    schema: FunctionSchema
    doc: str
    units: tuple[str, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: tuple[AttrSpec, ...]
    tiling_keys: tuple[TilingKey, ...]
    flops: Expr | None
    bytes: Expr | None
    cases: tuple[Case, ...]
    reference: Mapping[str, str]
    path: Path
    digest: str
    project: str = ""
    dialect: str = "ascendc"
    axes: Mapping[str, AxisRule] = field(default_factory=dict)
    autograd: Autograd | None = None
    torch: TorchPolicy = field(default_factory=TorchPolicy)
    further: tuple[OpSpec, ...] = ()
    first: OpSpec | None = field(default=None, repr=False, compare=False)
    equivalent: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    benches: tuple[Case, ...] = ()
    tunables: tuple[Tunable, ...] = ()
    compute: str = "float32"
    random: RandomPolicy = field(default_factory=RandomPolicy)

    @property
    def operators(self) -> tuple[OpSpec, ...]:
        """This operator and those of its [operators.NAME] tables."""
        return (self, *self.further)

    def sibling(self, name: str) -> OpSpec:
        """The operator of the same op.toml called `name` (KeyError when there is none)."""
        found = next((op for op in (self.first or self).operators if op.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    @property
    def root(self) -> Path:
        """The project folder."""
        return self.path.parent

    @property
    def defines(self) -> dict[str, int]:
        """Macros that every build of the project sets: the best values of its tunables."""
        return {one.name: one.best for one in (self.first or self).tunables if one.best is not None}

    @property
    def columns(self) -> int:
        """Number of dtype columns."""
        return len(self.inputs[0].dtypes) if self.inputs else len(self.outputs[0].dtypes)

    def tensor(self, name: str) -> TensorSpec:
        """The input or output called `name` (KeyError when there is none)."""
        return next(t for t in (*self.inputs, *self.outputs) if t.name == name)

    def output_shapes(self, shapes: Mapping[str, Sequence[Any] | None], attrs: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Output shapes in order, for input shapes by name. Dims may be ints or torch.SymInt.

        Raises:
            SpecError: The inputs do not fit the declared axes (rank, or one axis with two sizes).
        """
        from ascendops.spec.shapes import infer

        return infer(self, shapes, attrs)

    def cost(self, shapes: Mapping[str, Sequence[int]], attrs: Mapping[str, Any], column: int) -> tuple[int, int]:
        """(floating-point operations, bytes of GM traffic) of one call with these input shapes and dtype column."""
        from ascendops.spec.cost import cost

        return cost(self, shapes, attrs, column)
