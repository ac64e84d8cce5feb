"""Content-addressed build cache: a key for what was asked, a manifest of the files that were read, atomic publication.

Layout: ``<root>/<kind>/<key>/<dependencies hash>/{<artifact>, manifest.json}``. A key covers the command and the main
sources; the manifest lists every header the compiler opened with its hash, so an edited header misses even though the key is
the same (the scheme of ccache's direct mode).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from ascendops.errors import SourcesChanging


def cache_root() -> Path:
    """The cache folder: $ASCENDOPS_CACHE, else the user's cache folder."""
    configured = os.environ.get("ASCENDOPS_CACHE")
    if configured:
        return Path(configured).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "ascendops"


def digest(*parts: str | bytes) -> str:
    """A hex SHA-256 over the parts, each length-prefixed."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hasher.update(f"{len(data)}:".encode())
        hasher.update(data)
    return hasher.hexdigest()


_hashes: dict[tuple[str, int, int], str] = {}
_TICK_NS = 50_000_000  # more than the step of a file system's clock; writes within one step leave the same time


def file_digest(path: Path) -> str:
    """The hex SHA-256 of a file's content (remembered by mtime and size, once the time cannot stay what it is over another write)."""
    stat = path.stat()
    known = (str(path), stat.st_mtime_ns, stat.st_size)
    if known in _hashes:
        return _hashes[known]
    settled = time.time_ns() - stat.st_mtime_ns > _TICK_NS
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    if settled:
        _hashes[known] = content
    return content


@dataclass(frozen=True)
class Entry:
    """A published build: its folder, and whether this call found it (True) or made it."""

    path: Path
    hit: bool


def _matches(entry: Path) -> bool:
    try:
        manifest: dict[str, str] = json.loads((entry / "manifest.json").read_text())
    except (OSError, ValueError):
        return False
    for name, expected in manifest.items():
        try:
            if file_digest(Path(name)) != expected:
                return False
        except OSError:
            return False
    return True


def lookup(kind: str, key: str) -> Path | None:
    """The published folder whose manifest matches the files as they are now, or None."""
    home = cache_root() / kind / key
    if not home.is_dir():
        return None
    return next((entry for entry in sorted(home.iterdir()) if (entry / "manifest.json").is_file() and _matches(entry)), None)


_ATTEMPTS = 4


def publish(kind: str, key: str, make: Callable[[Path], Iterable[Path]]) -> Entry:
    """Returns the entry for `key`, calling `make` under a lock when there is none.

    Args:
        kind: Sub-folder, for people who look at the cache.
        key: What was asked for (`digest` of command, flags and sources).
        make: Fills the empty folder that it is given and returns the files it depended on. If it raises, nothing is
            published and the error passes through. It is called again when one of these files changed meanwhile.

    Raises:
        SourcesChanging: A file that `make` reads changed during each of several attempts.
    """
    found = lookup(kind, key)
    if found:
        return Entry(found, True)
    home = cache_root() / kind / key
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / ".lock"):
        found = lookup(kind, key)
        if found:
            return Entry(found, True)
        stage, manifest = _made(home, make)
        try:
            text = json.dumps(manifest, indent=0, sort_keys=True)
            (stage / "manifest.json").write_text(text)
            final = home / digest(text)[:16]
            if final.exists():
                shutil.rmtree(final)
            os.rename(stage, final)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    return Entry(final, False)


def _made(home: Path, make: Callable[[Path], Iterable[Path]]) -> tuple[Path, dict[str, str]]:
    """A folder that `make` has filled, and the hashes of the files it read, which were the same before and after."""
    before: dict[str, str] = {}
    changed: list[str] = []
    for _ in range(_ATTEMPTS):
        stage = Path(tempfile.mkdtemp(prefix=".stage-", dir=home))
        try:
            start = _clock_after_now(stage)
            after = {str(path): file_digest(path) for path in sorted(set(make(stage)))}
            # which files are read is not known before the first attempt, but when they last changed is
            changed = [name for name in after if (after[name] != before[name] if name in before else _changed_ns(name) >= start)]
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
        if not changed:
            return stage, after
        shutil.rmtree(stage, ignore_errors=True)
        before = after
    what = f"{changed[0]} changes while it is compiled"
    raise SourcesChanging(what, where=changed[0], help="wait until the editor, generator or checkout is done, and build again")


def _changed_ns(name: str) -> int:
    stat = os.stat(name)
    return max(stat.st_mtime_ns, stat.st_ctime_ns)


def _clock_after_now(folder: Path) -> int:
    """A time of the file system's clock after everything that was written until now, and not after what is written from now on."""
    marker = folder / ".clock"
    marker.touch()
    first = now = _changed_ns(str(marker))
    for _ in range(100):  # the clock moves on every 1 to 10 ms
        if now > first:
            break
        time.sleep(0.001)
        marker.touch()
        now = _changed_ns(str(marker))
    marker.unlink()
    return now if now > first else first + 1
