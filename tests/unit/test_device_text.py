"""Kernels and host code in one source: what is blanked, and which instances of a template kernel are launched."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops.errors import InputError
from ascendops.twin.declarations import blanked, declarations
from ascendops.twin.device_text import device_text
from ascendops.twin.entries import exported, find_entries, pick_entry

MIXED = r"""
#include "acl/acl.h"
#include "kernel_operator.h"
#include <vector>
constexpr uint32_t BLOCK = 64;   // <<< in a comment is no launch
static const std::vector<int> SIZES = {1, 2};
namespace ops {
template <typename T, uint32_t N>
__global__ __aicore__ void scale(__gm__ T* x) { AscendC::PRINTF("}"); }
#ifndef __CCE_KT_TEST__
void scale_do(uint32_t blocks, void* stream, float* x) { scale<float, BLOCK><<<blocks, nullptr, stream>>>(x); }
#endif
}
template <typename T>
std::vector<T> run(std::vector<T>& x) {
    constexpr uint32_t n = 2 * BLOCK;
    ops::scale<T, n><<<8, nullptr, nullptr>>>(x.data());
    return x;
}
int Rows() { return SIZES[0]; }
__aicore__ inline int Free(int n) { return n; }
int main() {
    std::vector<half> x(4);
    run(x);
    return Rows();
}
"""


def test_host_code_is_blanked_line_by_line() -> None:
    text = device_text(MIXED).text
    assert text.count("\n") == MIXED.count("\n")
    gone = ("main", "std::vector", "acl.h", "scale_do", "Rows", "SIZES")
    kept = ("#ifndef __CCE_KT_TEST__", "#endif", "constexpr uint32_t BLOCK = 64;", "void scale(__gm__ T* x)", "int Free(int n)", '"kernel_operator.h"')
    assert [word for word in gone if word in text] == []
    assert [word for word in kept if word not in text] == []


def test_instances_come_from_launches_with_constants_and_callers_put_in() -> None:
    (entry,) = device_text(MIXED).entries
    assert (entry.name, entry.scope, entry.template) == ("scale", "ops::", True)
    assert entry.instances == ("float, BLOCK", "half, (2 * BLOCK)")


def test_a_source_without_host_code_is_left_alone() -> None:
    text = '#include <vector>\nextern "C" __global__ __aicore__ void add(GM_ADDR x) { int a[2] = {1, 2}; }\n'
    found = device_text(text)
    assert found.text == text
    assert [entry.name for entry in found.entries] == ["add"]


def test_brackets_that_do_not_match_leave_the_text_as_it_is() -> None:
    text = "#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nint main() { return 0; }\n"
    assert declarations(blanked(text)) == []
    assert device_text(text).text == text


def test_entries_are_named_with_their_arguments(tmp_path: Path) -> None:
    path = tmp_path / "scale.asc"
    path.write_text(MIXED)
    found = exported(path, ["scale<int32_t, 8>"])
    assert [one.name for one in found] == ["scale<int32_t, 8>", "scale<float, BLOCK>", "scale<half, (2 * BLOCK)>"]
    assert [one.symbol for one in found] == ["scale__0", "scale__1", "scale__2"]
    assert found[0].expression == "ops::scale<int32_t, 8>"
    names = [one.name for one in found]
    with pytest.raises(InputError, match="scale has several instances"):
        pick_entry(names, "scale", path)
    assert pick_entry(names[:1], "scale", path) == "scale<int32_t, 8>"
    with pytest.raises(InputError, match="no instance of a template kernel"):
        exported(path, ["scal<float, 8>"])


def test_a_template_without_a_launch_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.cpp"
    path.write_text("template <typename T>\n__global__ __aicore__ void add(GM_ADDR x) {}\n")
    with pytest.raises(InputError, match="is a template") as caught:
        exported(path)
    assert "instances=['add<...>']" in str(caught.value)


MADE = """#include "kernel_operator.h"
#define DECLARE(TYPE, N)                                                    \\
    extern "C" __global__ __aicore__ void scale_##TYPE##_##N(GM_ADDR x)     \\
    {                                                                       \\
        Scale<TYPE, N> op(x);                                               \\
    }

DECLARE(half, 2)
#if __CCE_AICORE__ >= 220
    DECLARE(float, 3);
#endif

void launch(void *stream, void *x)
{
    scale_half_2<<<1, nullptr, stream>>>(x);
}
"""


def test_entries_that_macros_define() -> None:
    assert find_entries(MADE) == ["scale_half_2", "scale_float_3"]
    kept = device_text(MADE).text
    assert "Scale<TYPE, N> op(x);" in kept and "\nDECLARE(half, 2)\n" in kept and "    DECLARE(float, 3);\n" in kept
    assert "<<<" not in kept and "void launch" not in kept
