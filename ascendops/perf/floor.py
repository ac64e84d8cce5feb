"""What the cube cores cannot be faster than, for operators whose multiply-adds follow from their shapes alone."""

from __future__ import annotations

from ascendops.perf.chips import Chip
from ascendops.perf.pipes import CUBE_RATE
from ascendops.perf.table import Config

_CONVOLUTIONS = ("Conv2D", "Conv2DV2")
_ATTENTION = ("FlashAttentionScore",)  # no paged cache: its keys are those of the sequences


def multiply_adds(config: Config) -> float:
    """At least so many: half of an attention's, whose mask may be causal; 0 where the shapes do not say."""
    if config.op in _ATTENTION and len(config.inputs) > 1:
        query, keys = config.inputs[0], config.inputs[1]
        if len(query.shape) == len(keys.shape) == 4:  # BNSD or BSND: of the two middle dims, the sequence is taken as the longer one
            return query.elements * float(max(keys.shape[1:3]))
        if len(query.shape) == len(keys.shape) == 3:  # BSH
            return query.elements * float(keys.shape[1])
    if config.op in _CONVOLUTIONS and len(config.inputs) > 1 and len(config.inputs[1].shape) == 4 and config.inputs[1].shape[0]:
        weight = config.inputs[1]
        return config.outputs[0].elements * weight.elements / weight.shape[0]
    return 0.0


def floor_us(config: Config, chip: Chip) -> float:
    """The time of those multiply-adds at the peak of all cube cores, in µs."""
    dtype = config.inputs[0].dtype if config.inputs else ""
    return multiply_adds(config) / (chip.macs * CUBE_RATE.get(dtype, 1.0) * chip.mhz * chip.aic)
