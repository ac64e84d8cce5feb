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
_PLACE, _BIAS = 52, 1023  # of the exponent in a float64
_EXPONENT = 0x7FF << _PLACE
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
    # the exponent field of a float64, left in its place; zero and subnormals have the lowest, nan and infinities the highest
    field = torch.bitwise_and(magnitude.to(torch.float64).view(torch.int64), _EXPONENT)
    field.clamp_((emin + _BIAS) << _PLACE, (top + _BIAS) << _PLACE)
    if dtype == torch.float64:
        return torch.ldexp(torch.ones(field.shape, dtype=torch.float64), ((field >> _PLACE) - (_BIAS + mantissa)).to(torch.float64))
    return field.sub_(mantissa << _PLACE).view(torch.float64)


def holds(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """True where `dtype` has a float64 value exactly; nan is in none."""
    if dtype in EIGHT_BIT:
        return round_to(values, dtype) == values
    return values.to(dtype).to(torch.float64) == values


def round_to(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """float64 `values` rounded once to `dtype` (nearest even; overflow to infinity), as float64.

    Raises:
        KeyError: `dtype` is not a float type of the table.
    """
    if dtype == torch.float64:
        return values
    if dtype == torch.float32:
        return values.to(torch.float32).to(torch.float64)
    step = ulp(values, dtype)
    rounded = (values / step).round_().mul_(step)
    beyond = rounded.abs() > torch.finfo(dtype).max
    return torch.where(beyond, torch.copysign(torch.full_like(rounded, float("inf")), rounded), rounded) if bool(beyond.any()) else rounded


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which kernels are expected to compute for outputs of `dtype`: float32, or float64 for float64."""
    return torch.float64 if dtype == torch.float64 else torch.float32
