"""The build cache: hits, misses by content, atomicity and locking."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ascendops.errors import SourcesChanging
from ascendops.toolchain import cache


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def maker(header: Path, calls: list[str]):
    def make(stage: Path):
        calls.append("made")
        (stage / "out.txt").write_text(header.read_text())
        return [header]

    return make


def test_second_request_is_a_hit_and_makes_nothing(tmp_path: Path) -> None:
    header, calls = tmp_path / "a.h", []
    header.write_text("one")
    first = cache.publish("k", "key", maker(header, calls))
    second = cache.publish("k", "key", maker(header, calls))
    assert (first.hit, second.hit, calls) == (False, True, ["made"])
    assert second.path == first.path
    assert (second.path / "out.txt").read_text() == "one"


def test_a_changed_dependency_misses_and_changing_it_back_hits_again(tmp_path: Path) -> None:
    header, calls = tmp_path / "a.h", []
    header.write_text("one")
    cache.publish("k", "key", maker(header, calls))
    header.write_text("two!")
    changed = cache.publish("k", "key", maker(header, calls))
    assert not changed.hit and (changed.path / "out.txt").read_text() == "two!"
    header.write_text("one")
    back = cache.publish("k", "key", maker(header, calls))
    assert back.hit and (back.path / "out.txt").read_text() == "one"
    assert len(calls) == 2


def test_same_size_and_time_but_other_content_is_still_seen_through_a_new_inode(tmp_path: Path) -> None:
    header, calls = tmp_path / "a.h", []
    header.write_text("one")
    cache.publish("k", "key", maker(header, calls))
    header.write_text("six")
    assert not cache.publish("k", "key", maker(header, calls)).hit


def test_a_failed_make_publishes_nothing_and_leaves_no_stage(tmp_path: Path, private_cache: Path) -> None:
    def broken(stage: Path):
        (stage / "half").write_text("half")
        raise RuntimeError("compiler failed")

    with pytest.raises(RuntimeError, match="compiler failed"):
        cache.publish("k", "key", broken)
    assert cache.lookup("k", "key") is None
    assert [path.name for path in (private_cache / "k" / "key").iterdir()] == [".lock"]


def test_two_builders_make_once(tmp_path: Path) -> None:
    header, calls, entries = tmp_path / "a.h", [], []
    header.write_text("one")
    started = threading.Event()

    def slow(stage: Path):
        started.set()
        calls.append("made")
        threading.Event().wait(0.2)
        (stage / "out.txt").write_text("one")
        return [header]

    threads = [threading.Thread(target=lambda: entries.append(cache.publish("k", "key", slow))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == ["made"]
    assert sorted(entry.hit for entry in entries) == [False, True, True]


def test_a_damaged_manifest_is_a_miss(tmp_path: Path) -> None:
    header, calls = tmp_path / "a.h", []
    header.write_text("one")
    entry = cache.publish("k", "key", maker(header, calls))
    (entry.path / "manifest.json").write_text("{")
    assert cache.lookup("k", "key") is None
    assert not cache.publish("k", "key", maker(header, calls)).hit


def test_digest_separates_its_parts() -> None:
    assert cache.digest("ab", "c") != cache.digest("a", "bc")


def rewriting(header: Path, contents: list[str]):
    """A maker whose header is rewritten after it was read, once for each of the contents."""

    def make(stage: Path):
        (stage / "out.txt").write_text(header.read_text())
        if contents:
            header.write_text(contents.pop(0))
        return [header]

    return make


def test_a_dependency_that_changes_while_it_is_read_is_read_again(tmp_path: Path, private_cache: Path) -> None:
    header = tmp_path / "a.h"
    header.write_text("old")
    entry = cache.publish("k", "key", rewriting(header, ["new"]))
    assert (entry.path / "out.txt").read_text() == "new"
    found = cache.lookup("k", "key")
    assert found == entry.path
    header.write_text("old")
    assert cache.lookup("k", "key") is None  # what was made of the old header was not kept
    assert sorted(path.name for path in (private_cache / "k" / "key").iterdir()) == [".lock", entry.path.name]


def test_a_dependency_that_never_holds_still_is_refused(tmp_path: Path, private_cache: Path) -> None:
    header = tmp_path / "a.h"
    header.write_text("0")
    with pytest.raises(SourcesChanging, match=r"a\.h changes while it is compiled"):
        cache.publish("k", "key", rewriting(header, [str(number) for number in range(1, 50)]))
    assert [path.name for path in (private_cache / "k" / "key").iterdir()] == [".lock"]


def test_a_dependency_dated_in_the_future_is_made_twice_at_most(tmp_path: Path) -> None:
    header, calls = tmp_path / "a.h", []
    header.write_text("one")
    os.utime(header, (4e9, 4e9))
    assert not cache.publish("k", "key", maker(header, calls)).hit
    assert cache.publish("k", "key", maker(header, calls)).hit
    assert len(calls) <= 2


def test_two_writes_within_one_step_of_the_clock_have_two_hashes(tmp_path: Path) -> None:
    header = tmp_path / "a.h"
    header.write_text("one")
    stat, first = header.stat(), cache.file_digest(header)
    header.write_text("two")
    os.utime(header, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert cache.file_digest(header) != first
