"""How `-n` spreads cases over the processes of pytest-xdist: all of an operator to one, where the check over its cases runs as well."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]


class ByOperator(LoadScopeScheduling):  # type: ignore[misc]
    """A scheduler whose units of work are operators.

    xdist's own `loadgroup` marks groups in `_nodeid`, which items of pytest 9.2 no longer have.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.rpartition("::")
        return f"{file}::{test.partition('[')[0]}"
