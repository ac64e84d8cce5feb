"""Inputs as kernels take them: contiguous. A copy is counted and shows in torch's profiler; it is never silent."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from ascendops.errors import LayoutRefused

_copies: Counter[str] = Counter()


def copies() -> dict[str, int]:
    """How many inputs were copied since the process began because they were not contiguous, by `operator.input`."""
    return dict(_copies)


def contiguous(value: Any, policy: str, op: str, name: str) -> Any:
    """The tensor (or each tensor of a list), contiguous.

    Raises:
        LayoutRefused: It is not, and the policy is `required`.
    """
    if isinstance(value, (list, tuple)):
        return [contiguous(one, policy, op, name) for one in value]
    if not isinstance(value, torch.Tensor) or value.is_contiguous():
        return value
    if policy == "required":
        raise LayoutRefused(
            f"'{name}' of {op} is not contiguous", why=f"its shape is {tuple(value.shape)}, its strides {tuple(value.stride())}",
            help=f"pass {name}.contiguous(), or declare [torch] contiguous = \"copy\"",
        )  # fmt: skip
    _copies[f"{op}.{name}"] += 1
    with torch.profiler.record_function(f"ascendops::copy::{op}.{name}"):
        return value.contiguous()
