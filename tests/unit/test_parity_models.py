"""The models of honest arithmetic: composite functions taken apart mean the same as torch's, sums in order are really in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from ascendops.parity import inputs, verify
from ascendops.parity.decompose import DECOMPOSED
from ascendops.parity.golden import evaluate
from ascendops.parity.orders import InOrder
from ascendops.parity.sensitivity import truths

X, Y = (inputs.values((6, 16), torch.float64, "random", stream) for stream in (1, 2))
T = torch.arange(6) % 16
CALLS: dict[str, Callable[[], torch.Tensor]] = {
    "softmax": lambda: F.softmax(X, 0),
    "softmin": lambda: F.softmin(X, -1),
    "log_softmax": lambda: torch.log_softmax(X, -1),
    "logsumexp": lambda: torch.logsumexp(X, -1),
    "var": lambda: X.var(-1),
    "std": lambda: torch.std(X, -1, correction=0),
    "layer_norm": lambda: F.layer_norm(X, (16,), Y[0], Y[1]),
    "rms_norm": lambda: F.rms_norm(X, (16,), Y[0], 1e-6),
    "group_norm": lambda: F.group_norm(X[None, :, :], 3, Y[:, 0], Y[:, 1]),
    "gelu": lambda: F.gelu(X, approximate="tanh"),
    "silu": lambda: F.silu(X),
    "sigmoid": lambda: torch.sigmoid(X),
    "softplus": lambda: F.softplus(X),
    "cross_entropy": lambda: F.cross_entropy(X, T, ignore_index=3),
    "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(X[None], Y[None], X[None], is_causal=True),
    "linalg_vector_norm": lambda: torch.linalg.vector_norm(X, dim=-1),
    "norm": lambda: X.norm(dim=-1),
    "normalize": lambda: F.normalize(X, dim=-1),
    "cosine_similarity": lambda: F.cosine_similarity(X, Y, dim=-1),
    "mse_loss": lambda: F.mse_loss(X, Y),
    "binary_cross_entropy_with_logits": lambda: F.binary_cross_entropy_with_logits(X, Y.sigmoid(), reduction="sum"),
}


class Apart(torch.overrides.TorchFunctionMode):
    """Takes composite functions apart, and counts them."""

    count = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Runs the function or its parts."""
        parts = DECOMPOSED.get(getattr(func, "__name__", "").strip("_"))
        if parts is None:
            return func(*args, **(kwargs or {}))
        self.count += 1
        with self:
            return parts(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", DECOMPOSED)
def test_parts_mean_the_same_as_the_whole(name: str) -> None:
    with Apart() as apart:
        found = CALLS[name]()
    torch.testing.assert_close(found, CALLS[name](), rtol=1e-12, atol=1e-12)
    assert apart.count, f"torch does not call {name}"


def test_sums_in_order_add_one_after_the_other() -> None:
    x = torch.full((3, 5000), 0.1)
    running = np.float32(0)
    for term in x[0].numpy():
        running = np.float32(running + term)
    for golden in (lambda x: x.sum(-1), lambda x: x.sum((1,)), lambda x: x.mean(-1) * 5000, lambda x: x @ torch.ones(5000, 1, dtype=x.dtype), lambda x: x.cumsum(-1)[:, -1]):
        (found,) = evaluate(golden, {"x": x}, torch.float32, InOrder())
        assert found is not None and abs(float(found.flatten()[0]) - float(running)) <= 6.2e-05, golden
        assert float(found.flatten()[0]) != float(x[0].sum()), "torch adds pairwise"


def test_honest_sums_of_repeated_terms_pass() -> None:
    def kernel(x: torch.Tensor) -> torch.Tensor:
        powers = torch.exp(x - x.amax(-1, keepdim=True))
        return powers / torch.from_numpy(np.add.accumulate(powers.numpy(), axis=-1, dtype=np.float32)[:, -1:].copy())

    x = torch.round(inputs.values((5, 1000), torch.float32, "random", 3))
    assert verify(kernel, lambda x: F.softmax(x, -1), [{"x": x}], repeats=2).passed


def test_inputs_that_moved_alike_are_no_jump() -> None:
    x = inputs.values((33, 100), torch.float32, "random", 4)
    case = {"x": x, "m": x[5] * (1 + 2**-8), "v": inputs.values((100,), torch.float32, "positive", 5) / 16}

    def folded(x: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scale = torch.rsqrt(v + 1e-5)
        return (x.double() * scale.double() - (m * scale).double()).float()

    assert verify(folded, lambda x, m, v: (x - m) * torch.rsqrt(v + 1e-5), [case], repeats=2).passed


def test_only_sums_and_products_of_whole_numbers_are_exact() -> None:
    squares = {"x": torch.arange(1, 65).float().square()}
    assert verify(lambda x: x * torch.rsqrt(x), torch.sqrt, [squares], repeats=2).passed
    (truth,) = truths(lambda x: x * 3 + 1, squares)
    assert truth is not None and truth.exact
    (truth,) = truths(torch.sqrt, squares)
    assert truth is not None and not truth.exact


def test_copies_are_exact_unless_something_is_computed_unseen() -> None:
    case = {"x": inputs.values((8, 33), torch.float32, "random", 6)}
    (truth,) = truths(lambda x: x.T.contiguous().relu(), case)
    assert truth is not None and truth.exact
    unseen = lambda x: torch.from_dlpack(np.exp(np.from_dlpack(x)))  # noqa: E731
    (truth,) = truths(unseen, case)
    assert truth is not None and not truth.exact


@pytest.mark.parametrize("form", ["powers of 2", "logarithm of the sum first"])
def test_other_forms_of_softmax_pass_for_large_exponents(form: str) -> None:
    x = inputs.values((12, 100), torch.float32, "cancel", 7)

    def powers_of_2(x: torch.Tensor) -> torch.Tensor:
        powers = torch.exp2((x - x.amax(-1, keepdim=True)) * 1.4426950408889634)
        return powers / powers.sum(-1, keepdim=True)

    def lse_first(x: torch.Tensor) -> torch.Tensor:
        top = x.amax(-1, keepdim=True)
        return x - (top + torch.exp(x - top).sum(-1, keepdim=True).log())

    pair = (powers_of_2, lambda x: F.softmax(x, -1)) if form == "powers of 2" else (lse_first, lambda x: F.log_softmax(x, -1))
    assert verify(*pair, [{"x": x}], repeats=2).passed


def flush(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.abs() < 2.0**-126, torch.zeros_like(x), x)


def flushing_softmax(x: torch.Tensor) -> torch.Tensor:
    powers = flush(torch.exp(x - x.amax(-1, keepdim=True)))
    return flush(powers / powers.sum(-1, keepdim=True))


WIDE_ROWS = inputs.values((20, 130), torch.float32, "random", 8) * 20
SMALL = inputs.values((100,), torch.float32, "positive", 9) * 1e-38
FLUSHING: list[tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor], torch.Tensor]] = [
    (flushing_softmax, lambda x: F.softmax(x, -1), WIDE_ROWS),
    (lambda x: x * flush(1 / (1 + torch.exp(-x))), F.silu, torch.linspace(-95, -80, 1000)),
    (lambda x: flush(torch.exp(x)), torch.exp, torch.linspace(-105, -80, 1000)),
    (lambda x: torch.log(flush(x)), torch.log, SMALL),
    (lambda x: flush(flush(x) * 0.3), lambda x: x * 0.3, SMALL),
]


@pytest.mark.parametrize(("kernel", "golden", "x"), FLUSHING, ids=["softmax", "silu", "exp", "log", "mul"])
def test_arithmetic_may_flush_subnormal_numbers(kernel: Callable[..., torch.Tensor], golden: Callable[..., torch.Tensor], x: torch.Tensor) -> None:
    assert bool((kernel(x) != golden(x)).any()), "something is flushed"
    assert verify(kernel, golden, [{"x": x}], repeats=2).passed
    assert verify(lambda x: kernel(x.float()).bfloat16(), golden, [{"x": x.bfloat16()}], repeats=2).passed


def test_copies_may_not_flush_and_larger_numbers_may_not_vanish() -> None:
    assert not verify(lambda x: flush(x.abs()), torch.abs, [{"x": SMALL}], repeats=2).passed
    assert not verify(lambda x: torch.where(x < -60, 0, torch.exp(x)), torch.exp, [{"x": torch.linspace(-105, -50, 1000)}], repeats=2).passed
    assert not verify(torch.zeros_like, lambda x: F.softmax(x, -1), [{"x": WIDE_ROWS}], repeats=2).passed


def test_elements_that_moved_like_their_maximum_are_as_sensitive_as_their_row() -> None:
    scale = 1.4426950408889634
    x = inputs.values((200, 64), torch.float32, "cancel", 10)  # most of a row is so small that it shows no sensitivity

    def two_products(x: torch.Tensor) -> torch.Tensor:
        powers = torch.exp2(x * scale - x.amax(-1, keepdim=True) * scale)
        return powers / powers.sum(-1, keepdim=True)

    assert verify(two_products, lambda x: F.softmax(x, -1), [{"x": x}], repeats=2).passed


def test_outputs_of_mixed_inputs_may_have_the_dtype_of_either() -> None:
    case = {"x": inputs.values((33, 100), torch.bfloat16, "random", 11), "w": inputs.values((100,), torch.float32, "random", 12)}

    def scaled(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

    for dtype in (torch.bfloat16, torch.float32):
        verdict = verify(lambda x, w, dtype=dtype: scaled(x.float(), w).to(dtype), scaled, [case], repeats=2)
        assert verdict.passed and any("several float dtypes" in note for note in verdict.cases[0].notes) == (dtype == torch.bfloat16), str(verdict)
    assert verify(lambda x, w: scaled(x.float(), w).half(), scaled, [case], repeats=2).labels == ("DTYPE",)
    assert not verify(lambda x, w: scaled(x.float(), w.roll(1)).bfloat16(), scaled, [case], repeats=2).passed
    declared = lambda x, w: scaled(x, w).float()  # noqa: E731
    assert verify(lambda x, w: scaled(x.float(), w).bfloat16(), declared, [case], repeats=2).labels == ("DTYPE",)
    one = {"x": case["x"], "w": case["w"].bfloat16()}
    assert verify(lambda x, w: scaled(x.float(), w.float()), scaled, [one], repeats=2).labels == ("DTYPE",)


def test_a_reference_is_measured_with_the_bound_that_the_candidate_gets():
    """Both round in between to bfloat16; the reference was said to differ from the golden, the candidate not."""

    def rounding(x: torch.Tensor) -> torch.Tensor:
        e = (x - x.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    x = inputs.values((8, 64), torch.bfloat16, "random", 5) * 3
    (case,) = verify(rounding, lambda x: torch.softmax(x, -1), [{"x": x}], reference=rounding).cases
    assert case.status == "pass" and "intermediates rounded to bfloat16" in case.notes[0] and case.reference == ""
    (case,) = verify(rounding, lambda x: torch.softmax(x, -1), [{"x": x}], reference=lambda x: 2 * rounding(x)).cases
    assert case.status == "pass" and case.reference.startswith("the reference differs from the golden in 512 elements")
