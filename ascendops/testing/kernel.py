"""Runs operators inside a worker process: the functions that `ascendops.worker.Worker` calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build import Operator, RunResult
    from ascendops.parity.execute import OutSpec, Run

_operators: dict[tuple[str, str, str, str], Operator] = {}


def run_case(
    root: str, op: str, backend: str, soc: str, values: dict[str, Any], poison: int | None, outs: Sequence[OutSpec] | None,
    timeout_s: float, fault: tuple[str, int] | None = None, auto_sync: bool = True,
) -> Run:  # fmt: skip
    """One observed call of a built operator (built before; found in the cache), with what the twin reported in `info`.

    Args:
        fault: Kind and number of a fault to plant into the twin's execution.
        auto_sync: Models the compiler's --cce-auto-sync.
    """
    from ascendops.parity.execute import run_once
    from ascendops.twin.fault import planted

    operator = _operator(root, op, backend, soc)
    seen: list[RunResult] = []

    def candidate(*tensors: Any, out: Any = None, **attrs: Any) -> Any:
        result = operator.run(*tensors, out=out, checks="warn", auto_sync=auto_sync, timeout_s=timeout_s, **attrs)
        seen.append(result)
        return result.outputs

    if fault is None:
        run = run_once(candidate, values, poison, outs)
        hits = 0
    else:
        with planted(*fault) as planted_fault:
            run = run_once(candidate, values, poison, outs)
        hits = planted_fault.hits
    if seen:
        run.info = {**_info(seen[-1]), "fault_hits": hits}
    return run


def _operator(root: str, op: str, backend: str, soc: str) -> Operator:
    key = (root, op, backend, soc)
    if key not in _operators:
        from ascendops.build import open_project

        _operators[key] = open_project(Path(root)).build(backend, soc).ops[op]
    return _operators[key]


def _info(result: RunResult) -> dict[str, Any]:
    return {
        "tiling_key": result.tiling_key if result.block_dim else None,
        "block_dim": result.block_dim,
        "workspace_bytes": result.workspace_bytes,
        "seconds": result.seconds,
        "findings": [asdict(d) if is_dataclass(d) else dict(vars(d)) for d in result.diagnostics],
    }
