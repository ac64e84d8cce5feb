"""File sets: written all or nothing, user files kept, times of unchanged files kept, nothing half-written."""

from __future__ import annotations

import os
import shutil

import pytest

from ascendops.errors import FileExistsRefused, NotWritable, RenderError
from ascendops.render import FileSet
from ascendops.render.fileset import GENERATED, MARKER, staged


def make(**files: str) -> FileSet:
    found = FileSet()
    for path, text in files.items():
        found.add(path.replace("__", "/"), text)
    return found


def snapshot(root):
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_new_folder_appears_whole(tmp_path):
    root = tmp_path / "deep" / "project"
    written = make(a="1\n", sub__b="2\n").write(root)
    assert snapshot(root) == {"a": "1\n", "sub/b": "2\n"}
    assert written == [root / "a", root / "sub/b"]
    assert sorted(path.name for path in root.parent.iterdir()) == ["project"]
    assert root.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_unchanged_files_keep_their_times(tmp_path):
    make(a="1\n", b="2\n").write(tmp_path / "p")
    os.utime(tmp_path / "p/a", (1, 1))
    os.utime(tmp_path / "p/b", (1, 1))
    files = FileSet()
    files.add("a", "1\n", owner=GENERATED)
    files.add("b", "3\n", owner=GENERATED)
    assert files.write(tmp_path / "p") == [tmp_path / "p/b"]
    assert (tmp_path / "p/a").stat().st_mtime == 1
    assert (tmp_path / "p/b").stat().st_mtime > 1
    assert files.write(tmp_path / "p") == []


def test_user_files_are_not_overwritten(tmp_path):
    make(a="mine\n", b="same\n").write(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(FileExistsRefused) as caught:
        make(a="theirs\n", b="same\n", c="new\n").write(tmp_path)
    assert caught.value.why == "a"
    assert snapshot(tmp_path) == before


def test_overwrite_keeps_the_old_content(tmp_path):
    make(a="mine\n").write(tmp_path)
    make(a="theirs\n", c="new\n").write(tmp_path, overwrite=True)
    assert snapshot(tmp_path) == {"a": "theirs\n", "a.orig": "mine\n", "c": "new\n"}


def test_generated_files_are_overwritten_and_stale_ones_removed(tmp_path):
    first = FileSet(prune="gen")
    first.add("gen/old.cpp", f"// {MARKER}\n", owner=GENERATED)
    first.add("gen/both.cpp", f"// {MARKER} 1\n", owner=GENERATED)
    first.write(tmp_path)
    (tmp_path / "gen/mine.txt").write_text("kept")
    second = FileSet(prune="gen")
    second.add("gen/both.cpp", f"// {MARKER} 2\n", owner=GENERATED)
    second.write(tmp_path)
    assert snapshot(tmp_path) == {"gen/both.cpp": f"// {MARKER} 2\n", "gen/mine.txt": "kept"}


@pytest.mark.parametrize("stop_at", [0, 1, 2, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interruption_leaves_what_was_there(tmp_path, monkeypatch, stop_at, error):
    make(a="1\n", b="2\n").write(tmp_path / "p")
    before = snapshot(tmp_path)
    os.utime(tmp_path / "p/a", (1, 1))
    replace, calls = os.replace, []

    def failing(source, target):
        if "old" not in str(source):
            calls.append(target)
            if len(calls) == stop_at + 1:
                raise error("stopped")
        replace(source, target)

    monkeypatch.setattr("ascendops.render.fileset.os.replace", failing)
    with pytest.raises(NotWritable if error is OSError else KeyboardInterrupt):
        make(a="x\n", b="y\n", new__c="z\n").write(tmp_path / "p", overwrite=True)
    assert len(calls) == stop_at + 1
    assert snapshot(tmp_path) == before
    assert (tmp_path / "p/a").stat().st_mtime == 1
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["a", "b"]


def test_an_interruption_of_a_new_project_leaves_nothing(tmp_path, monkeypatch):
    def failing(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("ascendops.render.fileset.os.rename", failing)
    with pytest.raises(KeyboardInterrupt):
        make(a="1\n").write(tmp_path / "x" / "p")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr("ascendops.render.fileset.tempfile.mkdtemp", refuse)
    with pytest.raises(NotWritable, match="permission denied"):
        make(a="1\n").write(tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(NotWritable, match="permission denied"):
            make(a="1\n").write(tmp_path / "p")
    finally:
        tmp_path.chmod(0o755)


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "p").write_text("a file")
    with pytest.raises(NotWritable):
        make(a="1\n").write(tmp_path / "p")
    (tmp_path / "q").mkdir()
    (tmp_path / "q/sub").write_text("a file")
    with pytest.raises(NotWritable):
        make(sub__a="1\n", b="2\n").write(tmp_path / "q")
    assert snapshot(tmp_path) == {"p": "a file", "q/sub": "a file"}


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", ""])
def test_paths_outside_are_refused(path):
    with pytest.raises(RenderError, match="not a path inside"):
        FileSet().add(path, "x")


def test_two_files_of_one_name_are_refused():
    with pytest.raises(RenderError, match="two templates write 'a'"):
        make(a="1").add("a", "2")


def test_diff_and_tree(tmp_path):
    make(a="1\n2\n", b="same\n").write(tmp_path)
    files = make(a="1\n3", b="same\n", sub__deep__c="new\n", sub__d="x\n")
    assert files.diff(tmp_path) == (
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n\\ No newline at end of file\n"
        "--- /dev/null\n+++ b/sub/deep/c\n@@ -0,0 +1 @@\n+new\n--- /dev/null\n+++ b/sub/d\n@@ -0,0 +1 @@\n+x\n"
    )
    assert files.tree() == "a\nb\nsub/\n  d\n  deep/\n    c"


def test_executables(tmp_path):
    files = FileSet()
    files.add("build.sh", "#!/bin/sh\n", executable=True)
    files.write(tmp_path / "p")
    assert os.access(tmp_path / "p/build.sh", os.X_OK)
    shutil.rmtree(tmp_path / "p")


def test_staged_files_appear_together_or_not_at_all(tmp_path):
    root = tmp_path / "out"
    with pytest.raises(ValueError, match="half way"), staged(root) as folder:
        (folder / "a").write_text("1")
        raise ValueError("half way")
    assert list(tmp_path.iterdir()) == []
    with staged(root) as folder:
        (folder / "sub").mkdir()
        (folder / "sub/a").write_bytes(b"\0\xff")
    assert (root / "sub/a").read_bytes() == b"\0\xff" and sorted(path.name for path in root.iterdir()) == ["sub"]


def test_staged_files_replace_others_only_when_asked_and_keep_each_old_one(tmp_path):
    (tmp_path / "a").write_text("mine")
    (tmp_path / "same").write_text("same")
    os.utime(tmp_path / "same", (1, 1))

    def write(text, *, overwrite):
        with staged(tmp_path, overwrite=overwrite) as folder:
            for name, content in (("a", text), ("same", "same"), ("new", "new")):
                (folder / name).write_text(content)

    with pytest.raises(FileExistsRefused, match="1 file\\(s\\)") as caught:
        write("theirs", overwrite=False)
    assert caught.value.why == "a" and snapshot(tmp_path) == {"a": "mine", "same": "same"}
    write("theirs", overwrite=True)
    write("later", overwrite=True)
    assert snapshot(tmp_path) == {"a": "later", "a.orig": "mine", "a.orig2": "theirs", "new": "new", "same": "same"}
    assert (tmp_path / "same").stat().st_mtime == 1


def test_a_folder_that_is_a_file_is_refused_by_name(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotWritable, match="file"), staged(tmp_path / "file" / "out"):
        pass
    with pytest.raises(NotWritable, match="file"), staged(tmp_path / "file"):
        pass
