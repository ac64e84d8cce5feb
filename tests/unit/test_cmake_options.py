"""Macros that a project's CMake sets: for the kernels of a project, and for a source that is compiled by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops.build.cmake_options import kernel_macros
from ascendops.toolchain import build_macros
from ascendops.toolchain.compiler import Outcome
from ascendops.toolchain.diagnose import compile_error

LISTS = """# add_ops_compile_options(ALL OPTIONS -DCOMMENTED=1)
if ("${CMAKE_BUILD_TYPE}x" STREQUAL "Debugx" AND (NOT (A OR B)))
    add_ops_compile_options(ALL OPTIONS -g -DDEBUG_ONLY)
endif()
add_ops_compile_options(ALL OPTIONS -O2 -DFAST "-DDEPTH=4;-DKIND=half" -DFROM_CMAKE=${value})
add_ops_compile_options(AddMacro COMPUTE_UNIT ascend910b ascend910_93 OPTIONS -DUNIT=910)
add_ops_compile_options(OP_NAME OtherOp OPTIONS -DOTHER)
npu_op_kernel_options(ascendc_kernels ALL OPTIONS -DNEWER=1)
"""
COMMON = {"FAST": "1", "DEPTH": "4", "KIND": "half", "NEWER": "1"}


@pytest.mark.parametrize(
    ("op_type", "unit", "more"),
    [
        ("AddMacro", "ascend910b", {"UNIT": "910"}),
        ("AddMacro", "ascend310p", {}),
        ("OtherOp", "ascend910b", {"OTHER": "1"}),
    ],
)
def test_options_count_for_their_operator_and_unit(tmp_path: Path, op_type: str, unit: str, more: dict[str, str]) -> None:
    (tmp_path / "op_kernel").mkdir()
    (tmp_path / "op_kernel" / "CMakeLists.txt").write_text(LISTS)
    assert kernel_macros(tmp_path, op_type, unit) == {**COMMON, **more}


def test_a_project_without_cmake_has_no_macros(tmp_path: Path) -> None:
    assert kernel_macros(tmp_path, "AddMacro", "ascend910b") == {}


@pytest.mark.parametrize(
    ("lists", "value"),
    [
        ("add_definitions(-DSCENE=3)", "3"),
        ('set(SCENE "2" CACHE STRING "scene (1-4)")\nadd_compile_definitions(SCENE=${SCENE})', "2"),
        ('message(STATUS "SCENE=${SCENE}")\ntarget_compile_definitions(demo PRIVATE\n    OTHER=1\n    SCENE=${SCENE}\n)', None),
        ("target_compile_definitions(demo PRIVATE SCENE)", "1"),
    ],
)
def test_a_build_script_that_sets_a_missing_macro_is_named(tmp_path: Path, lists: str, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "src").mkdir()
    script = tmp_path / "CMakeLists.txt"
    script.write_text(lists)
    found = build_macros.find(tmp_path / "src" / "k.cpp", "SCENE")
    assert found == build_macros.BuildMacro("SCENE", script, value)
    error = compile_error(Outcome(("g++",), 1, f"{tmp_path}/src/k.cpp:3:9: error: 'SCENE' was not declared in this scope"), "k.cpp")
    assert error.help is not None
    assert f'pass defines={{"SCENE": "{value or "..."}"}}' in error.help
    assert str(script) in error.help


@pytest.mark.parametrize("lists", ['message(STATUS "-DSCENE=1")', "# -DSCENE=1", "add_definitions(-DSCENERY=1)"])
def test_a_name_that_no_build_script_sets_is_not_called_a_macro(tmp_path: Path, lists: str) -> None:
    (tmp_path / "CMakeLists.txt").write_text(lists)
    assert build_macros.find(tmp_path / "k.cpp", "SCENE") is None
