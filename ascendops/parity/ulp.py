"""Units in the last place of a float dtype, as float64 tensors."""

from __future__ import annotations

import torch

_MANTISSA = {
    torch.float64: 52,
    torch.float32: 23,
    torch.float16: 10,
    torch.bfloat16: 7,
    torch.float8_e4m3fn: 3,
    torch.float8_e5m2: 2,
}
_EMIN = {
    torch.float64: -1022,
    torch.float32: -126,
    torch.float16: -14,
    torch.bfloat16: -126,
    torch.float8_e4m3fn: -6,
    torch.float8_e5m2: -14,
}

_TOP = {
    torch.float64: 1023,
    torch.float32: 127,
    torch.float16: 15,
    torch.bfloat16: 127,
    torch.float8_e4m3fn: 8,
    torch.float8_e5m2: 15,
}
EIGHT_BIT = (torch.float8_e4m3fn, torch.float8_e5m2)


def known(dtype: torch.dtype) -> bool:
    """Whether `ulp` has this dtype."""
    return dtype in _MANTISSA


def finite(values: torch.Tensor) -> torch.Tensor:
    """True where a float element is neither nan nor infinite; several times as fast as torch.isfinite on small tensors."""
    return (values - values) == 0


def classes(values: torch.Tensor) -> torch.Tensor:
    """int8: 0 for finite elements, 1 for nan, 2 for +inf, 3 for -inf."""
    if bool(finite(values).all()):
        return torch.zeros(values.shape, dtype=torch.int8)
    nan, plus, minus = (way.to(torch.int8) for way in (values != values, values == float("inf"), values == float("-inf")))
    return nan + 2 * plus + 3 * minus


def ulp(magnitude: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Distance between neighbours of `dtype` at each |magnitude|; at least the subnormal step, at most the top binade's.

    Non-finite magnitudes count as the top binade. The result is float64 with the shape of `magnitude`.
    """
    mantissa, emin, top = _MANTISSA[dtype], _EMIN[dtype], _TOP[dtype]
    # the exponent field of a float64; zero and subnormals have the lowest, nan and infinities the highest
    exponent = (magnitude.to(torch.float64).abs().view(torch.int64) >> 52).sub_(1023).clamp_(emin, top)
    if dtype == torch.float64:
        return torch.ldexp(torch.ones(exponent.shape, dtype=torch.float64), (exponent - mantissa).to(torch.float64))
    return (exponent.add_(1023 - mantissa) << 52).view(torch.float64)


def round_to(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """float64 `values` rounded once to `dtype` (nearest even; overflow to infinity), as float64.

    Raises:
        KeyError: `dtype` is not a float type of the table.
    """
    if dtype == torch.float64:
        return values
    step = ulp(values, dtype)
    within = finite(values)
    rounded = torch.where(within, torch.round(values / step) * step, values)
    limit = torch.finfo(dtype).max
    overflow = torch.where(values > 0, float("inf"), float("-inf")).to(torch.float64)
    rounded = torch.where(within & (rounded.abs() > limit), overflow, rounded)
    return torch.where(rounded == 0, torch.copysign(torch.zeros_like(rounded), values), rounded)


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which kernels are expected to compute for outputs of `dtype`: float32, or float64 for float64."""
    return torch.float64 if dtype == torch.float64 else torch.float32
