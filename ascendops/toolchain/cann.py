"""Where the CANN toolkit is and which version: read from its files, nothing is run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
DEFAULT_HOMES = ("/usr/local/Ascend/cann", "/usr/local/Ascend/ascend-toolkit/latest", "~/Ascend/cann", "~/Ascend/ascend-toolkit/latest")
_TOOL_FOLDERS = ("bin", "compiler/ccec_compiler/bin", "tools/ccec_compiler/bin", "python/site-packages/bin")


@dataclass(frozen=True)
class Toolkit:
    """An installed CANN toolkit.

    Attributes:
        root: What ASCEND_HOME_PATH must be.
        version: Such as `8.1.RC1` or `9.0.0`; None when no version file says it.
        source: The variable or the default location that led here.
    """

    root: Path
    version: str | None
    source: str

    @property
    def active(self) -> bool:
        """Whether set_env.sh was sourced, so that the toolkit's own tools find themselves."""
        return self.source == "ASCEND_HOME_PATH"

    def tool(self, name: str, path: str | None = None) -> str | None:
        """The toolkit's program `name`, on PATH or in the toolkit's own folders."""
        places = [path if path is not None else os.environ.get("PATH", ""), *(str(self.root / folder) for folder in _TOOL_FOLDERS)]
        return shutil.which(name, path=os.pathsep.join(places))


def find_toolkit(environ: Mapping[str, str] | None = None) -> Toolkit | None:
    """The toolkit that ASCEND_HOME_PATH or ASCEND_TOOLKIT_HOME names, else one in a default location, else None.

    A variable that names a folder without a toolkit is passed over here; `ascendops doctor` reports it.
    """
    env = os.environ if environ is None else environ
    return next((Toolkit(root, read_version(root), source) for source, root in _places(env) if is_toolkit(root)), None)


def _places(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for name in VARIABLES:
        if environ.get(name):
            yield name, Path(environ[name])
    for home in DEFAULT_HOMES:
        yield home, Path(home).expanduser()


def is_toolkit(root: Path) -> bool:
    """Whether the folder holds a CANN toolkit: its version file, or the compiler's folder."""
    return any((root / mark).exists() for mark in ("compiler/version.info", "version.info", "compiler/tikcpp", "tools/ccec_compiler"))


def read_version(root: Path) -> str | None:
    """The release (`8.1.RC1`), not the component's internal number that `Version=` in version.info holds up to 8.x."""
    header = next((path for path in sorted(root.glob("*-linux/include/version/cann_version.h"))), None)
    for path, pattern in (
        (root / "include/version/cann_version.h", r'CANN_VERSION_STR\s+"([^"]+)"'),
        (header, r'CANN_VERSION_STR\s+"([^"]+)"'),
        (root / "compiler/version.info", r"(?m)^version_dir=(\S+)"),
        (root / "version.info", r"(?m)^version_dir=(\S+)"),
        (root / "compiler/version.info", r"(?mi)^version=(\S+)"),
        (root / "version.info", r"(?mi)^version=(\S+)"),
    ):
        found = re.search(pattern, path.read_text(errors="replace")) if path is not None and path.is_file() else None
        if found:
            return found.group(1).strip('"')
    return None
