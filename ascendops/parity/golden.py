"""How the golden is run: in a wider dtype, watched for the functions that it calls and for a cast at its end."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ascendops.errors import AscendOpsError, GoldenError
from ascendops.parity.calling import Outputs, Values, clone, invoke, map_tensors, outputs_of

_CASTS = frozenset(("to", "half", "bfloat16", "float", "type", "type_as"))


@dataclass(frozen=True)
class Evaluated:
    """What the golden returned.

    Attributes:
        outputs: Its tensors on the CPU. An output that ends with a cast to a smaller float dtype is here as it was before the cast.
        casts: That dtype for each output, or None.
    """

    outputs: Outputs
    casts: tuple[torch.dtype | None, ...]


class _Ends(TorchFunctionMode):
    """Remembers what narrowing casts were made from, so that an output that is one can be had unrounded."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the function."""
        out = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in _CASTS and args and isinstance(out, torch.Tensor) and isinstance(args[0], torch.Tensor):
            source = args[0]
            if source.is_floating_point() and out.is_floating_point() and out.itemsize < source.itemsize:
                self.made.append((out, source))
        return out

    def source_of(self, out: Any) -> torch.Tensor | None:
        """The tensor that `out` was cast from."""
        return next((source for made, source in reversed(self.made) if made is out), None)


def run(golden: Callable[..., Any], values: Values, dtype: torch.dtype, mode: TorchFunctionMode | None = None) -> Evaluated:
    """The golden with float inputs converted to `dtype` (complex ones to the matching complex dtype), run under `mode`.

    Raises:
        GoldenError: The golden raised, or returned something that is not tensors.
    """

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.detach().cpu()
        if tensor.is_complex():
            return tensor.to(dtype.to_complex(), copy=True)
        return tensor.to(dtype, copy=True) if tensor.is_floating_point() else tensor.clone()

    ends = _Ends()
    found = _call(golden, map_tensors(values, convert), ends, mode or contextlib.nullcontext())
    sources = [ends.source_of(out) for out in found]
    casts = tuple(None if source is None or out is None else out.dtype for out, source in zip(found, sources, strict=True))
    return Evaluated(_here([out if source is None else source for out, source in zip(found, sources, strict=True)]), casts)


def evaluate(golden: Callable[..., Any], values: Values, dtype: torch.dtype, mode: TorchFunctionMode | None = None) -> Outputs:
    """The outputs of `run`.

    Raises:
        GoldenError: The golden raised, or returned something that is not tensors.
    """
    return run(golden, values, dtype, mode).outputs


def own_arithmetic(golden: Callable[..., Any], values: Values) -> Outputs:
    """The golden on the inputs as they are, so that torch computes in their dtypes.

    Raises:
        GoldenError: The golden cannot.
    """
    return _here(_call(golden, clone(values)))


def real(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the parts of a complex dtype; other dtypes unchanged."""
    return dtype.to_real() if dtype.is_complex else dtype


def wide_of(tensor: torch.Tensor) -> torch.Tensor:
    """float64 values; complex tensors as real and imaginary parts in a last dim of 2."""
    return torch.view_as_real(tensor.to(torch.complex128)) if tensor.is_complex() else tensor.to(torch.float64)


def _here(outputs: Sequence[torch.Tensor | None]) -> Outputs:
    return [None if out is None else out.detach().cpu() for out in outputs]


def _call(golden: Callable[..., Any], values: Values, *modes: contextlib.AbstractContextManager[Any]) -> Outputs:
    try:
        with contextlib.ExitStack() as stack:
            for mode in modes:
                stack.enter_context(mode)
            return outputs_of(invoke(golden, values))
    except AscendOpsError as error:
        raise GoldenError(error.what, help=error.help) from error
    except Exception as error:  # the boundary to the user's code
        name = getattr(golden, "__name__", "golden")
        raise GoldenError(f"{name} raised {type(error).__name__}: {error}", where=_place(error)) from error


def _place(error: BaseException) -> str | None:
    """The innermost line outside installed packages: the user's."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [place for place in frames if "site-packages" not in place[0]] or frames
    return f"{own[-1][0]}:{own[-1][1]}" if own else None
