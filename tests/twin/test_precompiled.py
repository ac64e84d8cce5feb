"""Headers that are compiled once: used where a unit begins with them, and without any effect but on time."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ascendops import resources
from ascendops.toolchain import compiler as cxx
from ascendops.twin import precompiled
from ascendops.twin.objects import compile_object

pytestmark = pytest.mark.twin

HOST = resources.twin("include") / "host"
REGISTRY = "register/op_def_registry.h"
FLAGS = ["-std=c++17", "-O1", "-w", "-fPIC"]


@pytest.fixture
def base(monkeypatch, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed to test its precompiled headers")
    monkeypatch.setenv("CXX", "g++")
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))
    return ["g++", *FLAGS, f"-I{HOST}"]


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "source.cpp"
        path.write_text(text)
        return path

    return written


def headers_read(base, ahead, source):
    """What g++ opens: a precompiled header has the mark `!`."""
    done = subprocess.run([base[0], *ahead.flags, *base[1:], "-H", "-fsyntax-only", str(source)], capture_output=True, text=True, check=True)
    return done.stderr


def test_a_source_takes_the_compiled_header(base, write, tmp_path):
    source = write(f'// says what it is\n#include <vector>\n\n#include "{REGISTRY}"\nstd::vector<gert::Shape> shapes;\n')
    ahead = precompiled.for_source(source, REGISTRY, base, HOST)
    assert f"! {ahead.folder}" in headers_read(base, ahead, source)
    stage = tmp_path / "stage"
    stage.mkdir()
    read = compile_object(base, source, stage, "x", None, ahead)
    assert source in read
    assert HOST / REGISTRY in read
    assert not [path for path in read if str(path).startswith(str(tmp_path / "cache"))]


def test_a_unit_takes_the_compiled_header_under_its_own_macros(base, write):
    include = resources.twin("include")
    command = ["g++", *FLAGS, f"-I{include}"]
    text = '#define __NPU_ARCH__ 2201\n#define __CCE_AICORE__ 220\n#include "kernel_operator.h"\nAscendC::TPipe *pipe;\n'
    ahead = precompiled.for_unit(text, "kernel_operator.h", command, include)
    assert f"! {ahead.folder}" in headers_read(command, ahead, write(text))
    other = text.replace("220\n", "200\n")
    assert "! " not in headers_read(command, ahead, write(other)), "compiled for another architecture"
    assert precompiled.for_unit(other, "kernel_operator.h", command, include).folder != ahead.folder


@pytest.mark.parametrize(
    "text",
    [
        f'#define MINE 1\n#include "{REGISTRY}"\n',
        f'#include "mine.h"\n#include "{REGISTRY}"\n',
        f'int before;\n#include "{REGISTRY}"\n',
        f'#if 1\n#include "{REGISTRY}"\n#endif\n',
        f'#include <kernel/mine.h>\n#include "{REGISTRY}"\n',
        f'/* #include "{REGISTRY}" */\n',
        "",
    ],
)
def test_a_source_with_anything_before_the_header_is_compiled_as_it_is(base, write, text):
    assert precompiled.for_source(write(text), REGISTRY, base, HOST) is precompiled.NONE


def test_a_header_beside_the_source_is_the_one_it_means(base, write, tmp_path):
    (tmp_path / "register").mkdir()
    (tmp_path / REGISTRY).write_text("#pragma once\n")
    assert precompiled.for_source(write(f'#include "{REGISTRY}"\n'), REGISTRY, base, HOST) is precompiled.NONE


def test_clang_does_without(base, write, monkeypatch):
    monkeypatch.setattr(cxx, "find_compiler", lambda: cxx.Compiler("clang++", "Debian clang version 16.0.6"))
    assert precompiled.for_source(write(f'#include "{REGISTRY}"\n'), REGISTRY, base, HOST) is precompiled.NONE


def test_a_machine_without_room_for_it_reads_the_header(base, write, tmp_path, monkeypatch):
    source = write(f'#include "{REGISTRY}"\ngert::Shape shape;\n')
    ahead = precompiled.for_source(source, REGISTRY, base, HOST)
    real, tried = cxx.run, []

    def run(command, **options):
        tried.append(command)
        return cxx.Outcome(tuple(command), 1, "cc1plus: fatal error: had to relocate PCH") if ahead.flags[0] in command else real(command, **options)

    monkeypatch.setattr(cxx, "run", run)
    stage = tmp_path / "stage"
    stage.mkdir()
    compile_object(base, source, stage, "x", None, ahead)
    assert (stage / "object.o").is_file()
    assert len(tried) == 2
