"""What a call cannot be faster than on a chip: its bytes at the memory's rate, its operations at the units' peak."""

from __future__ import annotations

from dataclasses import dataclass

from ascendops.perf.chips import chip
from ascendops.perf.pipes import CUBE_RATE
from ascendops.spec.dtypes import BY_NAME

_VECTOR_BYTES = 256  # of one vector core and cycle
_SHORT = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}


@dataclass(frozen=True)
class Roof:
    """The least time of a call, µs, and what sets it: `memory`, `cube` or `vector`.

    Attributes:
        bytes: Bytes of GM traffic.
        flops: Floating-point operations.
    """

    us: float
    bound: str
    bytes: int
    flops: int


def roof(soc: str, flops: int, nbytes: int, dtype: str, cube: bool) -> Roof:
    """The roof of one call on one SoC; `dtype` is the first input's, `cube` says whether the operations are the cube unit's.

    The memory's rate is the sustained one of all cores together (data/perf/rates.json): data that the L2 holds can be faster.

    Raises:
        UnknownSoc: Nobody has measured the rates of this SoC.
    """
    c = chip(soc)
    memory = nbytes / (c.hbm * 1e3)
    if cube:
        rate = CUBE_RATE.get(_SHORT.get(dtype, dtype), 1.0)
        compute = flops / (2 * c.macs * rate * c.mhz * c.aic)
    else:
        lanes = _VECTOR_BYTES / BY_NAME[dtype].itemsize
        compute = flops / (lanes * c.mhz * c.vector_cores)
    return Roof(memory, "memory", nbytes, flops) if memory >= compute else Roof(compute, "cube" if cube else "vector", nbytes, flops)
