"""package.json of an operator package: what was built, for which platform, and against which interface of the twin."""

from __future__ import annotations

import functools
import json
import platform
import sysconfig
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ascendops import __version__, resources
from ascendops.errors import PackageUnusable

FILE = "package.json"
GROUP = "ascendops.operators"  # entry points of installed packages
_FORMAT = 1
_INTERFACE = ("include/ascendc_twin/launch.h", "runtime/report.cpp", "hostrt/api.cpp", "hostrt/request.cpp", "hostrt/describe.cpp")


@functools.cache
def interface() -> str:
    """Hash of the sources that define how ascendops talks to the twin's libraries."""
    from ascendops.toolchain.cache import digest

    return digest(*(resources.twin(name).read_bytes() for name in _INTERFACE))[:16]


@dataclass(frozen=True)
class Part:
    """One project of a package.

    Attributes:
        folder: Its folder in the package: op.toml, golden.py and reference/ as they are, and the libraries.
        host: The library of op_host, below the folder.
        kernels: The kernel library of each dtype column of each operator (OpDef name), below the folder.
    """

    folder: str
    host: str
    kernels: dict[str, list[str]]


@dataclass(frozen=True)
class Manifest:
    """What package.json says.

    Attributes:
        name: Name of the distribution.
        namespace: The operators are torch.ops.<namespace>.
        soc: The SoC that the twin models.
        backend: `twin` or `cann`.
        parts: Its projects.
        runtime: The twin's runtime, below the package; `host_runtime` likewise.
        vendor: The installed CANN package, below the package (backend `cann`).
        cpu: Instruction sets that the libraries need, as /proc/cpuinfo calls them; empty for a portable build.
        platform: sysconfig's name of the platform, such as `linux-x86_64`.
        interface: Hash of the interface between ascendops and the twin's libraries.
        version: The version of ascendops that made it.
    """

    name: str
    namespace: str
    soc: str
    backend: str
    parts: list[Part] = field(default_factory=list)
    runtime: str = ""
    host_runtime: str = ""
    vendor: str = ""
    cpu: list[str] = field(default_factory=list)
    platform: str = field(default_factory=sysconfig.get_platform)
    interface: str = field(default_factory=interface)
    version: str = __version__
    format: int = _FORMAT

    def text(self) -> str:
        """The file's text."""
        return json.dumps(asdict(self), indent=1) + "\n"

    def check(self, where: Path) -> None:
        """Whether the package can be used here.

        Raises:
            PackageUnusable: Another platform, CPU, or interface of the twin.
        """
        here = sysconfig.get_platform()
        if self.platform != here:
            raise PackageUnusable(f"{self.name} was built for {self.platform}, this is {here}", where=str(where), help="make the wheel on this platform")
        missing = sorted(set(self.cpu) - set(cpu_features()))
        if missing:
            raise PackageUnusable(
                f"{self.name} was built for another CPU", where=str(where), why=f"this {platform.machine()} lacks {', '.join(missing)}",
                help="make the wheel with --cpu portable",
            )  # fmt: skip
        if self.interface != interface():
            raise PackageUnusable(
                f"{self.name} was built with another version of ascendops", where=str(where),
                why=f"it was built with ascendops {self.version} (interface {self.interface}), here is {__version__} ({interface()})",
                help=f"install ascendops=={self.version}, or make the wheel again with this version",
            )  # fmt: skip


def read(folder: Path) -> Manifest:
    """The manifest of the package in a folder.

    Raises:
        PackageUnusable: There is none, or it is not of this format.
    """
    try:
        data: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            raise PackageUnusable(f"{folder.name} has the format {data['format']}, this version reads {_FORMAT}", where=str(folder / FILE))
        return Manifest(**{**data, "parts": [Part(**part) for part in data["parts"]]})
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise PackageUnusable(f"{folder.name} has no usable {FILE}", where=str(folder), why=why, help="install the wheel again") from None


def cpu_features() -> list[str]:
    """This CPU's instruction sets as /proc/cpuinfo lists them; empty where there is no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    line = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return sorted(word for word in line.partition(":")[2].split() if word.startswith(_VECTOR))


_VECTOR = ("avx", "sse", "ssse", "fma", "f16c", "bmi", "popcnt", "lzcnt", "abm", "movbe", "adx", "sha", "gfni", "vaes", "vpclmul", "amx", "asimd", "sve")
