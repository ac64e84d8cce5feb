"""What one run of an operator produced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from ascendops.twin.diagnostics import Diagnostic
    from ascendops.twin.timeline import Timeline


@dataclass(frozen=True)
class RunResult:
    """What one run produced, and under which conditions.

    Attributes:
        outputs: Output tensors in declaration order.
        tiling_key: Key that the tiling function chose.
        block_dim: Number of blocks launched; 0 when all outputs were empty and nothing was launched.
        tiling: Bytes of the tiling struct.
        workspace_bytes: GM workspace that the tiling function asked for.
        diagnostics: Findings of the twin, all severities.
        timeline: Modelled instruction timeline, with `trace=True`; a model, not a measurement of a device.
        seconds: Wall time of the kernel on this machine.
        soc: SoC that was modelled, e.g. `Ascend910B1`.
        backend: `twin`.
        notes: What the kit had to assume, one sentence each.
    """

    outputs: tuple[torch.Tensor, ...]
    tiling_key: int
    block_dim: int
    tiling: bytes
    workspace_bytes: int
    diagnostics: tuple[Diagnostic, ...]
    timeline: Timeline | None
    seconds: float
    soc: str
    backend: str
    notes: tuple[str, ...] = ()
