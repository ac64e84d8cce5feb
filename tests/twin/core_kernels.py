"""Kernel files whose faulty lines say what they must give: `// finds: ID ...`."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np

import ascendops.twin
from ascendops.twin.kernel import Kernel

FOLDER = Path(__file__).parent / "kernels"
_KERNEL = re.compile(r"^extern \"C\" __global__ __aicore__ void (\w+)\(")
_FINDS = re.compile(r"// finds: ([A-Z0-9 -]+)")
_MANUAL = re.compile(r"// manual: ([A-Z0-9 -]+)")

Finding = tuple[str, int]  # id, line


def expectations(file: str, *, auto_sync: bool = True) -> dict[str, set[Finding]]:
    """What each kernel of a file must give, by name: `// finds: ID`, and with auto_sync=False `// manual: ID` as well."""
    found: dict[str, set[Finding]] = {}
    name = ""
    for number, line in enumerate((FOLDER / file).read_text().splitlines(), 1):
        if match := _KERNEL.match(line):
            name = match[1]
            found[name] = set()
        elif name:
            patterns = (_FINDS,) if auto_sync else (_FINDS, _MANUAL)
            found[name] |= {(kind, number) for p in patterns if (m := p.search(line)) for kind in m[1].split()}
    return found


@functools.cache
def compiled(file: str, soc: str = "Ascend910B1") -> Kernel:
    """The kernel file, compiled once for all tests."""
    return ascendops.twin.compile(FOLDER / file, soc=soc)


def io(n: int = 256) -> tuple[np.ndarray, np.ndarray]:
    """An input 0, 1, 2, ... and an output of zeros."""
    return np.arange(n, dtype=np.float32), np.zeros(n, dtype=np.float32)


def findings(kernel: Kernel, name: str, *args: object, **options: object) -> set[Finding]:
    """Launches with checks="warn"; the (id, line) of what it found in its own file."""
    result = kernel.launch(name, args=args, checks="warn", timeout_s=20, **{"block_dim": 1, **options})
    for diagnostic in result.diagnostics:
        assert diagnostic.file == str(kernel.path), str(diagnostic)
    return {(d.id, d.line) for d in result.diagnostics}
