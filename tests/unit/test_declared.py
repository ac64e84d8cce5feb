"""What op.toml or verify's arguments declare about an operator: TF32 and HF32 products, random outputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from ascendops.errors import BadValue, ParityError
from ascendops.parity import inputs, verify
from ascendops.parity.operands import COMPUTE
from ascendops.render import new_project
from ascendops.spec import load
from ascendops.spec.random import parse

Function = Callable[..., Any]
KINDS = ("random", "tail", "positive", "exact", "outlier")


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def attend(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(a, b, c)


def cut(x: torch.Tensor, dropped: int, nearest: bool) -> torch.Tensor:
    bits = x.contiguous().view(torch.int32) + (nearest << dropped - 1)
    return (bits & ~((1 << dropped) - 1)).view(torch.float32)


def rounding(bits: int, nearest: bool) -> Function:
    return lambda a, b: cut(a, 23 - bits, nearest) @ cut(b, 23 - bits, nearest)


def attend_rounding(bits: int) -> Function:
    def kernel(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        multiply = rounding(bits, True)
        return multiply(F.softmax(multiply(a, b.mT) * a.shape[-1] ** -0.5, -1), c)

    return kernel


def matrices(*kinds: str) -> list[dict[str, torch.Tensor]]:
    shapes = {"a": (64, 257), "b": (257, 40)}
    return [{name: inputs.values(shape, torch.float32, kind if name == "a" else "random", inputs.key(3, kind, name)) for name, shape in shapes.items()} for kind in kinds]


def heads() -> list[dict[str, torch.Tensor]]:
    return [{name: inputs.values((2, 3, 48, 32), torch.float32, "random", inputs.key(4, name)) for name in "abc"}]


@pytest.mark.parametrize("nearest", [True, False], ids=["nearest", "towards zero"])
@pytest.mark.parametrize("compute", ["tf32", "hf32"])
def test_declared_operand_rounding_passes_and_undeclared_fails(compute: str, nearest: bool) -> None:
    kernel, cases = rounding(COMPUTE[compute], nearest), matrices(*KINDS)
    declared = verify(kernel, product, cases, repeats=2, compute=compute)
    assert declared.passed, str(declared)
    assert any(compute in note for case in declared.cases for note in case.notes)
    undeclared = verify(kernel, product, cases, repeats=2)
    assert not any(case.passed for case in undeclared.cases) and undeclared.labels == ("PRECISION",), str(undeclared)


@pytest.mark.parametrize(
    "kernel",
    [rounding(7, True), lambda a, b: rounding(10, True)(a[:, :-1], b[:-1]), lambda a, b: rounding(10, True)(a, b) * 1.01],
    ids=["bfloat16 operands", "the last product lost", "one per cent too large"],
)
def test_declared_tf32_excuses_nothing_else(kernel: Function) -> None:
    verdict = verify(kernel, product, matrices(*KINDS), repeats=2, compute="tf32")
    assert not any(case.passed for case in verdict.cases), str(verdict)
    assert "STALE" not in verdict.labels


def test_float32_products_pass_whatever_is_declared() -> None:
    for compute in COMPUTE:
        assert verify(product, product, matrices("random", "exact"), repeats=2, compute=compute).passed


def test_declared_operand_rounding_inside_of_attention() -> None:
    assert verify(attend_rounding(11), attend, heads(), repeats=2, compute="hf32").passed
    assert not verify(attend_rounding(11), attend, heads(), repeats=2).passed
    assert not verify(attend_rounding(7), attend, heads(), repeats=2, compute="hf32").passed


def test_sums_are_exact_only_if_the_declared_operands_can_hold_the_numbers() -> None:
    a = torch.arange(1, 65).reshape(8, 8).float() * 33  # up to 12 bits
    case = [{"a": a, "b": torch.eye(8) * 2}]
    assert not verify(rounding(10, True), product, case, repeats=2).passed
    assert verify(rounding(10, True), product, case, repeats=2, compute="tf32").passed
    few = [{"a": torch.arange(64).reshape(8, 8).float(), "b": torch.eye(8) * 2}]
    assert not verify(lambda a, b: a @ b * (1 + 2**-20), product, few, repeats=2, compute="tf32").passed, "these numbers stay exact"


def test_unknown_compute_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParityError, match="tf3"):
        verify(product, product, matrices("random"), compute="tf3")
    new_project("matmul_custom", tmp_path / "m")
    file = tmp_path / "m" / "op.toml"
    text = file.read_text()
    file.write_text(text.replace("edition = 1", 'edition = 1\ncompute = "hf32"'))
    assert load(file).compute == "hf32"
    file.write_text(text.replace("edition = 1", 'edition = 1\ncompute = "fp19"'))
    with pytest.raises(BadValue, match="fp19"):
        load(file)


SHAPE = torch.empty(40, 129)


def like(x: torch.Tensor, **_: Any) -> torch.Tensor:
    return torch.zeros_like(x)


def drawn(make: Function) -> Function:
    """A kernel that draws from a generator seeded by its scalar."""

    def kernel(x: torch.Tensor, *, seed: int, p: float) -> torch.Tensor:
        result: torch.Tensor = make(x.shape, torch.Generator().manual_seed(seed), p)
        return result.to(x.dtype)

    return kernel


def uniform(shape: Any, generator: torch.Generator, _: float) -> torch.Tensor:
    return torch.rand(shape, generator=generator)


def two_cores(shape: Any, generator: torch.Generator, p: float) -> torch.Tensor:
    half = uniform((shape[0] // 2, *shape[1:]), generator, p)
    return torch.cat([half, half])


def one_bad_call(shape: Any, generator: torch.Generator, p: float) -> torch.Tensor:
    bad = generator.initial_seed() == 13
    return uniform(shape, generator, p) * (0.93 if bad else 1.0)


HONEST: list[tuple[str, str, Function]] = [
    ("uniform", "uniform(0, 1)", uniform),
    ("normal", "normal(1, 2)", lambda s, g, p: torch.randn(s, generator=g) * 2 + 1),
    ("exponential", "exponential(3)", lambda s, g, p: -torch.log1p(-torch.rand(s, generator=g, dtype=torch.float64)) / 3),
    ("keep", "bernoulli(1 - p)", lambda s, g, p: torch.rand(s, generator=g) >= p),
    ("dice", "integers(1, 7)", lambda s, g, p: torch.randint(1, 7, s, generator=g)),
]
WRONG: list[tuple[str, str, Function]] = [
    ("a larger mean", "normal(0, 1)", lambda s, g, p: torch.randn(s, generator=g) + 0.03),
    ("a smaller deviation", "normal(0, 1)", lambda s, g, p: torch.randn(s, generator=g) * 0.95),
    ("outside", "uniform(0, 1)", lambda s, g, p: torch.rand(s, generator=g) * 1.001),
    ("drop for keep", "bernoulli(1 - p)", lambda s, g, p: torch.rand(s, generator=g) < p),
    ("loaded dice", "integers(1, 7)", lambda s, g, p: torch.randint(1, 61, s, generator=g).clamp(max=59) % 6 + 1),
    ("two cores with one stream", "uniform(0, 1)", two_cores),
    ("the seed is ignored", "uniform(0, 1)", lambda s, g, p: torch.rand(s, generator=torch.Generator().manual_seed(1))),
    ("one bad seed of eight", "uniform(0, 1)", one_bad_call),
    ("each number twice", "uniform(0, 1)", lambda s, g, p: torch.rand(s, generator=g).flatten()[::2].repeat_interleave(2)[: s.numel()].reshape(s) if s.numel() % 2 == 0 else torch.rand(s)),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("distribution", "make"), [row[1:] for row in HONEST], ids=[row[0] for row in HONEST])
def test_random_outputs_of_the_declared_distribution_pass(distribution: str, make: Function, dtype: torch.dtype) -> None:
    case = {"x": SHAPE.to(dtype), "seed": 5, "p": 0.3}
    verdict = verify(drawn(make), like, [case], repeats=2, distributions=[distribution])
    assert verdict.passed, str(verdict)
    gate = next(gate for gate in verdict.cases[0].gates if gate.name == "distribution")
    assert gate.status == "pass" and set(gate.numbers) == {"distribution", "single calls", "independence"} and "8 calls" in gate.detail


@pytest.mark.parametrize(("distribution", "make"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_random_outputs_of_another_distribution_fail(distribution: str, make: Function) -> None:
    case = {"x": SHAPE, "seed": 6, "p": 0.3}
    verdict = verify(drawn(make), like, [case], repeats=2, distributions=[distribution])
    assert verdict.labels == ("DISTRIBUTION",), str(verdict)


def test_false_alarms_are_as_rare_as_declared() -> None:
    alarms = 0
    for trial in range(60):
        case = {"x": torch.empty(16, 64), "seed": 1000 * trial, "p": 0.3}
        alarms += not verify(drawn(uniform), like, [case], repeats=2, distributions=["uniform(0, 1)"], p_value=0.05).passed
    assert alarms <= 8, "60 runs at a chance of 0.05: more than 8 come once in 400"


def test_a_seeded_generator_repeats_itself_and_an_unseeded_one_need_not() -> None:
    unseeded = lambda x: torch.rand(x.shape)  # noqa: E731
    assert verify(unseeded, like, [{"x": SHAPE}], repeats=4, distributions=["uniform(0, 1)"]).passed
    kernel = lambda x, *, seed: torch.rand(x.shape)  # noqa: E731
    assert verify(kernel, like, [{"x": SHAPE, "seed": 1}], repeats=4, distributions=["uniform(0, 1)"]).labels == ("NONDETERMINISTIC",)


def test_op_toml_declares_distributions(tmp_path: Path) -> None:
    new_project("dropout", tmp_path / "d")
    file = tmp_path / "d" / "op.toml"
    text = file.read_text()
    output = load(file).outputs[0].name
    file.write_text(f'{text}\n[random]\nseed = "seed"\np_value = 0.01\n\n[random.outputs]\n{output} = "bernoulli(1 - p)"\n')
    found = load(file).random
    assert (found.outputs, found.seed, found.p_value) == ({output: "bernoulli(1 - p)"}, "seed", 0.01)
    for wrong in ('seed = "sed"', "p_value = 2", '[random.outputs]\nq = "uniform(0, 1)"', f'[random.outputs]\n{output} = "gauss(0, 1)"', f'[random.outputs]\n{output} = "bernoulli(q)"'):
        file.write_text(f"{text}\n[random]\n{wrong}\n")
        with pytest.raises(BadValue, match=r"op.toml:\d+|"):
            load(file)
    assert parse("uniform(-1, 2.5)") == ("uniform", (-1.0, 2.5))


def test_cases_may_come_from_the_case_matrix(tmp_path: Path) -> None:
    from ascendops.testing import matrix

    new_project("softmax", tmp_path / "s")
    made = [case for case in matrix.cases(load(tmp_path / "s"), "default") if 100 < case.elements < 3000][:12]
    right = lambda x: F.softmax(x.float(), -1).to(x.dtype)  # noqa: E731
    verdict = verify(right, lambda x: F.softmax(x, -1), made, repeats=2)
    assert verdict.passed and len(verdict.cases) == len(made), str(verdict)
    assert not verify(lambda x: F.softmax(x.float(), 0).to(x.dtype), lambda x: F.softmax(x, -1), made, repeats=2).passed
    assert verify(lambda x: F.softmax(x.float(), -1).double(), lambda x: F.softmax(x, -1), made, repeats=2).labels[0] == "DTYPE"
