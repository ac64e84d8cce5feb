"""Test inputs that belong to the others, because a forward operator saved them: a function of golden.py makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ascendops.errors import GoldenError

if TYPE_CHECKING:
    import torch

    from ascendops.testing.cases import TestCase

BITS = 12  # far fewer than float64 has: the last bits of its functions differ from machine to machine, those of test inputs must not


def values(case: TestCase, made: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The inputs of a case with a `made_by`, in their dtypes and layout.

    Args:
        made: All inputs of the case by name, then its attributes; those with a `made_by` count by their shapes only.

    Raises:
        GoldenError: The function is missing, fails, or returns another shape.
    """
    import torch

    from ascendops.parity import layouts

    wanted = {tensor.name: tensor for tensor in case.spec.inputs if tensor.made_by is not None and made[tensor.name] is not None}
    known = {name: None if name in wanted else value for name, value in made.items()}
    found: dict[str, torch.Tensor] = {}
    for maker in dict.fromkeys(tensor.made_by for tensor in wanted.values()):
        names = [tensor.name for tensor in case.spec.inputs if tensor.made_by == maker]
        for name, wide in zip(names, _run(case, str(maker), known, len(names)), strict=True):
            if name not in wanted:
                continue
            shape = made[name].shape
            if wide is None or wide.shape != shape:
                got = "nothing" if wide is None else str(tuple(wide.shape))
                raise GoldenError(f"{case.id}: '{name}' is {tuple(shape)}, but {maker} makes {got}", where=str(case.spec.root / "golden.py"))
            dtype = getattr(torch, wanted[name].dtypes[case.column])
            found[name] = layouts.apply(rounded(wide).to(dtype), case.case.layout)
    return found


def rounded(wide: torch.Tensor) -> torch.Tensor:
    """Numbers with a mantissa of `BITS` bits; inf, nan and whole numbers stay."""
    import torch

    if not wide.is_floating_point():
        return wide
    mantissa, exponent = torch.frexp(wide)
    return torch.where(wide.isfinite(), torch.ldexp((mantissa * 2**BITS).round() / 2**BITS, exponent), wide)


def _run(case: TestCase, maker: str, known: Mapping[str, Any], count: int) -> list[Any]:
    import torch

    from ascendops.parity.golden import evaluate
    from ascendops.testing.reference import golden_function

    outputs = evaluate(golden_function(case.spec, maker), known, torch.float64)
    if len(outputs) != count:
        raise GoldenError(f"{maker} makes {len(outputs)} tensors, and op.toml names it for {count}", where=str(case.spec.root / "golden.py"))
    return outputs
