"""A folder as bytes, for another host: packed here, unpacked there once per content."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = frozenset((".ascendops", "build", "__pycache__", ".git"))  # results, caches and history: made again or of no use there


@dataclass(frozen=True)
class Parcel:
    """A packed folder. `digest` names its content: the same files give the same one, whatever their times and owners."""

    name: str
    digest: str
    data: bytes

    def unpack(self, below: Path) -> Path:
        """The folder's path under `below`; a content that is already there is not written again."""
        from filelock import FileLock

        target = below / self.digest / self.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target.parent}.lock"):
            if not target.is_dir():
                with tempfile.TemporaryDirectory(dir=target.parent) as work, tarfile.open(fileobj=io.BytesIO(self.data)) as archive:
                    archive.extractall(work, filter="data")
                    (Path(work) / self.name).rename(target)
        return target


def pack(folder: Path) -> Parcel:
    """Packs a folder's files, without results of earlier runs."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not LEFT_OUT & set(path.relative_to(folder).parts))
    return pack_files(folder.name, ((str(path.relative_to(folder)), path.read_bytes()) for path in paths))


def pack_files(name: str, files: Iterable[tuple[str, bytes]]) -> Parcel:
    """Packs files, given as (path inside the folder, content)."""
    total, buffer = hashlib.sha256(), io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(_entry(name, b"", tarfile.DIRTYPE))
        for path, content in files:
            total.update(f"{path}\0{len(content)}\0".encode() + content)
            archive.addfile(_entry(f"{name}/{path}", content, tarfile.REGTYPE), io.BytesIO(content))
    return Parcel(name, total.hexdigest()[:24], buffer.getvalue())


def _entry(name: str, content: bytes, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size, entry.mode = kind, len(content), 0o755 if kind == tarfile.DIRTYPE else 0o644
    return entry
