"""Include folders beyond a project's own."""

from __future__ import annotations

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
