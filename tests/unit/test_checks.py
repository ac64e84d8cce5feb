"""Lint, types, templates, the project's own rules and generated documents: what `python tools/check.py` looks for."""

from __future__ import annotations

import pytest

from tools.check import checks


@pytest.mark.parametrize("name", list(checks()))
def test_a_check_finds_nothing(name):
    assert list(checks()[name]()) == []
