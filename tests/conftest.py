"""Options of the kit's own tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what is rendered now into tests/golden instead of comparing")
    parser.addoption("--every-operator", action="store_true", help="tests/twin/test_torch_gallery.py: all gallery operators, not one of each kind")
