"""What a wheel carries, and what the set-up scripts say on a machine that lacks something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="building a wheel needs hatchling (extra: dev)")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def files(folder):
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", folder], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in done.stdout.splitlines() if (ROOT / name).is_file()}


def test_the_wheel_has_every_file_of_the_package(wheel):
    assert files("ascendops") <= set(wheel.namelist())
    assert any(name.endswith(".h") for name in wheel.namelist())


@pytest.mark.parametrize("folder", ["op_templates", "cuda_reference"])
def test_the_wheel_ships_templates_and_references(wheel, folder):
    shipped = {name.removeprefix("ascendops/_shipped/") for name in wheel.namelist()}
    assert files(folder)
    assert files(folder) <= shipped


def test_the_wheel_has_the_command_the_licence_and_the_tested_ranges(wheel):
    name = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "ascendops = ascendops.cli:main" in wheel.read(name).decode()
    meta = wheel.read(next(name for name in wheel.namelist() if name.endswith("METADATA"))).decode()
    assert "Requires-Python: <3.14,>=3.10" in meta
    assert "License-Expression: Apache-2.0" in meta
    for extra in ("npu", "gpu", "dev"):
        assert f"Provides-Extra: {extra}" in meta


def test_a_wheel_finds_its_templates_without_a_checkout(wheel, tmp_path):
    wheel.extractall(tmp_path)
    code = "from ascendops import resources as r; print(r.op_templates(), r.cuda_reference(), r.twin('include'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)})
    assert [Path(path).is_dir() and str(tmp_path) in path for path in done.stdout.split()] == [True] * 3


def test_constraints_pin_every_dependency():
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    listed = re.findall(r'^(?:dev = \[|gpu = \[|)\s*"([a-z][\w.-]*)[>~=<]', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert {"torch", "numpy", "triton"} <= pinned
    assert {name for name in listed if name not in ("hatchling",)} - {"tomli"} <= pinned


def run_setup(folder, path, **env):
    """Sources tools/setup.sh in a copy of the checkout without .venv, with only `path` as PATH."""
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools/setup.sh", folder / "tools")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    script = f'source "{folder}/tools/setup.sh"; echo reached'
    return subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, env={"PATH": str(path), **env})


@pytest.fixture
def bin_folder(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("dirname", "cat", "cksum"):
        os.symlink(shutil.which(name), folder / name)
    return folder


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_setup_says_when_the_compiler_is_missing(tmp_path, bin_folder):
    done = run_setup(tmp_path, bin_folder)
    assert done.returncode == 3
    assert "missing: a C++17 compiler (looked for g++, clang++, c++)" in done.stderr
    assert "apt-get install g++" in done.stderr


def test_setup_says_when_python_is_too_old(tmp_path, bin_folder):
    script(bin_folder / "g++", "exit 0")
    script(bin_folder / "python3", "exit 1")
    done = run_setup(tmp_path, bin_folder)
    assert done.returncode == 3
    assert "missing: Python 3.10 to 3.13" in done.stderr


def test_setup_says_when_venv_is_missing(tmp_path, bin_folder):
    script(bin_folder / "g++", "exit 0")
    script(bin_folder / "python3", 'case "$2" in *ensurepip*) exit 1;; esac')
    done = run_setup(tmp_path, bin_folder)
    assert done.returncode == 3
    assert "apt-get install python3-venv" in done.stderr


def test_setup_is_done_once(tmp_path, bin_folder):
    script(bin_folder / "g++", "exit 0")
    log = tmp_path / "log"
    fake = f'echo "$*" >>{log}\ncase "$1 $2" in "-m venv") /bin/mkdir -p "$3/bin"; /bin/cp "$0" "$3/bin/python";; esac'
    script(bin_folder / "python3", fake)
    assert run_setup(tmp_path, bin_folder).stdout == "reached\n"
    first = log.read_text()
    assert "pip install" in first
    assert f"-c {tmp_path}/constraints.txt -e {tmp_path}[gpu,dev]" in first
    (tmp_path / "tools/setup.sh").unlink()
    (tmp_path / "tools").rmdir()
    assert run_setup(tmp_path, bin_folder).stdout == "reached\n"
    assert log.read_text().count("pip install") == 1
