"""`python -m ascendops`: the same as the `ascendops` command."""

from __future__ import annotations

import sys

from ascendops.cli import main

sys.exit(main())
