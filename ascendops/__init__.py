"""ascendops: the operator development kit for Ascend NPUs.

    project = ascendops.open_project("softmax")
    lib = project.build(backend="twin", soc="Ascend910B1")
    y = lib.softmax(x)

Importing this package imports no torch, triton or compiler until one is needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops import build, errors, parity, spec, testing, twin
    from ascendops.build import open_project
    from ascendops.npu import enable_npu_twin

__version__ = "0.1.0"
__all__ = ["__version__", "build", "enable_npu_twin", "errors", "open_project", "parity", "spec", "testing", "twin"]

_SUBMODULES = frozenset(
    {"build", "errors", "npu", "parity", "render", "report", "resources", "spec", "testing", "torchlib", "twin"}
)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"ascendops.{name}")
    if name == "enable_npu_twin":
        return importlib.import_module("ascendops.npu").enable_npu_twin
    if name == "open_project":
        return importlib.import_module("ascendops.build").open_project
    raise AttributeError(f"module 'ascendops' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
