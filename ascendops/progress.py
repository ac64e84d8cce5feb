"""News of work that takes long, such as a compilation on first use: logged for a program, and told to whoever listens.

The command line listens and prints on stderr. In a program `logging.getLogger("ascendops")` has them at level INFO, so nothing is printed unless it asks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

listener: Callable[[str], None] | None = None

_LOG = logging.getLogger("ascendops")


def tell(text: str) -> None:
    """Passes a line on to the log and the listener."""
    _LOG.info(text)
    if listener is not None:
        listener(text)
