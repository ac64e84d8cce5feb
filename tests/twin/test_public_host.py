"""Forms of op_host code in public projects that the build must take: one small project of our own for each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.errors import CompileError, OpHostError

PROJECT = Path(__file__).parents[1] / "projects" / "add_macro"

pytestmark = pytest.mark.twin

# Registered by hand beside OP_ADD, as operators do whose definition lies in the tiling library. Tiling fails if the definition gives another function back.
CHECK_SUPPORT = """
namespace ops {
static ge::graphStatus SmallOnly(const ge::Operator &op, ge::AscendString &result)
{
    ge::AscendString name;
    op.GetName(name);
    const size_t rank = op.GetInputDesc("x").GetShape().GetDimNum() + op.GetOutputDesc("z").GetShape().GetDimNum();
    result = ge::AscendString(rank < 9 ? R"({"isSupported": "True"})" : R"({"isSupported": "False"})");
    return ge::GRAPH_SUCCESS;
}
static int REGISTERED = [](const char *name) {
    AddMacro definition(name);
    definition.AICore().SetCheckSupport(SmallOnly);
    optiling::OpCheckFuncHelper(FUNC_CHECK_SUPPORTED, name, definition.AICore().GetCheckSupport());
    optiling::g_same = definition.AICore().GetCheckSupport() == WANTED && definition.AICore().GetOpSelectFormat() == nullptr;
    return 0;
}("AddMacro");
}
"""


@pytest.mark.parametrize(("wanted", "works"), [("SmallOnly", True), ("nullptr", False)])
def test_a_check_of_support_may_be_registered_by_hand(tmp_path: Path, wanted: str, works: bool) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    host = root / "op_host" / "add_macro.cpp"
    text = host.read_text()
    start = text.index("namespace optiling")
    body = text[start:].replace("TilingFunc(gert::TilingContext *context)\n{", "TilingFunc(gert::TilingContext *context)\n{\n    if (!g_same) return ge::GRAPH_FAILED;")
    assert "g_same" in body
    host.write_text(text[:start] + "namespace optiling { static bool g_same = false; }\n" + body + CHECK_SUPPORT.replace("WANTED", wanted))
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    if works:
        torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)
    else:
        with pytest.raises(OpHostError):
            op(x, x, alpha=1.0)


def test_macros_that_cmake_sets_for_the_kernels_are_set(tmp_path: Path) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    kernel = root / "op_kernel" / "add_macro.cpp"
    kernel.write_text("#ifdef HALF_STEP\n#error this is the other kernel\n#endif\n" + kernel.read_text())
    op = ascendops.open_project(root).build(backend="twin", soc="Ascend910B1").add_macro
    x = torch.arange(24, dtype=torch.float32)
    torch.testing.assert_close(op(x, x, alpha=1.0), 2 * x, rtol=0, atol=0)
    (root / "op_kernel" / "CMakeLists.txt").write_text("add_ops_compile_options(ALL OPTIONS -DHALF_STEP=2)\n")
    with pytest.raises(CompileError, match="this is the other kernel"):
        ascendops.open_project(root).build(backend="twin", soc="Ascend910B1")
