"""The one dtype table: PyTorch, Ascend C, GE, NumPy and Triton names of each element type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendops.errors import SpecError, did_you_mean

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class DType:
    """One element type.

    Attributes:
        name: PyTorch's name and the name used in op.toml, e.g. `float16`.
        cpp: Type name in an Ascend C kernel, e.g. `half`.
        ge: Enumerator of ge::DataType, e.g. `DT_FLOAT16`.
        ge_code: Its value (graph/types.h of CANN).
        itemsize: Bytes per element.
        kind: `float`, `int`, `uint`, `bool` or `complex`.
        mantissa: Explicit mantissa bits of a float type, else 0.
        tl: Triton's name, or None.
    """

    name: str
    cpp: str
    ge: str
    ge_code: int
    itemsize: int
    kind: str
    mantissa: int = 0
    tl: str | None = None

    @property
    def torch(self) -> torch.dtype:
        """The torch.dtype of this name (imports torch)."""
        import torch as _torch

        dtype = getattr(_torch, self.name)
        assert isinstance(dtype, _torch.dtype)
        return dtype


_TABLE = (
    DType("float32", "float", "DT_FLOAT", 0, 4, "float", 23, "float32"),
    DType("float16", "half", "DT_FLOAT16", 1, 2, "float", 10, "float16"),
    DType("int8", "int8_t", "DT_INT8", 2, 1, "int", tl="int8"),
    DType("int32", "int32_t", "DT_INT32", 3, 4, "int", tl="int32"),
    DType("uint8", "uint8_t", "DT_UINT8", 4, 1, "uint", tl="uint8"),
    DType("int16", "int16_t", "DT_INT16", 6, 2, "int", tl="int16"),
    DType("uint16", "uint16_t", "DT_UINT16", 7, 2, "uint", tl="uint16"),
    DType("uint32", "uint32_t", "DT_UINT32", 8, 4, "uint", tl="uint32"),
    DType("int64", "int64_t", "DT_INT64", 9, 8, "int", tl="int64"),
    DType("uint64", "uint64_t", "DT_UINT64", 10, 8, "uint", tl="uint64"),
    DType("float64", "double", "DT_DOUBLE", 11, 8, "float", 52, "float64"),
    DType("bool", "bool", "DT_BOOL", 12, 1, "bool", tl="int1"),
    DType("complex64", "complex64", "DT_COMPLEX64", 16, 8, "complex"),
    DType("complex128", "complex128", "DT_COMPLEX128", 17, 16, "complex"),
    DType("bfloat16", "bfloat16_t", "DT_BF16", 27, 2, "float", 7, "bfloat16"),
)

# Element types of operator definitions that torch has no dtype for: name, type in a kernel, enumerator of ge::DataType, its value.
WITHOUT_TORCH = (
    ("int4", "int4b_t", "DT_INT4", 29),
    ("uint1", "uint1b_t", "DT_UINT1", 30),
    ("int2", "int2b_t", "DT_INT2", 31),
    ("complex32", "complex32", "DT_COMPLEX32", 33),
    ("hifloat8", "hifloat8_t", "DT_HIFLOAT8", 34),
    ("float8_e5m2", "fp8_e5m2_t", "DT_FLOAT8_E5M2", 35),
    ("float8_e4m3fn", "fp8_e4m3fn_t", "DT_FLOAT8_E4M3FN", 36),
    ("float8_e8m0", "fp8_e8m0_t", "DT_FLOAT8_E8M0", 37),
    ("float4_e2m1", "fp4x2_e2m1_t", "DT_FLOAT4_E2M1", 40),
    ("float4_e1m2", "fp4x2_e1m2_t", "DT_FLOAT4_E1M2", 41),
)

BY_NAME = {dtype.name: dtype for dtype in _TABLE}
BY_GE = {dtype.ge: dtype for dtype in _TABLE}
BY_GE_CODE = {dtype.ge_code: dtype for dtype in _TABLE}


def dtype(name: str, *, where: str | None = None) -> DType:
    """The dtype called `name` (PyTorch's spelling).

    Raises:
        SpecError: No such dtype; the message lists the known ones.
    """
    found = BY_NAME.get(name)
    if found is None:
        raise SpecError(f"dtype '{name}' is not known", where=where, help=did_you_mean(name, BY_NAME))
    return found


def from_torch(torch_dtype: torch.dtype) -> DType:
    """The table's row of a torch.dtype.

    Raises:
        SpecError: The dtype has no row (for example a quantised type).
    """
    return dtype(str(torch_dtype).removeprefix("torch."))
