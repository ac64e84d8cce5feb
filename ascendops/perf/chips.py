"""The rates of a chip: spec/socs.py has the sizes, data/perf/rates.json the measured bandwidths."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ascendops import resources
from ascendops.errors import UnknownSoc
from ascendops.spec import socs


@dataclass(frozen=True)
class Chip:
    """Rates of one SoC; bandwidths in GB/s.

    Attributes:
        mhz: Clock of both units.
        hbm: Sustained bandwidth of the memory, all cores together.
        gm_ub: One core's load from global memory into UB, large transfers.
        ub_gm: One core's store.
        l2_l1: One cube core's load of data that is in L2.
        l0c_gm: One cube core's store of results.
        l2_bytes: Size of L2.
        macs: Multiply-adds of one cube core and cycle, fp16.
    """

    name: str
    aic: int
    vector_cores: int
    mhz: float
    hbm: float
    gm_ub: float
    ub_gm: float
    l2_l1: float
    l0c_gm: float
    l2_bytes: int
    macs: int


@lru_cache(maxsize=1)
def _rates() -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = json.loads(resources.data("perf/rates.json").read_text(encoding="utf-8"))["rates"]
    return loaded


@lru_cache(maxsize=64)
def chip(name: str) -> Chip:
    """The chip of a soc_version, an npu-smi name or a compute unit.

    Raises:
        UnknownSoc: No SoC has this name, or nobody has measured its rates.
    """
    soc = socs.resolve(name)
    of_unit, of_soc = _rates().get(soc.unit), _rates().get(soc.name, {})
    if of_unit is None:
        known = ", ".join(key for key in _rates() if not key.startswith("Ascend"))
        raise UnknownSoc(f"SoC '{name}' has no measured rates", help=f"estimates exist for the units {known}")
    rate = {**of_unit, **of_soc}
    mhz = rate.get("mhz", soc.mhz)
    return Chip(
        soc.name, soc.aic, soc.vector_cores, mhz, rate["hbm"], rate["gm_ub"], rate["ub_gm"], rate["l2_l1"], rate["l0c_gm"],
        soc.l2_bytes, rate["macs"],
    )  # fmt: skip
