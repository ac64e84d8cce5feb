"""Where an operator project starts from: a kernel in a CUDA or Triton file, and the template family that is nearest to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ascendops.errors import did_you_mean
from ascendops.errors.migrate import MigrateError
from ascendops.migrate.model import Finding
from ascendops.migrate.rules.finding import snake
from ascendops.migrate.scanners.all import scan
from ascendops.migrate.scanners.cuda import CUBE
from ascendops.words import plural

_REDUCING = {
    "warp shuffle",
    "warp vote",
    "CUB",
    "reduction",
    "barrier",
    "sum",
    "max",
    "min",
    "reduce",
    "argmax",
    "cumsum",
}


@dataclass(frozen=True)
class Origin:
    """A kernel to start from.

    Attributes:
        kernel: Its name in the file.
        where: `file:line`.
        family: The template family that is nearest; a starting point, the maths is the user's to carry over.
        features: What its body uses.
    """

    kernel: str
    where: str
    family: str
    features: tuple[str, ...]

    @property
    def note(self) -> str:
        """What `ascendops new op --from` says."""
        used = f"; it uses {', '.join(self.features)}" if self.features else ""
        return (
            f"nearest to kernel {self.kernel} ({self.where}{used}): carry its maths over into golden.py and op_kernel/"
        )


def origin(name: str, file: Path) -> Origin:
    """The kernel of `file` that operator `name` comes from: the one of that name, or the only one.

    Raises:
        MigrateError: The file has no kernel, several of other names, or one that no template family covers.
    """
    kernels = {
        match[1]: found
        for found in scan([file]).findings
        if (found.command or set(found.features) & CUBE) and (match := re.search(r"kernel (\w+)$", found.construct))
    }
    if not kernels:
        raise MigrateError("there is no CUDA or Triton kernel in the file", where=str(file))
    chosen = next((kernel for kernel in kernels if name in (kernel, kernel.lower(), snake(kernel))), None)
    if chosen is None and len(kernels) > 1:
        raise MigrateError(
            f"the file has {plural(len(kernels), 'kernel')}, none of them called '{name}'",
            where=str(file),
            help=did_you_mean(name, map(snake, kernels)),
        )
    chosen = chosen or next(iter(kernels))
    found = kernels[chosen]
    return Origin(chosen, found.where, _family(chosen, found), found.features)


def _family(kernel: str, found: Finding) -> str:
    used = set(found.features)
    if used & CUBE:
        raise MigrateError(
            f"kernel {kernel} multiplies matrices ({', '.join(sorted(used & CUBE))}), which no template family covers",
            where=found.where,
            help="write it with the Matmul API, or choose a family yourself: ascendops new op NAME --family F",
        )
    if "softmax" in kernel.lower():
        return "softmax"
    return "reduction" if used & _REDUCING else "elementwise"
