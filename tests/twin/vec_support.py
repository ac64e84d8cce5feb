"""Runs many vector instructions in one launch, and says which lanes each of them works on."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ascendops.twin
from ascendops.twin.kernel import Kernel

FOLDER = Path(__file__).parent / "kernels"
FORMS = ("COUNT", "MASK_N", "MASK_BITS", "REGISTER_N", "REGISTER_BITS", "COUNTER", "REGISTER_COUNTER")
BLOCK, REPEAT = 32, 256
DTYPES = {
    name: index
    for index, name in enumerate(
        ("float16", "float32", "int16", "int32", "uint16", "uint32", "bfloat16", "int8", "uint8", "int64", "int4")
    )
}


@functools.cache
def compiled(file: str) -> Kernel:
    """The kernel file, compiled once for all tests."""
    return ascendops.twin.compile(FOLDER / file)


@dataclass
class Case:
    """One instruction: dst, a, b, c are the arrays it is given (bytes are copied; dst comes back)."""

    op: int
    dst: np.ndarray
    a: np.ndarray | None = None
    b: np.ndarray | None = None
    c: np.ndarray | None = None
    dtype: str = "float32"
    dtype2: str = "float32"
    form: str = "COUNT"
    n: int = 0
    repeat: int = 1
    extra: int = 0
    bits: tuple[int, int] = (0, 0)
    blk: tuple[int, int, int] = (1, 1, 1)
    rep: tuple[int, int, int] = (8, 8, 8)
    f: float = 0.0
    i: int = 0
    label: dict[str, Any] = field(default_factory=dict)

    def pack(self, offsets: list[int]) -> bytes:
        """The struct Case of vec_case.h."""
        arrays = (self.dst, self.a, self.b, self.c)
        head = (
            self.op,
            DTYPES[self.dtype],
            DTYPES[self.dtype2],
            FORMS.index(self.form),
            self.n,
            self.repeat,
            self.extra,
            0,
        )
        sizes = [0 if array is None else array.nbytes for array in arrays]
        return struct.pack(
            "<8i2Q6ifi8I", *head, *self.bits, *self.blk, *self.rep, self.f, self.i, *offsets, *sizes
        )  # fmt: skip

    def lanes(self, *sizes: int) -> list[np.ndarray]:
        """Element offsets of the active lanes in dst, a, b (element sizes given), in instruction order."""
        per = REPEAT // max(sizes)
        if self.form == "COUNT":
            return [np.arange(self.n) for _ in sizes]
        parts: list[list[np.ndarray]] = [[] for _ in sizes]
        for r, active in self._repeats(per):
            for k, size in enumerate(sizes):
                byte = active * size
                block = byte // BLOCK * self.blk[k] * BLOCK + r * self.rep[k] * BLOCK
                parts[k].append((block + byte % BLOCK) // size)
        return [np.concatenate(part) if part else np.zeros(0, int) for part in parts]

    def _repeats(self, per: int) -> Iterator[tuple[int, np.ndarray]]:
        lanes = np.arange(per)
        if self.form in ("COUNTER", "REGISTER_COUNTER"):
            for r in range(-(-self.n // per)):
                yield r, lanes[: min(per, self.n - r * per)]
            return
        word = self.bits[0] | self.bits[1] << 64
        bits = np.array([word >> lane & 1 for lane in range(per)], bool)
        active = lanes[bits] if "BITS" in self.form else lanes[: min(per, self.n)]
        for r in range(self.repeat):
            yield r, active


def run(
    file: str, cases: list[Case], *, entry: str | None = None, checks: str = "warn", expect: tuple[str, ...] = ()
) -> list[np.ndarray]:
    """Launches all cases of a kernel file; returns each dst as the kernel left it. Fails on findings not in `expect`.

    Without findings the cases run again with checks off, where instructions take shorter ways, and must leave the same bytes.
    """
    data = bytearray()
    params = bytearray()
    for case in cases:
        offsets = []
        for array in (case.dst, case.a, case.b, case.c):
            data += bytes(-len(data) % 64)
            offsets.append(len(data))
            data += b"" if array is None else np.ascontiguousarray(array).tobytes()
        params += case.pack(offsets)
        case.label["offset"] = offsets[0]
    memory = np.frombuffer(data, np.uint8)
    unchecked = memory.copy()

    def launch(memory: np.ndarray, checks: str) -> Any:
        args = [memory, np.frombuffer(params, np.uint8), len(cases)]
        return compiled(file).launch(entry or file.removesuffix(".cpp"), args=args, block_dim=1, checks=checks)

    result = launch(memory, checks)
    found = {diagnostic.id for diagnostic in result.diagnostics}
    assert found <= set(expect), [str(diagnostic) for diagnostic in result.diagnostics][:3]
    assert set(expect) <= found, f"no finding {expect}, only {found}"
    if not found:
        launch(unchecked, "off")
        assert np.array_equal(unchecked, memory), f"checks off: other bytes from {np.flatnonzero(unchecked != memory)[:5]} on"
    outs = []
    for case in cases:
        at = case.label["offset"]
        outs.append(memory[at : at + case.dst.nbytes].view(case.dst.dtype).reshape(case.dst.shape))
    return outs


def special_floats(dtype: type[np.floating[Any]], n: int, seed: int = 0) -> np.ndarray:
    """Random values of all magnitudes with zeros, infinities, NaN, subnormals and the extremes in between."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    with np.errstate(over="ignore"):
        wide = (rng.standard_normal(n) * np.exp2(rng.uniform(info.minexp - info.nmant, info.maxexp, n))).astype(dtype)
    tame = (rng.standard_normal(n) * 4).astype(dtype)
    values = np.where(rng.random(n) < 0.5, wide, tame).astype(dtype)
    tiny, big = info.smallest_subnormal, info.max
    special = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, info.tiny, big, -big, 1, -1, 0.5, 2.5, -1.5], dtype
    )
    where = rng.permutation(n)[: min(n, 3 * special.size)]
    values[where] = special[np.arange(where.size) % special.size]
    return values


def same_bits(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Element-wise: equal bits, or both NaN."""
    if got.dtype.kind != "f":
        return np.asarray(got == want)
    kind = {2: np.uint16, 4: np.uint32}[got.itemsize]
    return np.asarray((got.view(kind) == want.view(kind)) | (np.isnan(got) & np.isnan(want)))


def assert_same(got: np.ndarray, want: np.ndarray, label: Any = "") -> None:
    """Fails with the first wrong elements."""
    wrong = np.flatnonzero(~same_bits(got.ravel(), want.ravel()))
    assert wrong.size == 0, (
        f"{label}: {wrong.size} of {want.size} wrong, first at {wrong[:5]}: {got.ravel()[wrong[:5]]} not {want.ravel()[wrong[:5]]}"
    )


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance from a float64 reference in units of the last place of got's type; NaN and infinities must agree."""
    info = np.finfo(got.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = exact.astype(got.dtype)
        exponent = np.maximum(np.frexp(np.where(np.isfinite(exact), exact, 1.0))[1], info.minexp + 1)
        unit = np.ldexp(1.0, exponent - info.nmant - 1)
        distance = np.abs(got.astype(np.float64) - exact) / unit
        special = ~np.isfinite(rounded) | ~np.isfinite(got)
    agree = same_bits(got, rounded) | (got == rounded)
    return np.where(special, np.where(agree, 0.0, np.inf), distance)
