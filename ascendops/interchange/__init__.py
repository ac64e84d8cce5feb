"""Operator declarations in the formats of others: msopgen's JSON, a Python golden function, a CUDA or Triton kernel."""

from ascendops.interchange.declaration import Declaration, ParamDecl
from ascendops.interchange.source import read

__all__ = ["Declaration", "ParamDecl", "read"]
