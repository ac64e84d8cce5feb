"""Compute units that CANN's op projects accept (the ASC_VALID_SOC_LIST of CANN 9.x)."""

from __future__ import annotations

UNITS = (
    "ascend310b",
    "ascend310p",
    "ascend350",
    "ascend610",
    "ascend610lite",
    "ascend910",
    "ascend910_93",
    "ascend910_96",
    "ascend910b",
    "ascend950",
    "bs9sx1a",
    "bs9sx2a",
    "kirin9030",
    "kirinx90",
    "mc32dm11a",
    "mc61am21a",
    "mc62",
)
