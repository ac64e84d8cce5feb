"""What the templates render, compared with the trees in this folder, whole files at a time.

After a deliberate change: `pytest tests/golden --accept`, then read `git diff tests/golden` and check that the change makes sense.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops.render import FileSet, all_families, gen, new_project
from ascendops.spec import load

HERE = Path(__file__).parent
PROJECTS = [(family.name, family.default) for family in all_families()]


def rendered(root: Path) -> FileSet:
    found = FileSet()
    for path in sorted(root.rglob("*")):
        if path.is_file():
            found.add(path.relative_to(root).as_posix(), path.read_text())
    return found


def compare(files: FileSet, tree: Path, accept: bool) -> None:
    """Fail with a diff when `files` are not exactly what lies in `tree`; with `accept`, make it so."""
    stale = [path for path in sorted(tree.rglob("*")) if path.is_file() and path.relative_to(tree).as_posix() not in files.files]
    if accept:
        for path in stale:
            path.unlink()
        for file in files.changed(tree):
            (tree / file.path).parent.mkdir(parents=True, exist_ok=True)
            (tree / file.path).write_text(file.text)
        return
    problems = files.diff(tree) + "".join(f"no longer rendered: {path.relative_to(tree)}\n" for path in stale)
    if problems:
        pytest.fail(f"{problems}\n{__doc__}", pytrace=False)


@pytest.mark.parametrize(("family", "preset"), PROJECTS, ids=[family for family, _ in PROJECTS])
def test_a_new_project(family, preset, tmp_path, request):
    name = preset if preset not in ("exp", "max", "abs") else f"{preset}_custom"
    new_project(name, tmp_path / name, family=family, like=preset)
    compare(rendered(tmp_path / name), HERE / family, request.config.getoption("--accept"))


def test_a_new_tbe_project(tmp_path, request):
    new_project("layer_norm", tmp_path / "layer_norm", dialect="tbe")
    compare(rendered(tmp_path / "layer_norm"), HERE / "tbe", request.config.getoption("--accept"))


def test_gen_of_every_kind_of_argument(request):
    compare(gen(load(HERE / "every_kind.toml")), HERE / "every_kind", request.config.getoption("--accept"))


def test_every_family_has_a_golden_tree_and_no_other():
    trees = {path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert trees == {family for family, _ in PROJECTS} | {"every_kind", "tbe"}


def test_a_difference_fails_with_a_diff(tmp_path):
    files = FileSet()
    files.add("a/b.cpp", "int x;\n")
    with pytest.raises(pytest.fail.Exception, match=r"\+int x;"):
        compare(files, tmp_path, accept=False)
    compare(files, tmp_path, accept=True)
    compare(files, tmp_path, accept=False)
    (tmp_path / "stale.txt").write_text("")
    with pytest.raises(pytest.fail.Exception, match=r"no longer rendered: stale\.txt"):
        compare(files, tmp_path, accept=False)
