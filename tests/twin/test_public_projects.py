"""Habits of public projects that the build must take: one small project of our own for each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.errors import CompileError

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
