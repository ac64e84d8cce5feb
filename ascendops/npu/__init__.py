"""The laptop `npu` device: PyTorch's PrivateUse1 device over host memory, on which kit operators run on the CPU twin.

It is switched on by `ascendops.enable_npu_twin()` or by ASCENDOPS_NPU=twin, never by itself.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from ascendops.errors import DeviceRefused, did_you_mean

if TYPE_CHECKING:
    from ascendops.npu.device import Twin

VARIABLE = "ASCENDOPS_NPU"
CHOICES = ("auto", "real", "twin", "off")
COUNT = "ASCENDOPS_NPU_COUNT"
MOST_DEVICES = 16  # MAX_DEVICES of src/runtime.h

_active: Twin | None = None


def active() -> Twin | None:
    """The twin of this process, or None while it is off."""
    return _active


def enable_npu_twin() -> Twin:
    """Switches the laptop `npu` device on: `device="npu"`, `.npu()` and `torch.npu` work, and `torch.npu.is_twin` is True.

    A second call does nothing. Before PyTorch 2.11 it must come before the first `backward()` of the process. The device is compiled at
    first use with each version of PyTorch (about 20 s).

    Raises:
        DeviceRefused: torch_npu or another backend has taken the PrivateUse1 device of this process, or ASCENDOPS_NPU_COUNT is no such number.
        CompilerNotFound: There is no C++ compiler.
    """
    global _active
    if _active is None:
        _check_count()
        from ascendops.npu.device import start

        _active = start()
    return _active


def _check_count() -> None:
    text = os.environ.get(COUNT) or "1"
    if not (text.isdigit() and 1 <= int(text) <= MOST_DEVICES):
        raise DeviceRefused(f"{COUNT}={text} is not a number of devices", help=f"use a number from 1 to {MOST_DEVICES}")


def requested() -> str:
    """What $ASCENDOPS_NPU asks for: `auto` (torch_npu where it works, else nothing), `real`, `twin` or `off`.

    Raises:
        DeviceRefused: The variable has another value.
    """
    word = os.environ.get(VARIABLE) or "auto"
    if word not in CHOICES:
        raise DeviceRefused(f"{VARIABLE}={word} is not known", help=did_you_mean(word, CHOICES))
    return word


def autoload() -> None:
    """Entry point of `torch.backends`: `import torch` switches the twin on where ASCENDOPS_NPU=twin; a misspelt value is a warning, not a broken import."""
    try:
        word = requested()
    except DeviceRefused as error:
        warnings.warn(str(error), stacklevel=2)
        return
    if word == "twin":
        enable_npu_twin()
