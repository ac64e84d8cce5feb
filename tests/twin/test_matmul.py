"""The Matmul object and its tilings."""

from __future__ import annotations

import functools
import itertools
import struct
from pathlib import Path

import pytest
import torch
from matmul_support import (
    A_IN_L1,
    B_IN_L1,
    BF16,
    BIAS,
    FIELDS,
    FIXED,
    FLOAT,
    HALF,
    IN_UB,
    INT8,
    SHAPE_OF_ORG,
    SPLIT_K,
    TRANS_A,
    TRANS_B,
    matrix,
    packed,
    tiling,
)

import ascendops.twin
from ascendops.spec import socs
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin
FOLDER = Path(__file__).parent / "kernels"


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FOLDER / "matmul.cpp")


@pytest.mark.parametrize(
    ("name", "dtype", "flags", "blocks"),
    [
        ("half_nn", HALF, BIAS, 2), ("half_tn", HALF, TRANS_A, 2), ("half_nt", HALF, TRANS_B | BIAS, 2),
        ("bf16_tt", BF16, TRANS_A | TRANS_B, 1), ("float_nn", FLOAT, BIAS, 1), ("int8_nn", INT8, BIAS, 1),
    ],
)  # fmt: skip
def test_products(name: str, dtype: int, flags: int, blocks: int) -> None:
    for m, n, k in ((200, 136, 96), (33, 70, 50), (512, 256, 40)):
        values = tiling(m, n, k, 8, dtype, flags)
        a, b = matrix(m, k, dtype, m), matrix(k, n, dtype, n)
        out = torch.int32 if dtype == INT8 else torch.float32
        c, bias = torch.zeros(m, n, dtype=out), matrix(1, n, INT8, 1)[0].to(out)
        stored = (a.T.contiguous() if flags & TRANS_A else a, b.T.contiguous() if flags & TRANS_B else b)
        dim = -(-values["usedCoreNum"] // blocks)
        args = [*stored, bias if flags & BIAS else None, c]
        kernel().launch(name, block_dim=dim, args=args, tiling=packed(values), workspace_bytes=16)
        wanted = a.double() @ b.double() + (bias.double() if flags & BIAS else 0)
        assert (c.double() - wanted).abs().max() <= (0 if dtype == INT8 else 1e-3), (m, n, k)


@pytest.mark.parametrize("name", ["doubled_sync", "doubled_async"])
def test_vector_cores_take_blocks(name: str) -> None:
    m, n, k = 300, 264, 64
    values = tiling(m, n, k, 4, HALF, IN_UB)
    a, b, c = matrix(m, k, HALF, 1), matrix(k, n, HALF, 2), torch.zeros(m, n)
    dim = -(-values["usedCoreNum"] // 2)
    kernel().launch(name, block_dim=dim, args=[a, b, c], tiling=packed(values), workspace_bytes=1 << 20)
    assert (c.double() - 2 * (a.double() @ b.double())).abs().max() < 1e-3


def test_scales_per_column() -> None:
    m, n, k = 64, 96, 128
    values = tiling(m, n, k, 2, INT8)
    a, b = matrix(m, k, INT8, 1), matrix(k, n, INT8, 2)
    scales = torch.tensor([2.0**-8 * (1 + i / 128) for i in range(n)])
    bits = torch.tensor([struct.unpack("<I", struct.pack("<f", float(s)))[0] for s in scales], dtype=torch.int64)
    c = torch.zeros(m, n, dtype=torch.float16)
    kernel().launch("int8_per_column", block_dim=values["usedCoreNum"], args=[a, b, bits, c], tiling=packed(values), workspace_bytes=16)
    assert torch.equal(c, ((a.double() @ b.double()).float() * scales).half())


def test_parts_of_k_add_up() -> None:
    m, n, k = 32, 48, 4096
    values = tiling(m, n, k, 8, HALF, SPLIT_K)
    assert values["singleCoreK"] < k
    a, b, c = matrix(m, k, HALF, 1), matrix(k, n, HALF, 2), torch.zeros(m, n)
    kernel().launch("split_k", block_dim=values["usedCoreNum"], args=[a, b, c], tiling=packed(values), workspace_bytes=16)
    assert (c.double() - a.double() @ b.double()).abs().max() < 1e-2


def test_batches_of_heads() -> None:
    batch, length, heads, depth = 2, 48, 3, 32
    values = tiling(length, length, depth, 0, HALF, TRANS_B)
    for matrix_, sizes in (("A", (batch, length, 1, heads, depth)), ("B", (batch, length, 1, heads, depth)), ("C", (batch, length, 1, heads, length))):
        names = [name for name in FIELDS if name[0] == matrix_ and name[1:] in {"B", "S", "N", "G", "D", "S1", "S2"}]
        values.update(zip(names, sizes, strict=True))
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(batch, length, heads, depth, generator=generator).half() for _ in range(2))
    scores = torch.zeros(batch, heads, length, length)
    kernel().launch("batched", block_dim=batch, args=[q, k, scores], tiling=packed(values), workspace_bytes=16)
    wanted = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double())
    assert (scores.double() - wanted).abs().max() < 1e-3


def test_faults_are_found() -> None:
    m, n, k = 64, 64, 64
    a, b, c = matrix(m, k, HALF, 1), matrix(k, n, HALF, 2), torch.zeros(m, n)

    def found(name: str, **changes: int) -> set[str]:
        values = {**tiling(m, n, k, 0), **changes}
        run = kernel().launch(name, block_dim=1, args=[a, b, None, c], tiling=packed(values), workspace_bytes=16, checks="warn")
        return {d.id for d in run.diagnostics}

    assert found("half_nn") == set()
    assert found("bad_no_b") == {"MATMUL-USE"}
    assert found("bad_turn_half") == {"MATMUL-TRANSPOSE"}
    assert found("either_turn_half") == set() and torch.allclose(c.double(), a.double() @ b.double(), atol=1e-3)
    assert found("float_nn", baseM=0) == {"MATMUL-TILING"}
    assert "MATMUL-TILING" in found("half_nn", baseM=512, baseN=256), "L0C has 128 KB"
    assert "MATMUL-TILING" in found("half_nn", depthA1=64), "L1 has 512 KB"
    a, b = matrix(m, k, FLOAT, 1), matrix(k, n, FLOAT, 2)
    assert found("bad_turn_float", **tiling(m, n, k, 0, FLOAT)) == {"MATMUL-TRANSPOSE"}


def test_tilings_keep_the_documented_limits() -> None:
    """The constraints of the TCubeTiling structure, over shapes, types, transposes, cores and SoCs."""
    shapes = [(1, 16, 16), (7, 5, 3), (128, 2048, 1024), (4096, 64, 64), (100, 100, 100), (1, 4096, 11008), (8192, 8192, 512)]
    for soc, (m, n, k), dtype, flags, cores in itertools.product(
        ("Ascend910B1", "Ascend310P3"), shapes, (HALF, FLOAT, INT8), (0, TRANS_A, TRANS_B | BIAS, TRANS_A | TRANS_B), (0, 1, 24)
    ):
        if soc == "Ascend310P3" and flags & BIAS:
            continue  # this SoC has no bias table
        t, s = tiling(m, n, k, cores, dtype, flags, soc), socs.resolve(soc)
        size = {HALF: 2, FLOAT: 4, INT8: 1}[dtype]
        what = (soc, m, n, k, dtype, flags, cores)
        assert t["baseM"] % 16 == 0 and t["baseN"] % 16 == 0, what
        assert t["baseK"] % (32 // size if flags & 3 == TRANS_B else 16) == 0, what
        assert t["baseM"] * t["baseK"] * size * t["dbL0A"] <= s.l0a_bytes, what
        assert t["baseN"] * t["baseK"] * size * t["dbL0B"] <= s.l0b_bytes, what
        assert t["baseM"] * t["baseN"] * 4 * t["dbL0C"] <= s.l0c_bytes, what
        l1 = (t["baseM"] * t["depthA1"] + t["baseN"] * t["depthB1"]) * t["baseK"] * size + (t["baseN"] * 4 if flags & BIAS else 0)
        assert l1 <= s.l1_bytes, what
        assert t["depthA1"] in {t["stepM"] * t["stepKa"], 2 * t["stepM"] * t["stepKa"]}, what
        assert t["usedCoreNum"] <= max(cores, 1), what
        used = -(-m // t["singleCoreM"]) * -(-n // t["singleCoreN"])
        assert t["usedCoreNum"] == used and t["singleCoreK"] == k, what
        if flags & BIAS:
            assert t["baseN"] * 4 <= max(s.bt_bytes, 1024), what


def test_cuts_that_kernels_count_on() -> None:
    """Equal cuts divide M; base blocks of the author's choice stay one to a part along N; SetShape(-1, -1, k) takes all of SetOrgShape."""

    def single(*args: int, flags: int = 0) -> tuple[int, ...]:
        t = tiling(*args, flags=flags)
        return t["singleCoreM"], t["singleCoreN"], t["usedCoreNum"]

    assert single(512, 512, 128, 2) == (256, 512, 2)
    assert single(512, 128, 128, 2, flags=FIXED) == (512, 64, 2)
    assert single(512, 128, 128, 2) == (256, 128, 2)
    assert single(128, 4096, 64, 1, flags=SHAPE_OF_ORG) == (128, 4096, 1)
    assert single(512, 512, 128, 2, flags=SHAPE_OF_ORG) == (256, 512, 2)
    assert single(512, 512, 128, 2, flags=A_IN_L1) == (512, 256, 2), "a matrix that the kernel brings to L1 is whole on every core"
    assert single(512, 128, 128, 4, flags=B_IN_L1) == (128, 128, 4)


@pytest.mark.parametrize(
    ("name", "found"),
    [("good_wait", set()), ("bad_wait_for_the_other", {"GM-RACE"}), ("good_write_again", set()), ("bad_write_while_copied_in", {"GM-RACE"})],
)
def test_what_a_vector_core_touches_while_its_cube_core_works(name, found):
    order = ascendops.twin.compile(FOLDER / "matmul_order.cpp")
    a, b = matrix(16, 16, HALF, 0), matrix(16, 16, HALF, 1)
    y = torch.zeros(16, 16)
    result = order.launch(
        name, block_dim=1, args=[a, b, torch.zeros(2, 16, 16), y], tiling=packed(tiling(16, 16, 16, 1)), workspace_bytes=1 << 20, auto_sync=False, checks="warn"
    )
    assert {d.id for d in result.diagnostics} == found
    if not found:
        assert torch.allclose(y.double(), a.double() @ b.double(), atol=1e-5)


@pytest.mark.parametrize(("name", "found"), [("good_add_to_zeros", set()), ("bad_add_to_zeros", {"GM-RACE"})])
def test_a_request_carries_what_the_vector_cores_told_each_other(name, found):
    order = ascendops.twin.compile(FOLDER / "matmul_order.cpp")
    a, b, c = matrix(16, 16, HALF, 0), matrix(16, 16, HALF, 1), torch.full((2, 16, 16), 7.0)
    for _ in range(3):
        result = order.launch(
            name, block_dim=1, args=[a, b, c, torch.zeros(16, 16)], tiling=packed(tiling(16, 16, 16, 1)), workspace_bytes=1 << 20, checks="warn"
        )
        assert {d.id for d in result.diagnostics} - {"GM-SAME-WRITE"} == found
    if not found:
        assert torch.allclose(c[0].double(), 2 * a.double() @ b.double(), atol=1e-5)
