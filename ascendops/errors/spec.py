"""Errors of `op.toml` and of names (ASC1xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError

__all__ = [
    "AttrError",
    "AutogradError",
    "BadOpName",
    "BadValue",
    "CaseError",
    "CostError",
    "DimsError",
    "DtypeColumnsError",
    "EditionError",
    "ExprError",
    "MissingKey",
    "SchemaError",
    "ShapeMismatch",
    "SpecError",
    "SpecNotFound",
    "TensorTableError",
    "TilingKeyError",
    "TomlError",
    "UnitError",
    "UnknownDtype",
    "UnknownKey",
    "UnknownSoc",
]


class SpecError(AscendOpsError):
    """op.toml does not declare a valid operator.

    The message names the line and the allowed values. docs/op-toml.md describes every key.
    """

    id = "ASC101"


class TomlError(SpecError):
    """op.toml is not valid TOML.

    The message has the parser's words and the line. Strings need quotes, arrays need commas, and a table such as [tensor.x]
    may be written only once.
    """

    id = "ASC102"


class EditionError(SpecError):
    """The edition of op.toml is missing or not known to this version of ascendops.

    `edition = 1` is the first key of the file. A newer edition needs a newer ascendops.
    """

    id = "ASC103"


class UnknownKey(SpecError):
    """op.toml has a key that ascendops does not know.

    Unknown keys are refused, because a misspelt key would otherwise be ignored. The message lists the keys of that table.
    """

    id = "ASC104"


class MissingKey(SpecError):
    """op.toml lacks a key that every operator needs."""

    id = "ASC105"


class BadValue(SpecError):
    """A value in op.toml has the wrong type or is not one of the allowed words."""

    id = "ASC106"


class SchemaError(SpecError):
    """The schema string does not follow the grammar of PyTorch's function schemas.

    Example: `rope(Tensor x, Tensor cos, Tensor? mask=None, *, float scale=1.0, int[] dims=[0, 1]) -> Tensor y`. Types are Tensor,
    Tensor?, Tensor[], Tensor(a!), int, float, bool, str, int[], int[2], float[], bool[], and optional ones (`int?`). Outputs are named.
    """

    id = "ASC107"


class ExprError(SpecError):
    """An expression over axes and attributes is not valid.

    Allowed are whole numbers, names of axes and of int or bool attributes, `+ - * // %`, comparisons, `a if c else b`, and the functions
    ceil_div(a, b), align(a, b), min, max, prod, numel(tensor) and nbytes(tensor). `/` is refused: use `//` or ceil_div.
    """

    id = "ASC108"


class DtypeColumnsError(SpecError):
    """The dtype lists of the tensors do not form columns.

    Column i of every tensor's list together is one supported combination, as in OpDef; so all lists have the same length.
    """

    id = "ASC109"


class DimsError(SpecError):
    """The dims of a tensor are not a valid declaration.

    dims is a list of axes, such as `["*batch", "n"]` (at most one variadic axis), or a rule: same(x), broadcast(x1, x2),
    reduce(x, dim=dim, keepdim=keepdim) or matmul(a, b).
    """

    id = "ASC110"


class ShapeMismatch(SpecError):
    """The shapes of a call do not fit the declared axes.

    The message names the tensor, the axis and both sizes: one axis name means one size in all tensors of a call.
    """

    id = "ASC111"


class BadOpName(SpecError):
    """The operator's name cannot be used.

    A name is snake_case and becomes a C++ function (the kernel's entry), a C++ class and a Python attribute. So it must not be a keyword, a
    function of the C library, or a name of the Ascend C compiler, and its CamelCase form must convert back to the same name.
    """

    id = "ASC112"


class CaseError(SpecError):
    """A [[case]] of op.toml does not fit the operator.

    Shapes must fit the declared axes, tiling_key must name a [[tiling_key]], attrs must be attributes of the schema, dtype must be in
    the first input's columns.
    """

    id = "ASC113"


class TilingKeyError(SpecError):
    """Two [[tiling_key]] tables have the same key or name."""

    id = "ASC114"


class UnitError(SpecError):
    """`units` has a name that is not a compute unit of an Ascend AI processor.

    A unit is the lower-case short SoC version, such as ascend910b (Atlas A2) or ascend910_93 (Atlas A3); `ascendops doctor` shows the one
    of this host.
    """

    id = "ASC115"


class UnknownDtype(SpecError):
    """A dtype name is not known; names are PyTorch's, such as float16 (not fp16, half or DT_FLOAT16)."""

    id = "ASC116"


class TensorTableError(SpecError):
    """The [tensor.*] tables and the tensors of the schema are not the same."""

    id = "ASC117"


class AttrError(SpecError):
    """An attribute has a value that its type in the schema does not allow."""

    id = "ASC118"


class CostError(SpecError):
    """A [cost] expression cannot be evaluated for a call."""

    id = "ASC119"


class SpecNotFound(SpecError):
    """There is no op.toml at the given path, or it cannot be read."""

    id = "ASC120"


class UnknownSoc(SpecError):
    """The name of a SoC or compute unit is not known, or does not mean what it seems to.

    Accepted are a soc_version (Ascend910B1), the name that npu-smi shows (910B1) and a compute unit (ascend910b, which stands for its
    usual SoC). Ascend910B without a digit is the soc_version of an old Ascend 910, so it is refused.
    """

    id = "ASC121"


class AutogradError(SpecError):
    """The [autograd] table of op.toml does not fit the operators.

    It has `backward` (the name of another operator of the project) with `grads`, or `formula`. Arguments of the backward operator are
    found by name: grad_<output>, else the inputs, outputs and attributes of the forward operator. Formulas are torch expressions over the
    same names; docs/op-toml.md lists their functions.
    """

    id = "ASC122"
