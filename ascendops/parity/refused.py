"""Calls without elements that the golden refuses, such as the maximum of nothing: the candidate must refuse them too."""

from __future__ import annotations

import re

from ascendops.errors import GoldenError
from ascendops.parity.calling import Values, named_tensors
from ascendops.parity.execute import POISONS, Run, Runner
from ascendops.parity.verdict import CaseResult, GateResult

_NO_OUT = re.compile(r"TypeError: .*missing .*'out'")  # it only writes into buffers, whose shapes the golden would say


def judge(name: str, values: Values, runner: Runner, refusal: GoldenError, seed: int) -> tuple[CaseResult, Run]:
    """Passes a candidate that refuses what the golden refuses.

    Raises:
        GoldenError: `refusal` itself if no input is empty, and one that says so if the candidate computes something.
    """
    if all(tensor.numel() for _, tensor in named_tensors(values)):
        raise refusal
    run = runner(values, POISONS[0], None)
    if _NO_OUT.search(run.error):
        raise refusal
    if not run.error:
        why = "the inputs are empty, but the candidate computes something for them"
        help_ = "return in golden.py what they give, or return ge::GRAPH_FAILED for them in the tiling function"
        raise GoldenError(refusal.what, where=refusal.where, why=why, help=help_) from refusal
    if run.label != "EXCEPTION":
        status = "crash" if run.label in ("CRASH", "HANG", "OUT_OF_MEMORY") else "fail"
        return CaseResult(name, status, labels=(run.label,), error=run.error, seed=seed), run
    detail = f"golden and candidate both refuse: {refusal.what}"
    return CaseResult(name, "pass", gates=[GateResult("G0", "structure", "pass", detail)], notes=[detail], seed=seed), Run()
