"""Include folders beyond a project's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ascendops.twin import includes


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "repo" / ".git" / "HEAD")
    return tmp_path / "repo" / "src" / "norm" / "op_kernel" / "norm.cpp"


def test_headers_of_neighbouring_folders_are_found_through_other_headers(tmp_path: Path, kernel: Path) -> None:
    write(kernel, '#include "kernel_operator.h"\n#include "rows/sum.h"\n#include <vector>\n')
    write(tmp_path / "repo" / "src" / "common" / "inc" / "rows" / "sum.h", '#include "deep.h"\n')
    write(tmp_path / "repo" / "libs" / "more" / "deep.h")
    write(tmp_path / "common" / "rows" / "sum.h")  # outside the repository
    found = includes.kernel_folders(kernel, [kernel.parent, kernel.parents[1]])
    assert found == (tmp_path / "repo" / "src" / "common" / "inc", tmp_path / "repo" / "libs" / "more")


def test_own_headers_come_first_and_unknown_ones_are_left_to_the_compiler(kernel: Path) -> None:
    write(kernel, '#include "mine.h"\n#include "nowhere.h"\n')
    write(kernel.parent / "mine.h")
    assert includes.kernel_folders(kernel, [kernel.parent, kernel.parents[1]]) == ()


def test_inner_headers_of_the_toolkit_forward_to_the_twin(kernel: Path) -> None:
    write(kernel, '#include "lib/math/kernel_operator_sin_intf.h"\n')
    (overlay,) = includes.kernel_folders(kernel, [kernel.parent, kernel.parents[1]])
    assert '#include "kernel_operator.h"' in (overlay / "lib/math/kernel_operator_sin_intf.h").read_text()


@pytest.mark.parametrize(("folder", "forwards"), [("include/basic_api", True), ("include/rows", False)])
def test_the_headers_of_a_toolkit_that_the_kernel_lies_in_are_not_taken(tmp_path: Path, kernel: Path, folder: str, forwards: bool) -> None:
    write(kernel, '#include "kernel_operator_list_tensor_intf.h"\n')
    write(tmp_path / "repo" / folder / "kernel_operator_list_tensor_intf.h")
    (found,) = includes.kernel_folders(kernel, [kernel.parent, kernel.parents[1]])
    assert (found == tmp_path / "repo" / folder) is not forwards
    assert ('#include "kernel_operator.h"' in (found / "kernel_operator_list_tensor_intf.h").read_text()) is forwards


def test_a_header_of_a_sibling_operator_is_found_in_its_op_kernel(tmp_path: Path, kernel: Path) -> None:
    shared = write(tmp_path / "repo" / "src" / "norm_utils" / "op_kernel" / "base.h", '#include "more.h"\n')
    write(shared.parent / "more.h")
    write(kernel, '#include "../norm_utils/base.h"\n#include "../../deep/base.h"\n')
    own = (kernel.parent, kernel.parents[1])
    (folder,) = includes.kernel_folders(kernel, own)
    forwarded = Path(os.path.normpath(folder / "../norm_utils/base.h"))
    assert str(shared) in forwarded.read_text()
    assert not Path(os.path.normpath(folder / "../../deep/base.h")).exists()


def test_spare_headers_serve_only_where_a_project_has_none(tmp_path: Path, kernel: Path) -> None:
    write(kernel, '#include "op_kernel/math_util.h"\n')
    own = (kernel.parent, kernel.parents[1])
    (spare,) = includes.kernel_folders(kernel, own)
    assert (spare / "op_kernel" / "math_util.h").is_file()
    write(kernel.parents[1] / "op_kernel" / "math_util.h")
    assert includes.kernel_folders(kernel, own) == ()


def test_a_path_from_the_root_of_the_repository_is_found(tmp_path: Path, kernel: Path) -> None:
    write(kernel.parent / "norm_tiling.h")
    write(kernel, '#include "src/norm/op_kernel/norm_tiling.h"\n')
    write(tmp_path / "outside" / "norm_tiling.h")
    assert includes.kernel_folders(kernel, (kernel.parent, kernel.parents[1])) == (tmp_path / "repo",)


def test_a_header_that_cmake_finds_elsewhere_is_taken_when_it_lies_above_or_is_the_only_one(tmp_path: Path, kernel: Path) -> None:
    write(kernel, '#include "layout.hpp"\n#include "twice.h"\n#include "far/hash.h"\n')
    project = kernel.parents[1]
    write(project / "layout.hpp", '#include "deep.hpp"\n')
    write(project / "compute" / "inner" / "deep.hpp")
    write(project / "a" / "twice.h")
    write(project / "b" / "twice.h")
    write(tmp_path / "repo" / "library" / "far" / "hash.h")
    write(tmp_path / "far" / "hash.h")  # outside the repository
    write(project / "vendor" / "layout.hpp")  # a copy: the one above the source counts
    own = (kernel.parent,)
    assert includes.kernel_folders(kernel, own) == (project,)
    write(project / "CMakeLists.txt")
    assert includes.kernel_folders(kernel, own) == (project, project / "compute" / "inner")
    write(tmp_path / "repo" / "CMakeLists.txt")
    assert includes.kernel_folders(kernel, own) == (project, project / "compute" / "inner", tmp_path / "repo" / "library")
