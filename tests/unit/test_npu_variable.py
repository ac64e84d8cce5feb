"""ASCENDOPS_NPU: a misspelt value is said, and switches nothing on."""

from __future__ import annotations

import pytest

from ascendops import npu
from ascendops.errors import DeviceRefused


def test_a_misspelt_value_is_a_warning(monkeypatch):
    monkeypatch.setattr(npu, "enable_npu_twin", lambda: pytest.fail("switched on"))
    monkeypatch.setenv(npu.VARIABLE, "twn")
    with pytest.warns(UserWarning, match="ASCENDOPS_NPU=twn is not known"):
        npu.autoload()
    for word in ("auto", "off", "real", ""):
        monkeypatch.setenv(npu.VARIABLE, word)
        npu.autoload()


def test_twin_switches_it_on(monkeypatch):
    calls = []
    monkeypatch.setattr(npu, "enable_npu_twin", lambda: calls.append(1))
    monkeypatch.setenv(npu.VARIABLE, "twin")
    npu.autoload()
    assert calls == [1]


def test_a_wrong_number_of_devices_is_refused_before_anything_is_built(monkeypatch):
    for wrong in ("0", "17", "two"):
        monkeypatch.setenv(npu.COUNT, wrong)
        with pytest.raises(DeviceRefused, match=f"ASCENDOPS_NPU_COUNT={wrong} is not a number of devices"):
            npu.enable_npu_twin()
