"""Operators as an installable package: `ascendops package` makes the wheel, importing what it installs registers the operators."""

from __future__ import annotations

from ascendops.packages.load import load, load_installed

__all__ = ["load", "load_installed"]
