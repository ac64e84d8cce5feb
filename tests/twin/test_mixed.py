"""Kernels on cube and vector cores: which cores run, flags and barriers between them."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import torch

import ascendops.twin
from ascendops.twin import task_types
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin

LINE = 16  # words of a cache line
FOLDER = Path(__file__).parent / "kernels"


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FOLDER / "mixed.cpp")


def ids(name: str) -> set[str]:
    x, y = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    return {d.id for d in kernel().launch(name, block_dim=2, args=[x, y], checks="warn").diagnostics}


def inputs(blocks: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(blocks, 32, 32, generator=generator).half() for _ in range(2))
    return a, b, torch.zeros(blocks, 32, 32, dtype=torch.float16)


@pytest.mark.parametrize("name", ["good_relu", "good_relu_by_compiler_names"])
def test_vector_cores_finish_what_the_cube_core_began(name: str) -> None:
    a, b, c = inputs(5)
    kernel().launch(name, block_dim=5, args=[a, b, c], workspace_bytes=5 * 4096)
    assert torch.allclose(c.double(), (a.double() @ b.double().mT).relu(), atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("name", ["bad_flag_of_another_pipe", "bad_meeting_without_cube"])
def test_a_flag_of_another_pipe_or_a_meeting_of_others_orders_nothing(name: str) -> None:
    a, b, c = inputs(2)
    result = kernel().launch(name, block_dim=2, args=[a, b, c], workspace_bytes=8192, checks="warn")
    assert {d.id for d in result.diagnostics} - {"GM-UNINIT"} == {"GM-RACE"}
    message = next(d.message for d in result.diagnostics if d.id == "GM-RACE")
    assert "DataCopy on vector core" in message and "Fixpipe on cube core" in message and "of workspace" in message


def test_a_wrong_flag_is_found_on_both_sides() -> None:
    a, b, c = inputs(2)
    result = kernel().launch("bad_wrong_flag", block_dim=2, args=[a, b, c], workspace_bytes=8192, checks="warn")
    hang = next(d for d in result.diagnostics if d.id == "DEADLOCK")
    assert "CrossCoreWaitFlag(6) on a vector core hangs" in hang.message and "set for this core are: 5" in hang.message


@pytest.mark.parametrize(
    ("name", "cubes", "vectors"),
    [("cores_1_2", 1, 2), ("cores_1_1", 1, 1), ("cores_cube", 1, 0), ("cores_mix_word", 1, 2), ("cores_by_key", 0, 1)],
)
def test_each_core_knows_itself(name: str, cubes: int, vectors: int) -> None:
    blocks = 3
    out = torch.full((blocks * (cubes + vectors), LINE), -1, dtype=torch.int32)
    kernel().launch(f"good_{name}", block_dim=blocks, args=[out, blocks * vectors])
    rows = [[i, i % vectors, vectors, blocks] for i in range(blocks * vectors)] + [[i, 0, 1, blocks] for i in range(blocks * cubes)]
    assert out[:, :4].tolist() == rows


def test_a_tiling_key_has_its_own_cores() -> None:
    out = torch.full((4, LINE), -1, dtype=torch.int32)
    kernel().launch("good_cores_by_key", block_dim=2, args=[out, 2], tiling_key=3)
    assert out[:, :4].tolist() == [[-1] * 4, [-1] * 4, [0, 0, 1, 2], [1, 0, 1, 2]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sync_all_cores", [9] * 9),
        ("sync_vectors", [6] * 6 + [0] * 3),
        ("flags_between_vectors", [2] * 6 + [0] * 3),
        ("flags_between_cubes", [3] * 3 + [0] * 6),
        ("vectors_to_cube", [0] * 6 + [2] * 3),
    ],
)
def test_barriers_and_flags(name: str, expected: list[int]) -> None:
    words, sums = torch.zeros(9 * LINE, dtype=torch.int32), torch.zeros(9 * LINE, dtype=torch.int32)
    kernel().launch(f"good_{name}", block_dim=3, args=[words, sums])
    assert sums[::LINE].tolist() == expected


def test_faults_between_cores_are_found() -> None:
    assert ids("bad_mode_without_cube") == {"CROSS-MODE"}
    assert ids("bad_flag_left") == {"CROSS-LEFT"}
    assert ids("bad_flag_too_often") == {"CROSS-FLAG"}
    assert ids("bad_l1_on_vector") == {"CORE-MEMORY"}


def test_a_signal_there_and_back_orders_the_pipes_of_a_core() -> None:
    assert ids("good_there_and_back") == set()
    assert ids("bad_there_and_back") == {"SYNC-HAZARD"}, "the flag of another pipe says nothing of the copy"


def test_core_types_are_read_from_the_text(tmp_path: Path) -> None:
    def types(text: str, entry: str = "k", entries: tuple[str, ...] = ("k",)) -> str:
        path = tmp_path / "k.cpp"
        path.write_text(text)
        return task_types.read(path, entry, entries, [tmp_path]).text

    head = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) {'
    assert types(head + " Add(a, b, c, 8); }") == "0", "vector cores"
    assert types(head + " Mmad(c, a, b, p); }") == "1", "cube cores"
    assert types(head + " if ASCEND_IS_AIC { Mmad(c, a, b, p); } }") == "5", "both"
    assert types("#define ASCENDC_CUBE_ONLY\n" + head + " REGIST_MATMUL_OBJ(&pipe, w, mm, &t); }") == "1"
    assert types(head + " KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1); }") == "4"
    assert types(head + " // KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);\n }") == "0", "a comment is none"
    assert types(head + " KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2); }") == "5;2=0"
    other = head + " KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY); }\n" + head.replace("void k", "void other") + " }"
    assert types(other) == "1"
    (tmp_path / "inner.h").write_text("inline void body() { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2); }")
    assert types('#include "inner.h"\n' + head + " body(); }") == "5"
    assert task_types.cores_for("5;2=0", 2) == (0, 1) and task_types.cores_for("5;2=0", 1) == (1, 2)
