"""What the golden says of one output: the wanted values, and how far a candidate may be from them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from ascendops.parity.decompose import MOVES, SIGNED_ZERO
from ascendops.parity.golden import real
from ascendops.parity.ulp import EIGHT_BIT, classes, finite, round_to, ulp


@dataclass(frozen=True)
class Truth:
    """The golden's answer for one output. Its tensors must not be changed: what follows from them is computed once.

    Attributes:
        want: fp64 values for float outputs (complex: real and imaginary parts in a last dim of 2); else the golden's own tensor.
        dtype: The dtype that the candidate must return, or None when any integer dtype will do.
        kappa: Allowance on top of two ulps, float64, shape of `want`; None for exact outputs.
        exact: There is one right result, so bits are compared: values of the inputs that are only moved, selected or cast, or whole numbers that
            no order of additions rounds.
        wider: `kappa` also allows intermediates rounded to the output's dtype.
        names: The torch functions that the golden called.
        single: The golden evaluated in float32, as float64, if it has nan or infinities that `want` has not.
        guessed: Nothing declares `dtype`: it is that of the float inputs, promoted.
        unrounded: What `want` was rounded from, where the function is a cast or a copy.
    """

    want: torch.Tensor
    dtype: torch.dtype | None
    kappa: torch.Tensor | None
    exact: bool = False
    single: torch.Tensor | None = None
    names: tuple[str, ...] = ()
    wider: bool = False
    guessed: bool = False
    unrounded: torch.Tensor | None = None

    @property
    def moves(self) -> bool:
        """Whether the golden only moves or casts values."""
        return all(name in MOVES for name in self.names)

    @property
    def signed_zero(self) -> bool:
        """Whether the golden only moves values or sets their signs, so that the sign of zero counts."""
        return all(name in SIGNED_ZERO for name in self.names)

    @functools.cached_property
    def undefined(self) -> torch.Tensor | None:
        """True where an integer output has no right value, because the golden is nan or infinite there; None if nowhere."""
        if self.kappa is not None or not self.want.is_floating_point():
            return None
        found = ~finite(self.want)
        return found if bool(found.any()) else None

    @functools.cached_property
    def ulps(self) -> torch.Tensor:
        """One ulp of the output dtype at each golden value, float64."""
        assert self.dtype is not None
        return ulp(self.want, real(self.dtype))

    @functools.cached_property
    def rounded(self) -> torch.Tensor:
        """`want` rounded once to the output dtype, float64."""
        assert self.dtype is not None
        return round_to(self.want, real(self.dtype))

    @functools.cached_property
    def classes(self) -> torch.Tensor:
        """The class of each rounded golden value, as `ulp.classes`."""
        return classes(self.rounded)

    @functools.cached_property
    def allowed(self) -> torch.Tensor:
        """The largest error that passes, |got - want| <= 2 ulp + kappa; 0 where bits are compared."""
        if self.exact or self.kappa is None:
            return torch.zeros(self.want.shape, dtype=torch.float64)
        assert self.dtype is not None
        if real(self.dtype) in EIGHT_BIT:  # one code beside the right one; a cast rounds to nearest
            return (0.5 if self.moves else 1.5) * self.ulps + self.kappa
        return 2 * self.ulps + self.kappa

    @functools.cached_property
    def at_edge(self) -> torch.Tensor | None:
        """True where the allowed error reaches the end of the dtype's range, so that overflow and the largest number are both right; None if nowhere."""
        assert self.dtype is not None
        size, edge = self.want.abs(), torch.finfo(real(self.dtype)).max
        slack = self.ulps if self.exact else self.allowed
        found = finite(self.want) & (size + slack >= edge) & (size - slack <= edge)
        return found if bool(found.any()) else None
