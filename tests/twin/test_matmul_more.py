"""Batches in every layout, HF32, shared matrices, tilings known to the compiler, policies and user's functions of the Matmul object."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import pytest
import torch
from matmul_support import FIELDS, FLOAT, HALF, matrix, packed, tiling

import ascendops.twin
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin
FILE = Path(__file__).parent / "kernels" / "matmul_more.cpp"
ORDERS = {"bsngd": (0, 3, 1, 2, 4), "sbngd": (3, 0, 1, 2, 4), "bngs1s2": (0, 1, 2, 3, 4), "normal": (0, 1, 2, 3, 4)}  # of B, N, G, S, D


class Batches(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("a", "b", "loops")] + [
        (name, ctypes.c_uint64) for name in ("a_step", "b_step", "bias_step", "c_step")
    ]


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FILE)


def step(layout: str, sizes: tuple[int, ...]) -> int:
    """Elements from one of B to the next."""
    _, n, g, s, d = sizes
    return n * g * d if layout == "sbngd" else n * g * s * d


def layout_fields(values: dict[str, int], sizes: dict[str, tuple[int, ...]]) -> dict[str, int]:
    """The tiling with the axes of each matrix, given as B, N, G, S, D."""
    for name, (b, n, g, s, d) in sizes.items():
        names = [field for field in FIELDS if field[0] == name and field[1:] in {"B", "S", "N", "G", "D", "S1", "S2"}]
        values.update(zip(names, (b, s, n, g, d), strict=True))
    return values


@pytest.mark.parametrize(
    ("name", "layout", "out"),
    [
        ("bsngd_nn", "bsngd", "bsngd"), ("bsngd_nt", "bsngd", "bngs1s2"), ("bsngd_tn", "bsngd", "bsngd"),
        ("sbngd_nn", "sbngd", "sbngd"), ("sbngd_nt", "sbngd", "bngs1s2"), ("sbngd_tt", "sbngd", "sbngd"),
        ("bngs1s2_nn", "bngs1s2", "bngs1s2"), ("bngs1s2_nt", "bngs1s2", "bsngd"),
        ("normal_nn", "normal", "normal"), ("normal_tn", "normal", "normal"), ("normal_nn_bias_for_all", "normal", "normal"),
        ("normal_nn_set_before", "normal", "normal"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("groups", "bias"), [((1, 1), True), ((1, 3), False), ((2, 1), False), ((2, 2), True)])
def test_batches(name: str, layout: str, out: str, groups: tuple[int, int], bias: bool) -> None:
    batch, heads, m, n, k = 2, 2, 24, 40, 16
    turned = name.split("_")[1]
    group = max(groups)
    sizes = {
        "A": (batch, heads, groups[0], *((k, m) if turned[0] == "t" else (m, k))),
        "B": (batch, heads, groups[1], *((n, k) if turned[1] == "t" else (k, n))),
        "C": (batch, heads, group, m, n),
    }
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(sizes[name], generator=generator).half() for name in "AB")
    values = layout_fields(tiling(m, n, k, 0), sizes)
    values["BatchNum"] = heads * group
    c = torch.zeros(sizes["C"]).permute(ORDERS[out]).contiguous()
    per_batch = heads * group
    biases = torch.arange(n * (1 if "for_all" in name else batch * per_batch), dtype=torch.float32) if bias else None
    plan = Batches(
        heads * groups[0], heads * groups[1], batch, step(layout, sizes["A"]), step(layout, sizes["B"]), 0 if "for_all" in name else per_batch * n,
        step(out, sizes["C"]),
    )  # fmt: skip
    stored = [x.permute(ORDERS[layout]).contiguous() for x in (a, b)]
    kernel().launch(name, block_dim=1, args=[*stored, biases, c, plan], tiling=packed(values), workspace_bytes=16)
    left, right = (a.mT if turned[0] == "t" else a).double(), (b.mT if turned[1] == "t" else b).double()
    wanted = left.repeat_interleave(group // groups[0], 2) @ right.repeat_interleave(group // groups[1], 2)
    if biases is not None:
        wanted += biases.double().reshape((1, 1, 1, 1, n) if "for_all" in name else (batch, heads, group, 1, n))
    got = c.permute(torch.tensor(ORDERS[out]).argsort().tolist())
    assert (got.double() - wanted).abs().max() < 1e-3


def run(name: str, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, values: dict[str, int]) -> torch.Tensor:
    kernel().launch(name, block_dim=1, args=[a, b, c], tiling=packed(values), workspace_bytes=16)
    return c


def rounded(x: torch.Tensor, *, even: bool) -> torch.Tensor:
    """float32 with the nearest 11 bits of mantissa; ties to even or towards zero."""
    bits = x.view(torch.int32)
    return (bits + 0x7FF + (bits >> 12 & 1 if even else 0) & ~0xFFF).view(torch.float32)


@pytest.mark.parametrize("name", ["off", "even", "to_zero"])
def test_hf32_rounds_the_matrices_first(name: str) -> None:
    m, n, k = 32, 48, 64
    generator = torch.Generator().manual_seed(0)
    a, b = (1 + torch.randint(4096, size, generator=generator) / 4096.0 for size in ((m, k), (k, n)))  # every second one is a tie
    got = run(f"hf32_{name}", a, b, torch.zeros(m, n), tiling(m, n, k, 0, FLOAT)).double()
    ways = {
        "off": (a, b),
        "even": (rounded(a, even=True), rounded(b, even=True)),
        "to_zero": (rounded(a, even=False), rounded(b, even=False)),
    }
    errors = {way: float((got - x.double() @ y.double()).abs().max()) for way, (x, y) in ways.items()}
    assert errors.pop(name) < 1e-4
    assert min(errors.values()) > 1e-3


def test_two_vector_cores_share_b() -> None:
    m, n, k = 96, 64, 80
    a, b = matrix(m, k, HALF, 1), matrix(k, n, HALF, 2)
    values = {**tiling(m, n, k, 0), "singleCoreM": m // 2, "usedCoreNum": 2}
    c = run("shared_b", a, b, torch.zeros(m, n), values)
    assert (c.double() - a.double() @ b.double()).abs().max() < 1e-3


@pytest.mark.parametrize("name", ["constant", "constant_shape"])
def test_what_the_compiler_knows_of_a_tiling_replaces_what_the_host_sends(name: str) -> None:
    m, n, k = 48, 80, 64
    a, b = matrix(m, k, HALF, 1), matrix(k, n, HALF, 2)
    unknown = ("singleCoreM", "singleCoreN", "singleCoreK", "baseM", "baseN", "baseK")
    values = {**tiling(m, n, k, 0), **dict.fromkeys(unknown, 0)}
    c = run(name, a, b, torch.zeros(m, n), values)
    assert (c.double() - a.double() @ b.double()).abs().max() < 1e-3


@pytest.mark.parametrize("name", ["own_policy", "three_buffers", "upper_triangle", "lower_triangle"])
def test_policies(name: str) -> None:
    m, n, k, base = 96, 128, 32, 32
    a, b = matrix(m, k, HALF, 1), matrix(k, n, HALF, 2)
    values = {**tiling(m, n, k, 0), "baseM": base, "baseN": base}
    c = run(name, a, b, torch.full((m, n), 7.0), values)
    row, column = torch.meshgrid(torch.arange(m) // base, torch.arange(n) // base, indexing="ij")
    kept = {"upper_triangle": row <= column, "lower_triangle": row >= column}.get(name, torch.ones(m, n, dtype=torch.bool))
    wanted = torch.where(kept, a.double() @ b.double(), 7.0)
    assert (c.double() - wanted).abs().max() < 1e-3


@pytest.mark.parametrize("name", ["called_a", "called_b", "called_c", "called_all"])
def test_functions_of_the_user_copy_the_blocks(name: str) -> None:
    m, n, k, more = 72, 88, 96, 2
    lower, right, further = (name in {f"called_{matrix}", "called_all"} for matrix in "abc")
    a, b = matrix(m + more * lower, k, HALF, 1), matrix(k, n + more * right, HALF, 2)
    values = {**tiling(m, n, k, 0), "baseM": 32, "baseN": 48, "baseK": 32}
    c = run(name, a, b, torch.zeros(m + more * further, n), values)
    wanted = a[more * lower :].double() @ b[:, more * right :].double()
    assert (c[more * further :].double() - wanted).abs().max() < 1e-3
    assert not c[: more * further].any()
