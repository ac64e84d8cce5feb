"""Sources that hold kernels together with the host code that launches them."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.errors import CompileError

SOURCE = Path(__file__).parent / "kernels" / "launched.asc"

pytestmark = pytest.mark.twin


class Tiling(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint32), ("factors", ctypes.c_float * 2)]


def test_launched_and_asked_instances_run_with_a_struct_by_value() -> None:
    kernel = ascendops.twin.compile(SOURCE, instances=["scale<half, 64>"])
    assert kernel.entries == ("scale<half, 64>", "scale<float, 64>")
    for name, dtype in zip(kernel.entries, (torch.float16, torch.float32), strict=True):
        x = torch.arange(64, dtype=dtype)
        y = torch.zeros_like(x)
        kernel.launch(name, block_dim=1, args=[x, y, Tiling(64, (0.0, 3.0))])
        assert torch.equal(y, 3 * x)


def test_errors_keep_the_lines_of_the_file(tmp_path: Path) -> None:
    broken = tmp_path / "broken.asc"
    broken.write_text(SOURCE.read_text().replace("AscendC::Muls(", "AscendC::Mulz("))
    line = broken.read_text().splitlines().index(next(text for text in broken.read_text().splitlines() if "Mulz" in text)) + 1
    with pytest.raises(CompileError) as caught:
        ascendops.twin.compile(broken)
    assert caught.value.where == f"{broken}:{line}"


def test_a_global_type_may_have_the_name_of_an_ascend_c_one(tmp_path: Path) -> None:
    source = tmp_path / "named.cpp"
    source.write_text(
        '#include "kernel_operator.h"\nstruct ReduceType { int factor = 3; };\n'
        'extern "C" __global__ __aicore__ void named(GM_ADDR x) { ReduceType type; AscendC::GlobalTensor<int32_t> g;\n'
        "g.SetGlobalBuffer((__gm__ int32_t *)x, 1); g.SetValue(0, type.factor * g.GetValue(0)); }\n"
    )
    x = torch.tensor([7], dtype=torch.int32)
    ascendops.twin.compile(source).launch(block_dim=1, args=[x])
    assert x.item() == 21
