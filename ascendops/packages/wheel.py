"""A wheel of given files: the binary distribution format of https://packaging.python.org/en/latest/specifications/binary-distribution-format/."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path

from packaging.utils import canonicalize_name

from ascendops import __version__

_TIME = (1980, 1, 1, 0, 0, 0)  # the same files give the same wheel


def write(
    folder: Path, name: str, version: str, tag: str, files: Mapping[str, bytes | Path], *, summary: str, requires: Sequence[str],
    entry_points: Mapping[str, Mapping[str, str]],
) -> Path:  # fmt: skip
    """Writes the wheel into a folder and returns its path.

    Args:
        folder: Made when missing.
        name: Name of the distribution.
        version: Its version.
        tag: `python-abi-platform`, such as `py3-none-linux_x86_64`.
        files: Contents by path in the wheel.
        summary: One line.
        requires: Requirements, as pip writes them.
        entry_points: By group, then name.
    """
    stem = f"{canonicalize_name(name).replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    pure = "true" if tag.endswith("-any") else "false"
    groups = "".join(f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items()) for group, rows in entry_points.items())
    every: dict[str, bytes | Path] = {
        **files,
        f"{info}/METADATA": _headers([("Metadata-Version", "2.1"), ("Name", name), ("Version", version), ("Summary", summary), *(("Requires-Dist", each) for each in requires)]),
        f"{info}/WHEEL": _headers([("Wheel-Version", "1.0"), ("Generator", f"ascendops {__version__}"), ("Root-Is-Purelib", pure), ("Tag", tag)]),
        f"{info}/entry_points.txt": groups.encode(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-{tag}.whl"
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        record = io.StringIO()
        rows = csv.writer(record, lineterminator="\n")
        for inside, content in every.items():
            data = content.read_bytes() if isinstance(content, Path) else content
            _add(archive, inside, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow((inside, f"sha256={digest}", len(data)))
        rows.writerow((f"{info}/RECORD", "", ""))
        _add(archive, f"{info}/RECORD", record.getvalue().encode())
    part.replace(path)
    return path


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
    archive.writestr(entry, data)


def _headers(rows: Sequence[tuple[str, str]]) -> bytes:
    message = EmailMessage()
    for key, value in rows:
        message[key] = value
    return bytes(message)
