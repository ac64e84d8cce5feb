"""Names of the public Ascend C documents: their page, and the SoCs that have them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascendops import resources

_SOCS = {"910b": "Ascend 910B", "A3": "Ascend 910_93", "310p": "Ascend 310P", "950": "Ascend 950"}


@dataclass(frozen=True)
class DocumentedApi:
    """One name of the documents.

    Attributes:
        name: The function or type.
        page: Path below docs/zh/api/SIMD-API of the public repository asc-devkit.
        socs: The SoCs that have it, as the twin calls them.
        types: Element types that its page names, by SoC (`910b`, `310p`).
    """

    name: str
    page: str
    socs: tuple[str, ...]
    types: Mapping[str, tuple[str, ...]]

    @property
    def where(self) -> str:
        """Where the documents describe it."""
        return f"its page: SIMD-API/{self.page} of the public asc-devkit documents"

    @property
    def advice(self) -> str:
        """What to tell the user of a kernel that calls it although the twin does not have it."""
        if self.socs and set(self.socs) <= {"Ascend 950"}:
            return f"{self.name} is an API of {self.socs[0]} only, which the CPU twin does not support; {self.where}"
        have = ", ".join(self.socs) or "other products"
        return f"{self.name} is an API of {have} that the CPU twin does not implement (docs/ascendc-apis.md lists what it does); {self.where}"


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(resources.data("ascendc_apis.json").read_text(encoding="utf-8"))["apis"]
    return table


def lookup(name: str) -> DocumentedApi | None:
    """The documents' entry of a name, or None."""
    row = _table().get(name)
    if row is None:
        return None
    types = {soc: tuple(listed) for soc, listed in row.get("types", {}).items()}
    return DocumentedApi(name, row["page"], tuple(_SOCS[soc] for soc in row["socs"]), types)


def names() -> tuple[str, ...]:
    """Every name of the documents, sorted."""
    return tuple(sorted(_table()))
