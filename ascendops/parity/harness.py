"""`verify`: is a candidate the same function as its golden, within what its dtype can express?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch

from ascendops.errors import ParityError, did_you_mean
from ascendops.loading import resolve
from ascendops.parity import bundle, gates, sampling
from ascendops.parity.bias import unbiased
from ascendops.parity.bundle import Bundle
from ascendops.parity.calling import Outputs, clone, describe, named_tensors
from ascendops.parity.execute import Runner, local_runner, run_once, worker_runner
from ascendops.parity.judge import Judge, Judged, out_specs
from ascendops.parity.operands import known
from ascendops.parity.relations import KINDS, check
from ascendops.parity.verdict import GateResult, Verdict, combine
from ascendops.spec.random import P_VALUE
from ascendops.words import plural
from ascendops.worker import Worker

_FRESH_CASES = 3  # failing cases that are tried again in a fresh process
_REUSE_CASES = 3  # cases run again after all others, to find state that a call leaves behind


class MadeCase(Protocol):
    """A case that makes its values, as those of the case matrix do."""

    def values(self, seed: int) -> dict[str, Any]:
        """Tensors and scalars in the order of the candidate's parameters."""

    def output_dtypes(self) -> list[torch.dtype | None]:
        """Declared dtype of each output."""

    def output_names(self) -> list[str]:
        """Declared name of each output."""


def verify(
    candidate: Callable[..., Any] | str,
    golden: Callable[..., Any],
    cases: Sequence[Mapping[str, Any] | MadeCase],
    reference: Callable[..., Any] | str | Path | Bundle | None = None,
    level: str = "L0",
    repeats: int = 20,
    isolate: bool = False,
    *,
    mutates: Sequence[str] = (),
    deterministic: bool = True,
    timeout_s: float = 300,
    seed: int = 0,
    relations: Mapping[str, Sequence[str]] | None = None,
    compute: str = "float32",
    distributions: Sequence[str | None] = (),
    seeded_by: str = "seed",
    p_value: float = P_VALUE,
) -> Verdict:
    """Judges `candidate` against the fp64 `golden` on every case, by the rule set ascendops-parity/1.

    Args:
        candidate: A callable, an Operator, or `"package.module:function"`. It returns its outputs, or writes into the poisoned
            buffers it gets through a parameter `out`.
        golden: The same function, called with float inputs as float64.
        cases: Dicts of tensors and scalars in the order of the candidate's parameters; or cases of the case matrix, such as
            `ascendops.testing.matrix.cases(ascendops.spec.load("softmax"), "default")`, whose values are made from `seed`.
        reference: A second implementation, e.g. the Triton kernel, or a golden bundle (the object or its folder) that was recorded
            from one; errors that are not larger than its errors are accepted.
        level: L0, L1 or L2 of the commercial standard: how much larger than the reference's errors may be.
        repeats: Runs per case that must agree bit for bit (fewer if they take longer than 2 s).
        isolate: Run the candidate in a worker process: a crash or a hang is a verdict. Needs an importable candidate.
        mutates: Names of inputs that the candidate may change, or return.
        deterministic: False if repeated runs may differ within the allowed error.
        timeout_s: Time limit of one isolated call.
        seed: Seeds the random signs of the sensitivity estimate.
        relations: Relations between results that must hold, as in op.toml: kind (`shift`, `scale`, `odd`, `permute`, `rows`, `idempotent`) = the
            inputs that change together; tried on the first cases that pass.
        compute: `tf32` or `hf32` if products of matrices round their float32 operands to 10 or 11 bits of mantissa; a candidate that does so undeclared
            fails.
        distributions: For each output that holds random numbers their distribution, such as `uniform(0, 1)` or `bernoulli(1 - p)`, None for others.
            The golden then says shape and dtype only; the numbers of eight calls are tested.
        seeded_by: Name of the scalar that seeds the generator. Cases without it draw other numbers in every call.
        p_value: Probability with which all cases together may reject right numbers.

    Raises:
        ParityError: An argument is not usable.
        GoldenError: The golden failed.
    """
    if not cases:
        raise ParityError("there are no cases, so nothing would be compared", help="pass dicts of tensors and scalars")
    declared = [None if isinstance(case, Mapping) else case.output_dtypes() for case in cases]
    given: list[Mapping[str, Any]] = [case if isinstance(case, Mapping) else case.values(seed) for case in cases]
    recorded, called = _reference(reference)
    if level not in gates.RATIOS:
        raise ParityError(f"there is no level '{level}'", help=f"use one of: {', '.join(gates.RATIOS)}")
    outputs = _output_names(candidate, cases)
    worker = Worker("ascendops.parity.execute:remote", timeout_s=timeout_s, label="the candidate") if isolate else None
    try:
        runner = worker_runner(_name_of(candidate), worker) if worker else local_runner(_callable(candidate))
        judge = Judge(golden, called, level, repeats, tuple(mutates), deterministic, seed, known(compute), names=outputs)
        done: list[Judged] = []
        for i, case in enumerate(given):
            judge.sampling = sampling.of(distributions, case, seeded_by, p_value, len(given))
            earlier = [one.run.outputs for one in done]
            theirs = None if recorded is None else functools.partial(_from_bundle, recorded, case)
            judged = judge(f"case {i}: {describe(case)}", case, runner, earlier, declared[i], theirs)
            judged.result.repro = (
                f"ascendops.parity.verify({_label(candidate)}, {_label(golden)}, cases[{i}:{i + 1}], level={level!r})"
            )
            done.append(judged)
        if worker is not None:
            _alone(done, given, runner, worker, judge)
        _reuse(done, given, runner)
        if worker is None and not mutates:
            _same_place(done, given, _callable(candidate))
        for kind, names in (relations or {}).items():
            _related(done, given, runner, judge, kind, names)
        _pooled_bias(done, outputs)
    finally:
        if worker:
            worker.close()
    return combine([judged.result for judged in done], level)


def _reference(reference: Any) -> tuple[Bundle | None, Callable[..., Any] | None]:
    """The bundle, or the function, that a reference is."""
    if isinstance(reference, (str, Path)):
        return bundle.load(Path(reference)), None
    if isinstance(reference, Bundle):
        return reference, None
    if reference is not None and not callable(reference):
        raise ParityError(
            f"a reference must be callable or a bundle, not a {type(reference).__name__}", help="pass a function or a folder"
        )
    return None, reference


def _from_bundle(recorded: Bundle, case: Mapping[str, Any]) -> tuple[Outputs | None, str]:
    entry = recorded.find("", case)
    if entry is None:
        return None, f"the bundle {recorded.path} has no case with these inputs"
    outputs = recorded.outputs(entry)
    return outputs, f"reference: {recorded.how}" if outputs is not None else "the bundle holds a sample of the outputs only"


def _callable(candidate: Any) -> Callable[..., Any]:
    if not isinstance(candidate, str):
        return _operator(candidate) if hasattr(candidate, "run") and hasattr(candidate, "definition") else candidate
    try:
        return resolve(candidate)
    except (ImportError, AttributeError) as error:
        raise ParityError(
            f"candidate '{candidate}' cannot be imported: {error}", help="use 'package.module:function'"
        ) from error


def _operator(op: Any) -> Callable[..., Any]:
    """An Operator as a function with `out`, so that its outputs are poisoned and guarded too."""

    def candidate(*tensors: Any, out: Any = None, **attrs: Any) -> Any:
        return op.run(*tensors, out=out, **attrs).outputs

    candidate.__name__ = candidate.__qualname__ = op.name
    return candidate


def _name_of(candidate: Callable[..., Any] | str) -> str:
    if isinstance(candidate, str):
        return candidate
    module, name = getattr(candidate, "__module__", None), getattr(candidate, "__qualname__", "<")
    if not module or module == "__main__" or "<" in name:
        raise ParityError(
            "isolate=True needs a candidate that a worker can import", help="pass it as 'package.module:function'"
        )
    return f"{module}:{name}"


def _output_names(candidate: Any, cases: Sequence[Mapping[str, Any] | MadeCase]) -> tuple[str, ...]:
    """What the declaration calls the outputs, where the cases or the candidate come from one."""
    declared = next((case for case in cases if not isinstance(case, Mapping)), None)
    if declared is not None:
        return tuple(declared.output_names())
    return tuple(getattr(candidate, "outputs", ())) if hasattr(candidate, "definition") else ()


def _label(function: Any) -> str:
    return repr(function) if isinstance(function, str) else getattr(function, "__name__", type(function).__name__)


def _pooled_bias(done: list[Judged], names: Sequence[str]) -> None:
    """G4 over all cases of one dtype together: small outputs say little alone."""
    good = [judged for judged in done if judged.result.passed]
    for dtypes in dict.fromkeys(_dtypes(judged) for judged in good):
        same = [judged for judged in good if _dtypes(judged) == dtypes]
        gate = unbiased([lean for judged in same for lean in judged.leans], names)
        if len(same) > 1 and gate.failed:
            result = same[-1].result
            result.gates.append(
                replace(gate, name="bias of all cases", detail=f"over {plural(len(same), 'case')}, {gate.detail}")
            )
            result.status, result.labels = "fail", gate.labels


def _dtypes(judged: Judged) -> tuple[str, ...]:
    return tuple("" if truth is None else str(truth.dtype) for truth in judged.truths)


def _alone(done: list[Judged], cases: Sequence[Mapping[str, Any]], runner: Runner, worker: Worker, judge: Judge) -> None:
    """A case that fails after others and passes alone in a fresh process shows state that an earlier call left behind."""
    failing = [i for i, judged in enumerate(done) if i and judged.result.status == "fail"]
    for i in failing[:_FRESH_CASES]:
        worker.close()
        if judge("", cases[i], runner).result.passed:
            result = done[i].result
            result.labels = tuple(dict.fromkeys(("STALE", *result.labels)))
            result.notes.append("the case passes alone in a fresh process: an earlier call left something behind")


def _same_place(done: list[Judged], cases: Sequence[Mapping[str, Any]], candidate: Callable[..., Any]) -> None:
    """Other values at the same addresses: a result that is kept by address or by shape comes out again."""
    chosen = next((i for i, judged in enumerate(done) if judged.result.passed and any(t.numel() for t in judged.run.outputs if t is not None)), None)
    if chosen is None:
        return
    values = clone(cases[chosen])
    outs = out_specs(done[chosen].truths, values)
    first = run_once(candidate, values, None, outs, in_place=True)
    for _, tensor in named_tensors(values):
        if tensor.is_floating_point() and tensor.numel() > 1 and tensor.is_contiguous():
            raw = tensor.view(-1).view(torch.uint8).reshape(-1, tensor.itemsize)
            raw.copy_(raw.flip(0))
    again, fresh = run_once(candidate, values, None, outs, in_place=True), run_once(candidate, values, None, outs)
    if any(run.error for run in (first, again, fresh)) or not gates.repeatable([again, fresh]).failed or gates.repeatable([first, again]).failed:
        return
    result = done[chosen].result
    result.gates.append(GateResult("G6", "same place", "fail", "other inputs at the same addresses gave the earlier result", ("STALE",)))
    result.status, result.labels = "fail", ("STALE",)


def _related(done: list[Judged], cases: Sequence[Mapping[str, Any]], runner: Runner, judge: Judge, kind: str, names: Sequence[str]) -> None:
    if kind not in KINDS:
        raise ParityError(f"no relation is called '{kind}'", help=did_you_mean(kind, KINDS))
    for judged, case in [(judged, case) for judged, case in zip(done, cases, strict=True) if judged.result.passed and not judged.refused][:_REUSE_CASES]:
        if any(name not in case for name in names):
            raise ParityError(f"a case has no input {', '.join(name for name in names if name not in case)}", help=f"it has {', '.join(case)}")
        gate = check(kind, names, judge.golden, case, lambda values: runner(values, None, None), [None if t is None else t.dtype for t in judged.truths], judge.seed, judge.names)
        judged.result.gates.append(gate)
        if gate.failed:
            judged.result.status, judged.result.labels = "fail", gate.labels


def _reuse(done: list[Judged], cases: Sequence[Mapping[str, Any]], runner: Runner) -> None:
    if len(done) < 2:
        return
    for judged, case in list(zip(done, cases, strict=True))[:_REUSE_CASES]:
        if not judged.result.passed or judged.refused:
            continue
        again = runner(case, None, out_specs(judged.truths, case))
        if again.error or gates.repeatable([judged.run, again]).failed:
            text = again.error or "run again after the other cases, it returned other bits"
            judged.result.gates.append(GateResult("G6", "reuse", "fail", text, ("STALE",)))
            judged.result.status, judged.result.labels = "fail", ("STALE",)
