"""TBE's element types, and which of them each function takes.

Source: the function pages of the TBE DSL reference (public CANN documents) for Atlas A2 and inference products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendops.errors import TbeDtypeError
from ascendops.tbe.graph import Tensor, caller

if TYPE_CHECKING:
    import torch

TORCH = {
    "float16": "float16", "float32": "float32", "bfloat16": "bfloat16", "float64": "float64", "int8": "int8", "uint8": "uint8",
    "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64", "bool": "bool",
    "uint1": "bool",
}  # fmt: skip
ALIASES = {"float": "float32", "half": "float16", "double": "float64"}
BITS = {name: 1 if name == "uint1" else 8 if name == "bool" else int("".join(c for c in name if c.isdigit())) for name in TORCH}
FLOATS = ("float16", "float32")
NUMBERS = ("float16", "float32", "int32")
_BITWISE = ("int16", "uint16")

SUPPORTED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("vadd", "vsub", "vmul", "vmax", "vmin", "vadds", "vmuls", "vmaxs", "vmins"), NUMBERS),
    **dict.fromkeys(("vdiv", "vmod", "vrec", "vlog", "vexp", "vabs", "vsqrt", "vrsqrt", "vaxpy", "vmla", "vmadd", "vmaddrelu"), FLOATS),
    **dict.fromkeys(("vaddrelu", "vsubrelu", "vrelu", "vlrelu", "vtanh", "vsigmoid", "powi"), FLOATS),
    **dict.fromkeys(("vand", "vor", "vnot"), (*_BITWISE, "int32", "uint32", "bool")),
    "vgcd": ("int8", "int16", "int32", "uint8"),
    "vsignbit": ("float32", "float16"),
    "vlogic": ("bool", "int8"),
    "vcmp": ("float16", "float32", "int32", "int64", "int8", "uint8"),
    "vsel": ("float16", "float32", "int32"),
    "vcmpsel": ("float16", "float32", "int32"),
    "clip": NUMBERS,
    **dict.fromkeys(("reduce_sum", "reduce_max", "reduce_min"), NUMBERS),
    **dict.fromkeys(("reduce_mean", "reduce_prod", "tuple_sum"), FLOATS),
    **dict.fromkeys(("reduce_all", "reduce_any"), ("bool", "int8")),
}
"""Element types of each function that computes; functions that move data take every type."""

_REPLACED = {"bfloat16": "float32", "int8": "float16", "uint8": "float16", "int16": "float32"}
_RELU = ("vrelu",)


def name(dtype: str) -> str:
    """TBE's name of an element type, lower-case.

    Raises:
        TbeDtypeError: There is no such type.
    """
    found = ALIASES.get(dtype.lower(), dtype.lower())
    if found not in TORCH:
        raise TbeDtypeError(f"there is no dtype '{dtype}'", where=caller(), help=f"use one of: {', '.join(TORCH)}")
    return found


def torch_dtype(dtype: str) -> torch.dtype:
    """The torch.dtype of a TBE type."""
    import torch

    found = getattr(torch, TORCH[name(dtype)])
    assert isinstance(found, torch.dtype)
    return found


def supports(function: str, dtype: str = "") -> bool:
    """Whether a function exists and takes a dtype by itself, as api_check_support answers."""
    short = function.rpartition(".")[2]
    short = {"sum": "reduce_sum"}.get(short, short)
    if short == "cast_to":
        return _cast_supported(dtype)
    if short not in SUPPORTED:
        return short in MOVES and (not dtype or ALIASES.get(dtype, dtype) in TORCH)
    return not dtype or ALIASES.get(dtype, dtype) in SUPPORTED[short]


MOVES = ("broadcast", "concat", "split", "transpose", "slice", "set_value", "gather", "gather_nd", "inplace_update", "round", "ceil", "floor", "trunc", "round_half_up")
_LETTERS = {"f16": "float16", "f32": "float32", "bf16": "bfloat16", "s8": "int8", "u8": "uint8", "s16": "int16", "s32": "int32", "s64": "int64", "u16": "uint16", "u32": "uint32"}


def _cast_supported(pair: str) -> bool:
    """For `f322s32`-like words: whether both types exist and a cast between them does."""
    if not pair:
        return True
    return any(pair.startswith(left) and pair[len(left) :].lstrip("2").rstrip("acfoznr") in _LETTERS for left in _LETTERS if pair.startswith(f"{left}2"))


def check(function: str, *tensors: Tensor) -> str:
    """The dtype in which a function computes its operands.

    The operands must have one dtype. int8 and uint8 are computed in float16, bfloat16 and int16 in float32, as the DSL does by itself.

    Raises:
        TbeDtypeError: The dtypes differ, or the function takes none of this kind.
    """
    kinds = list(dict.fromkeys(tensor.dtype for tensor in tensors))
    if len(kinds) > 1:
        raise TbeDtypeError(f"tbe.dsl.{function} was given tensors of {' and '.join(kinds)}", where=caller(), help="cast one with tbe.cast_to")
    allowed = SUPPORTED[function]
    if kinds[0] in allowed:
        return kinds[0]
    replaced = _REPLACED.get(kinds[0])
    if replaced in allowed and replaced is not None:
        return replaced
    raise TbeDtypeError(f"tbe.dsl.{function} does not take {kinds[0]}", where=caller(), help=f"it takes {', '.join(allowed)}: cast with tbe.cast_to first")
