"""Sources that hold kernels together with the host code that launches them."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.errors import CompileError, InputError

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


APART = '''#include "kernel_operator.h"
__aicore__ void Twice(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count)'''
CALLER = """extern "C" __global__ __aicore__ void twice(GM_ADDR xAddr) {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 256);
    AscendC::GlobalTensor<float> x;
    x.SetGlobalBuffer((__gm__ float *)xAddr, 64);
    AscendC::LocalTensor<float> a = buf.Get<float>();
    AscendC::DataCopy(a, x, 64);
    AscendC::PipeBarrier<PIPE_ALL>();
    Twice(a, a, 64);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(x, a, 64);
}
"""


def test_a_kernel_and_what_it_calls_in_another_source(tmp_path: Path) -> None:
    kernel, apart = tmp_path / "twice.asc", tmp_path / "apart.asc"
    kernel.write_text(f"{APART};\n{CALLER}")
    apart.write_text(f"{APART} {{ AscendC::Muls(y, x, FACTOR, count); }}\n")
    with pytest.raises(CompileError, match="sources=") as caught:
        ascendops.twin.compile(kernel)
    assert "Twice" in str(caught.value)
    with pytest.raises(InputError, match="no source"):
        ascendops.twin.compile(kernel, sources=[tmp_path / "none.asc"])
    x = torch.arange(64, dtype=torch.float32)
    ascendops.twin.compile(kernel, sources=[apart], defines={"FACTOR": "2.0f"}).launch(block_dim=1, args=[x])
    assert torch.equal(x, 2 * torch.arange(64, dtype=torch.float32))


COPIES_WORDS = """#include "kernel_operator.h"
struct Data { uint32_t count = 0; float factor = 0; };
__aicore__ inline void Read(Data *data, __gm__ uint8_t *from) {
    uint32_t *word = reinterpret_cast<uint32_t *>(data);
    for (uint32_t i = 0; i < sizeof(Data) / sizeof(uint32_t); i++, word++) *word = *((__gm__ uint32_t *)from + i);
}
extern "C" __global__ __aicore__ void scaled(GM_ADDR xAddr, GM_ADDR tiling) {
    Data data;
    Read(&data, tiling);
    AscendC::GlobalTensor<float> x;
    x.SetGlobalBuffer((__gm__ float *)xAddr, data.count);
    for (uint32_t i = 0; i < data.count; i++) x.SetValue(i, data.factor * x.GetValue(i));
}
"""


def test_a_structure_that_is_copied_word_by_word(tmp_path: Path) -> None:
    source = tmp_path / "scaled.cpp"
    source.write_text(COPIES_WORDS)
    x = torch.arange(8, dtype=torch.float32)
    ascendops.twin.compile(source).launch(block_dim=1, args=[x], tiling=struct.pack("<If", 8, 2.5))
    assert torch.equal(x, 2.5 * torch.arange(8, dtype=torch.float32))


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


def test_errors_of_a_source_with_such_a_type_are_those_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "formats.h").write_text("enum class DataFormat { ND, NZ };\ntemplate <DataFormat FORMAT> int Number() { return static_cast<int>(FORMAT); }\n")
    source = tmp_path / "formats.cpp"
    text = (
        '#include "kernel_operator.h"\n#include "formats.h"\n#include "lib/matmul_intf.h"\n'
        "int32_t CeilDiv(int32_t a, int32_t b) { return a / b + 100; }\ntemplate <typename T> T CeilAlign(T a, T b) { return a / b + 200; }\n"
        'extern "C" __global__ __aicore__ void formats(GM_ADDR x) { AscendC::GlobalTensor<int32_t> g;\n'
        "g.SetGlobalBuffer((__gm__ int32_t *)x, 1); g.SetValue(0, Number<DataFormat::NZ>() + CeilDiv(4, 2) + CeilAlign(8, 2)); }\n"
    )
    source.write_text(text)
    x = torch.zeros(1, dtype=torch.int32)
    ascendops.twin.compile(source).launch(block_dim=1, args=[x])
    assert x.item() == 1 + 102 + 204
    source.write_text(text.replace("CeilDiv(4", "CeilDix(4"))
    with pytest.raises(CompileError, match="CeilDix"):
        ascendops.twin.compile(source)


class Scalars(ctypes.Structure):
    _fields_ = [("repeat", ctypes.c_uint32), ("scale", ctypes.c_float)]


DIRECT = SOURCE.parent / "direct"


@pytest.mark.parametrize(
    ("name", "entry", "extra"),
    [
        ("guarded.cpp", "twice_custom", ()),
        ("l2ctrl.cpp", "twice_custom", ()),
        ("whole.cpp", "twice_custom", ()),
        ("pybind.cpp", "twice_custom", ()),
        ("vector.asc", "twice_custom", (Scalars(1, 2.0),)),
        ("vector.asc", "other_order", (1,)),
        ("torch.asc", "twice_custom", ()),
        ("renamed.cpp", "twice_float", ()),
        ("renamed.asc", "twice_float", ()),
    ],
)
def test_sources_of_direct_launch_projects_run(name: str, entry: str, extra: tuple) -> None:
    x = torch.randn(8 * 64)
    y = torch.zeros_like(x)
    ascendops.twin.compile(DIRECT / name).launch(entry, block_dim=8, args=[x, y, *extra])
    assert torch.equal(y, 2 * x)


def test_a_direct_launch_kernel_reads_its_tiling_from_global_memory() -> None:
    kernel = ascendops.twin.compile(DIRECT / "tiling.cpp")
    x = torch.randn(8 * 64)
    y = torch.zeros_like(x)
    kernel.launch(block_dim=8, args=[x, y], tiling=struct.pack("<If", 5, 2.0), workspace_bytes=1 << 25)
    assert torch.equal(y, torch.cat([2 * x[: 5 * 64], torch.zeros(3 * 64)]))


@pytest.mark.parametrize(
    "text",
    [
        (DIRECT / "main.cpp").read_text(),
        '#include "aclrtlaunch_twice_custom.h"\nint main() { ACLRT_LAUNCH_KERNEL(twice_custom)(8, stream, x, y); }\n',
        'extern "C" void twice_custom(uint8_t *x, uint8_t *y);\nint main() { ICPU_RUN_KF(twice_custom, 8, x, y); }\n',
        'extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x,\n    GM_ADDR y);\nvoid run() { twice_custom<<<8, nullptr, nullptr>>>(x, y); }\n',
    ],
)
def test_the_program_of_a_direct_launch_project_leads_to_its_kernel(tmp_path: Path, text: str) -> None:
    (tmp_path / "main.cpp").write_text(text)
    (tmp_path / "kernel.cpp").write_text((DIRECT / "guarded.cpp").read_text())
    with pytest.raises(InputError, match=r"main\.cpp launches the kernel twice_custom and does not define it") as caught:
        ascendops.twin.compile(tmp_path / "main.cpp")
    assert caught.value.help == "compile the source that defines it: kernel.cpp"
    (tmp_path / "kernel.cpp").unlink()
    with pytest.raises(InputError) as caught:
        ascendops.twin.compile(tmp_path / "main.cpp")
    assert caught.value.help == "compile the source that defines it: twice_custom.cpp"
