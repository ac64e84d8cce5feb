"""A Python that Ctrl-C interrupts, also where the shell that runs the tests ignores it, as shells do for what they start in the background."""

from __future__ import annotations

import sys

_RESTORE = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
PYTHON = [sys.executable, "-c", _RESTORE]
