"""The documentation against the code: generated pages are current, links lead somewhere, every key is described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ascendops.doctor.environment import VARIABLES
from ascendops.errors import catalogue
from ascendops.explain import pages
from ascendops.migrate.rules.catalogue import RULES
from ascendops.parity.labels import LABELS
from ascendops.spec import cases, dims, expr, tensors
from ascendops.spec.load import KEYS, REFERENCES
from ascendops.twin.findings import FINDINGS
from tools import gen_docs

ROOT = Path(__file__).resolve().parents[2]
MARKDOWN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("path", list(gen_docs.pages()), ids=lambda path: path.name)
def test_generated_pages_are_current(path):
    assert path.read_text(encoding="utf-8") == gen_docs.pages()[path], "run: python -m tools.gen_docs"


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        assert place.exists(), f"{page.name} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.+)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, target


def test_op_toml_page_describes_every_key_and_word():
    text = (ROOT / "docs/op-toml.md").read_text(encoding="utf-8")
    for name in (*KEYS, *REFERENCES, *tensors.KEYS, *tensors.FORMATS, *cases.KEYS, *cases.LAYOUTS, *cases.VALUES, *dims.RULES, *expr.FUNCTIONS):
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", text), f"docs/op-toml.md does not describe {name}"


def test_every_error_the_code_names_a_page_for_has_one():
    for path in (ROOT / "ascendops").rglob("*.py"):
        for name in re.findall(r"\bdocs/[\w/-]+\.md", path.read_text(encoding="utf-8")):
            assert (ROOT / name).is_file(), f"{path.name} names {name}"


@pytest.mark.parametrize("page", pages().values(), ids=lambda page: page.id)
def test_every_id_has_a_title_and_a_page(page):
    assert 5 < len(page.title) < 120
    assert not page.title.endswith(".")
    assert "TODO" not in page.text


def test_ids_are_unique_and_a_shared_label_adds_to_the_page():
    errors = [cls.id for cls in catalogue()]
    assert len([*errors, *FINDINGS]) == len({*errors, *FINDINGS})
    known = pages()
    assert set(known) == {*errors, *FINDINGS, *RULES, *LABELS}
    assert FINDINGS["CRASH"].page in known["CRASH"].text
    assert LABELS["CRASH"].page in known["CRASH"].text


@pytest.mark.parametrize("name", VARIABLES)
def test_every_variable_is_documented(name):
    assert any(name in page.read_text(encoding="utf-8") for page in MARKDOWN if page.name != "errors.md")
