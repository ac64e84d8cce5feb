"""The mechanistic model: what each pipe of the busiest core has to do, from shapes, dtypes and the chip's rates.

No number here is fitted to one operator. The few global parameters (`Globals`) are in data/perf/coefficients.json.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ascendops.perf.chips import Chip
from ascendops.perf.ops import Traits
from ascendops.perf.table import Config, Tensor

PIPES = ("mte2", "vec", "mte3", "cube", "scalar", "launch")
_HEAD_CYCLES = 22  # of a vector instruction: mskpp, and the bank-conflict measurements of asc-devkit
_TILE_M, _TILE_N = 128, 256  # of one cube core's output tile in L0C at fp16
CUBE_RATE = {"int8": 2.0, "uint8": 2.0, "int4": 2.0, "fp32": 0.25, "fp64": 0.0625}


@dataclass(frozen=True)
class Globals:
    """Parameters that are shared by all operators and chips; µs unless said otherwise.

    Attributes:
        launch: A launch on one core: scheduling, initialization, completion report.
        per_block: Each further block.
        transfer: Latency of one copy into or out of the core.
        half_kb: Transfer size at which a core reaches half of its bandwidth, KB.
        cached: Bandwidth of data that is in L2, relative to the memory's.
        row: Scalar overhead of a row.
        gather: One element that is addressed on its own.
        vector: Factor on the counted vector instructions.
        tile: Scalar and handshake overhead of a cube tile's step in k.
        overlap: Exponent p of the sum (Σ pipe^p)^(1/p): 1 is no overlap, large is perfect overlap.
        aicpu: A call on the AI CPU.
    """

    launch: float = 1.1
    per_block: float = 0.05
    transfer: float = 0.4
    half_kb: float = 8.0
    cached: float = 1.6
    row: float = 0.1
    gather: float = 0.05
    vector: float = 1.0
    tile: float = 0.3
    overlap: float = 2.0
    aicpu: float = 45.0


@dataclass(frozen=True)
class Work:
    """The busiest core's time per pipe in µs, and the quantities behind it.

    Attributes:
        us: One number per name of PIPES.
        total: The makespan: launch, and the overlapping sum of the other pipes.
        blocks: Blocks of the launch, given or chosen.
        rows: Rows of the leading output, or of the product.
        row: Length of a row.
        moved: Bytes read and written, all cores.
    """

    us: dict[str, float]
    total: float
    blocks: int
    rows: float
    row: float
    moved: float

    @property
    def bound(self) -> str:
        """The pipe that takes longest."""
        return max(PIPES, key=lambda name: self.us[name])


def work(config: Config, traits: Traits, chip: Chip, g: Globals) -> Work:
    """The pipes of one call on one chip."""
    if traits.category == "aicpu":
        moved = sum(tensor.bytes for tensor in (*config.inputs, *config.outputs))
        us = dict.fromkeys(PIPES, 0.0) | {"launch": g.launch, "scalar": g.aicpu + moved / 1e3}
        return Work(us, us["launch"] + us["scalar"], 1, 1, 1, moved)
    return _cube(config, traits, chip, g) if traits.cube else _vector(config, traits, chip, g)


def _finish(us: dict[str, float], g: Globals, blocks: int, rows: float, row: float, moved: float) -> Work:
    us["launch"] = g.launch + g.per_block * (blocks - 1)
    busy = [us[name] for name in PIPES if name != "launch" and us[name] > 0]
    together = float(sum(value**g.overlap for value in busy) ** (1 / g.overlap)) if busy else 0.0
    return Work(us, us["launch"] + together, blocks, rows, row, moved)


def _copy_us(nbytes: float, blocks: int, core_rate: float, chip_rate: float, g: Globals) -> float:
    """Time of one core's share of a copy; cores share the chip's rate (the soft minimum of both rates, exponent 2)."""
    if nbytes <= 0:
        return 0.0
    share = nbytes / blocks
    size = min(share, 65536.0) / 1024
    core = core_rate * size / (size + g.half_kb)
    rate: float = (core**-2 + (chip_rate / blocks) ** -2) ** -0.5
    return share / (rate * 1e3) + g.transfer


def _chip_rate(moved: float, chip: Chip, g: Globals) -> float:
    """The memory's rate, faster the better the working set fits into L2."""
    hit = min(1.0, chip.l2_bytes / 2 / max(moved, 1.0))
    return chip.hbm * (1 + (g.cached - 1) * hit)


def _vector(config: Config, traits: Traits, chip: Chip, g: Globals) -> Work:
    out = max(config.outputs or config.inputs, key=lambda tensor: tensor.bytes)
    written = _update_bytes(config) if traits.in_place else sum(tensor.bytes for tensor in config.outputs)
    read = _read_bytes(config, traits, out)
    first = config.inputs[0] if config.inputs and traits.category not in {"index", "move"} else out
    lead = max((first, out), key=lambda tensor: tensor.elements)
    row = float(lead.shape[-1]) if lead.shape else 1.0
    rows = lead.elements / row if row else 0.0
    blocks = config.blocks or _vector_blocks(traits, rows, read + written, chip)
    moved = read + written
    rate = _chip_rate(moved, chip, g)
    if traits.in_place:
        rows = max(1.0, moved / (row * lead.itemsize)) if row else 0.0
    share = rows * row / blocks
    rows_core = math.ceil(rows / blocks)
    casts = sum(1 for tensor in (*config.inputs, *config.outputs) if tensor.dtype in {"bf16", "int8", "bool"}) if traits.per_element > 1 else 0
    wide = 8.0 if lead.itemsize == 8 else 1.0  # 64-bit integers are emulated
    repeats = share * 4 / 256 * (traits.per_element + casts) * wide
    tiles = max(1.0, share * 4 / 16384)
    heads = (tiles * (traits.per_element + casts) + rows_core * traits.per_row) * _HEAD_CYCLES
    single = out.elements / blocks if traits.category == "index" and row < 32 else 0.0
    us = {
        "mte2": _copy_us(read, blocks, chip.gm_ub, rate, g),
        "vec": (repeats + heads) / chip.mhz * g.vector,
        "mte3": _copy_us(written, blocks, chip.ub_gm, rate, g),
        "cube": 0.0,
        "scalar": g.row * (rows_core if traits.per_row or traits.category == "index" else tiles) + g.gather * single,
    }
    return _finish(us, g, blocks, rows, row, moved)


def _read_bytes(config: Config, traits: Traits, out: Tensor) -> float:
    """What is read: of a gather or a slice only as much as it writes."""
    total = sum(tensor.bytes for tensor in config.inputs)
    if traits.in_place:
        return min(total, _update_bytes(config))
    if traits.category in {"index", "move"}:
        return min(total, out.bytes + sum(tensor.bytes for tensor in config.inputs[1:] if tensor.dtype.startswith("int")))
    return total


def _update_bytes(config: Config) -> float:
    """Of an operator that updates a large buffer in place: all tensors but those that are both input and output."""
    return sum(tensor.bytes for tensor in config.inputs if tensor.shape not in {out.shape for out in config.outputs})


def _vector_blocks(traits: Traits, rows: float, moved: float, chip: Chip) -> int:
    """The blocks that a kernel would usually take: a row each, or 4 KB each where rows may be cut."""
    wanted = rows if traits.per_row else moved / 4096
    return int(max(1, min(chip.vector_cores, math.ceil(wanted))))


def product(config: Config) -> tuple[float, float, float, float]:
    """batch, m, k, n of a matrix product; for attention, the two products of its scores and values as one."""
    out = max(config.outputs or config.inputs, key=lambda tensor: tensor.elements)
    first = config.inputs[0] if config.inputs else out
    n = float(out.shape[-1]) if out.shape else 1.0
    k = float(first.shape[-1]) if first.shape else 1.0
    m = float(out.shape[-2]) if len(out.shape) > 1 else 1.0
    batch = out.elements / (m * n) if m * n else 0.0
    return batch, m, k, n


def _attention_product(config: Config) -> tuple[float, float, float, float]:
    query = config.inputs[0] if config.inputs else config.outputs[0]
    width = float(query.shape[-1]) if query.shape else 1.0
    lines = query.elements / width if width else 0.0
    keys = config.inputs[1] if len(config.inputs) > 1 else query
    length = keys.elements / width / max(1, keys.shape[-2] if len(keys.shape) > 2 else 1) if width else 0.0
    return 1.0, lines, width, 2 * min(length, 2048.0)


def _cube(config: Config, traits: Traits, chip: Chip, g: Globals) -> Work:
    attention = traits.category == "attention"
    batch, m, k, n = _attention_product(config) if attention else product(config)
    first = config.inputs[0] if config.inputs else config.outputs[0]
    tile_m, tile_n = min(_TILE_M, _up(m)), min(_TILE_N, _up(n))
    tiles = max(1.0, batch * math.ceil(m / tile_m) * math.ceil(n / tile_n))
    blocks = config.blocks or int(min(chip.aic, tiles))
    per_core = math.ceil(tiles / blocks) if tiles < 4 * blocks else tiles / blocks
    macs = per_core * tile_m * tile_n * _up(k)
    # L0C and L1 hold one operand while the other passes: both are loaded once per tile, and all of it crosses the memory once.
    loaded = per_core * (tile_m + tile_n) * k * first.itemsize
    written = sum(tensor.bytes for tensor in config.outputs)
    read = _weights(config, attention, first)
    moved = read + written
    rate = _chip_rate(moved, chip, g)
    if first.dtype == "int8" and len(config.inputs) > 3 and config.inputs[3].dtype == "fp32":
        # A scale per token: int32 products go through memory to the vector cores, which scale them.
        products = batch * m * n * 4
        read, written = read + products, written + products
    from_memory = _copy_us(read, blocks, chip.l2_l1, rate, g)
    from_l2 = loaded / (chip.l2_l1 * 1e3)
    steps = per_core * max(1.0, k / 256)
    us = {
        "mte2": max(from_memory, from_l2),
        "vec": written / blocks / (chip.gm_ub * 1e3) if attention else 0.0,
        "mte3": _copy_us(written, blocks, chip.l0c_gm, rate, g),
        "cube": macs / (chip.macs * CUBE_RATE.get(first.dtype, 1.0) * chip.mhz),
        "scalar": g.tile * steps,
    }
    return _finish(us, g, blocks, batch * m, n, moved)


def _weights(config: Config, attention: bool, first: Tensor) -> float:
    """Bytes of the operands; of a paged cache no more than 2048 keys for each sequence can be told from shapes."""
    if not attention:
        return sum(tensor.bytes for tensor in config.inputs)
    sequences = first.shape[0] if first.shape else 1
    cap = 2048.0 * max(1, sequences) * 1024
    return sum(min(tensor.bytes, cap) for tensor in config.inputs)


def _up(value: float) -> float:
    """Rounded up to the cube's fractal of 16."""
    return max(16.0, math.ceil(value / 16) * 16.0)
