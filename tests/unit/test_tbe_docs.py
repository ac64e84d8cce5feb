"""docs/tbe.md names every function of tbe.dsl, as evaluated or as refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ascendops.tbe import modules
from ascendops.tbe.functions.base import EVALUATE, FUNCTIONS

PAGE = (Path(__file__).parents[2] / "docs/tbe.md").read_text(encoding="utf-8")


def names(start: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", PAGE[PAGE.index(start) :].split(";")[0]))


def test_the_page_lists_what_is_evaluated_and_what_is_refused():
    assert names("Evaluated: ") == set(FUNCTIONS)
    assert names("Refused by name: ") == set(modules.REFUSED)
    assert not set(FUNCTIONS) & set(modules.REFUSED)


def test_every_kind_of_node_can_be_evaluated():
    assert set(EVALUATE) >= set(FUNCTIONS) - {"vcmpsel", "round", "floor", "ceil", "trunc", "round_half_up", "split"}


def test_the_modules_are_there_only_while_they_are_needed():
    assert "tbe" not in sys.modules
    with modules.installed():
        import tbe.dsl

        assert tbe.dsl.vadd is FUNCTIONS["vadd"]
    assert not [name for name in sys.modules if name.partition(".")[0] in modules.ROOTS]
