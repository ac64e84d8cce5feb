"""tools/render_diff: equal trees are silent, one change in many projects is one change, and the exit code says whether anything differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import render_diff


def tree(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def both(tmp_path, old, new):
    return list(render_diff._changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new)))


def test_equal_trees_have_no_changes(tmp_path):
    files = {"softmax/softmax/op.toml": "a\nb\n"}
    assert both(tmp_path, files, files) == []


def test_one_change_in_two_projects_is_printed_once(tmp_path):
    old = {f"elementwise/{name}/op_kernel/{name}.cpp": f"void {name}()\nold\n" for name in ("exp", "gelu")}
    new = {path: text.replace("old", "new") for path, text in old.items()} | {"elementwise/exp/README.md": "hello\n"}
    changes = both(tmp_path, old, new)
    text = "\n".join(render_diff._report(changes, full=False))
    assert text.count("-old") == text.count("+new") == 1
    assert "elementwise/exp/op_kernel/exp.cpp and 1 more: elementwise/gelu" in text
    assert "(new file)" in text
    assert text.endswith("3 changed files in 2 projects, 2 different changes")
    assert "\n".join(render_diff._report(changes, full=True)).count("+new") == 2
    assert "elementwise/gelu/op_kernel/gelu.cpp  +1 -1" in list(render_diff._stat(changes))


def test_an_unknown_commit_is_named():
    with pytest.raises(SystemExit, match="no-such-commit"):
        render_diff.main(["no-such-commit"])
