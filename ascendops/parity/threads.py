"""How many threads torch takes while a case is judged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from ascendops.parity.calling import Values, named_tensors

_SMALL = 1 << 20


@contextlib.contextmanager
def few_threads(values: Values) -> Iterator[None]:
    """One torch thread while a case of ordinary size is judged: waking another costs more than it does."""
    count = torch.get_num_threads()
    small = sum(tensor.numel() for _, tensor in named_tensors(values)) < _SMALL
    if small:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if small:
            torch.set_num_threads(count)
