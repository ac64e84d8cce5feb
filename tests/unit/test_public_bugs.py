"""Faults of public reports, planted into right outputs: verify must reject them and say what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from ascendops.parity import inputs, layouts, verify

Cases = list[dict[str, Any]]


def make(shape: tuple[int, ...], dtype: torch.dtype, recipe: str = "random", name: str = "x") -> torch.Tensor:
    return inputs.values(shape, dtype, recipe, inputs.key(3, name, recipe, dtype, shape))


def judge(candidate: Callable[..., Any], golden: Callable[..., Any], cases: Cases, **options: Any) -> tuple[str, ...]:
    verdict = verify(candidate, golden, cases, repeats=2, **options)
    assert verdict.status == "fail", str(verdict)
    return verdict.labels


def dot_bias(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return a @ b + bias


def test_bias_lost_in_the_first_rows_of_every_tile() -> None:  # triton-ascend 1863
    def kernel(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        out = a.float() @ b.float()
        keep = torch.arange(len(out)) % 32 >= 4
        return (out + bias.float() * keep[:, None]).to(a.dtype)

    case = {
        "a": make((128, 256), torch.bfloat16, name="a"),
        "b": make((256, 64), torch.bfloat16, name="b"),
        "bias": make((64,), torch.bfloat16, "wide", "c") * 64,
    }
    case["bias"] = make((64,), torch.bfloat16, "positive", "c") * 512
    assert "CORE" in judge(kernel, dot_bias, [case])


def test_garbage_on_three_cores() -> None:  # fla 1215
    def kernel(x: torch.Tensor) -> torch.Tensor:
        out = F.softmax(x.float(), -1)
        out[:, [0, 16, 24]] = 3.4e38
        return out.to(x.dtype)

    labels = judge(kernel, lambda x: F.softmax(x, -1), [{"x": make((1, 32, 16, 64), torch.bfloat16)}])
    assert {"CORE", "SPECIAL_VALUE"} & set(labels) and "CORE" in labels, labels


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_floor_division_of_negatives(dtype: torch.dtype) -> None:  # triton-ascend 2290, tilelang-ascend 1764
    a, b = make((64, 64), dtype, name="a"), make((64, 64), dtype, "positive", "b")
    b[::2] = -b[::2]
    pair = [{"a": a, "b": b}]
    assert judge(lambda a, b: torch.div(a, b, rounding_mode="trunc"), lambda a, b: a // b, pair)
    assert judge(torch.fmod, lambda a, b: a % b, pair)
    assert verify(lambda a, b: a // b, lambda a, b: torch.div(a, b, rounding_mode="floor"), pair, repeats=2).passed


def test_sixteen_bit_scalar_argument() -> None:  # triton-ascend 2364
    def kernel(x: torch.Tensor, scale: float) -> torch.Tensor:
        bits = torch.tensor([scale], dtype=torch.float16).view(torch.int16).int()
        return x * bits.view(torch.float32)

    assert judge(kernel, lambda x, scale: x * scale, [{"x": make((16, 64), torch.float32), "scale": 1.5}]) == (
        "WRONG_VALUE",
    )


def test_sign_of_negative_zero() -> None:  # triton-ascend 1632
    y = torch.tensor([-0.0, -0.0, 0.0, 1.0, -2.0, 3.0, -1.0, 2.0])
    x = torch.tensor([-1.0, 1.0, -1.0, 1.0, 2.0, -3.0, -1.0, 0.5])
    case = [{"y": y, "x": x}]
    assert judge(lambda y, x: torch.atan2(y + 0.0, x), torch.atan2, case)[0] == "SPECIAL_VALUE"
    only = [{"y": torch.tensor([-0.0, -0.0, 0.5, 2.0]), "x": torch.tensor([1.0, 2.0, 1.0, 1.0])}]
    assert judge(lambda y, x: torch.atan2(y + 0.0, x), torch.atan2, only)[0] == "SPECIAL_VALUE"
    assert verify(torch.atan2, torch.atan2, [*case, *only], repeats=2).passed
    assert verify(
        lambda a, b: (a @ b) + 0.0, lambda a, b: a @ b, [{"a": -torch.zeros(4, 4), "b": torch.ones(4, 4)}], repeats=2
    ).passed


def test_floor_of_a_rounded_cosine() -> None:  # triton-ascend 1202
    x = torch.full((64,), -0.00034680962562561035)
    x[1::2] = torch.linspace(0.1, 3, 32)

    def kernel(x: torch.Tensor) -> torch.Tensor:
        cosine = torch.cos(x)
        cosine[(x.abs() < 4e-4)] = 1.0
        return torch.floor(cosine)

    verdict = verify(kernel, lambda x: torch.floor(torch.cos(x)), [{"x": x}], repeats=2)
    assert verdict.labels == ("TIE", "DISCONTINUITY") and "inner error of at most 1 ulp" in str(verdict), str(verdict)
    assert verify(
        lambda x: torch.floor(torch.cos(x)), lambda x: torch.floor(torch.cos(x)), [{"x": x}], repeats=2
    ).passed


def test_views_read_as_if_contiguous() -> None:  # vllm-ascend 2355
    view = layouts.apply(make((3, 128, 40), torch.float16), "sliced")
    assert (
        judge(
            lambda x: torch.exp(x.as_strided(x.shape, (128 * 40, 40, 1)).float()).to(x.dtype), torch.exp, [{"x": view}]
        )[0]
        == "ROW_STRIDE"
    )


def test_rotation_that_does_not_keep_norms() -> None:  # vllm-ascend 12723
    def rope(x: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    def kernel(x: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        out = rope(x.float(), c.float(), s.float())
        out[:, 128:160] = x[:, 128:160].float()
        return out.to(x.dtype)

    angle = torch.arange(40)[:, None] * torch.exp(-torch.arange(96) / 20)[None]
    case = [{"x": make((40, 192), torch.bfloat16), "c": angle.cos().bfloat16(), "s": angle.sin().bfloat16()}]
    assert "BLOCK" in judge(kernel, rope, case)


def test_a_grid_that_is_too_large_does_nothing() -> None:  # vllm-ascend 10138, triton 7260
    def kernel(x: torch.Tensor, *, out: torch.Tensor) -> None:
        if x.numel() < 1 << 15:
            out.copy_(torch.exp(x))

    small, large = {"x": make((4, 64), torch.float32)}, {"x": make((256, 256), torch.float32)}
    verdict = verify(kernel, torch.exp, [small, large], repeats=2)
    assert [case.passed for case in verdict.cases] == [True, False] and "UNWRITTEN" in verdict.labels


def test_nan_in_a_running_maximum() -> None:  # FlagGems 758
    golden = lambda x: torch.cummax(x, -1).values  # noqa: E731
    kernel = lambda x: torch.cummax(torch.nan_to_num(x, -1e30), -1).values  # noqa: E731
    assert "SPECIAL_VALUE" in judge(kernel, golden, [{"x": make((16, 33), torch.float32, "special")}])


def test_nan_where_the_golden_is_finite() -> None:  # flash-attention-npu 216
    def kernel(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = torch.exp(((q.half() @ k.half().mT) * 40).half())
        return (scores / scores.sum(-1, keepdim=True)).to(q.dtype) @ v

    golden = lambda q, k, v: F.softmax(q @ k.mT * 40, -1) @ v  # noqa: E731
    case = {name: make((2, 16, 32), torch.float16, name=name) for name in "qkv"}
    assert "SPECIAL_VALUE" in judge(kernel, golden, [case])


def test_a_specialisation_that_is_not_renewed() -> None:  # facebookexperimental/triton 2869, pytorch 120801
    seen: list[int] = []

    def kernel(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.shape[0])
        out = torch.zeros_like(x)
        out[: seen[0]] = torch.exp(x[: seen[0]])
        return out

    labels = judge(kernel, torch.exp, [{"x": make((32,), torch.float32)}, {"x": make((1024,), torch.float32)}])
    assert "STALE" in labels, labels


def test_indices_of_equal_values_are_as_right() -> None:
    x = make((16, 40), torch.float32, "exact")
    last = lambda x: x.shape[-1] - 1 - x.flip(-1).argmax(-1)  # noqa: E731
    assert verify(last, lambda x: x.argmax(-1), [{"x": x}], repeats=2).passed
    assert judge(lambda x: x.argmin(-1), lambda x: x.argmax(-1), [{"x": x}])
    ordered = lambda x: torch.sort(x, dim=-1, descending=True, stable=True)  # noqa: E731
    flipped = lambda x: (ordered(x).values[:, :5], ordered(x).indices[:, :5])  # noqa: E731
    top = lambda x: tuple(x.topk(5, -1))  # noqa: E731
    assert verify(flipped, top, [{"x": x}], repeats=2).passed
    twice = lambda x: (x.topk(5, -1).values, x.topk(1, -1).indices.expand(16, 5).contiguous())  # noqa: E731
    assert judge(twice, top, [{"x": x}])


def test_quantisation_may_differ_next_to_ties_only() -> None:
    x = make((64, 65), torch.float32)
    x[0, :8] = torch.tensor([0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75])
    golden = lambda x: torch.clamp(torch.round(x / 0.1), -128, 127).to(torch.int8)  # noqa: E731
    assert verify(
        lambda x: torch.clamp(torch.round(x * 10.0), -128, 127).to(torch.int8), golden, [{"x": x}], repeats=2
    ).passed
    assert judge(lambda x: torch.clamp(torch.trunc(x / 0.1), -128, 127).to(torch.int8), golden, [{"x": x}])
    half = {"x": torch.arange(-64, 64).float() * 0.25}
    rule = lambda x: torch.round(x * 2).to(torch.int8)  # noqa: E731
    away = lambda x: (torch.sign(x) * torch.floor((x * 2).abs() + 0.5)).to(torch.int8)  # noqa: E731
    assert judge(away, rule, [half])


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_eight_bit_floats_may_be_one_code_off(dtype: torch.dtype) -> None:
    x = make((16, 64), torch.float32)
    case = [{"x": x.to(dtype)}]
    silu = lambda x: F.silu(x.float()).to(x.dtype) if x.dtype == dtype else F.silu(x)  # noqa: E731
    assert verify(silu, F.silu, case, repeats=2).passed
    assert judge(lambda x: (F.silu(x.float()) * 1.4).to(dtype), F.silu, case)
    moved = lambda x: x.float().mul(1.13).to(dtype)  # noqa: E731
    assert judge(moved, lambda x: x.clone(), case)


def test_standards_are_reported_beside_our_verdict() -> None:
    case = {"x": make((4, 1024), torch.float16) / 8}
    verdict = verify(torch.zeros_like, lambda x: F.softmax(x, -1), [case], repeats=1)
    (result,) = verdict.cases
    assert result.standards["cann-eco-2026"] == "pass" and result.standards["cann-eco-2025"] == "fail"
    assert any("cann-eco-2026 accepts what fails here" in line for line in result.why_standards)
    honest = verify(lambda x: F.softmax(x.float(), -1).half(), lambda x: F.softmax(x, -1), [case], repeats=1)
    assert honest.passed and honest.cases[0].standards["torch-default"] == "pass"
