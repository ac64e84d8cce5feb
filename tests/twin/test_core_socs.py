"""What differs between SoCs: the size of UB, DataCopyPad, the macros."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from core_kernels import FOLDER, compiled

import ascendops.twin
from ascendops.errors import CompileError, TwinCheckError

pytestmark = pytest.mark.twin

SOC = "Ascend310P3"


def test_310p_has_a_larger_ub() -> None:
    x, y = np.arange(32, dtype=np.float16), np.zeros(32, np.float16)
    result = compiled("soc310p.cpp", SOC).launch(block_dim=1, args=[x, y, 32])
    np.testing.assert_array_equal(x, y)
    assert result.soc == SOC
    assert result.high_water["UB"] == 240 * 1024


def test_910b_has_less() -> None:
    x, y = np.arange(32, dtype=np.float16), np.zeros(32, np.float16)
    kernel = ascendops.twin.compile(FOLDER / "soc310p.cpp", defines={"ANY_SOC": 1})
    with pytest.raises(TwinCheckError, match="UB-CAPACITY"):
        kernel.launch(block_dim=1, args=[x, y, 32])


def test_310p_has_no_data_copy_pad() -> None:
    with pytest.raises(CompileError, match="DataCopyPad is not supported on Ascend 310P") as caught:
        ascendops.twin.compile(FOLDER / "soc310p.cpp", soc=SOC, defines={"PAD": 1})
    assert caught.value.where is not None and caught.value.where.startswith(str(FOLDER / "soc310p.cpp"))


def test_the_raw_form_of_data_copy_pad_does_nothing_on_310p() -> None:
    kernel = ascendops.twin.compile(FOLDER / "soc310p.cpp", soc=SOC, defines={"RAW_PAD": 1})
    x, y = np.arange(32, dtype=np.float16), np.zeros(32, np.float16)
    result = kernel.launch(block_dim=1, args=[x, y, 32], checks="warn")
    assert [(d.id, d.severity) for d in result.diagnostics] == [("UNSUPPORTED-API", "error")]
    assert np.isnan(y).all(), "nothing was copied"


def test_310p_has_no_bfloat16() -> None:
    with pytest.raises(CompileError, match="bfloat16_t is not a type of Ascend 310P"):
        ascendops.twin.compile(FOLDER / "soc310p.cpp", soc=SOC, defines={"BFLOAT": 1})


@pytest.mark.parametrize("name", ["Ascend950", "Ascend310B1", "Ascend910A"])
def test_another_soc_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(CompileError, match="the CPU twin does not support Ascend"):
        ascendops.twin.compile(FOLDER / "soc310p.cpp", soc=name)


def test_an_api_of_another_soc_is_an_error_with_its_page(tmp_path: Path) -> None:
    source = tmp_path / "clamp.cpp"
    source.write_text('#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) { LocalTensor<half> t; AscendC::Clamp(t, t, half(0), half(1), 8); }\n')
    with pytest.raises(CompileError, match="Clamp is an API of Ascend 950 only") as caught:
        ascendops.twin.compile(source)
    assert "SIMD-API/" in str(caught.value) and "Clamp.md" in str(caught.value)


@pytest.mark.parametrize("line", ["using namespace AscendC::MicroAPI;", "AscendC::Reg::RegTensor<float> register_;", "AscendC::Simt::ThreadBarrier();"])
def test_a_namespace_of_another_soc_is_an_error_that_says_so(tmp_path: Path, line: str) -> None:
    source = tmp_path / "registers.cpp"
    source.write_text('#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) { ' + line + " }\n")
    with pytest.raises(CompileError, match="are those of Ascend 950 only"):
        ascendops.twin.compile(source)
