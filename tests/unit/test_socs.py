"""SoC names and the SoC table."""

from __future__ import annotations

import pytest

from ascendops.errors import UnknownSoc
from ascendops.spec import socs


@pytest.mark.parametrize(
    ("name", "soc"),
    [
        ("Ascend910B1", "Ascend910B1"),
        ("910B3", "Ascend910B3"),
        ("910b4-1", "Ascend910B4-1"),
        ("ascend910b", "Ascend910B1"),
        ("ascend910_93", "Ascend910_9391"),
        ("910_9392", "Ascend910_9392"),
        ("ascend310p", "Ascend310P3"),
        ("310P7", "Ascend310P7"),
        ("ascend310b", "Ascend310B1"),
        ("ascend910", "Ascend910A"),
        ("ascend950", "Ascend950PR_9599"),
        ("ai_core-ascend910b2", "Ascend910B2"),
    ],
)
def test_resolve_accepts_every_kind_of_name(name: str, soc: str) -> None:
    assert socs.resolve(name).name == soc


@pytest.mark.parametrize("name", ["Ascend910B", "910B"])
def test_the_old_ascend910b_is_refused_with_an_explanation(name: str) -> None:
    with pytest.raises(UnknownSoc, match="ambiguous") as caught:
        socs.resolve(name)
    assert "old Ascend 910" in str(caught.value.why)
    assert "Ascend910B1" in str(caught.value.help)


@pytest.mark.parametrize("name", ["910C", "ascend910c", "Ascend910C"])
def test_the_product_name_910c_leads_to_its_compute_unit(name: str) -> None:
    with pytest.raises(UnknownSoc, match="product name") as caught:
        socs.resolve(name)
    assert "ascend910_93" in str(caught.value)


@pytest.mark.parametrize(("name", "meant"), [("Ascend910B9", "Ascend910B"), ("310P33", "Ascend310P3")])
def test_an_unknown_name_is_answered_with_the_nearest_ones(name: str, meant: str) -> None:
    with pytest.raises(UnknownSoc) as caught:
        socs.resolve(name)
    assert f"did you mean '{meant}" in str(caught.value.help)
    assert "did you mean 'Ascend910B'?" not in str(caught.value.help)


def test_the_table_has_the_documented_core_counts_and_sizes() -> None:
    a2, p3, b1, old, new = (socs.resolve(n) for n in ("Ascend910B1", "310P3", "310B1", "Ascend910A", "ascend950"))
    assert (a2.aic, a2.aiv, a2.vector_cores, a2.ub_bytes, a2.l1_bytes, a2.npu_arch) == (24, 48, 48, 196608, 524288, 2201)
    assert (socs.resolve("910B3").aiv, socs.resolve("910_9362").aiv) == (40, 40)
    assert (p3.ai_cores, p3.aiv, p3.vector_cores, p3.ub_bytes, p3.npu_arch) == (8, 7, 8, 262144, 2002)
    assert (b1.vector_cores, b1.ub_bytes, b1.npu_arch) == (1, 253952, 3002)
    assert (old.aiv, old.vector_cores, old.npu_arch) == (0, 32, 1001)
    assert (new.vector_cores, new.npu_arch, new.unit, new.vector_reg_bytes) == (64, 3510, "ascend950", 256)


def test_features_follow_the_architecture() -> None:
    for soc in socs.table().values():
        old = soc.unit in {"ascend910", "ascend310p"}
        assert (soc.has_bf16, soc.has_data_copy_pad) == (not old, not old), soc.name
        assert soc.source.startswith("CANN 8.1.RC1"), soc.name
        assert soc.ub_bank_bytes * soc.ub_banks in {262144, 65536}, soc.name


def test_every_unit_has_its_usual_soc() -> None:
    for unit in socs.units():
        assert socs.resolve(unit).unit == unit
