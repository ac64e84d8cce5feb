"""op.toml -> OpSpec: what an operator is, without torch."""

from __future__ import annotations

from ascendops.spec.load import load, parse
from ascendops.spec.model import AttrSpec, Case, OpSpec, TensorSpec, TilingKey

__all__ = ["AttrSpec", "Case", "OpSpec", "TensorSpec", "TilingKey", "load", "parse"]
