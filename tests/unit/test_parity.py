"""verify(): honest results pass, wrong ones fail with the label of their bug."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from ascendops.errors import GoldenError, ParityError, TwinCheckError
from ascendops.parity import inputs, layouts, verify
from ascendops.parity.locality import locate

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
SHAPES = ((1, 1), (0, 5), (1, 4097))
RECIPES = ("random", "exact", "special", "tail", "negative", "wide")

OPS: dict[str, tuple[int, Callable[..., Any]]] = {
    "softmax": (1, lambda x: F.softmax(x, -1)),
    "gelu": (1, lambda x: F.gelu(x, approximate="tanh")),
    "exp": (1, torch.exp),
    "add": (2, lambda a, b: a + b),
    "sum": (1, lambda x: x.sum(-1)),
    "max": (1, lambda x: x.amax(-1)),
    "layer_norm": (1, lambda x: F.layer_norm(x, x.shape[-1:])),
}


def make(shape: tuple[int, ...], dtype: torch.dtype, recipe: str = "random", name: str = "x") -> torch.Tensor:
    return inputs.values(shape, dtype, recipe, inputs.key(7, name, recipe, dtype, shape))


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(*tensors: torch.Tensor) -> torch.Tensor:
        return function(*[x.float() for x in tensors]).to(tensors[0].dtype)

    return kernel


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_honest_kernels_pass(op: str, dtype: torch.dtype) -> None:
    count, golden = OPS[op]
    cases = [
        {f"x{i}": make(shape, dtype, recipe, f"x{i}") for i in range(count)} for shape in SHAPES for recipe in RECIPES
    ]
    verdict = verify(in_float32(golden), golden, cases, repeats=2)
    assert verdict.status == "pass", str(verdict)


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_views_are_inputs_like_any_other(layout: str) -> None:
    case = {"x": layouts.apply(make((8, 33), torch.float16), layout)}
    assert verify(in_float32(OPS["softmax"][1]), OPS["softmax"][1], [case], repeats=2).passed


def softmax(x: torch.Tensor) -> torch.Tensor:
    return F.softmax(x, -1)


def all_zeros(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x)


def tail_not_written(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.shape[-1] - max(1, x.shape[-1] // 100)
    out[:, :n] = F.softmax(x.float(), -1).to(x.dtype)[:, :n]
    return out


def tail_zero(x: torch.Tensor) -> torch.Tensor:
    out = F.softmax(x.float(), -1).to(x.dtype)
    out[:, -5:] = 0
    return out


def truncated(x: torch.Tensor) -> torch.Tensor:
    bits = F.softmax(x.float(), -1).view(torch.int32)
    return (bits >> 16).to(torch.int16).view(torch.bfloat16)


@pytest.mark.parametrize(("dtype", "n"), [(torch.float16, 1024), (torch.bfloat16, 128), (torch.float32, 131072)])
def test_zeros_never_pass_for_softmax(dtype: torch.dtype, n: int) -> None:
    verdict = verify(all_zeros, softmax, [{"x": make((2, n), dtype)}], repeats=1)
    assert verdict.status == "fail" and verdict.cases[0].failing > n, str(verdict)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unwritten_tail_is_named(dtype: torch.dtype) -> None:
    verdict = verify(tail_not_written, softmax, [{"x": make((4, 1000), dtype)}], repeats=2)
    assert verdict.status == "fail" and {"UNWRITTEN", "TAIL"} <= set(verdict.labels), str(verdict)
    assert "columns 990..999" in str(verdict) and "40 of 4000 elements of output 0 were never written" in str(verdict)


def test_truncating_cast_is_a_bias() -> None:
    verdict = verify(truncated, softmax, [{"x": make((16, 512), torch.bfloat16)}], repeats=1)
    assert verdict.labels == ("BIAS",), str(verdict)
    assert verdict.cases[0].failing == 0, "each element is within its bound"


def test_unbiased_variance_is_found() -> None:
    def golden(x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)

    def wrong(x: torch.Tensor) -> torch.Tensor:
        y = x.float()
        return ((y - y.mean(-1, keepdim=True)) * torch.rsqrt(y.var(-1, keepdim=True) + 1e-5)).to(x.dtype)

    for dtype in DTYPES:
        case = {"x": make((16, 256), dtype)}
        assert verify(in_float32(golden), golden, [case], repeats=1).passed
        assert not verify(wrong, golden, [case], repeats=1).passed, dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_float16_accumulation_is_found(dtype: torch.dtype) -> None:
    def wrong(x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(x.shape[0], dtype=torch.float16)
        for column in x.to(torch.float16).unbind(-1):
            total += column
        return total.to(x.dtype)

    verdict = verify(wrong, lambda x: x.sum(-1), [{"x": make((32, 1000), dtype, "positive")}], repeats=1)
    assert verdict.status == "fail" and verdict.cases[0].gate("G2").status != "pass", str(verdict)  # type: ignore[union-attr]


def shift(x: torch.Tensor) -> torch.Tensor:
    return torch.roll(torch.exp(x).flatten(), 1).reshape(x.shape)


def core_lost(x: torch.Tensor) -> torch.Tensor:
    out = torch.exp(x).flatten()
    out.view(-1, 64)[3::8] = 0
    return out.reshape(x.shape)


def block_lost(x: torch.Tensor) -> torch.Tensor:
    out = torch.exp(x).flatten()
    out[512:640] = 7
    return out.reshape(x.shape)


def nan_dropped(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(torch.nan_to_num(x, 0.0))


def doubled(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x) * 2


def imprecise(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x.half()).float()


@pytest.mark.parametrize(
    ("wrong", "recipe", "label"),
    [
        (shift, "random", "SHIFT"),
        (core_lost, "random", "CORE"),
        (block_lost, "random", "BLOCK"),
        (nan_dropped, "special", "SPECIAL_VALUE"),
        (doubled, "random", "WRONG_VALUE"),
        (imprecise, "random", "PRECISION"),
    ],
)
def test_labels(wrong: Callable[..., Any], recipe: str, label: str) -> None:
    verdict = verify(wrong, torch.exp, [{"x": make((32, 128), torch.float32, recipe)}], repeats=1)
    assert verdict.status == "fail" and label in verdict.labels, str(verdict)


def test_places_in_words() -> None:
    def place(mask: torch.Tensor) -> tuple[str | None, str]:
        found = locate(mask)
        return found.label, found.text

    mask = torch.zeros(4, 1000, dtype=torch.bool)
    assert place(mask) == (None, "")
    ends = mask.clone()
    ends[1:, 127::128] = True
    ends[1:, -1] = True  # the last tile is shorter
    assert place(ends) == ("TAIL", "all are the last column of every tile of 128")
    rows = mask.clone()
    rows[2:] = True
    assert place(rows) == ("TAIL", "all are in the last 2 rows (2..3 of 4)")
    rows = torch.zeros(64, 40, dtype=torch.bool)
    rows[5::16] = True
    assert place(rows) == ("CORE", "all are in 4 blocks of 1 row, one every 16 from row 5")
    flat = torch.zeros(1000, dtype=torch.bool)
    flat[-30:] = True
    assert place(flat) == ("TAIL", "all are in the last 30 elements (970..999 of 1000)")
    flat[:] = False
    flat[7] = True
    assert place(flat) == (None, "only element 7 of 1000")
    assert place(~flat) == (None, "too many to lie in one place")


def test_row_stride_labels() -> None:
    def reads_storage(x: torch.Tensor) -> torch.Tensor:
        return F.softmax(x.as_strided(x.shape, (x.shape[1], 1)), -1)

    def reads_aligned(x: torch.Tensor) -> torch.Tensor:
        flat = torch.cat([x.flatten(), x.new_zeros(8 * x.shape[0])])
        return F.softmax(flat.as_strided(x.shape, (128, 1)), -1)

    sliced = {"x": layouts.apply(make((16, 96), torch.float32), "sliced")}
    assert verify(reads_storage, softmax, [sliced], repeats=1).labels[0] == "ROW_STRIDE"
    odd = {"x": make((8, 123), torch.float32)}
    assert verify(reads_aligned, softmax, [odd], repeats=1).labels[0] == "ROW_STRIDE"


def test_cancellation_and_ties() -> None:
    def variance(x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(-1, keepdim=True)).square().mean(-1)

    def naive(x: torch.Tensor) -> torch.Tensor:
        return x.square().mean(-1) - x.mean(-1).square()

    x = make((64, 256), torch.float32)
    x[::4] = x[::4] * 1e-3 + 300  # rows whose variance is small against their mean
    assert "CANCELLATION" in verify(naive, variance, [{"x": x}], repeats=1).labels
    halves = torch.arange(-40, 40, dtype=torch.float32).reshape(4, 20) / 2
    assert verify(torch.round, torch.round, [{"x": halves}], repeats=1).passed
    away = lambda x: torch.sign(x) * torch.floor(x.abs() + 0.5)  # noqa: E731
    assert verify(away, torch.round, [{"x": halves}], repeats=1).labels == ("TIE",)


def test_structure_is_exact() -> None:
    x = make((4, 8), torch.float32)

    def judge(candidate: Callable[..., Any], golden: Callable[..., Any] = torch.exp) -> tuple[str, ...]:
        verdict = verify(candidate, golden, [{"x": x}], repeats=1)
        assert verdict.status == "fail"
        return verdict.labels

    assert judge(lambda x: torch.exp(x).flatten()) == ("SHAPE",)
    assert judge(lambda x: torch.exp(x)[:, :4]) == ("SHAPE",)
    assert judge(lambda x: (torch.exp(x), x.sum())) == ("SHAPE",)
    assert judge(lambda x: torch.exp(x).double()) == ("DTYPE",)
    assert judge(lambda x: x.exp_()) == ("MUTATED_INPUT", "ALIAS")
    assert judge(lambda x: x, lambda x: x * 1) == ("ALIAS",)
    assert judge(lambda x: None) == ("SHAPE",)
    assert judge(lambda x: "text") == ("EXCEPTION",)
    assert verify(lambda x: x.exp_(), torch.exp, [{"x": x}], mutates=["x"], repeats=1).passed


def test_out_buffers_are_poisoned_and_guarded() -> None:
    x = make((4, 9), torch.float16)

    def honest(x: torch.Tensor, *, out: torch.Tensor) -> None:
        out.copy_(torch.exp(x.float()))

    def skips_last(x: torch.Tensor, *, out: torch.Tensor) -> None:
        out[:, :-1].copy_(torch.exp(x.float())[:, :-1])

    def writes_past(x: torch.Tensor, *, out: torch.Tensor) -> None:
        honest(x, out=out)
        out.as_strided((40,), (1,))[36:] = 0

    assert verify(honest, torch.exp, [{"x": x}]).passed
    assert "UNWRITTEN" in verify(skips_last, torch.exp, [{"x": x}]).labels
    assert verify(writes_past, torch.exp, [{"x": x}]).labels == ("OUT_OF_BOUNDS",)


def test_integers_are_compared_bit_for_bit() -> None:
    a, b = make((7, 33), torch.int32, "special", "a"), make((7, 33), torch.int32, "special", "b")
    golden = lambda a, b: a.long() + b.long()  # noqa: E731
    assert verify(lambda a, b: a + b, golden, [{"a": a, "b": b}], repeats=2).passed
    wrong = verify(lambda a, b: (a.float() + b.float()).int(), golden, [{"a": a, "b": b}], repeats=1)
    assert wrong.status == "fail" and "WRONG_VALUE" in wrong.labels
    exact = verify(lambda a, b: (a + b).bool(), lambda a, b: (a + b) != 0, [{"a": a, "b": b}], repeats=1)
    assert exact.passed


def test_exact_inputs_allow_no_error() -> None:
    case = {"x": make((16, 64), torch.float32, "exact")}
    assert verify(lambda x: x * 3, lambda x: x * 3, [case], repeats=1).passed
    verdict = verify(lambda x: x * 3 * (1 + 2**-23), lambda x: x * 3, [case], repeats=1)
    assert verdict.status == "fail" and "exact integer" in str(verdict)


def test_nondeterminism_and_stale_state() -> None:
    calls = []

    def unstable(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        out = torch.exp(x)
        out[0, 0] *= 1 + 2**-22 * (len(calls) % 3)
        return out

    verdict = verify(unstable, torch.exp, [{"x": make((4, 8), torch.float32)}])
    assert verdict.labels == ("NONDETERMINISTIC",), str(verdict)
    assert verify(unstable, torch.exp, [{"x": make((4, 8), torch.float32)}], deterministic=False).passed
    cache: dict[str, torch.Tensor] = {}

    def cached(x: torch.Tensor) -> torch.Tensor:
        if "y" not in cache:
            cache["y"] = torch.exp(x)
        return cache["y"].clone()

    two = [{"x": make((4, 8), torch.float32)}, {"x": make((4, 8), torch.float32, "positive")}]
    assert verify(cached, torch.exp, two, repeats=1).labels == ("STALE",)


def test_pass_by_reference_needs_a_credible_reference() -> None:
    def rough(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x.float() * (1 + 3e-6))

    case = {"x": make((16, 64), torch.float32)}
    alone = verify(rough, torch.exp, [case], repeats=1)
    assert alone.status == "fail"
    beside = verify(rough, torch.exp, [case], reference=rough, repeats=1)
    assert beside.status == "pass_by_reference" and beside.passed, str(beside)
    garbage = verify(all_zeros, torch.exp, [case], reference=all_zeros, repeats=1)
    assert garbage.status == "fail", "a wrong reference does not make a wrong candidate right"
    better = verify(all_zeros, torch.exp, [case], reference=torch.exp, repeats=1)
    assert "the reference agrees with the golden" in str(better)


def test_scalars_go_where_the_signature_wants_them() -> None:
    x = make((4, 8), torch.float32)
    case = {"x": x, "dim": 0, "scale": 2.0}
    golden = lambda x, dim, scale: x.sum(dim) * scale  # noqa: E731
    assert verify(lambda x, *, dim, scale: x.sum(dim) * scale, golden, [case], repeats=1).passed
    assert verify(
        lambda *tensors, **attrs: tensors[0].sum(attrs["dim"]) * attrs["scale"], golden, [case], repeats=1
    ).passed


def test_operators_write_into_poisoned_buffers() -> None:
    class Operator:
        """What verify sees of an Operator."""

        name, definition = "exp", object()

        def run(self, x: torch.Tensor, *, out: torch.Tensor, factor: float) -> Any:
            out[:, :-1].copy_(torch.exp(x)[:, :-1] * factor)
            if factor > 2:
                raise TwinCheckError("a fault", help="look")
            return SimpleNamespace(outputs=(out,))

    golden = lambda x, factor: torch.exp(x) * factor  # noqa: E731
    case = {"x": make((4, 8), torch.float32), "factor": 2.0}
    assert {"UNWRITTEN", "TAIL"} <= set(verify(Operator(), golden, [case]).labels)  # type: ignore[arg-type]
    assert verify(Operator(), golden, [{**case, "factor": 3.0}]).labels == ("FINDING",)  # type: ignore[arg-type]


def test_isolated_crashes_are_verdicts() -> None:
    cases = [{"x": make((2, 3), torch.float32)}, {"x": make((2, 4), torch.float32)}, {"x": make((2, 3), torch.float32)}]
    verdict = verify("tests.unit.parity_candidates:crashes_on_four_columns", torch.exp, cases, repeats=2, isolate=True)
    assert [case.status for case in verdict.cases] == ["pass", "crash", "pass"], str(verdict)
    assert verdict.status == "crash" and verdict.labels == ("CRASH",) and "SIGSEGV" in verdict.cases[1].error
    hang = verify("tests.unit.parity_candidates:hangs", torch.exp, cases[:1], isolate=True, timeout_s=3)
    assert hang.labels == ("HANG",) and hang.status == "crash"
    with pytest.raises(ParityError, match="worker can import"):
        verify(lambda x: x, torch.exp, cases, isolate=True)


def test_verdict_is_plain_data() -> None:
    import json

    verdict = verify(all_zeros, torch.exp, [{"x": make((4, 8), torch.float32, "special")}], repeats=1)
    data = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert data["rules"] == "ascendops-parity/1" and data["cases"][0]["worst"]["index"]
    assert "cases[0:1]" in data["cases"][0]["repro"]


def test_what_the_golden_refuses_for_lack_of_elements_is_refused_by_the_candidate_too() -> None:
    cases = [{"x": make((3, 4), torch.float32)}, {"x": make((3, 0), torch.float32)}]
    largest = lambda x: x.amax(-1)  # noqa: E731
    verdict = verify(largest, largest, cases, repeats=1)
    assert verdict.status == "pass" and "both refuse" in verdict.cases[1].notes[0]
    with pytest.raises(GoldenError, match="the inputs are empty, but the candidate computes something for them"):
        verify(lambda x: x.amax(-1) if x.numel() else x.new_zeros(3), largest, cases, repeats=1)
    with pytest.raises(GoldenError, match="non-zero size"):  # a candidate that cannot be asked without buffers refuses nothing
        verify(lambda x, *, out: torch.amax(x, -1, out=out), largest, cases, repeats=1)
    with pytest.raises(GoldenError, match="ZeroDivisionError"):  # with elements, the golden must say what they give
        verify(lambda x: x * (1 // 0), lambda x: x * (1 // 0), cases[:1], repeats=1)


def test_what_nothing_writes_for_lack_of_elements_is_unwritten() -> None:
    def rows(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        return torch.sum(x, -1, out=out) if x.numel() else out

    verdict = verify(rows, lambda x: x.sum(-1), [{"x": make((4, 0), torch.float32)}], repeats=1)
    assert verdict.status == "fail" and "UNWRITTEN" in verdict.labels


def test_errors_say_who_is_at_fault() -> None:
    case = {"x": make((2, 2), torch.float32)}
    with pytest.raises(GoldenError, match="ZeroDivisionError"):
        verify(torch.exp, lambda x: x * (1 // 0), [case])
    with pytest.raises(ParityError, match="no cases"):
        verify(torch.exp, torch.exp, [])
    with pytest.raises(ParityError, match="reference must be callable or a bundle"):
        verify(torch.exp, torch.exp, [case], reference=3)  # type: ignore[arg-type]
    with pytest.raises(ParityError, match="level 'L9'"):
        verify(torch.exp, torch.exp, [case], level="L9")
    with pytest.raises(ParityError, match="cannot be imported"):
        verify("no.module:f", torch.exp, [case])


def test_a_wrong_candidate_that_only_changes_the_sign_of_zero_is_no_wrong_candidate() -> None:
    from ascendops.parity.truth import Truth
    from ascendops.parity.wrong import wrong_candidates

    zeros = torch.tensor([0.0, -0.0, -0.0, 0.0])
    truth = Truth(zeros.double(), torch.float32, torch.zeros(4, dtype=torch.float64))
    found = {wrong.name: wrong for wrong in wrong_candidates([zeros], [truth])}
    assert all(wrong.equivalent for wrong in found.values()), found
    ones = torch.ones(4)
    truth = Truth(ones.double(), torch.float32, torch.zeros(4, dtype=torch.float64))
    assert any(wrong.rejected for wrong in wrong_candidates([ones], [truth]))


def test_a_fresh_process_tells_stale_state_from_a_wrong_kernel() -> None:
    cases = [{"x": make((3, 8), torch.float32)}, {"x": make((5, 8), torch.float32)}]
    verdict = verify("tests.unit.parity_candidates:specialised_once", torch.exp, cases, repeats=1, isolate=True)
    assert [case.passed for case in verdict.cases] == [True, False] and verdict.labels[0] == "STALE", str(verdict)
    assert "passes alone in a fresh process" in str(verdict)


def test_memory_that_does_not_suffice_has_its_label() -> None:
    def greedy(x: torch.Tensor) -> torch.Tensor:
        return x + torch.empty(1 << 50)[0]

    case = {"x": make((2, 3), torch.float32)}
    verdict = verify(greedy, torch.exp, [case])
    assert verdict.labels == ("OUT_OF_MEMORY",) and verdict.status == "crash"
    verdict = verify("tests.unit.parity_candidates:killed_by_the_system", torch.exp, [case], isolate=True)
    assert verdict.labels == ("OUT_OF_MEMORY",) and "SIGKILL" in verdict.cases[0].error
