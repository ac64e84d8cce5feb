"""Latency estimates from shapes: a mechanistic pipe model with a fitted correction. Every number is a model, not a measurement."""

from __future__ import annotations

from ascendops.perf.estimate import PIPES, Estimate, estimate, estimate_table
from ascendops.perf.table import Config, Tensor, read_table

__all__ = ["PIPES", "Config", "Estimate", "Tensor", "estimate", "estimate_table", "read_table"]
