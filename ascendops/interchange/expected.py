"""The golden of a case as arrays that NumPy alone can compare with: values, the error that is allowed, and where nan and infinities may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

    from ascendops.parity.truth import Truth
    from ascendops.testing.cases import TestCase

FINITE, NAN, PLUS, MINUS = 1, 2, 4, 8


def expected(case: TestCase, values: Mapping[str, Any], seed: int) -> list[dict[str, np.ndarray] | None]:
    """For each output `want` and, unless bits are compared, `allowed` (both float64) and `kinds` (bits of FINITE, NAN, PLUS, MINUS).

    `signed` is there where the sign of zero counts, because values are only moved.

    An output that the golden leaves out is None.

    Raises:
        GoldenError: The golden fails.
    """
    from ascendops.parity.sensitivity import truths
    from ascendops.testing.reference import golden_of

    dtypes = case.output_dtypes()
    found = truths(golden_of(case.spec), dict(values), dtypes, seed)
    return [None if truth is None else _arrays(truth, dtype) for truth, dtype in zip(found, dtypes, strict=True)]


def _arrays(truth: Truth, dtype: torch.dtype | None) -> dict[str, np.ndarray]:
    import torch

    want = truth.want
    if truth.kappa is not None:
        signed = {"signed": np.array([True])} if truth.signed_zero else {}
        return {"want": want.numpy(), "allowed": truth.allowed.numpy(), "kinds": _kinds(truth).numpy(), **signed}
    if want.is_floating_point():  # whole numbers of a real-valued golden: within half, and a tie's slack
        allowed = 0.5 + 1e-6 * want.abs().clamp(min=1)
        if truth.undefined is not None:  # every integer is as right
            want, allowed = torch.where(truth.undefined, 0, want), torch.where(truth.undefined, float("inf"), allowed)
        return {"want": want.double().numpy(), "allowed": allowed.double().numpy(), "kinds": torch.full(want.shape, FINITE, dtype=torch.uint8).numpy()}
    return {"want": want.to(dtype or want.dtype).numpy()}


def _kinds(truth: Truth) -> torch.Tensor:
    """Which classes each element may have: that of the rounded golden, and beside the largest number of the dtype either side of it."""
    import torch

    from ascendops.parity.golden import real
    from ascendops.parity.ulp import EIGHT_BIT, round_to

    assert truth.dtype is not None
    dtype, want = real(truth.dtype), truth.want
    kinds = _class(truth.rounded)
    if truth.at_edge is not None:
        either = torch.where(want > 0, FINITE | PLUS, FINITE | MINUS).to(torch.uint8)
        kinds = torch.where(truth.at_edge, kinds | either, kinds)
    if truth.single is not None:
        kinds = kinds | _class(round_to(truth.single, dtype))
    if dtype in EIGHT_BIT:
        kinds = torch.where(torch.isinf(truth.rounded), FINITE | NAN | PLUS | MINUS, kinds).to(torch.uint8)
    return kinds


def _class(values: torch.Tensor) -> torch.Tensor:
    import torch

    kinds = torch.full(values.shape, FINITE, dtype=torch.uint8)
    kinds[torch.isnan(values)] = NAN
    kinds[values == float("inf")] = PLUS
    kinds[values == float("-inf")] = MINUS
    return kinds
