"""tbe.common.platform: what the SoC can do."""

from __future__ import annotations

from typing import Any

from ascendops.errors import TbeUnsupported, did_you_mean
from ascendops.tbe import dtypes
from ascendops.tbe.graph import caller
from ascendops.tbe.session import current

CORE_NUM, UB_SIZE, L1_SIZE, L0A_SIZE, L0B_SIZE, L0C_SIZE = "CORE_NUM", "UB_SIZE", "L1_SIZE", "L0A_SIZE", "L0B_SIZE", "L0C_SIZE"
SHORT_SOC_VERSION, FULL_SOC_VERSION, SOC_VERSION, AICORE_TYPE = "SHORT_SOC_VERSION", "FULL_SOC_VERSION", "SOC_VERSION", "AICORE_TYPE"
VECTOR_CORE_NUM, CUBE_CORE_CNT, VECTOR_CORE_CNT = "VECTOR_CORE_NUM", "cube_core_cnt", "vector_core_cnt"
BLOCK_BYTES = 32


def get_soc_spec(key: str) -> Any:
    """A property of the SoC that the operator is built for.

    Raises:
        TbeUnsupported: There is no such key.
    """
    soc = current().soc
    values = {
        CORE_NUM: soc.vector_cores, UB_SIZE: soc.ub_bytes, L1_SIZE: soc.l1_bytes, L0A_SIZE: soc.l0a_bytes, L0B_SIZE: soc.l0b_bytes,
        L0C_SIZE: soc.l0c_bytes, SHORT_SOC_VERSION: soc.short_version, FULL_SOC_VERSION: soc.name, SOC_VERSION: soc.name,
        AICORE_TYPE: "AiCore", VECTOR_CORE_NUM: soc.aiv, CUBE_CORE_CNT: soc.aic, VECTOR_CORE_CNT: soc.aiv,
    }  # fmt: skip
    if key not in values:
        raise TbeUnsupported(f"get_soc_spec knows no '{key}'", where=caller(), help=did_you_mean(key, values))
    return values[key]


def api_check_support(api_name: str, dtype: str = "") -> bool:
    """Whether a DSL function exists on the SoC, and takes a dtype by itself."""
    if api_name.startswith("tik."):
        return False
    if not current().soc.has_bf16 and ("bf16" in dtype or dtype == "bfloat16"):
        return False
    return dtypes.supports(api_name, dtype)


_INTRINSICS = {"vconv": "cast_to", "vln": "vlog", "vadds": "vadds", "vcmpv": "vcmp", "vcmpvs": "vcmp"}


def intrinsic_check_support(intrinsic: str, dtype: str = "") -> bool:
    """Whether a vector instruction takes a dtype."""
    word = intrinsic.rpartition("_")[2]
    return api_check_support(f"tbe.dsl.{_INTRINSICS.get(word, word)}", dtype)


def get_bit_len(dtype: str) -> int:
    """Bits of an element type."""
    return dtypes.BITS[dtypes.name(dtype)]


def get_block_size(dtype: str = "uint8") -> int:
    """Elements of a dtype in one 32-byte block."""
    return BLOCK_BYTES * 8 // get_bit_len(dtype)
