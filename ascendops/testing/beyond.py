"""What several runs of one operator say together: declared relations between its results, and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import GoldenError
from ascendops.parity.verdict import GateResult

if TYPE_CHECKING:
    import torch

    from ascendops.parity.execute import OutSpec, Run
    from ascendops.parity.judge import Judged
    from ascendops.report.model import CaseReport
    from ascendops.spec.model import OpSpec
    from ascendops.testing.cases import TestCase

TIERS = ("default", "full", "certify")
EACH = 2  # cases per dtype column on which a relation or a gradient is tried
_LARGEST = 1 << 13
_KINDS = ("random", "coded", "positive", "negative", "exact")
_CLOSE = 1e-7  # of the largest gradient: both sides compute in float64
Call = Callable[["OpSpec", Mapping[str, Any], "int | None", "Sequence[OutSpec] | None"], "Run"]


class Beyond:
    """Tries relations and gradients on the first cases that suit; `call` runs an operator of the project."""

    def __init__(self, spec: OpSpec, call: Call, seed: int) -> None:
        self.spec, self.call, self.seed = spec, call, seed
        self.tried: dict[Any, int] = {}

    def __call__(self, report: CaseReport, case: TestCase, values: Mapping[str, Any], judged: Judged) -> None:
        """Adds a gate to the report of a passing case for everything that is tried on it; fails the report where one fails."""
        if case.case.layout != "contiguous" or case.case.values not in _KINDS or not 8 <= case.elements <= _LARGEST:
            return
        for gate in self._gates(case, values, judged):
            from dataclasses import asdict

            report.gates.append(asdict(gate))
            if gate.failed:
                report.status = "fail"
                report.labels = list(dict.fromkeys([*report.labels, *gate.labels]))
                report.story.append(f"{gate.name}: {gate.detail}")

    def _gates(self, case: TestCase, values: Mapping[str, Any], judged: Judged) -> list[GateResult]:
        found = []
        for kind, names in self.spec.relations.items():
            if self._again((kind, case.column)) and all(_suits(values[name]) for name in names):
                found.append(self._relation(kind, names, case, values))
        if self.spec.autograd is not None and self._again(("gradient", case.column)):
            found += self._gradient(case, values, judged)
        return found

    def _again(self, key: Any) -> bool:
        self.tried[key] = self.tried.get(key, 0) + 1
        return self.tried[key] <= EACH

    def _relation(self, kind: str, names: Sequence[str], case: TestCase, values: Mapping[str, Any]) -> GateResult:
        from ascendops.parity import relations
        from ascendops.testing.reference import golden_of

        return relations.check(kind, names, golden_of(self.spec), values, lambda changed: self.call(self.spec, changed, None, None), case.output_dtypes(), self.seed, case.output_names())

    def _gradient(self, case: TestCase, values: Mapping[str, Any], judged: Judged) -> list[GateResult]:
        found = []
        if case.column == 0:
            found.append(self._declared(case, values))
        if self.spec.autograd is not None and self.spec.autograd.backward is not None:
            found.append(self._kernel(case, values, judged))
        return found

    def _declared(self, case: TestCase, values: Mapping[str, Any]) -> GateResult:
        """The declared gradient in float64 against autograd of the golden, for a cotangent that is not uniform."""
        import torch

        from ascendops.parity.calling import invoke, outputs_of
        from ascendops.testing.reference import golden_of

        assert self.spec.autograd is not None
        title, names = "declared gradient", self.spec.autograd.inputs
        wide = {name: self._wide(name, item, case) for name, item in values.items()}
        inputs = {name: wide[name].requires_grad_() for name in names if isinstance(wide.get(name), torch.Tensor) and wide[name].is_floating_point()}
        outputs = outputs_of(invoke(golden_of(self.spec), {**wide, **inputs}))
        seeds = {f"grad_{spec.name}": self._cotangent(spec.name, out) for spec, out in zip(self.spec.outputs, outputs, strict=True) if out is not None and out.is_floating_point()}
        used = [(out, seeds[f"grad_{spec.name}"]) for spec, out in zip(self.spec.outputs, outputs, strict=True) if out is not None and out.requires_grad]
        if not used or not inputs:
            return GateResult("G2", title, "skipped", "autograd does not follow golden.py")
        known = {**{name: item.detach() if isinstance(item, torch.Tensor) else item for name, item in wide.items()}, **seeds}
        known.update({spec.name: out.detach() for spec, out in zip(self.spec.outputs, outputs, strict=True) if out is not None})
        declared = self._by_declaration(known)
        read = self._cotangents_read()
        kept = [(out, seed) for (out, seed), name in zip(used, [f"grad_{s.name}" for s, o in zip(self.spec.outputs, outputs, strict=True) if o is not None and o.requires_grad], strict=True) if name in read]
        grads = torch.autograd.grad([out for out, _ in kept], list(inputs.values()), [seed for _, seed in kept], allow_unused=True)
        for (name, tensor), want in zip(inputs.items(), grads, strict=True):
            truth = torch.zeros_like(tensor) if want is None else want
            text = _apart(declared[name], truth)
            if text:
                return GateResult("G2", title, "fail", f"the gradient of {name} is not that of golden.py: {text}", ("GRADIENT",))
        return GateResult("G2", title, "pass", f"of {', '.join(inputs)}, for a cotangent that is not uniform")

    def _wide(self, name: str, item: Any, case: TestCase) -> Any:
        """Fresh float64 values: those of 16 bits have equal neighbours, where a maximum has no gradient."""
        import torch

        from ascendops.parity import inputs

        if isinstance(item, torch.Tensor) and item.is_floating_point():
            return inputs.values(tuple(item.shape), torch.float64, case.case.values if case.case.values != "exact" else "random", inputs.key(self.seed, "gradient", name))
        return item

    def _cotangent(self, name: str, like: torch.Tensor) -> torch.Tensor:
        from ascendops.parity import inputs

        return inputs.values(tuple(like.shape), like.dtype, "coded", inputs.key(self.seed, "cotangent", name))

    def _cotangents_read(self) -> set[str]:
        from ascendops.spec.autograd import backward_sources

        autograd = self.spec.autograd
        assert autograd is not None
        if autograd.backward is not None:
            return {source for source in backward_sources(self.spec, self.spec.sibling(autograd.backward)).values() if source is not None}
        return {name for formula in autograd.formula.values() for name in formula.names}

    def _by_declaration(self, known: dict[str, Any]) -> dict[str, torch.Tensor]:
        from ascendops.parity.calling import invoke, outputs_of
        from ascendops.testing.reference import golden_of
        from ascendops.torchlib.formula import evaluate, fit

        autograd = self.spec.autograd
        assert autograd is not None
        if autograd.backward is None:
            common: dict[str, Any] = {}
            return {name: fit(evaluate(formula, known, common), known[name]) for name, formula in autograd.formula.items() if known.get(name) is not None}
        other = self.spec.sibling(autograd.backward)
        made = dict(zip((tensor.name for tensor in other.outputs), outputs_of(invoke(golden_of(other), self._arguments(other, known))), strict=True))
        return {name: made[grad] for name, grad in autograd.grads.items()}  # type: ignore[misc]

    def _arguments(self, other: OpSpec, known: Mapping[str, Any]) -> dict[str, Any]:
        from ascendops.spec.autograd import backward_sources

        defaults = {attr.name: attr.default for attr in other.attrs}
        return {name: defaults.get(name) if source is None else known[source] for name, source in backward_sources(self.spec, other).items()}

    def _kernel(self, case: TestCase, values: Mapping[str, Any], judged: Judged) -> GateResult:
        """The backward kernel on what the forward kernel returned, for a cotangent that is not uniform."""
        from ascendops.parity.judge import Judge, no_reference
        from ascendops.testing.reference import golden_of

        assert self.spec.autograd is not None and self.spec.autograd.backward is not None
        other = self.spec.sibling(self.spec.autograd.backward)
        known = dict(values)
        for tensor, out in zip(self.spec.outputs, judged.run.outputs, strict=True):
            if out is not None:
                known[tensor.name] = out
                known[f"grad_{tensor.name}"] = self._cotangent(tensor.name, out)
        arguments = self._arguments(other, known)
        column = next((i for i in range(other.columns) if _fits(other, arguments, i)), None)
        title = f"gradient by {other.name}"
        if column is None:
            return GateResult("G2", title, "skipped", f"{other.name} has no column for these dtypes")
        import torch

        dtypes: list[torch.dtype | None] = [getattr(torch, tensor.dtypes[column]) for tensor in other.outputs]
        try:
            found = Judge(golden_of(other), seed=self.seed, compute=other.compute, names=tuple(tensor.name for tensor in other.outputs))(
                f"{case.id}, backward", arguments, lambda v, poison, outs: self.call(other, v, poison, outs), dtypes=dtypes, references=no_reference
            ).result
        except GoldenError as error:
            return GateResult("G2", title, "fail", error.what, ("GRADIENT",))
        if found.passed:
            return GateResult("G2", title, "pass", "on the forward kernel's outputs, for a cotangent that is not uniform")
        return GateResult("G2", title, "fail", "; ".join(found.story()[:2]), tuple(dict.fromkeys(("GRADIENT", *found.labels))))


def _suits(item: Any) -> bool:
    import torch

    return isinstance(item, torch.Tensor) and item.is_floating_point() and item.dim() > 0


def _fits(other: OpSpec, arguments: Mapping[str, Any], column: int) -> bool:
    import torch

    return all(
        not isinstance(arguments[tensor.name], torch.Tensor) or arguments[tensor.name].dtype == getattr(torch, tensor.dtypes[column]) for tensor in other.inputs
    )


def _apart(got: torch.Tensor, want: torch.Tensor) -> str:
    import torch

    if got.shape != want.shape:
        return f"its shape is {list(got.shape)}, not {list(want.shape)}"
    limit = _CLOSE * float(want.abs().max()) if want.numel() else 0.0
    bad = ~(((got - want).abs() <= limit) | (torch.isnan(got) & torch.isnan(want)))
    if not bool(bad.any()):
        return ""
    place = tuple(torch.nonzero(bad)[0].tolist())
    return f"{int(bad.sum())} of {want.numel()} elements differ, the first at {list(place)}: {got[place].item():.9g} instead of {want[place].item():.9g}"
