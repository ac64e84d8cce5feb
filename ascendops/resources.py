"""Where the files that ship beside the code lie: in a wheel, an editable install or a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _shipped(name: str) -> Path:
    inside = _PACKAGE / "_shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def op_templates() -> Path:
    """The folder of the template families."""
    return _shipped("op_templates")


def cuda_reference() -> Path:
    """The folder of the Triton and CUDA references, one folder per operator."""
    return _shipped("cuda_reference")


def data(name: str) -> Path:
    """A fact table of the package (`ascendops/data/NAME`)."""
    return _PACKAGE / "data" / name


def twin(name: str) -> Path:
    """A folder of the CPU twin's C++ sources: `include`, `runtime` or `hostrt`."""
    return _PACKAGE / "twin" / name
