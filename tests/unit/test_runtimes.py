"""How the sources of the twin's runtimes are grouped for compiling."""

from __future__ import annotations

import pytest

from ascendops import resources
from ascendops.twin import runtimes


@pytest.mark.parametrize("folder", ["runtime", "hostrt"])
def test_each_source_is_compiled_once_with_its_own_flags(folder: str) -> None:
    sources = sorted(resources.twin(folder).glob("*.cpp"))
    groups = runtimes._groups(sources)
    assert sorted(path for group in groups for path in group) == sources
    assert len(groups) < len(sources) / 2  # most of a small source's time goes into headers
    for group in groups:
        assert len({path.stem in runtimes._RUN_ONCE for path in group}) == 1
        assert len(group) == 1 or sum(path.stat().st_size for path in group) <= runtimes._UNIT_BYTES
