"""Private toolchains: pins, hashes, unpacking, removal; offline, with made-up wheels."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from ascendops.cli.check import command as check_command
from ascendops.cli.toolchain import command
from ascendops.errors import ToolchainAbsent, ToolchainError, UnknownToolchain, WheelMismatch
from ascendops.toolchain import pins, private
from ascendops.toolchain.pins import Package, Pin

TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toolchain `toy` of one wheel in a folder, pinned for this interpreter; the cache is empty."""
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(private.platform, "machine", lambda: "x86_64")
    name = f"toy-1.0-{TAG}-{TAG}-manylinux_2_28_x86_64.whl"
    (tmp_path / "wheels").mkdir()
    with zipfile.ZipFile(tmp_path / "wheels" / name, "w") as wheel:
        wheel.writestr("toy/__init__.py", "x = 1\n")
        wheel.writestr("toy/bin/tool", b"\x7fELF rest")
        wheel.writestr("../outside.py", "no")
    digest = hashlib.sha256((tmp_path / "wheels" / name).read_bytes()).hexdigest()
    monkeypatch.setattr(pins, "pins", lambda: {"toy": Pin("toy", "for this test", 1, 1, (Package("toy", "1.0", {name: digest}),))})
    return tmp_path / "wheels"


def test_install_from_a_folder_list_and_remove(toy: Path, tmp_path: Path) -> None:
    made, new = private.install("toy", toy)
    assert new and made.path.is_relative_to(tmp_path / "cache")
    assert (made.site / "toy/__init__.py").read_text() == "x = 1\n"
    assert (made.site / "toy/bin/tool").stat().st_mode & 0o111  # programs can run although zip files lose the mode
    assert not list(tmp_path.rglob("outside.py")) or all(p.is_relative_to(made.site) for p in tmp_path.rglob("outside.py"))
    assert private.install("toy", toy) == (made, False)
    assert private.require("toy") == made and private.installed() == [made]
    assert private.remove("toy") == [made.path] and not made.path.exists()
    with pytest.raises(ToolchainAbsent, match="not installed"):
        private.require("toy")
    with pytest.raises(ToolchainAbsent):
        private.remove("toy")


def test_a_changed_or_missing_wheel_installs_nothing(toy: Path) -> None:
    (wheel,) = toy.iterdir()
    wheel.write_bytes(wheel.read_bytes() + b"x")
    with pytest.raises(WheelMismatch, match="not the pinned file") as caught:
        private.install("toy", toy)
    assert "SHA-256" in (caught.value.why or "")
    wheel.unlink()
    with pytest.raises(WheelMismatch, match="has no toy-1.0"):
        private.install("toy", toy)
    assert private.installed() == [] and not list(private.home().glob("toy*"))


def test_wrong_names_machines_and_interpreters(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownToolchain, match="'tritn-ascend'"):
        pins.pin("tritn-ascend")
    with pytest.raises(ToolchainError, match="needs CPython") as caught:
        private.install("toy", toy, python="/bin/sh")
    assert "/bin/sh" in (caught.value.why or "")
    monkeypatch.setattr(private.platform, "machine", lambda: "riscv64")
    with pytest.raises(ToolchainError):
        private.install("toy", toy)


def test_a_toolchain_whose_interpreter_has_gone_is_not_used(toy: Path) -> None:
    made, _ = private.install("toy", toy)
    manifest = json.loads((made.path / "manifest.json").read_text())
    (made.path / "manifest.json").write_text(json.dumps({**manifest, "python": "/gone/python"}))
    with pytest.raises(ToolchainAbsent, match="cannot be used"):
        private.require("toy")


def test_the_shipped_pins_are_complete() -> None:
    (name, pin), *more = pins.pins().items()
    assert (name, more) == ("triton-ascend", [])
    for machine in ("x86_64", "aarch64"):
        assert pin.tags(machine) == ["cp311", "cp310"]
        for tag in pin.tags(machine):
            chosen = pin.select(tag, machine)
            assert len(chosen) == 2 and all(len(digest) == 64 for digest in chosen.values())
    with pytest.raises(ToolchainError, match="no wheel for cp313"):
        pin.select("cp313", "x86_64")


def test_commands_and_exit_codes(toy: Path, tmp_path: Path) -> None:
    listed = CliRunner().invoke(command, ["list", "--json"], standalone_mode=False)
    assert json.loads(listed.stdout)["available"] == ["toy"]
    removed = CliRunner().invoke(command, ["remove", "toy"], standalone_mode=False)
    assert isinstance(removed.exception, ToolchainAbsent) and removed.exception.exit_code == 3


def test_check_without_the_toolchain_is_exit_code_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path))
    (tmp_path / "k.py").write_text("import triton\n")
    done = CliRunner().invoke(check_command, [str(tmp_path / "k.py")], standalone_mode=False)
    assert isinstance(done.exception, ToolchainAbsent) and done.exception.exit_code == 3
    assert "ascendops toolchain install triton-ascend" in (done.exception.help or "")
