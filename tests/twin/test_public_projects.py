"""Habits of public projects that the build must take: one small project of our own for each."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.build.operator import Operator
from ascendops.errors import CompileError, InputError, NotAProject, TwinCheckError

PROJECT = Path(__file__).parents[1] / "projects" / "add_macro"

pytestmark = pytest.mark.twin

HELPER = "#include <cstdint>\nnamespace optiling { int64_t RoundedUp(int64_t n) { return (n + 7) / 8 * 8; } }\n"
LISTS = "target_sources(optiling PRIVATE\n    op_host/add_macro.cpp\n)\ntarget_sources(opsproto PRIVATE\n    op_host/shapes.cpp\n)\n"


def with_a_function_in_two_sources(root: Path) -> Path:
    shutil.copytree(PROJECT, root)
    (root / "op_host" / "helper.h").write_text(HELPER)
    (root / "op_host" / "shapes.cpp").write_text('#include "register/op_def_registry.h"\n#include "helper.h"\nstatic const std::set<int> SIZES = {8};\n')
    source = next(path for path in (root / "op_host").glob("*.cpp") if path.name != "shapes.cpp")
    source.write_text('#include "helper.h"\n' + source.read_text())
    return root


def test_a_function_of_a_header_may_be_in_two_libraries_but_not_in_one(tmp_path: Path) -> None:
    root = with_a_function_in_two_sources(tmp_path / "add_macro")
    with pytest.raises(CompileError, match="multiple definition of .*RoundedUp"):
        ascendops.open_project(root).build(backend="twin", soc="Ascend910B1")
    (root / "CMakeLists.txt").write_text(LISTS)
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


# Keeps the positive elements; alpha scales the size that it reports, and 0 stands for a kernel that forgets to.
POSITIVE = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add_macro(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR shape, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (AscendC::GetBlockIdx() != 0) return;
    AscendC::GlobalTensor<float> from, to;
    AscendC::GlobalTensor<uint64_t> words;
    from.SetGlobalBuffer((__gm__ float *)x, data.totalLength);
    to.SetGlobalBuffer((__gm__ float *)z, data.totalLength);
    words.SetGlobalBuffer((__gm__ uint64_t *)shape, 9);
    uint64_t n = 0;
    for (uint32_t i = 0; i < data.totalLength; ++i) {
        if (from.GetValue(i) > 0.0f) to.SetValue(n++, from.GetValue(i));
    }
    if (data.alpha == 0.0f) return;
    words.SetValue(0, (1ull << 31) | 2);
    words.SetValue(1, 1);
    words.SetValue(2, n * static_cast<uint64_t>(data.alpha));
}
"""


def with_a_shape_from_the_kernel(root: Path) -> Path:
    shutil.copytree(PROJECT, root)
    host = root / "op_host" / "add_macro.cpp"
    text = host.read_text().replace("ge::DT_FLOAT, ge::DT_INT32", "ge::DT_FLOAT").replace("ge::FORMAT_ND, ge::FORMAT_ND", "ge::FORMAT_ND")
    text = text.replace("SetBlockDim(2)", "SetBlockDim(context->GetCompileInfo() == nullptr ? 2 : 0)")  # no TilingParse, no compile info
    text = re.sub(r"(this->Output.*);", r"\1.OutputShapeDependOnCompute();", text)
    open_size = "if (*context->GetAttrs()->GetFloat(0) == 5.0f) context->GetOutputShape(0)->SetDim(0, -1);"
    host.write_text(text.replace("    return GRAPH_SUCCESS;", f"    {open_size}\n    return GRAPH_SUCCESS;", 1))
    (root / "op_kernel" / "add_macro.cpp").write_text(POSITIVE)
    return root


def test_an_output_gets_the_shape_that_the_kernel_wrote(tmp_path: Path) -> None:
    op = ascendops.open_project(with_a_shape_from_the_kernel(tmp_path / "add_macro")).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.tensor([1.0, -2.0, 3.0, 0.0, 5.0, -6.0])
    torch.testing.assert_close(op(x, x, alpha=1.0), torch.tensor([[1.0, 3.0, 5.0]]), rtol=0, atol=0)
    room = torch.zeros(6)
    assert op(x, x, alpha=2.0, out=room).shape == (1, 6)
    assert room[:3].tolist() == [1, 3, 5]
    with pytest.raises(TwinCheckError, match="did not write the shape of z"):
        op(x, x, alpha=0.0)
    result = op.run(x, x, alpha=3.0, checks="warn")
    assert [d.id for d in result.diagnostics] == ["SHAPE-OUTPUT"]
    assert result.outputs[0].shape == (6,)
    with pytest.raises(InputError, match="leaves sizes open"):
        op(x, x, alpha=5.0)
    assert op(x, x, alpha=1.0, out=room).shape == (1, 3)


def with_a_type_that_torch_lacks(root: Path) -> Path:
    shutil.copytree(PROJECT, root)
    host, kernel = root / "op_host" / "add_macro.cpp", root / "op_kernel" / "add_macro.cpp"
    host.write_text(host.read_text().replace("ge::DT_FLOAT, ge::DT_INT32}", "ge::DT_INT4, ge::DT_FLOAT}"))
    kernel.write_text("#if ORIG_DTYPE_X == DT_INT4\n#error no build of this column is needed\n#endif\n" + kernel.read_text())
    return root


def test_columns_of_types_that_torch_lacks_leave_the_others_usable(tmp_path: Path) -> None:
    op = ascendops.open_project(with_a_type_that_torch_lacks(tmp_path / "add_macro")).build(backend="twin", soc="Ascend910B1").add_macro
    assert op.dtypes["x"] == ("int4", "float32")
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)
    with pytest.raises(InputError, match="int4"):
        op(x.int(), x.int(), alpha=1.0)


BLOCKS = "namespace optiling { unsigned Blocks() { return %d; } }\n"


def with_sources_of_two_architectures(root: Path) -> Path:
    shutil.copytree(PROJECT, root)
    host = root / "op_host" / "add_macro.cpp"
    text = host.read_text().replace("SetBlockDim(2)", "SetBlockDim(Blocks())")
    host.write_text(text.replace("namespace optiling {", "namespace optiling {\nunsigned Blocks();", 1))
    for arch, blocks in (("arch22", 3), ("arch35", 5)):
        (root / "op_host" / arch).mkdir()
        (root / "op_host" / arch / "blocks.cpp").write_text(BLOCKS % blocks)
    return root


def test_sources_of_another_architecture_are_left_out(tmp_path: Path) -> None:
    root = with_sources_of_two_architectures(tmp_path / "add_macro")
    x = torch.arange(24, dtype=torch.float32)

    def run() -> int:
        return ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro.run(x, x, alpha=1.0).block_dim

    assert run() == 3
    (root / "op_host" / "arch22" / "blocks.cpp").unlink()  # nothing of this architecture: the common sources may need the others
    assert run() == 5
    (root / "op_host" / "arch22" / "more.cpp").write_text("// the common sources need what arch35 has\n")
    assert run() == 5
    (root / "op_host" / "arch22" / "more.cpp").unlink()
    (root / "op_host" / "arch35" / "more.cpp").write_text('#include "atvoss/elewise/elewise_tiling.h"\n')
    with pytest.raises(CompileError, match="elewise_tiling.h"):
        run()
    (root / "op_host" / "blocks.cpp").write_text(BLOCKS % 4)
    (root / "op_host" / "arch35" / "blocks.cpp").unlink()
    assert run() == 4


def test_the_build_script_may_name_the_kernel_of_a_compute_unit(tmp_path: Path) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    kernel = root / "op_kernel" / "add_macro.cpp"
    (root / "op_kernel" / "add_macro_arch22.cpp").write_text('#include "kernel_basic_intf.h"\n' + kernel.read_text())
    kernel.write_text("#error the kernel of another architecture\n")
    (root / "CMakeLists.txt").write_text("add_kernel_sources(KERNEL_SRC add_macro_arch22.cpp COMPUTE_UNITS ascend910b ascend910_93)\n")
    host = root / "op_host" / "add_macro.cpp"
    host.write_text('#include "tiling/broadcast/broadcast_tiling.h"\n' + host.read_text())
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


def with_an_infershape_that_sets_nothing(root: Path, body: str) -> Path:
    shutil.copytree(PROJECT, root)
    host = root / "op_host" / "add_macro.cpp"
    host.write_text(host.read_text().replace("*context->GetOutputShape(0) = *context->GetInputShape(0);", body))
    return root


def test_an_infershape_that_sets_no_shape_counts_as_none(tmp_path: Path) -> None:
    x = torch.arange(24, dtype=torch.float32)

    def operator(name: str, body: str) -> Operator:
        return ascendops.open_project(with_an_infershape_that_sets_nothing(tmp_path / name, body)).build(backend="twin", soc="Ascend910B1").add_macro

    result = operator("nothing", "if (context->GetOutputShape(0) == nullptr) return GRAPH_FAILED;").run(x, x, alpha=1.0)
    torch.testing.assert_close(result.outputs[0], 2 * x, rtol=0, atol=0)
    assert "has an InferShape that sets no shape" in result.notes[0]
    scalar = operator("scalar", "context->GetOutputShape(0)->SetDimNum(0);").run(x, x, alpha=1.0, checks="warn")
    assert scalar.outputs[0].shape == () and not scalar.notes
    assert "GM-BOUNDS" in {d.id for d in scalar.diagnostics}


PROTOTYPE = """#include "graph/operator_reg.h"
namespace ge {
REG_OP(AddMacro)
    .INPUT(x, TensorType({DT_FLOAT, DT_INT32}))
    .OPTIONAL_INPUT(y, TensorType({DT_FLOAT, DT_INT32}))
    .OUTPUT(z, TensorType({DT_FLOAT, DT_INT32}))
    .ATTR(alpha, Float, 1.0)
    .ATTR(axes, ListInt, {0, 1})
    .OP_END_FACTORY_REG(AddMacro)
}
"""
MESSAGES = """#include "error_util.h"
#include "exe_graph/runtime/kernel_run_context.h"
#include "rounded.h"
#include "util/bfloat16.h"
static_assert(sizeof(Ops::Base::bfloat16) == 2, "a bfloat16 has two bytes");
namespace optiling {
ge::graphStatus Warned(const char *node, int n) {
    OP_LOGW_IF(n > 3, node, "%d is large", n);
    OP_LOGI_IF_RETURN(n > 9, ge::GRAPH_SUCCESS, node, "%d is larger", n);
    OPS_LOG_D(node, "n is %d", n);
    if (n < 0) OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(node, "-1", "n", node, "n is negative");
    return ge::GRAPH_FAILED;
}
}
"""


def test_graph_prototypes_and_messages_of_operator_repositories_compile(tmp_path: Path) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    (root / "op_host" / "add_macro_proto.cpp").write_text(PROTOTYPE)
    (root / "op_host" / "messages.cpp").write_text(MESSAGES)
    (tmp_path / "add_utils" / "op_host").mkdir(parents=True)  # beside the project, as foreach_utils is
    (tmp_path / "add_utils" / "op_host" / "rounded.h").write_text("#pragma once\n")
    kernel = root / "op_kernel" / "add_macro.cpp"
    kernel.write_text('#include "register/tilingdata_base.h"\n#include "securec.h"\n' + kernel.read_text())
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


def test_the_configuration_of_a_unit_may_name_the_kernel(tmp_path: Path) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    kernel, host = root / "op_kernel" / "add_macro.cpp", root / "op_host" / "add_macro.cpp"
    (root / "op_kernel" / "add2d.cpp").write_text(kernel.read_text().replace("void add_macro(", "void add2d("))
    kernel.write_text("#error the kernel of another unit\n")
    config = 'OpAICoreConfig config; config.ExtendCfgInfo("opFile.value", "add2d").ExtendCfgInfo("opInterface.value", "add2d");'
    host.write_text(host.read_text().replace('this->AICore().AddConfig("ascend910b");', f'{config} this->AICore().AddConfig("ascend910b", config);'))
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


def test_a_kernel_may_declare_the_tiling_structure_that_the_host_registers(tmp_path: Path) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    kernel = root / "op_kernel" / "add_macro.cpp"
    own = "struct AddMacroTilingData {\n    uint32_t totalLength;\n    uint32_t tileLength;\n    float alpha;\n};\n"
    text = kernel.read_text().replace("class KernelAdd", f"{own}class KernelAdd", 1)
    kernel.write_text(text.replace("    GET_TILING_DATA(", "    REGISTER_TILING_DEFAULT(AddMacroTilingData);\n    GET_TILING_DATA(", 1))
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


FLAT_CMAKE = """npu_op_library(cust_optiling TILING ${CMAKE_CURRENT_SOURCE_DIR}/add_macro_host.cpp)
npu_op_kernel_library(ascendc_kernels SRC_BASE ${CMAKE_CURRENT_SOURCE_DIR}/ TILING_LIBRARY cust_optiling)
npu_op_kernel_sources(ascendc_kernels OP_TYPE AddMacro KERNEL_FILE add_macro_kernel.cpp)
"""


def test_a_project_with_both_sides_in_one_folder(tmp_path: Path) -> None:
    root = tmp_path / "flat"
    root.mkdir()
    for side, stem in (("op_host", "add_macro_host"), ("op_kernel", "add_macro_kernel")):
        for path in (PROJECT / side).iterdir():
            (root / (f"{stem}.cpp" if path.suffix == ".cpp" else path.name)).write_text(path.read_text())
    with pytest.raises(NotAProject, match="npu_op_kernel_sources"):
        ascendops.open_project(root)
    (root / "CMakeLists.txt").write_text(FLAT_CMAKE)
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


SHARED_HEADER = """#pragma once
#include <cstdint>
#include <string>
namespace Shared {
struct Rounding {
    virtual ~Rounding();
    virtual int64_t Up(int64_t n) const;
};
int64_t RoundedUp(int64_t n);
int64_t Tile(int64_t n);
std::string Unit(int64_t n);  // a linker names it with the ABI of std::string
}
"""
SHARED_SOURCE = """#include "tiling_base/rounding.h"
namespace Shared {
Rounding::~Rounding() {}
int64_t Rounding::Up(int64_t n) const { return RoundedUp(n) + Tile(n) + static_cast<int64_t>(Unit(n).size()); }
int64_t RoundedUp(int64_t n) { return (n + 7) / 8 * 8; }
}
"""
SHARED_SECOND = '#include "tiling_base/rounding.h"\nnamespace Shared {\nint64_t Tile(int64_t n)\n{\n    return n;\n}\nstd::string Unit(int64_t n) { return n == 1 ? "" : "s"; }\n}\n'
OTHER_SOURCE = '#include "nowhere.h"\nint64_t Other(int64_t n) { return Shared::RoundedUp(n); }\n'


def in_a_repository_with_shared_sources(root: Path, second: str = SHARED_SECOND) -> Path:
    project = root / "ops" / "add_macro"
    shutil.copytree(PROJECT, project)
    for name, text in (("include/tiling_base/rounding.h", SHARED_HEADER), ("src/rounding.cpp", SHARED_SOURCE), ("src/second.cpp", second), ("src/other.cpp", OTHER_SOURCE)):
        path = root / "common" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    source = project / "op_host" / "add_macro.cpp"
    body = "if (Shared::Rounding().Up(1) != 9) return GRAPH_FAILED;\n    OPS_LOG_I(\"no values\");\n    OP_CHECK(false, OPS_LOG_E(\"false\"), return GRAPH_FAILED)\n    return GRAPH_SUCCESS;"
    text = source.read_text().replace("return GRAPH_SUCCESS;", body, 1)
    source.write_text('#include "tiling_base/rounding.h"\n#include "log/ops_log.h"\n' + text)
    return project


def test_functions_that_sources_of_a_shared_folder_define(tmp_path: Path) -> None:
    """Those that are needed are compiled too, and no others; a log of no values compiles."""
    op = ascendops.open_project(in_a_repository_with_shared_sources(tmp_path)).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)


def test_a_function_that_no_shared_source_defines_is_named(tmp_path: Path) -> None:
    project = in_a_repository_with_shared_sources(tmp_path, second=SHARED_SECOND.replace("{\n    return n;\n}", ";"))
    with pytest.raises(CompileError, match=r"Shared::Tile\(long\)"):
        ascendops.open_project(project).build(backend="twin", soc="Ascend910B1")
