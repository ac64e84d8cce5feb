"""Every fault of a cube kernel that was planted is found, at the line that has it, and kernels without one are silent."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import torch

import ascendops.twin
from ascendops.twin.kernel import Kernel
from ascendops.twin.launch import LaunchResult

pytestmark = pytest.mark.twin
FILE = Path(__file__).parent / "kernels" / "cube_faults.cpp"
M, N, K, TILES = 32, 32, 64, 2


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FILE)


def products(name: str) -> tuple[LaunchResult, torch.Tensor, torch.Tensor]:
    """The launch, what it gave and what it should have given; without the synchronisation that a compiler would add."""
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(TILES, M, K, generator=generator).half(), torch.randn(N, K, generator=generator).half()
    bias, c = torch.arange(N, dtype=torch.float32), torch.zeros(TILES, M, N)
    run = kernel().launch(name, block_dim=1, args=[a, b, bias, c], workspace_bytes=1 << 16, checks="warn", auto_sync=False)
    wanted = a.double() @ b.double().T + (bias.double() if "bias" in name else 0)
    return run, c, wanted


def line_of(text: str) -> int:
    """Number of the first line of the kernel that has the text."""
    return next(i for i, line in enumerate(FILE.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize("name", ["products", "bias", "padded_rows", "padded_load", "padded_store", "padded_bias"])
def test_right_kernels_are_silent(name: str) -> None:
    run, c, wanted = products(f"good_{name}")
    assert run.diagnostics == ()
    if name != "padded_store":
        assert (c.double() - wanted)[:, :, : 16 if name == "padded_bias" else N].abs().max() < 1e-3


@pytest.mark.parametrize(
    ("name", "pipes"),
    [
        ("mte2_to_mte1", "MTE2_MTE1"), ("mte1_to_m", "MTE1_M"), ("m_to_fix", "M_FIX"),
        ("fix_to_m", "FIX_M"), ("m_to_mte1", "M_MTE1"), ("mte1_to_mte2", "MTE1_MTE2"),
    ],
)  # fmt: skip
def test_a_flag_that_is_missing(name: str, pipes: str) -> None:
    found = products(f"bad_{name}")[0].diagnostics
    assert {d.id for d in found} <= {"SYNC-HAZARD", "SYNC-BARRIER"}
    assert any(d.id == "SYNC-HAZARD" and f"WaitFlag<{pipes}>" in d.message for d in found)


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("no_a", "Mmad(c1, a2, b2, mad)", "of L0A on, none of which anybody wrote"),
        ("one_fractal_of_a", "Mmad(c1, a2, b2, mad)", "fractal 3 along K of row 16, at address 3584 of L0A"),
        ("last_columns_of_b", "Fixpipe(gmC[t", "stores 2 of 4 fractals that no Mmad computed to argument 3: the first has row 0 and column 16"),
        ("no_l1", "Mmad(c1, a2, b2, mad)", "of L0B on, none of which anybody wrote; LoadData at cube_faults.cpp:"),
        ("half_of_l1", "Mmad(c1, a2, b2, mad)", "fractal 2 along K of column 0, at address 2048 of L0B"),
        ("no_bias", "Mmad(c1, a2, b2, c2, mad)", "starts with 32 biases from address 0 of BT on, none of which anybody wrote; DataCopy at"),
        ("half_of_bias", "Fixpipe(gmC[t", "stores 2 of 4 fractals that no Mmad computed to argument 3: the first has row 0 and column 16"),
        ("no_first_sum", "Mmad(c1, a2, b2, mad)", "adds to 4 fractals from address 0 of L0C on, none of which anybody wrote"),
        ("more_k", "Mmad(c1, a2, b2, mad)", "fractal 3 along K of row 16, at address 4096 of L0A"),
        ("more_rows_stored", "Fixpipe(gmC[t", "stores 1 of 6 fractals that no Mmad computed to argument 3: the first has row 32 and column 16"),
    ],
)  # fmt: skip
def test_fractals_that_nobody_wrote(name: str, line: str, says: str) -> None:
    found = [d for d in products(f"bad_{name}")[0].diagnostics if d.id == "CUBE-UNINIT"]
    assert len(found) == 1
    assert (found[0].severity, found[0].line) == ("error", line_of(line))
    assert says in found[0].message


@pytest.mark.parametrize("way", ["fixpipe", "data_copy"])
def test_two_cores_that_write_one_block(way: str) -> None:
    side, cores = 16, 3
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(cores, side, side, generator=generator).half(), torch.randn(side, side, generator=generator).half()
    parts = a.double() @ b.double().T

    def run(name: str, step: int) -> tuple[set[str], torch.Tensor]:
        c = torch.zeros(cores * side, side)
        result = kernel().launch(name, block_dim=cores, args=[a, b, c, step], checks="warn", auto_sync=False)
        return {d.id for d in result.diagnostics}, c

    found, c = run(way, side)
    assert found == set()
    assert (c.double() - parts.reshape(-1, side)).abs().max() < 1e-3
    assert run(way, 0)[0] == {"GM-RACE"}
    assert run(way, side - 1)[0] == {"GM-RACE"}
    found, c = run(f"{way}_atomic", 0)
    assert found == set()
    assert (c[:side].double() - parts.sum(0)).abs().max() < 1e-3
