"""The SoCs that operators can be built for, and the names they go by (data/socs.csv)."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import lru_cache

from ascendops import resources
from ascendops.errors import UnknownSoc, did_you_mean

DEFAULT_SOC = "Ascend910B1"

# The SoC that stands for a compute unit when only the unit is named; the same choice as CANN's build tools.
_OF_UNIT = {
    "ascend910": "Ascend910A",
    "ascend910b": "Ascend910B1",
    "ascend910_93": "Ascend910_9391",
    "ascend310p": "Ascend310P3",
    "ascend310b": "Ascend310B1",
    "ascend950": "Ascend950PR_9599",
}


@dataclass(frozen=True)
class Soc:
    """One SoC. Sizes are bytes, rates are the raw numbers of CANN's configuration files (bytes per cycle).

    Attributes:
        name: soc_version, e.g. `Ascend910B1`.
        unit: Compute unit, e.g. `ascend910b`.
        short_version: Short_SoC_version, e.g. `Ascend910B`.
        npu_arch: 1001, 2002, 2201, 3002 or 3510.
        core_types: `CubeCore+VectorCore` for split cores, `AICore` or `AICore+VectorCore` for coupled ones.
        ai_cores: AI cores.
        aic: Cube cores (AI cores where both units share one core).
        aiv: Vector cores (on Atlas inference products: the separate ones; 0 where there are none).
        ub_bytes: Unified buffer of one vector core.
        mhz: Clock.
        vector_bytes: Bytes of one vector instruction's data path.
        vector_reg_bytes: Width of a vector register on architectures that have them, else 0.
        source: Where the numbers come from.
    """

    name: str
    unit: str
    short_version: str
    npu_arch: int
    aic_version: str
    core_types: str
    ai_cores: int
    aic: int
    aiv: int
    ub_bytes: int
    l1_bytes: int
    l0a_bytes: int
    l0b_bytes: int
    l0c_bytes: int
    bt_bytes: int
    fb_bytes: int
    l2_bytes: int
    memory_bytes: int
    mhz: int
    vector_bytes: int
    ub_block_bytes: int
    ub_bank_bytes: int
    ub_banks: int
    ub_bank_groups: int
    vector_reg_bytes: int
    ddr_rate: int
    l2_rate: int
    l2_read_rate: int
    l2_write_rate: int
    l1_to_l0a_rate: int
    l1_to_l0b_rate: int
    ub_to_ddr_rate: int
    ub_to_l2_rate: int
    source: str

    @property
    def split(self) -> bool:
        """Whether cube and vector units are separate cores (launched as AIC and AIV)."""
        return self.core_types == "CubeCore+VectorCore"

    @property
    def vector_cores(self) -> int:
        """Cores that a vector-only kernel can run on: what `PlatformAscendC::GetCoreNum()` returns."""
        return self.aiv if self.split else self.ai_cores

    @property
    def has_bf16(self) -> bool:
        """Whether kernels can use bfloat16."""
        return self.npu_arch not in {1001, 2002}

    @property
    def has_data_copy_pad(self) -> bool:
        """Whether DataCopyPad (copies of any length) exists."""
        return self.npu_arch not in {1001, 2002}


@lru_cache(maxsize=1)
def table() -> dict[str, Soc]:
    """Every known SoC by soc_version."""
    with resources.data("socs.csv").open(newline="") as lines:
        return {row["soc"]: _soc(row) for row in csv.DictReader(lines)}


def _soc(row: dict[str, str]) -> Soc:
    text = {"name", "unit", "short_version", "aic_version", "core_types", "source"}
    values = {f.name: row["soc" if f.name == "name" else f.name] for f in fields(Soc)}
    return Soc(**{key: value if key in text else int(value) for key, value in values.items()})  # type: ignore[arg-type]


def units() -> tuple[str, ...]:
    """The compute units, sorted."""
    return tuple(sorted(_OF_UNIT))


def resolve(name: str) -> Soc:
    """The SoC of a soc_version (`Ascend910B1`), an npu-smi name (`910B1`) or a compute unit (`ascend910b`).

    Raises:
        UnknownSoc: No SoC has this name, or it is `Ascend910B`, which is not what it looks like.
    """
    wanted = name.strip().removeprefix("ai_core-")
    if wanted in {"Ascend910B", "910B"}:
        raise UnknownSoc(
            f"SoC '{name}' is ambiguous",
            why="Ascend910B without a digit is the soc_version of an old Ascend 910 (unit ascend910), not of the Atlas A2 series",
            help="for Atlas A2 use ascend910b (the compute unit) or Ascend910B1 to Ascend910B4 (npu-smi info shows which); "
            "for the old Ascend 910 use Ascend910A or Ascend910ProB",
        )
    if wanted.lower().removeprefix("ascend") == "910c":
        raise UnknownSoc(
            f"SoC '{name}' is a product name", why="the Ascend 910C of the Atlas A3 series is compute unit ascend910_93",
            help="use ascend910_93, or the soc_version that npu-smi shows, such as Ascend910_9391",
        )  # fmt: skip
    unit = wanted.lower() if wanted.lower().startswith("ascend") else f"ascend{wanted.lower()}"
    known = table()
    if unit in _OF_UNIT:
        return known[_OF_UNIT[unit]]
    for soc in known.values():
        if soc.name.lower() == unit:
            return soc
    raise UnknownSoc(f"SoC '{name}' is not known", help=did_you_mean(_spelled(wanted), [*_OF_UNIT, *known.keys() - {"Ascend910B"}]))


def _spelled(name: str) -> str:
    """The name with the vendor's prefix, so that close matches are found for npu-smi names too."""
    return f"Ascend{name}" if name and not name.lower().startswith("ascend") else name
