"""What the tests of the Matmul object share: tilings from the kit's op_host classes, and matrices."""

from __future__ import annotations

import functools
import struct
from pathlib import Path

import torch

from ascendops.spec import socs
from ascendops.twin import compilation
from ascendops.twin.host import HostLibrary, HostTensor

HOST = Path(__file__).parents[1] / "projects" / "matmul_api" / "op_host"
FIELDS = (
    "usedCoreNum M N Ka Kb singleCoreM singleCoreN singleCoreK baseM baseN baseK depthA1 depthB1 stepM stepN isBias transLength "
    "iterateOrder shareMode shareL1Size shareL0CSize shareUbSize batchM batchN singleBatchM singleBatchN stepKa stepKb "
    "depthAL1CacheUB depthBL1CacheUB dbL0A dbL0B dbL0C "
    + " ".join(f"{matrix}{axis}" for matrix, axes in (("A", "BSNGD"), ("B", "BSNGD"), ("C", ("B", "S1", "N", "G", "S2"))) for axis in axes)
    + " BatchNum mxTypePara"
).split()
HALF, FLOAT, INT8, BF16 = 1, 0, 2, 27
TRANS_A, TRANS_B, BIAS, SPLIT_K, IN_UB, SHAPE_OF_ORG, FIXED, A_IN_L1, B_IN_L1 = 1, 2, 4, 8, 16, 32, 64, 128, 256
TORCH = {HALF: torch.float16, FLOAT: torch.float32, INT8: torch.int8, BF16: torch.bfloat16}


@functools.cache
def host() -> HostLibrary:
    return HostLibrary(compilation.compile_host(sorted(HOST.glob("*.cpp")), (HOST,), "matmul_api").path / "host.so")


def tiling(m: int, n: int, k: int, cores: int, dtype: int = HALF, flags: int = 0, soc: str = "Ascend910B1") -> dict[str, int]:
    """The tiling that op_host computes, by field."""
    one = [HostTensor((1,), "float32")]
    attrs = {"m": m, "n": n, "k": k, "cores": cores, "type": dtype, "flags": flags}
    made = host().tiling("MatmulApi", one, one, attrs, soc=socs.resolve(soc))
    return dict(zip(FIELDS, struct.unpack("<50i", made.data[:200]), strict=True))


def packed(values: dict[str, int]) -> bytes:
    return struct.pack("<50i", *(values[name] for name in FIELDS))


def matrix(rows: int, columns: int, dtype: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype == INT8:
        return torch.randint(-100, 100, (rows, columns), dtype=torch.int8, generator=generator)
    return torch.randn(rows, columns, generator=generator).to(TORCH[dtype])
