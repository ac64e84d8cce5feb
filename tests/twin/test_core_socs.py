"""What differs between SoCs: the size of UB, DataCopyPad, the macros."""

from __future__ import annotations

import numpy as np
import pytest
from core_kernels import FOLDER, compiled

import ascendops.twin
from ascendops.errors import TwinCheckError

pytestmark = pytest.mark.twin

SOC = "Ascend310P3"


def test_310p_has_a_larger_ub() -> None:
    x, y = np.arange(32, dtype=np.float16), np.zeros(32, np.float16)
    result = compiled("soc310p.cpp", SOC).launch(block_dim=1, args=[x, y, 32])
    np.testing.assert_array_equal(x, y)
    assert result.soc == SOC
    assert result.high_water["UB"] == 240 * 1024


def test_910b_has_less() -> None:
    x = np.arange(256, dtype=np.float32)
    with pytest.raises(TwinCheckError, match="UB-CAPACITY"):
        compiled("memory.cpp").launch("bad_capacity", block_dim=1, args=[x, x.copy()])
    result = compiled("memory.cpp", SOC).launch("bad_capacity", block_dim=1, args=[x, x.copy()])
    assert result.diagnostics == ()


def test_310p_has_no_data_copy_pad() -> None:
    kernel = ascendops.twin.compile(FOLDER / "soc310p.cpp", soc=SOC, defines={"PAD": 1})
    x, y = np.arange(32, dtype=np.float16), np.zeros(32, np.float16)
    result = kernel.launch(block_dim=1, args=[x, y, 32], checks="warn")
    assert [(d.id, d.severity) for d in result.diagnostics] == [("UNSUPPORTED-API", "error")]
    assert np.isnan(y).all(), "nothing was copied"
