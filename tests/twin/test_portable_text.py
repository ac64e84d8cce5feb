"""What CANN's compiler accepts and g++ does not is rewritten; the rewritten text compiles here and calls the same functions."""

import subprocess
from pathlib import Path

from ascendops.twin.portable_text import overlay, portable

_HEADER = """\
#pragma once
#include <type_traits>
class Kernel {
public:
    template <int CORE = 0>
    __AICORE__ int operator()(int x);
    template <>
    __AICORE__ int operator()<0>(int x) { return x + 1; }
    template <>
    __AICORE__ int operator()<1>(int x)
    {
        return x + 2;
    }

    template <bool FAST>
    int Load(int x) { return x; }
    template <>
    int Load<true>(int x) { return 10 * x; }

    struct Pair {
        [aicore] inline Pair() = default;
        int a, b;
    };
    struct Own {
        Own() = default;
        explicit Own(int a) : a(a) {}
        int a = 7;
    };

    template <typename T>
    struct Size { static constexpr int VALUE = 1; };
    template <>
    struct Size<int> { static constexpr int VALUE = 4; };
};
template <typename T> struct Outside { static constexpr int VALUE = 0; };
template <> struct Outside<int> { static constexpr int VALUE = 1; };
""".replace("__AICORE__", "[aicore] inline")

_MAIN = """\
#include "lib/kernel.h"
int main()
{
    Kernel k;
    const bool good = k(1) == 2 && k.operator()<1>(1) == 3 && k.Load<false>(3) == 3 && k.Load<true>(3) == 30 &&
        Kernel::Pair{1, 2}.b == 2 && Kernel::Own().a == 7 && Kernel::Size<char>::VALUE == 1 && Kernel::Size<int>::VALUE == 4 && Outside<int>::VALUE == 1;
    return good ? 0 : 1;
}
"""


def test_specialisations_inside_a_class(tmp_path: Path) -> None:
    header = tmp_path / "include" / "lib" / "kernel.h"
    header.parent.mkdir(parents=True)
    header.write_text(_HEADER)
    source = tmp_path / "main.cpp"
    source.write_text(_MAIN)
    folders = overlay(source, [tmp_path / "include"])
    assert folders
    program = tmp_path / "main"
    includes = [flag for folder in (*folders, tmp_path / "include") for flag in ("-I", str(folder))]
    subprocess.run(["g++", "-std=c++20", *includes, str(source), "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0


def test_every_line_stays_in_its_place() -> None:
    before, after = _HEADER.splitlines(), portable(_HEADER).splitlines()
    assert len(before) == len(after)
    assert [i for i, line in enumerate(before) if "VALUE" in line] == [i for i, line in enumerate(after) if "VALUE" in line]
    assert after[-2:] == before[-2:]  # outside a class nothing changes


def test_other_text_is_left_alone(tmp_path: Path) -> None:
    text = "template <> struct A<int> {};\nint f(int a) { return a; }\n"
    assert portable(text) == text
    source = tmp_path / "a.cpp"
    source.write_text(text)
    assert overlay(source, [tmp_path]) == ()


def test_host_code_of_a_header_is_left_out(tmp_path: Path) -> None:
    header = '#include "acl/acl.h"\nint Twice(int x) { return 2 * x; }\ninline void Run() {\n    aclInit(nullptr);\n}\n'
    (tmp_path / "kernel.h").write_text(header)
    (tmp_path / "plain.h").write_text(header.replace('#include "acl/acl.h"', "void aclInit(int *);"))
    source = tmp_path / "kernel.cpp"
    source.write_text('#include "kernel.h"\n#include "plain.h"\n')
    folder, *_ = overlay(source, [tmp_path])
    text = (folder / "kernel.h").read_text().split("\n", 1)[1]
    assert "Twice" in text and "acl" not in text
    assert text.count("\n") == header.count("\n")
    assert not (folder / "plain.h").exists(), "without a host header it is the kernel's own"
