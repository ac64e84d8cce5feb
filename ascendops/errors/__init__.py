"""Every error of the kit. Import from here; `ascendops explain` lists them (see `catalogue`)."""

from __future__ import annotations

from collections.abc import Iterator

from ascendops.errors.base import AscendOpsError, ExitCode, did_you_mean
from ascendops.errors.build import *  # noqa: F403  one folder, one public name space
from ascendops.errors.bundle import *  # noqa: F403
from ascendops.errors.farm import *  # noqa: F403
from ascendops.errors.migrate import *  # noqa: F403
from ascendops.errors.parity import *  # noqa: F403
from ascendops.errors.perf import *  # noqa: F403
from ascendops.errors.render import *  # noqa: F403
from ascendops.errors.spec import *  # noqa: F403
from ascendops.errors.tbe import *  # noqa: F403
from ascendops.errors.torch import *  # noqa: F403
from ascendops.errors.twin import *  # noqa: F403

__all__ = ["AscendOpsError", "ExitCode", "catalogue", "did_you_mean"]


def catalogue() -> Iterator[type[AscendOpsError]]:
    """Every concrete error class, sorted by id."""

    def walk(cls: type[AscendOpsError]) -> Iterator[type[AscendOpsError]]:
        for sub in cls.__subclasses__():
            yield from walk(sub)
            if sub.id:
                yield sub

    yield from sorted(set(walk(AscendOpsError)), key=lambda cls: cls.id)
