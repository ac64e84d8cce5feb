"""How cases run: the options of `ascendops test` that each case needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """How cases run; the fields are the options of `ascendops test`.

    Attributes:
        kernel: The function that the worker calls.
        cases: A file or folder of another tool whose cases run in place of the tier's; empty for none.
        mutate: Plant faults into outputs and, on the twin, into the execution.
        verdict: Keep outputs for a verdict file.
        auto_sync: `on` or `off`: whether the compiler is taken to order scalar accesses with the pipes (--cce-auto-sync); of the twin only.
        shrink: Make the first failing case of each operator smaller and write it as a script.
    """

    backend: str = "twin"
    soc: str = "Ascend910B1"
    reference: str = "auto"
    level: str = "L0"
    seed: int = 0
    repeats: int = 2
    timeout_s: float = 60.0
    tier: str = "declared"
    mutate: bool = False
    verdict: bool = False
    shrink: bool = False
    cases: str = ""
    auto_sync: str = "on"
    kernel: str = "ascendops.testing.kernel:run_case"

    def as_arguments(self) -> str:
        """The seed, and what differs from the defaults, as options of `ascendops test`."""
        other = [
            f"--{name.replace('_', '-')} {getattr(self, name)}"
            for name in ("soc", "level", "tier", "cases", "auto_sync")
            if getattr(self, name) != getattr(Options, name)
        ]
        return " ".join([f"--seed {self.seed}", *other])
