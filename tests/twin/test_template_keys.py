"""A kernel whose tiling key stands for template arguments (ASCENDC_TPL_*)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import ascendops

PROJECT = Path(__file__).parents[1] / "projects" / "scale_tpl"

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def lib():
    return ascendops.open_project(PROJECT).build(backend="twin")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("factor", [2, 5])
@pytest.mark.parametrize("negate", [False, True])
def test_each_key_runs_its_instance(lib, dtype: torch.dtype, factor: int, negate: bool) -> None:
    x = torch.arange(-20, 21).to(dtype)
    assert torch.equal(lib.scale_tpl(x, factor, negate), x * (-factor if negate else factor))


def test_keys_differ(lib) -> None:
    x = torch.ones(8)
    keys = {lib.scale_tpl.run(x, factor, negate).tiling_key for factor in (2, 5) for negate in (False, True)}
    assert len(keys) == 4


def test_a_combination_that_was_not_declared_is_refused(lib) -> None:
    with pytest.raises(ascendops.errors.AscendOpsError) as error:
        lib.scale_tpl(torch.ones(8), 3)
    assert "3" in str(error.value)


def test_a_declaration_may_name_another_operator(tmp_path: Path) -> None:
    root = tmp_path / "scale_tpl"
    shutil.copytree(PROJECT, root)
    header = root / "op_kernel" / "scale_tpl_tiling_key.h"
    header.write_text(header.read_text().replace("ASCENDC_TPL_ARGS_DECL(ScaleTpl", "ASCENDC_TPL_ARGS_DECL(Copied"))
    assert "Copied" in header.read_text()
    lib = ascendops.open_project(root).build(backend="twin")
    assert torch.equal(lib.scale_tpl(torch.ones(8), 5, True), torch.full((8,), -5.0))


def test_a_template_kernel_may_be_called_like_a_function_of_the_c_library(tmp_path: Path) -> None:
    root = tmp_path / "asinh"
    for path in PROJECT.rglob("*.*"):
        copy = root / str(path.relative_to(PROJECT)).replace("scale_tpl", "asinh")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text().replace("scale_tpl", "asinh").replace("ScaleTpl", "Asinh"))
    lib = ascendops.open_project(root).build(backend="twin")
    assert torch.equal(lib.asinh(torch.ones(8), 2, True), torch.full((8,), -2.0))


def test_the_kernel_may_be_a_plain_function(tmp_path: Path) -> None:
    root = tmp_path / "scale_tpl"
    shutil.copytree(PROJECT, root)
    kernel = root / "op_kernel" / "scale_tpl.cpp"
    text = kernel.read_text().replace("template <uint32_t FACTOR, bool NEGATE>\n", "constexpr uint32_t FACTOR = 3;\nconstexpr bool NEGATE = true;\n")
    kernel.write_text(text.replace("__global__", 'extern "C" __global__'))
    lib = ascendops.open_project(root).build(backend="twin")
    assert torch.equal(lib.scale_tpl(torch.ones(8), 5, False), torch.full((8,), -3.0))
