"""Read-only probes of a machine, graded for one backend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ascendops.doctor.checks import Check, Grade

__all__ = ["Check", "Examination", "Grade", "examine"]


@dataclass(frozen=True)
class Examination:
    """The checks of one machine for one backend (`twin` or `cann`)."""

    backend: str
    checks: tuple[Check, ...]

    @property
    def ready(self) -> bool:
        """Whether the backend can work here."""
        return all(check.grade is not Grade.MISSING for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """The examination as JSON-ready fields."""
        return {"backend": self.backend, "ready": self.ready, "checks": [check.to_dict() for check in self.checks]}


def examine(backend: str) -> Examination:
    """Probes everything that `backend` ("twin" or "cann") needs, and shows what it does not."""
    return Examination(backend, tuple(_probe(cann=backend == "cann")))


def _probe(*, cann: bool) -> Iterator[Check]:
    from ascendops.doctor import devices, environment, python, tools

    yield from python.check_python()
    yield from tools.check_compiler(needed=True)  # for CANN: its host side (tiling, op registration) is compiled by it
    yield from tools.check_build_tools(needed=cann)
    yield from python.check_torch()
    yield from python.check_torch_npu(needed=cann)
    yield from python.check_triton()
    yield from devices.check_cann(needed=cann)
    yield from devices.check_npu(needed=cann)
    yield from devices.check_gpu()
    yield from environment.check_environment()
