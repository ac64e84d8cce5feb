"""What a benchmark found: a row for each case, and the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One call: `us` is the median time, or NaN where `wrong` says why the call was not timed.

    Attributes:
        spread: Interquartile range over the median; 0 for a model.
        busy_us: Time of each pipe of the slowest block; empty on a device.
        fraction: Roof over time: 1.0 is as fast as the chip can be.
    """

    op: str
    case: str
    dtype: str
    shapes: str
    us: float
    spread: float = 0.0
    repeats: int = 0
    block_dim: int = 0
    tiling_key: int = 0
    tiling_name: str = ""
    busy_us: Mapping[str, float] = field(default_factory=dict)
    roof_us: float = 0.0
    roof: str = ""
    bytes: int = 0
    flops: int = 0
    wrong: str = ""

    @property
    def id(self) -> tuple[str, str, str]:
        """What a row of another run must have in common to be compared."""
        return self.op, f"{self.case} {self.shapes}", self.dtype

    @property
    def bound(self) -> str:
        """The busiest pipe of the slowest block; empty where nobody saw it."""
        return max(self.busy_us, key=lambda pipe: self.busy_us[pipe]) if self.busy_us else ""

    @property
    def fraction(self) -> float:
        """The roof over the time."""
        return self.roof_us / self.us if self.us else 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields; a time that is not there is null."""
        known = not math.isnan(self.us)
        return {**asdict(self), "us": self.us if known else None, "bound": self.bound, "fraction": self.fraction if known else None}


@dataclass(frozen=True)
class Bench:
    """The rows of a run and the conditions under which they hold."""

    rows: tuple[Row, ...]
    environment: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields."""
        return {"environment": dict(self.environment), "rows": [row.to_dict() for row in self.rows]}
