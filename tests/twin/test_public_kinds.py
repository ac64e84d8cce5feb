"""Habits of public kernels and projects that the twin must take: one small kernel or project of our own for each."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from core_kernels import compiled, expectations, findings

import ascendops
from ascendops.errors import KernelCrash
from ascendops.twin.launch import GmBuffer

pytestmark = pytest.mark.twin

KERNELS = "public_kinds.cpp"


def test_reading_and_writing_the_padding_behind_a_tensor_is_a_warning() -> None:
    x, y = np.arange(13, dtype=np.float32), np.zeros(20, dtype=np.float32)
    found = findings(compiled(KERNELS), "round_up_tail", x, y[:13], tiling=struct.pack("<I", 13))
    assert found == expectations(KERNELS)["round_up_tail"]
    np.testing.assert_array_equal(y, np.concatenate([np.arange(1, 14), np.zeros(7)]))


def test_a_write_past_the_next_block_is_an_error() -> None:
    x, y = np.arange(24, dtype=np.float32), np.zeros(20, dtype=np.float32)
    found = findings(compiled(KERNELS), "round_up_tail", x, y[:13], tiling=struct.pack("<I", 24))
    assert {kind for kind, _ in found} == {"GM-PADDING", "GM-BOUNDS"}
    np.testing.assert_array_equal(y, np.concatenate([np.arange(1, 14), np.zeros(7)]))


def test_a_buffer_without_memory_is_a_fault_only_when_it_is_used() -> None:
    y = np.zeros(8, dtype=np.float32)
    assert findings(compiled(KERNELS), "optional_buffer", y, tiling=struct.pack("<I", 0)) == set()
    assert y[0] == 7
    expected = expectations(KERNELS)["optional_buffer"]
    assert findings(compiled(KERNELS), "optional_buffer", y, tiling=struct.pack("<I", 1)) == expected


def test_a_comparison_may_read_its_neighbour_behind_the_mask() -> None:
    def compare(count: int, room: int) -> tuple[list[tuple[str, str]], int]:
        x, y = np.array([1, 3, 3, 0, 3, 2, 1, 3], np.float32), np.full(32, 9, np.uint8)
        tiling = struct.pack("<II", count, room)
        result = compiled(KERNELS).launch("compare_few", args=(x, y), block_dim=1, checks="warn", tiling=tiling)
        return [(d.id, d.severity) for d in result.diagnostics if d.severity != "note"], int(y[0])

    bits = 0b10010110
    assert compare(8, room=0) == ([("COMPARE-TAIL", "warning")], bits)
    assert compare(9, room=0) == ([("UB-BOUNDS", "error")], bits)
    assert compare(8, room=1) == ([], bits)


def test_transposes_by_the_names_of_the_compiler() -> None:
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float16)
    scattered, whole = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    assert findings(compiled(KERNELS), "compiler_transposes", x, scattered, whole) == set()
    np.testing.assert_array_equal(scattered, x.T)
    np.testing.assert_array_equal(whole, x.T)


def test_reductions_by_their_newer_names() -> None:
    x, y = np.random.default_rng(0).integers(-50, 50, 128).astype(np.float32), np.zeros(96, np.float32)
    assert findings(compiled(KERNELS), "newer_reductions", x, y) == set()
    np.testing.assert_array_equal(y[:16], x.reshape(16, 8).sum(1))
    np.testing.assert_array_equal(y[16:18], x.reshape(2, 64).sum(1))
    np.testing.assert_array_equal(y[24:26], x.reshape(2, 64).max(1))
    np.testing.assert_array_equal(y[32:], x.reshape(64, 2).sum(1))


def test_blocks_take_turns_in_the_order_of_their_numbers() -> None:
    log, turns = np.zeros(16, np.int32), np.full(64, 77, np.int32)
    assert findings(compiled(KERNELS), "in_turn", log, turns, block_dim=5) == set()
    assert log[0] == 10
    assert log[1:11].tolist() == [*range(5), *range(5)]


def test_bits_of_the_control_register() -> None:
    y = np.zeros(3, np.int64)
    assert findings(compiled(KERNELS), "control_bits", y) == set()
    assert y.tolist() == [5 << 6 | 1 << 60, 4, 1]


def test_a_result_that_is_read_after_it_was_freed_is_a_warning_while_nothing_fills_its_buffer() -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(128, np.float32)
    result = compiled(KERNELS).launch("read_after_free", args=(x, y), block_dim=1, checks="warn")
    assert {(d.id, d.line) for d in result.diagnostics} == expectations(KERNELS)["read_after_free"]
    assert [d.severity for d in result.diagnostics] == ["warning"]
    np.testing.assert_array_equal(y, np.concatenate([x + 1, 2 * (x + 1)]))


def test_pipes_by_name_and_atomics_of_the_compiler() -> None:
    y = np.full(16, 5, np.int32)
    assert findings(compiled(KERNELS), "pipes_and_atomics", y, tiling=struct.pack("<i", 3)) == set()
    assert y.tolist() == [108, *[8] * 7, 103, *[5] * 7]


def test_an_assertion_with_a_message_ends_the_kernel(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KernelCrash):
        findings(compiled(KERNELS), "pipes_and_atomics", np.zeros(16, np.int32), tiling=struct.pack("<i", 12))
    assert "the value 12 is not below 10" in capfd.readouterr().out


def test_copies_that_other_cpu_builds_leave_out_are_made() -> None:
    y = np.zeros(8, np.int32)
    assert findings(compiled(KERNELS), "not_in_a_cpu_build", y) == set()
    assert y[0] == 5


def test_branches_on_the_tiling_key_may_be_constexpr() -> None:
    for key, want in ((1, 10), (2, 20), (3, 20)):
        y = np.zeros(1, np.int32)
        assert findings(compiled(KERNELS), "key_branches", y, tiling_key=key) == set()
        assert y[0] == want


@pytest.mark.parametrize(("name", "dtype"), [("bits_of_bytes", np.uint8), ("bits_of_words", np.int32)])
def test_bits_of_any_type_count_16_bit_elements(name: str, dtype: type) -> None:
    x, y = np.random.default_rng(0).integers(0, 100, 128 // np.dtype(dtype).itemsize).astype(dtype), np.full(128, 7, np.uint8)
    assert findings(compiled(KERNELS), name, x, y, 20) == set()
    a, b = x.view(np.uint8).reshape(2, 64)
    done = np.arange(64) < 40
    np.testing.assert_array_equal(y, np.concatenate([np.where(done, a & b, 0), np.where(done, a | b, 0)]))


def test_a_gather_of_bytes_is_found_when_it_runs() -> None:
    x, y = np.zeros(128, np.uint8), np.ones(128, np.uint8)
    result = compiled(KERNELS).launch("bits_of_bytes", args=(x, y, 0), block_dim=1, checks="warn")
    assert [(d.id, d.severity) for d in result.diagnostics] == [("UNSUPPORTED-DTYPE", "error")]
    assert not y.any()
    words = np.zeros(32, np.int32)
    assert findings(compiled(KERNELS), "bits_of_words", words, y, 0) == set()


def test_a_tiling_is_copied_from_its_plain_address() -> None:
    y = np.zeros(2, np.int32)
    assert findings(compiled(KERNELS), "copied_tiling", y, tiling=struct.pack("<II", 1 << 20, 7)) == set()
    assert y.tolist() == [7, 43]


def test_a_kernels_own_maximum_of_two_types_wins() -> None:
    y = np.zeros(1, np.int32)
    assert findings(compiled(KERNELS), "own_max", y) == set()
    assert y[0] == 19


def test_an_object_may_have_a_pipe_that_is_assigned() -> None:
    y = np.zeros(8, np.int32)
    assert findings(compiled(KERNELS), "pipe_of_an_object", y, 0) == set()
    assert y.tolist() == [8] * 8


def test_an_atomic_of_a_type_that_no_unit_adds_is_found_when_it_runs() -> None:
    y = np.ones(8, np.int32)
    result = compiled(KERNELS).launch("pipe_of_an_object", args=(y, 1), block_dim=1, checks="warn")
    assert [(d.id, d.severity) for d in result.diagnostics] == [("UNSUPPORTED-DTYPE", "error")]


def test_dumps_from_pointers_say_the_memory_and_the_values(capfd: pytest.CaptureFixture[str]) -> None:
    assert findings(compiled(KERNELS), "pointer_dumps", np.array([7, -8, 9, 10], np.int16)) == set()
    dumped = [line.split("desc ")[1] for line in capfd.readouterr().out.splitlines() if line.startswith("DumpTensor")]
    assert dumped == [
        "1 GM 3 elements: [7, -8, 9]",
        "2 UB 2 elements: [10, 11]",
        "3 GM 2 elements: [7, -8]",
        "4 UB 3 elements: [14, 15, 16]",
    ]


def test_tensors_of_a_memory_that_their_position_names() -> None:
    def run(offset: int) -> tuple[set[str], np.ndarray]:
        x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
        return {kind for kind, _ in findings(compiled(KERNELS), "placed_by_position", x, y, offset)}, y

    vecout = 10
    found, y = run(4096)
    assert found == set()
    np.testing.assert_array_equal(y, np.arange(64) + 256 + vecout)
    assert run(192 * 1024 - 128)[0] == {"UB-BOUNDS"}


OWN_CONSTANT = """#include "kernel_operator.h"
constexpr int32_t DEFAULT_REPEAT_STRIDE = 5;
extern "C" __global__ __aicore__ void own_constant(GM_ADDR yAddr) {
    if (g_coreType == AscendC::AIC) return;
    if ASCEND_IS_AIC { return; }
    *(__gm__ int32_t *)yAddr = DEFAULT_REPEAT_STRIDE;
}
"""


def test_a_global_constant_with_a_name_of_the_api(tmp_path: Path) -> None:
    source, y = tmp_path / "own_constant.cpp", np.zeros(8, np.int32)
    source.write_text(OWN_CONSTANT)
    ascendops.twin.compile(source).launch(block_dim=1, args=[y])
    assert y[0] == 5


def test_blocks_that_talk_past_the_data_cache() -> None:
    x, y = np.zeros(16, np.int32), np.zeros(16, np.int32)
    assert findings(compiled(KERNELS), "flag_past_the_cache", x, y, block_dim=2) == set()
    assert y[0] == 42
    small = np.zeros(1, np.int32)
    assert {kind for kind, _ in findings(compiled(KERNELS), "flag_past_the_cache", small, y, block_dim=1)} & {"GM-BOUNDS", "GM-PADDING"}


def test_elements_of_an_output_that_are_assigned_by_reference() -> None:
    """They are writes: nothing was read before it was written, and two blocks in one line would be a race."""
    memory = np.full(32, 7, np.int32)
    output = GmBuffer(memory.ctypes.data, memory.nbytes, "y", undefined=True)
    assert findings(compiled(KERNELS), "assigned_by_reference", output, 0, block_dim=2) == set()
    assert (memory.reshape(2, 16)[:, :9] == [*range(10, 18), 33]).all()
    fresh = GmBuffer(memory.ctypes.data, memory.nbytes, "y", undefined=True)
    assert {kind for kind, _ in findings(compiled(KERNELS), "assigned_by_reference", fresh, 1, block_dim=2)} == {"GM-UNINIT"}
