"""Outputs whose shape the kernel computes (OutputShapeDependOnCompute).

The framework adds one pointer behind the outputs: nine 64-bit words for each such output in order of declaration, the rank and up to
eight sizes. Source: the developer guide's page on output shapes that depend on the computation (cann/asc-devkit, docs/zh/guide).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ascendops.twin.arguments import GmBuffer
from ascendops.twin.diagnostics import Diagnostic
from ascendops.twin.host import OpDef

WORDS = 9
WIDE_SIZES = 1 << 31  # set by the kernel in the rank: the sizes are 64-bit
_UNWRITTEN = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class KernelShapes:
    """The words that a kernel writes the shapes of its outputs into; no words for an operator whose shapes are known before.

    Attributes:
        names: The outputs whose shape the kernel computes.
        words: Nine for each of them.
    """

    def __init__(self, definition: OpDef) -> None:
        self.names = [param.name for param in definition.outputs if param.shape_depends_on_compute]
        self.words = np.full(len(self.names) * WORDS, _UNWRITTEN, dtype=np.uint64)

    def arguments(self) -> list[GmBuffer]:
        """The kernel's extra argument, if it has one."""
        if not self.names:
            return []
        return [GmBuffer(self.words.ctypes.data, self.words.nbytes, "shape output", undefined=True, keep=self.words)]

    def applied(self, definition: OpDef, outputs: Sequence[Any]) -> tuple[list[Any], list[Diagnostic]]:
        """The outputs, cut to the shapes that the kernel wrote, and what is wrong with those shapes.

        An output keeps its shape when the kernel wrote none that fits.
        """
        cut, found = [], []
        for param, output in zip(definition.outputs, outputs, strict=True):
            if param.name not in self.names:
                cut.append(output)
                continue
            start = self.names.index(param.name) * WORDS
            shape, fault = _shape([int(word) for word in self.words[start : start + WORDS]], output.numel())
            if fault:
                message = f"the kernel {fault} of {param.name} (at most {output.numel()} elements)"
                found.append(Diagnostic("SHAPE-OUTPUT", "error", message, None, 0, 0, 0, "S"))
            cut.append(output if fault else output.reshape(-1)[: math.prod(shape)].reshape(shape))
        return cut, found


def _shape(words: Sequence[int], room: int) -> tuple[tuple[int, ...], str]:
    if words[0] == int(_UNWRITTEN):
        return (), "did not write the shape"
    rank = words[0] & ~WIDE_SIZES
    if rank >= WORDS:
        return (), f"wrote {rank} as the rank"
    shape = tuple(words[1 : 1 + rank])
    return (shape, "") if math.prod(shape) <= room else ((), f"wrote {list(shape)} as the shape")
