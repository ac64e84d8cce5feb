"""Launching: crashes and hangs stay inside, tiling and scalars arrive, the report says what and where."""

from __future__ import annotations

import os
import platform
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from core_kernels import FOLDER, compiled, expectations

from ascendops.errors import InputError, KernelCrash, KernelHang, TwinCheckError
from ascendops.twin import launch as launching, loaded
from ascendops.twin.launch import GmBuffer

pytestmark = pytest.mark.twin

FILE = "launches.cpp"
LINES = {name: dict(found) for name, found in expectations(FILE).items()}
X86 = platform.machine() in {"x86_64", "AMD64"}
TILING = struct.pack("<IfQQ", 7, 0.5, 1, 9)


def run(name: str, *args: object, **options: object) -> launching.LaunchResult:
    return compiled(FILE).launch(name, args=args, **{"block_dim": 1, **options})


def outputs(n: int = 128, dtype: str = "f4") -> np.ndarray:
    return np.zeros(n, dtype)


@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("bad_null", (0,), "SIGSEGV (invalid memory access) at a null pointer"),
        ("bad_ub_pointer", (), "at byte 196608 of UB (196608 bytes)"),
        ("bad_pointer_beyond", (), "at byte 204796 of UB (196608 bytes)"),
        ("bad_assert", (1,), "SIGABRT"),
    ],
)
def test_crashes_are_errors_with_a_line(name: str, args: tuple[int, ...], says: str) -> None:
    with pytest.raises(KernelCrash) as error:
        run(name, outputs(dtype="i4"), *args)
    assert says in error.value.what
    assert error.value.where == f"{FOLDER / FILE}:{LINES[name]['CRASH']}"


@pytest.mark.skipif(not X86, reason="Arm divides by zero without a trap")
@pytest.mark.parametrize(("name", "left"), [("bad_division", 0), ("bad_remainder", 0)])
def test_a_division_by_zero_is_a_finding_of_its_line(name: str, left: int) -> None:
    y = outputs(dtype="i4")
    result = run(name, y, 0)
    (diagnostic,) = result.diagnostics
    line = LINES[name]["SCALAR-DIVISION"]
    assert (diagnostic.id, diagnostic.file, diagnostic.line) == ("SCALAR-DIVISION", str(FOLDER / FILE), line)
    assert (result.status, diagnostic.severity, y[0]) == ("ok", "warning", left)
    assert not run(name, y, 0, checks="off").diagnostics
    assert not run(name, y, 2).diagnostics


def test_a_crash_leaves_other_blocks_and_the_process_alone() -> None:
    y = outputs(dtype="i4")
    with pytest.raises(KernelCrash):
        run("bad_null", y, 2, block_dim=4)
    assert y[:64:16].tolist() == [1, 1, 0, 1]
    run("bad_null", y, -1, block_dim=4)
    assert y[:64:16].tolist() == [1, 1, 1, 1]


def test_signal_handlers_of_the_process_come_back() -> None:
    seen = []
    old = signal.signal(signal.SIGFPE, lambda *_: seen.append(1))
    try:
        run("prints", outputs())
        os.kill(os.getpid(), signal.SIGFPE)
        time.sleep(0.01)
    finally:
        signal.signal(signal.SIGFPE, old)
    assert seen == [1]


@pytest.mark.parametrize("name", ["bad_endless", "bad_endless_copy", "bad_wait_for_the_spinner"])
def test_hangs_end(name: str) -> None:
    start = time.monotonic()
    with pytest.raises(KernelHang) as error:
        run(name, outputs(), block_dim=3, timeout_s=0.4)
    assert time.monotonic() - start < 5
    assert "0.4 s" in error.value.what
    assert FILE in str(error.value.where)


def test_a_flag_that_hangs_is_a_finding_or_without_checks_a_hang() -> None:
    with pytest.raises(TwinCheckError, match="FLAG-UNPAIRED"):
        run("bad_flag_hang", outputs())
    assert run("bad_flag_hang", outputs(), checks="warn").status == "abandoned"
    with pytest.raises(KernelHang, match="WaitFlag<V_S>"):
        run("bad_flag_hang", outputs(), checks="off")


@pytest.mark.parametrize(("key", "want"), [(1, [7, 0.5, 9]), (2, [7, 0, 0]), (3, [0, 0.5, 9])])
def test_tiling_data(key: int, want: list[float]) -> None:
    y = outputs()
    result = run("reads_tiling", y, tiling=TILING, tiling_key=key)
    assert y[:3].tolist() == want
    assert [d.id for d in result.diagnostics] == (["TILING-DIFFERS"] if key == 2 else [])


def test_short_tiling_data() -> None:
    y = outputs()
    result = run("reads_tiling", y, tiling=TILING[:8], tiling_key=1, checks="warn")
    assert [d.id for d in result.diagnostics] == ["TILING-SIZE"]
    assert "LaunchTiling of 24 bytes, but op_host wrote 8 bytes" in result.diagnostics[0].message
    assert y[:3].tolist() == [7, 0.5, 0]


def test_unknown_tiling_key() -> None:
    result = run("reads_tiling", outputs(), tiling=TILING, tiling_key=5, checks="warn")
    assert [(d.id, d.message) for d in result.diagnostics] == [
        (
            "TILING-KEY",
            "op_host set tiling key 5; the kernel asked only for 1, 2, 3, so the device has no kernel for it",
        )
    ]


def test_scalars_by_value() -> None:
    y = outputs()
    run("scalars", y, -3, 1 << 40, 0.25, 1.5, True, _struct(TILING))
    assert y[:6].tolist() == [-3, float(1 << 40), 0.25, 1.5, 1, 9]
    with pytest.raises(InputError, match="argument 1 of scalars is 300"):
        run("scalars", y, 300, 0, 0.0, 0.0, False, _struct(TILING))
    with pytest.raises(InputError, match="has 7 parameters"):
        run("scalars", y, 1)


def test_a_struct_is_given_as_its_bytes_or_as_a_record() -> None:
    record = np.zeros(1, [("n", "<u4"), ("scale", "<f4"), ("sums", "<u8", 2)])
    record[0] = (7, 0.5, (1, 9))
    outputs = []
    for given in (TILING, bytearray(TILING), memoryview(TILING), record[0], _struct(TILING)):
        y = np.zeros(16, np.float32)
        run("scalars", y, -3, 1 << 40, 0.25, 1.5, True, given)
        outputs.append(y)
    for y in outputs[1:]:
        np.testing.assert_array_equal(y, outputs[0])
    assert outputs[0].any()
    y = np.zeros(16, np.float32)
    with pytest.raises(InputError, match="a struct of 24 bytes; 8 were given"):
        run("scalars", y, -3, 0, 0.0, 0.0, True, TILING[:8])
    with pytest.raises(InputError, match="argument 6 of scalars is 24"):
        run("scalars", y, -3, 0, 0.0, 0.0, True, 24)
    with pytest.raises(InputError, match="argument 1 of scalars is b'3'"):
        run("scalars", y, b"3", 0, 0.0, 0.0, True, TILING)


def _struct(data: bytes) -> object:
    import ctypes

    class Raw(ctypes.Structure):
        _fields_ = [("data", ctypes.c_uint8 * len(data))]

    return Raw.from_buffer_copy(data)


def test_identity_and_workspace() -> None:
    y = outputs(dtype="i8")
    run("identity", y, block_dim=3, workspace_bytes=17 << 20)
    assert y[:24].reshape(3, 8)[:, :4].tolist() == [[3, 16 << 20, 1, 10], [103, 16 << 20, 1, 10], [203, 16 << 20, 1, 10]]


def test_workspace_bounds() -> None:
    y = outputs()
    run("uses_workspace", y, workspace_bytes=(16 << 20) + 32)
    assert y[0] == 3
    with pytest.raises(TwinCheckError, match="byte 16777244 of workspace"):
        run("uses_workspace", y, workspace_bytes=16 << 20)


def test_output_of_kernels(capfd: pytest.CaptureFixture[str]) -> None:
    run("prints", outputs())
    out = capfd.readouterr().out
    assert "block 0 half 1.500000 text\nvalue 2.500000\n" in out
    assert "desc 5 GM 3 elements: [0, 0, 0]" in out


def test_barriers_over_many_blocks() -> None:
    y = outputs(112 * 16, dtype="i4")
    run("soft_barrier", y, np.zeros(8 * 48, "i4"), block_dim=48)
    assert (y[64 * 16 :: 16] == 48).all()
    result = run("too_many_blocks", y, block_dim=49, checks="warn")
    assert [(d.id, d.line) for d in result.diagnostics] == [("SYNC-CORES", LINES["too_many_blocks"]["SYNC-CORES"])]
    assert not run("too_many_blocks", y, block_dim=48).diagnostics
    result = run("barrier_of_vector_kernel", y, block_dim=2)
    assert [(d.id, d.severity) for d in result.diagnostics] == [("SYNC-TASK-TYPE", "warning")]


def test_tensor_lists() -> None:
    items = [np.arange(4, dtype="f4"), np.ones(4, "f4")]
    buffers = [GmBuffer(item.ctypes.data, item.nbytes, f"x[{i}]", item.shape) for i, item in enumerate(items)]
    y = outputs()
    kernel = compiled(FILE)
    out = GmBuffer(y.ctypes.data, y.nbytes, "y")
    launching.launch(
        kernel.library, "list_sum", [GmBuffer.tensor_list(buffers, "x"), out], block_dim=1, has_workspace=False, has_tiling=False
    )  # fmt: skip
    assert y[:3].tolist() == [10, 1, 4]


def test_tensor_list_descriptors_and_layouts() -> None:
    items = [np.full((3,), 7, "f4"), np.arange(6, dtype="f4").reshape(2, 3)]
    buffers = [GmBuffer(item.ctypes.data, item.nbytes, f"x[{i}]", item.shape) for i, item in enumerate(items)]
    y = outputs()
    args = [GmBuffer.tensor_list(buffers, "x"), GmBuffer(y.ctypes.data, y.nbytes, "y")]
    launching.launch(compiled(FILE).library, "list_desc", args, block_dim=1, has_workspace=False, has_tiling=False)
    assert y[:6].tolist() == [2, 21, 23, 5, 7, 33]


def test_signature() -> None:
    assert loaded.signature(compiled(FILE).library, "scalars") == ["p8", "i1", "u8", "f4", "f2", "b1", "s24"]
    with pytest.raises(InputError, match="exports no kernel nothing"):
        loaded.signature(compiled(FILE).library, "nothing")


def test_import_of_the_launcher_is_light() -> None:
    code = "import sys, ascendops.twin.launch; print([m for m in ('torch', 'numpy', 'triton') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
