"""More public reports, and holes of published checkers, as faults: each is rejected under the label of its class."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from ascendops.errors import ParityError
from ascendops.parity import inputs, verify

H, B = torch.float16, torch.bfloat16
Case = dict[str, Any]


def make(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, recipe: str = "random", name: str = "x") -> torch.Tensor:
    return inputs.values(shape, dtype, recipe, inputs.key(5, name, recipe, dtype, shape))


def softmax(x: torch.Tensor) -> torch.Tensor:
    return F.softmax(x, -1)


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v)


def some_of_three_heads(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = (a.float() @ b.float()).clone()
    out[0, 0, :4], out[0, 16, 3:9, ::3], out[0, 24, 5] = math.inf, 3.39e38, math.nan
    return out.to(a.dtype)


def splits_not_merged(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    parts = [F.softmax(q @ k[..., i : i + 64, :].mT * q.shape[-1] ** -0.5, -1) @ v[..., i : i + 64, :] for i in range(0, k.shape[-2], 64)]
    return sum(parts, torch.zeros_like(q))


def last_row_nan(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    out = attend(q, k, v).clone()
    out[..., -1, :] = math.nan
    return out


def rank_clipped(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.pad(x @ w[:, :8], (0, w.shape[1] - 8))


def truncated_cast(x: torch.Tensor) -> torch.Tensor:
    near = x.half()
    bits = near.view(torch.int16)
    return torch.where((near.float().abs() > x.abs()) & torch.isfinite(near), bits - 1, bits).view(H)


def away(x: torch.Tensor) -> torch.Tensor:
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


def zeroes_its_input(x: torch.Tensor) -> torch.Tensor:
    x.zero_()
    return torch.zeros_like(x)


def writes_past_an_input(x: torch.Tensor) -> torch.Tensor:
    out = torch.exp(x)
    (ctypes.c_float * 1).from_address(x.data_ptr() + 4 * x.numel())[0] = 1.0
    return out


def launch_that_failed(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def grid_wraps(x: torch.Tensor, *, out: torch.Tensor) -> None:
    count = x.numel() % 65536
    out.view(-1)[:count] = torch.exp(x).view(-1)[:count]


def one_pass_variance(x: torch.Tensor) -> torch.Tensor:
    return x.square().mean(-1) - x.mean(-1).square()


def float16_sum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(a.shape[0], b.shape[1], dtype=H)
    for i in range(a.shape[1]):
        total = total + a[:, i : i + 1].half() * b[i : i + 1].half()
    return total.to(a.dtype)


def tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    cut = lambda t: (t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)  # noqa: E731
    return cut(a) @ cut(b)


def heads() -> Case:
    return {"a": make((1, 32, 16, 64), B, name="a"), "b": make((1, 32, 64, 64), B, name="b")}


def qkv(n: int) -> Case:
    return {"q": make((2, 2, 24, 32), name="q"), "k": make((2, 2, n, 32), name="k"), "v": make((2, 2, n, 32), name="v")}


def pair(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> Case:
    return {name: make(shape, dtype, name=name) for name, shape in zip("ab", shapes, strict=True)}


floor_mod = pair((64, 64), (64, 64), dtype=torch.int32)
floor_mod["b"] = torch.where(floor_mod["b"] == 0, 3, floor_mod["b"])
complex_pair = pair((8, 33), (8, 33), dtype=torch.complex64)
halves = {"x": torch.arange(-100, 100) / 4.0}

TABLE: list[tuple[str, Callable[..., Any], Callable[..., Any], Case, str]] = [
    ("fla 1215: some elements of heads 0, 16, 24", some_of_three_heads, product, heads(), "CORE"),
    ("flash-attention-npu 216: parts of split KV not rescaled", splits_not_merged, attend, qkv(201), "WRONG_VALUE"),
    ("flash-attention-npu 216: nan in the last row", last_row_nan, attend, qkv(59), "SPECIAL_VALUE"),
    ("vllm-ascend 14033: rank clipped to the slice", rank_clipped, product, pair((16, 32), (32, 16)), "TAIL"),
    ("vllm-ascend 14033: columns cut off", lambda x, w: x @ w[:, :8], product, pair((16, 32), (32, 16)), "SHAPE"),
    ("tilelang-ascend 1764: C's division", lambda a, b: torch.div(a, b, rounding_mode="trunc"), lambda a, b: a // b, floor_mod, "WRONG_VALUE"),
    ("triton-ascend 2290: floor-mod adds b once too often", lambda a, b: torch.remainder(a, b) + b * ((b < 0) & (a > 0)), torch.remainder, floor_mod, "WRONG_VALUE"),
    ("vllm-ascend 10138: blocks beyond 65536 lost", grid_wraps, torch.exp, {"x": make((300, 300))}, "UNWRITTEN"),
    ("a launch that failed", launch_that_failed, torch.exp, {"x": make((64, 64))}, "UNWRITTEN"),
    ("KernelBench: input zeroed, zeros returned", zeroes_its_input, torch.exp, {"x": make((4, 16))}, "MUTATED_INPUT"),
    ("a write behind an input", writes_past_an_input, torch.exp, {"x": make((4, 9))}, "OUT_OF_BOUNDS"),
    ("imaginary part dropped", lambda a, b: torch.complex((a * b).real, torch.zeros(a.shape)), lambda a, b: a * b, complex_pair, "WRONG_VALUE"),
    ("bias of six times a published threshold", lambda x: torch.exp(x.float()).mul(1 + 6 * 2**-10).half(), torch.exp, {"x": make((64, 64), H)}, "PRECISION"),
    ("65000 becomes inf", lambda x: torch.where(x.abs() > 60000, x.sign() * math.inf, x), lambda x: x * 1, {"x": torch.tensor([65000.0, 1, 2, 3, -65000]).half()}, "SPECIAL_VALUE"),
    ("a cast that truncates", truncated_cast, lambda x: x.half(), {"x": make((40, 129))}, "BIAS"),
    ("a truncating cast of special values", truncated_cast, lambda x: x.half(), {"x": make((16, 64), recipe="special")}, "BIAS"),
    ("a cast that saturates", lambda x: x.half().clamp(-65504, 65504), lambda x: x.half(), {"x": make((16, 64)) * 3e4}, "SPECIAL_VALUE"),
    ("a copy that is off by one ulp", lambda x: x * (1 + 2**-23), lambda x: x.clone(), {"x": make((16, 64))}, "PRECISION"),
    ("half away from zero", away, torch.round, {"x": halves["x"] * 2}, "TIE"),
    ("half away from zero, to int8", lambda x: away(x / 0.5).to(torch.int8), lambda x: torch.round(x / 0.5).to(torch.int8), halves, "TIE"),
    ("quantisation that truncates", lambda x: torch.trunc(x / 0.1).to(torch.int8), lambda x: torch.round(x / 0.1).to(torch.int8), {"x": make((64, 64))}, "BIAS"),
    ("one-pass variance", one_pass_variance, lambda x: x.var(-1, correction=0), {"x": make((64, 256)) + 300}, "PRECISION"),
    ("float16 accumulator", float16_sum, product, pair((16, 512), (512, 16), dtype=H), "PRECISION"),
    ("TF32 that nobody asked for", tf32, product, pair((16, 512), (512, 16)), "PRECISION"),
    ("maximum not subtracted", lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True), softmax, {"x": make((16, 64)) * 60}, "SPECIAL_VALUE"),
    ("argmax of the first tile", lambda x: x[:, :64].argmax(-1), lambda x: x.argmax(-1), {"x": make((64, 200))}, "WRONG_VALUE"),
]


@pytest.mark.parametrize(("kernel", "golden", "case", "label"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_label(kernel: Callable[..., Any], golden: Callable[..., Any], case: Case, label: str) -> None:
    verdict = verify(kernel, golden, [case], repeats=3)
    assert verdict.status == "fail" and label in verdict.labels, str(verdict)


def first_size() -> Callable[..., Any]:
    seen: list[int] = []

    def kernel(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.shape[-1])
        return F.pad(softmax(x[..., : seen[0]]), (0, x.shape[-1] - min(seen[0], x.shape[-1])))

    return kernel


def first_scalar() -> Callable[..., Any]:
    seen: list[float] = []

    def kernel(x: torch.Tensor, eps: float) -> torch.Tensor:
        seen.append(eps)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + seen[0])

    return kernel


def by_shape() -> Callable[..., Any]:
    made: dict[Any, torch.Tensor] = {}
    return lambda x: made.setdefault(x.shape, torch.exp(x)).clone()


@pytest.mark.parametrize(
    ("kernel", "golden", "cases"),
    [
        (first_size(), softmax, [{"x": make((4, 16))}, {"x": make((4, 48))}]),  # pytorch 120801
        (first_scalar(), lambda x, eps: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps), [{"x": make((4, 16)), "eps": 1e-5}, {"x": make((4, 16)), "eps": 0.1}]),
        (by_shape(), torch.exp, [{"x": make((4, 16))}, {"x": make((4, 16), recipe="tail")}]),
    ],
    ids=["a size", "a scalar", "results by shape"],
)  # fmt: skip
def test_what_an_earlier_call_left(kernel: Callable[..., Any], golden: Callable[..., Any], cases: list[Case]) -> None:
    verdict = verify(kernel, golden, cases, repeats=2)
    assert verdict.status == "fail" and "STALE" in verdict.labels, str(verdict)


def test_results_kept_by_address_are_stale() -> None:  # rule SUB-BEH of cann-bench: caches keyed by data_ptr
    made: dict[int, torch.Tensor] = {}
    kept: list[torch.Tensor] = []

    def kernel(x: torch.Tensor) -> torch.Tensor:
        kept.append(x)  # so that no other input gets the address
        return made.setdefault(x.data_ptr(), torch.exp(x)).clone()

    verdict = verify(kernel, torch.exp, [{"x": make((8, 33))}], repeats=2)
    assert verdict.labels == ("STALE",), str(verdict)


def test_declared_relations_are_tried() -> None:
    case = {"x": make((8, 33))}
    assert verify(softmax, softmax, [case], repeats=2, relations={"shift": ["x"], "rows": ["x"], "permute": ["x"]}).passed
    over_rows = lambda x: softmax(x) + (x.shape[0] == 1) * 2**-10  # noqa: E731
    assert verify(over_rows, softmax, [case], repeats=2, relations={"rows": ["x"]}).labels == ("RELATION",)
    with pytest.raises(ParityError, match="shfit"):
        verify(softmax, softmax, [case], repeats=2, relations={"shfit": ["x"]})


def test_ties_that_float32_cannot_tell_may_go_either_way() -> None:
    def golden(x: torch.Tensor) -> torch.Tensor:
        return torch.round(x / (x.abs().amax(-1, keepdim=True) / 127)).to(torch.int8)

    x = make((40, 129), B)
    x[:, ::9] = x.abs().amax(-1, keepdim=True) / 2  # 63.5 steps
    kernel = lambda x: torch.round(x.float() * (1 / (x.float().abs().amax(-1, keepdim=True) / 127))).to(torch.int8)  # noqa: E731
    assert verify(kernel, golden, [{"x": x}], repeats=2).passed


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, H, B], ids=str)
def test_a_golden_that_ends_with_a_cast_says_the_dtype(dtype: torch.dtype) -> None:
    case = {"x": make((16, 64))}
    golden = lambda x: torch.tanh(x * 1.7).to(dtype)  # noqa: E731
    assert verify(golden, golden, [case], repeats=2).passed
    assert verify(lambda x: torch.tanh(x * 1.7), golden, [case], repeats=2).labels == ("DTYPE",)
