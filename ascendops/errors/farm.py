"""Errors of a farm of hosts (ASC32x)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["FarmLost", "FarmMissing", "FarmVersion"]


class FarmMissing(AscendOpsError):
    """There is no Ray cluster to distribute cases over, or none of its hosts has the resource that the cases need.

    `ascendops test --distribute ray` uses a cluster that is already there: its address is in RAY_ADDRESS, or the command runs on one of its
    hosts. Hosts offer what they have by a resource label: `twin` (CPU twin), `npu` (an Ascend device with CANN), `gpu` (records references).
    Each case takes one unit, so a host that offers `twin: 4` runs four at a time: `ray start --address HEAD:6379 --resources '{"twin": 4}'`.
    """

    id = "ASC320"
    exit_code = ExitCode.TOOLCHAIN


class FarmVersion(AscendOpsError):
    """A host of the cluster runs another version of the kit.

    Cases are made from seeds and judged by rules on the host that runs them. Another version could make other inputs or judge them by other
    rules, so its results are not mixed with this one's. Install the same version on every host.
    """

    id = "ASC321"
    exit_code = ExitCode.TOOLCHAIN


class FarmLost(AscendOpsError):
    """The hosts that could run the remaining cases have left the cluster.

    A case whose host goes away runs again on another one. When none is left for a while, the cases that have no result are reported with this
    error; those that have one keep it. `--resume` runs the rest once hosts are back.
    """

    id = "ASC322"
    exit_code = ExitCode.TOOLCHAIN
