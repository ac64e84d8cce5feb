"""Which toolchains may be fetched: exact versions and the hash of every wheel (data/toolchains.json)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from ascendops import resources
from ascendops.errors import ToolchainError, UnknownToolchain, did_you_mean


@dataclass(frozen=True)
class Package:
    """One package of a toolchain.

    Attributes:
        wheels: File name to hex SHA-256.
    """

    name: str
    version: str
    wheels: dict[str, str]

    def wheel(self, tag: str, machine: str) -> str | None:
        """The wheel's file name for `cp311` and `x86_64`; None if there is none."""
        return next((name for name in self.wheels if f"-{tag}-" in name and machine in name), None)


@dataclass(frozen=True)
class Pin:
    """A toolchain by name, with what it costs to fetch and to keep (megabytes)."""

    name: str
    what: str
    download_mb: int
    disk_mb: int
    packages: tuple[Package, ...]

    @property
    def version(self) -> str:
        """The version of the first package."""
        return self.packages[0].version

    def tags(self, machine: str) -> list[str]:
        """CPython tags, newest first, for which every package has a wheel on this machine."""
        found = {match[1] for package in self.packages for name in package.wheels if (match := re.search(r"-(cp\d+)-", name))}
        complete = [tag for tag in found if all(package.wheel(tag, machine) for package in self.packages)]
        return sorted(complete, reverse=True)

    def select(self, tag: str, machine: str) -> dict[str, str]:
        """File name to SHA-256 of the wheels for one interpreter.

        Raises:
            ToolchainError: A package has no wheel for it.
        """
        chosen: dict[str, str] = {}
        for package in self.packages:
            wheel = package.wheel(tag, machine)
            if wheel is None:
                raise ToolchainError(
                    f"{package.name} {package.version} has no wheel for {tag} on Linux {machine}",
                    help=f"it exists for {', '.join(self.tags(machine)) or 'other machines only (x86_64, aarch64)'}; --python names another interpreter",
                )
            chosen[wheel] = package.wheels[wheel]
        return chosen


@lru_cache(maxsize=1)
def pins() -> dict[str, Pin]:
    """Every toolchain that can be installed, by name."""
    table = json.loads(resources.data("toolchains.json").read_text(encoding="utf-8"))
    return {
        name: Pin(
            name,
            row["what"],
            row["megabytes_download"],
            row["megabytes_on_disk"],
            tuple(Package(item["name"], item["version"], item["wheels"]) for item in row["packages"]),
        )
        for name, row in table.items()
        if name != "_meta"
    }


def pin(name: str) -> Pin:
    """The toolchain of that name.

    Raises:
        UnknownToolchain: There is none.
    """
    if name not in pins():
        raise UnknownToolchain(f"no toolchain is called '{name}'", help=did_you_mean(name, pins()))
    return pins()[name]
