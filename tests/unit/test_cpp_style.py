"""Every C++ file that the templates render passes clang-format with the style file that a project gets."""

from __future__ import annotations

import subprocess

import pytest

from ascendops.render import all_families, new_project
from ascendops.spec.names import suggestion


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    root = tmp_path_factory.mktemp("style")
    for family in all_families():
        for preset in family.presets:
            new_project(suggestion(preset), root / family.name / preset, family=family.name, like=preset)
    return root


def formatted(files):
    done = subprocess.run(["clang-format", "--dry-run", "--Werror", "--style=file", *files], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("family", [family.name for family in all_families()])
def test_rendered_sources_keep_the_style(family, projects):
    files = [str(path) for path in (projects / family).rglob("*") if path.suffix in (".cpp", ".h")]
    assert len(files) >= 5
    code, message = formatted(files)
    assert code == 0, message[:4000]


def test_a_source_that_does_not_is_found(projects):
    bad = projects / "custom/custom/op_kernel/bad.cpp"
    bad.write_text("int  f( ){return 1;}\n")
    code, message = formatted([str(bad)])
    bad.unlink()
    assert code != 0
    assert "bad.cpp" in message
