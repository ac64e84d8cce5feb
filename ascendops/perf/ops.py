"""What is known of an operator by its name: its category, and the vector work of each element."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ascendops.perf.table import Config

# Vector instructions per element in fp32, and per row: counted from how such kernels are usually written (casts not included).
_PER_ELEMENT = {
    "elementwise": 1.5, "cast": 0.5, "activation": 9, "softmax": 9, "norm": 8, "quant": 7, "rope": 6, "move": 0.5, "index": 0.5,
    "moe": 12, "attention": 0, "matmul": 0, "grouped_matmul": 0, "comm": 1, "other": 10, "aicpu": 0,
}  # fmt: skip
_PER_ROW = {"softmax": 14, "norm": 12, "quant": 10, "moe": 24, "rope": 6, "other": 8}
CATEGORIES = tuple(_PER_ELEMENT)

# The first pattern found in the operator's lower-case name decides; order matters (QuantBatchMatmul is a matmul).
_BY_NAME = (
    (r"attention|attn|flash|mla|indexer|compressor", "attention"),
    (r"groupedmatmul|groupmatmul", "grouped_matmul"),
    (r"matmul|gemm|linear|conv\d?d", "matmul"),
    (r"distribute|allreduce|allgather|alltoall|reducescatter", "comm"),
    (r"^moe", "moe"),
    (r"rope|rotary", "rope"),
    (r"swiglu|geglu|gelu|silu|swish|sigmoid|tanh|relu|mish|softplus", "activation"),
    (r"quant", "quant"),
    (r"softmax", "softmax"),
    (r"norm|rms", "norm"),
    (r"cast", "cast"),
    (r"index|gather|scatter|embedding|take", "index"),
    (r"transpose|slice|concat|split|pad|broadcast|copy|move|oneslike|zeroslike|fill$|tile|stack|pack|permute|expand", "move"),
    (r"sort|topk|unique|cumsum|cumprod", "other"),
    (r"reduce|sum|mean|max$|min$|prod|argmax|argmin", "norm"),
)
_CUBE = {"matmul", "grouped_matmul", "attention"}
_IN_PLACE = r"scatter.*update|cache|scatterelements|inplaceupdate"
_SLOW = (r"exp|log|sqrt|pow|div|tanh|sin|cos|erf|floormod|sigmoid", 6.0)


@dataclass(frozen=True)
class Traits:
    """What the pipe model needs of an operator.

    Attributes:
        category: One of CATEGORIES.
        per_element: Vector instructions of one repeat (256 bytes of fp32).
        per_row: Vector instructions of one row that do not depend on its length.
        cube: The cube unit does the work.
        in_place: A large buffer is an input and an output, and only parts of it are touched.
        known: The category was given or follows from the name.
    """

    category: str
    per_element: float
    per_row: float
    cube: bool
    in_place: bool
    known: bool


def traits(config: Config) -> Traits:
    """The traits of a row's operator; one that nobody knows counts as elementwise, with `known` False."""
    name = re.sub(r"[^a-z0-9]", "", config.op.lower())
    category, known = "elementwise", False
    if config.aicpu:
        category, known = "aicpu", True
    elif config.category in _PER_ELEMENT:
        category, known = config.category, True
    else:
        for pattern, found in _BY_NAME:
            if re.search(pattern, name):
                category, known = found, True
                break
        else:
            known = name in _ELEMENTWISE or bool(re.search(_SLOW[0], name))
    per_element = _PER_ELEMENT[category]
    if category == "elementwise" and re.search(_SLOW[0], name):
        per_element = _SLOW[1]
    return Traits(category, per_element, _PER_ROW.get(category, 0), category in _CUBE, bool(re.search(_IN_PLACE, name)), known)


_ELEMENTWISE = {
    "abs", "add", "adds", "addcmul", "sub", "subs", "mul", "muls", "neg", "equal", "notequal", "greater", "greaterequal", "less", "lessequal",
    "logicaland", "logicalor", "logicalnot", "logicalxor", "maximum", "minimum", "where", "select", "selectv2", "maskedfill", "clamp",
    "clipbyvalue", "axpy", "lerp", "sign", "square", "ceil", "floor", "round", "bitwiseand", "bitwiseor", "bitwisenot", "isnan", "isfinite",
}  # fmt: skip
