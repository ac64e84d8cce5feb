"""Buffers of a cube kernel that lie just inside and just outside of their memories, and every wrong use of its flags."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import pytest
import torch

import ascendops.twin
from ascendops.twin.kernel import Kernel
from ascendops.twin.launch import LaunchResult

pytestmark = pytest.mark.twin
FILE = Path(__file__).parent / "kernels" / "cube_places.cpp"
SIDE, DEEP = 32, 64
NAMES = ("a1", "b1", "bias1", "a2", "b2", "c2", "c1")
# name: memory, its bytes on Ascend 910B, bytes of the buffer, alignment
BUFFERS = {
    "a1": ("L1", 524288, 4096, 32), "b1": ("L1", 524288, 4096, 32), "bias1": ("L1", 524288, 128, 32),
    "a2": ("L0A", 65536, 4096, 512), "b2": ("L0B", 65536, 4096, 512), "c2": ("BT", 1024, 128, 64), "c1": ("L0C", 131072, 4096, 64),
}  # fmt: skip
EVENTS = ("MTE1_MTE2", "MTE2_MTE1", "M_MTE1", "MTE1_M", "FIX_M", "M_FIX")
WAITS_FOR_ANOTHER_ID, NO_WAIT, NO_SET, SETS_TWICE = 1, 2, 3, 4


class Places(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in NAMES]


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FILE)


def run(name: str, *args: object) -> tuple[LaunchResult, float]:
    """The launch, and how far its results are from the products."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(SIDE, DEEP, generator=generator).half() for _ in range(2))
    bias, c = torch.arange(SIDE, dtype=torch.float32), torch.zeros(2, SIDE, SIDE)
    result = kernel().launch(name, block_dim=1, args=[a, b, bias, c, *args], checks="warn", auto_sync=False)
    return result, float((c.double() - (a.double() @ b.double().T + bias.double())).abs().max())


def placed(**changed: int) -> tuple[LaunchResult, float]:
    return run("places", Places(**{"a1": 0, "b1": 8192, "bias1": 16384, "a2": 0, "b2": 0, "c2": 0, "c1": 0, **changed}))


@pytest.mark.parametrize("name", NAMES)
def test_a_buffer_at_the_very_end_of_its_memory_is_right(name: str) -> None:
    _, size, used, _ = BUFFERS[name]
    result, error = placed(**{name: size - used})
    assert result.diagnostics == ()
    assert error < 1e-3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("by", ["one_block", "whole"])
def test_a_buffer_beyond_the_end_of_its_memory_is_an_error(name: str, by: str) -> None:
    memory, size, used, step = BUFFERS[name]
    result, _ = placed(**{name: size - used + step if by == "one_block" else size})
    errors = [d for d in result.diagnostics if d.severity == "error"]
    assert errors and memory in errors[0].message, [str(d) for d in result.diagnostics]
    assert errors[0].file == str(FILE)


@pytest.mark.parametrize("pair", [("a1", "b1"), ("b1", "bias1")])
def test_two_buffers_in_one_place_are_an_error(pair: tuple[str, str]) -> None:
    result, _ = placed(**dict.fromkeys(pair, 8192))
    assert {d.id for d in result.diagnostics if d.severity == "error"} == {"SYNC-BARRIER"}


@pytest.mark.parametrize("memory", ["l1", "l0a", "l0b", "l0c"])
def test_a_buffer_of_a_pipe_that_is_too_large_and_used_is_an_error(memory: str) -> None:
    whole = {"l1": 524288, "l0a": 65536, "l0b": 65536, "l0c": 131072}
    a, b, c = torch.ones(256).half(), torch.ones(256).half(), torch.zeros(256)

    def launch(sizes: dict[str, int]) -> LaunchResult:
        return kernel().launch("buffers", block_dim=1, args=[a, b, c, *sizes.values()], checks="warn", auto_sync=False)

    assert launch(whole).diagnostics == ()
    assert torch.equal(c, torch.full((256,), 16.0))
    found = launch({**whole, memory: whole[memory] + 1024}).diagnostics
    errors = [d for d in found if d.severity == "error"]
    assert errors and memory.upper() in errors[0].message, [str(d) for d in found]


@pytest.mark.parametrize("event", range(len(EVENTS)), ids=EVENTS)
@pytest.mark.parametrize(
    ("fault", "says"),
    [(WAITS_FOR_ANOTHER_ID, "FLAG-UNPAIRED"), (NO_SET, "FLAG-UNPAIRED"), (NO_WAIT, "SYNC-HAZARD"), (SETS_TWICE, "FLAG-")],
    ids=["another_id", "no_set", "no_wait", "twice"],
)
def test_every_wrong_use_of_a_flag(event: int, fault: int, says: str) -> None:
    found = run("flags", event, fault)[0].diagnostics
    assert any(d.id.startswith(says) and d.severity == "error" for d in found), [str(d) for d in found]
    assert any(EVENTS[event] in d.message for d in found)


def test_the_flags_as_they_are_meant_are_silent() -> None:
    result, error = run("flags", -1, 0)
    assert result.diagnostics == ()
    assert error < 1e-3
