"""The `ascendops` command: parse, call the library, print, choose the exit code. Nothing else imports this package."""

from __future__ import annotations

from ascendops.cli.app import main

__all__ = ["main"]
