"""The parity harness: inputs, golden, gates, verdicts. Names load on first use, so that importing this needs no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.parity.harness import verify
    from ascendops.parity.judge import Judge
    from ascendops.parity.labels import LABELS, Label
    from ascendops.parity.verdict import CaseResult, GateResult, Verdict, Worst

__all__ = ["LABELS", "CaseResult", "GateResult", "Judge", "Label", "Verdict", "Worst", "verify"]

_HOME = {
    "verify": "harness",
    "Judge": "judge",
    "LABELS": "labels",
    "Label": "labels",
    "CaseResult": "verdict",
    "GateResult": "verdict",
    "Verdict": "verdict",
    "Worst": "verdict",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ascendops.parity' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(f"ascendops.parity.{_HOME[name]}"), name)
