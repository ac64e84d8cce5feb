"""A SoC as tiling functions ask for it (PlatformAscendC, PlatFormInfos)."""

from __future__ import annotations

from ascendops.spec.socs import Soc


def platform_text(soc: Soc) -> str:
    """The SoC in the sections and keys of CANN's platform_config files, which tiling functions read."""
    split = "split" if soc.split else ""
    sections: dict[str, dict[str, object]] = {
        "version": {
            "SoC_version": soc.name, "Short_SoC_version": soc.short_version, "AIC_version": soc.aic_version, "NpuArch": soc.npu_arch,
        },
        "SoCInfo": {
            "ai_core_cnt": soc.ai_cores, "cube_core_cnt": soc.aic, "vector_core_cnt": soc.aiv, "memory_size": soc.memory_bytes,
            "l2_size": soc.l2_bytes, "core_type_list": soc.core_types.replace("+", ","), "cube_vector_combine": split,
        },
        "AICoreSpec": {
            "cube_freq": soc.mhz, "vec_calc_size": soc.vector_bytes, "ub_size": soc.ub_bytes, "l1_size": soc.l1_bytes,
            "l0_a_size": soc.l0a_bytes, "l0_b_size": soc.l0b_bytes, "l0_c_size": soc.l0c_bytes, "bt_size": soc.bt_bytes,
            "fb0_size": soc.fb_bytes, "ubblock_size": soc.ub_block_bytes, "ubbank_size": soc.ub_bank_bytes,
            "ubbank_num": soc.ub_banks, "ubbank_group_num": soc.ub_bank_groups, "vector_reg_width": soc.vector_reg_bytes,
        },
        "AICoreMemoryRates": {
            "ddr_rate": soc.ddr_rate, "ddr_read_rate": soc.ddr_rate, "ddr_write_rate": soc.ddr_rate, "l2_rate": soc.l2_rate,
            "l2_read_rate": soc.l2_read_rate, "l2_write_rate": soc.l2_write_rate, "l1_to_l0_a_rate": soc.l1_to_l0a_rate,
            "l1_to_l0_b_rate": soc.l1_to_l0b_rate, "ub_to_ddr_rate": soc.ub_to_ddr_rate, "ub_to_l2_rate": soc.ub_to_l2_rate,
        },
    }  # fmt: skip
    return "".join(f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in rows.items()) for name, rows in sections.items())
