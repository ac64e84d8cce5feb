"""Monte Carlo arithmetic: a function evaluated in float64 with every intermediate result rounded at random to a smaller dtype.

Results of exp, erf, tanh and their like stay float32, up to 2 ulp off: where 1 is added to them, rounding them would excuse any value of a tail.
The spread of such runs is the error that an honest implementation may make which rounds intermediates to that dtype and adds in
float32 in any order. Composite functions (softmax, layer_norm, ...) are taken apart, because kernels round inside of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ascendops.parity import inputs as generator
from ascendops.parity.decompose import CONTRACTIONS, DECOMPOSED, MOVES, REDUCTIONS, SMOOTH
from ascendops.parity.ulp import holds, ulp

_STEP32 = 2.0**-23
_ADDING = 0.2  # standard deviation of one float32 rounding, times the mean of partial over whole sum
_MAX_NOISE = 1 << 22
_PER_EXPONENT = 0.5  # e^x as 2^(x log2 e) has one more ulp per unit of x: __expf's documented 2 + 1.173 |x| ulp
_LIBM = 4.0  # times half an ulp: vendors document 1 to 2 ulp for exp, log, tanh, erf, rsqrt in float32 (CUDA C++ Programming Guide, mathematical functions)


class Trace(TorchFunctionMode):
    """Collects the names of the torch functions that run inside."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Notes the name and runs the function."""
        name = getattr(func, "__name__", "")
        if not name.startswith("__get"):
            self.names.append(name.strip("_"))
        return func(*args, **(kwargs or {}))


class Rounded(TorchFunctionMode):
    """While active, float64 results are what a kernel with `dtype` intermediates and float32 sums may get.

    Args:
        dtype: Every result is moved by up to half an ulp of this dtype, unless the dtype holds it exactly.
        stream: Key of the random numbers.
        reach: Multiplies the random errors.
    """

    def __init__(self, dtype: torch.dtype, stream: int, reach: float = 1.0) -> None:
        super().__init__()
        self.dtype = dtype
        self.reach = reach
        self.stream = stream
        self.count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the function, or its parts, and rounds what comes back."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        plain = name.strip("_")
        if name.startswith(("__get", "__set")) or plain in MOVES:
            return func(*args, **kwargs)
        parts = DECOMPOSED.get(plain)
        if parts is not None:
            with self:
                return parts(*args, **kwargs)
        out = func(*args, **kwargs)
        if plain in REDUCTIONS or plain in CONTRACTIONS:
            out = self._added(out, _magnitude(func, plain, args, kwargs))
        kind, reach = (torch.float32, self._libm(plain, args)) if plain in SMOOTH else (self.dtype, 1.0)
        in_place = name.endswith("_") and not name.endswith("__")
        return (
            out.copy_(self._rounded(out, kind, reach)) if in_place and isinstance(out, torch.Tensor) else self._each(out, kind, reach)
        )

    def _libm(self, name: str, args: Any) -> Any:
        """How many half ulps a function of libm may be off."""
        exponent = args[0] if args and name in ("exp", "exp2") else None
        if not isinstance(exponent, torch.Tensor) or exponent.dtype != torch.float64:
            return _LIBM
        return _LIBM * (1 + _PER_EXPONENT * torch.nan_to_num(exponent.detach(), 0.0, 0.0, 0.0).abs())

    def _each(self, out: Any, dtype: torch.dtype, reach: Any) -> Any:
        if isinstance(out, torch.Tensor):
            return self._rounded(out, dtype, reach)
        return type(out)(self._each(item, dtype, reach) for item in out) if type(out) in (tuple, list) else out

    def _rounded(self, out: torch.Tensor, dtype: torch.dtype, reach: Any) -> torch.Tensor:
        if out.dtype != torch.float64 or out.numel() == 0 or out.numel() > _MAX_NOISE:
            return out
        moved = torch.addcmul(out, self._noise(out).mul_(reach), ulp(out, dtype))
        return torch.where(holds(out, dtype), out, moved)

    def _added(self, out: Any, magnitude: tuple[torch.Tensor, float] | None) -> Any:
        if magnitude is None or not isinstance(out, torch.Tensor) or out.dtype != torch.float64:
            return out
        total, terms = magnitude
        if total.shape != out.shape or out.numel() > _MAX_NOISE:
            return out
        spread = _ADDING * _STEP32 * (out.abs() * terms**0.5 + total)
        moved = torch.isfinite(spread) & ~holds(out, torch.float32)
        return torch.where(moved, torch.addcmul(out, self._noise(out), spread, value=3.5), out)

    def _noise(self, like: torch.Tensor) -> torch.Tensor:
        """Uniform in [-0.5, 0.5) times the reach; standard deviation 0.29."""
        self.count += 1
        stream = generator.key(0, self.stream, self.count)
        noise = torch.from_numpy(generator.coarse(stream, like.numel()))
        return noise.sub_(0.5).mul_(self.reach).reshape(like.shape)


def _magnitude(func: Callable[..., Any], name: str, args: Any, kwargs: Any) -> tuple[torch.Tensor, float] | None:
    """(sum of the terms' magnitudes, number of terms) of a sum or a product of matrices."""
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    if not tensors or any(not t.dtype.is_floating_point for t in tensors):
        return None
    absolute = [arg.abs() if isinstance(arg, torch.Tensor) else arg for arg in args]
    total = func(*absolute, **kwargs)
    if not isinstance(total, torch.Tensor) or total.numel() == 0:
        return None
    if name in CONTRACTIONS and len(tensors) > 1:
        a, b = tensors[-2:] if name in ("addmm", "baddbmm", "addbmm", "addmv") else tensors[:2]
        return total, max(1.0, (a.numel() * b.numel() / total.numel()) ** 0.5)
    return total, max(1.0, tensors[0].numel() / total.numel())
