"""Random outputs: is a sample one of the declared distribution, and are its numbers independent of each other?

Four tests per output, each a p-value: the distribution (Kolmogorov-Smirnov; chi-square for discrete ones), the same over the sub-samples of single
calls (a bad seed among good ones), autocorrelation at every distance (a stream that is used twice, on two cores or in two calls), and support (a value
outside of it is rejected with certainty). The p-value that a run may reject right numbers with is divided by the number of tests (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ascendops.parity import inputs as generator
from ascendops.parity.ulp import known, ulp
from ascendops.parity.verdict import GateResult

SEEDS = 8  # calls with different seeds per case
FEW = 256  # numbers below which nothing is tested
_MOST = 1 << 20
TESTS = 3  # that have a p-value


@dataclass(frozen=True)
class Distribution:
    """A named distribution with its arguments; `name` is a key of `spec.random.DISTRIBUTIONS`."""

    name: str
    arguments: tuple[float, ...]

    @property
    def discrete(self) -> bool:
        """Whether its values are whole numbers."""
        return self.name in ("bernoulli", "integers")

    def outside(self, x: torch.Tensor) -> torch.Tensor:
        """Which values cannot occur; ends of an interval may, since results are rounded."""
        if self.discrete:
            low, high = (0.0, 2.0) if self.name == "bernoulli" else self.arguments
            return ~((x >= low) & (x < high) & (x == x.round()))
        low, high = {"uniform": self.arguments, "exponential": (0.0, math.inf)}.get(self.name, (-math.inf, math.inf))
        return ~((x >= low) & (x <= high) & torch.isfinite(x))

    def cdf(self, x: torch.Tensor) -> torch.Tensor:
        """Probability of a value of at most x, of a continuous distribution."""
        if self.name == "uniform":
            low, high = self.arguments
            return ((x - low) / (high - low)).clamp(0, 1)
        if self.name == "exponential":
            return -torch.expm1(-self.arguments[0] * x.clamp(min=0))
        mean, deviation = self.arguments
        return 0.5 * torch.erfc((mean - x) / (deviation * math.sqrt(2)))

    def cells(self) -> tuple[int, list[float]]:
        """(first value, probability of each value) of a discrete distribution."""
        if self.name == "bernoulli":
            return 0, [1 - self.arguments[0], self.arguments[0]]
        low, high = int(self.arguments[0]), int(self.arguments[1])
        return low, [1 / (high - low)] * (high - low)


def judge(samples: Sequence[torch.Tensor], distribution: Distribution, p_value: float, tests: int) -> GateResult:
    """Gate G2 for one random output.

    Args:
        samples: The output of each call, different numbers each.
        p_value: Probability with which a whole run may reject right numbers.
        tests: How many cases share that probability.
    """
    title, limit = "distribution", p_value / max(1, tests * TESTS)
    dtype = samples[0].dtype
    wide = [sample.detach().double().flatten() for sample in samples]
    outside = sum(int(distribution.outside(each).sum()) for each in wide)
    form = f"{distribution.name}({', '.join(f'{a:g}' for a in distribution.arguments)})"
    if outside:
        return GateResult("G2", title, "fail", f"{outside} values are outside of {form}", ("DISTRIBUTION",))
    total = sum(each.numel() for each in wide)
    if total < FEW:
        return GateResult("G2", title, "skipped", f"{total} numbers are too few to test {form}: {FEW} are needed")
    smooth = [_spread(each, dtype, i) if not distribution.discrete else each for i, each in enumerate(wide)]
    whole = torch.cat(smooth)[:_MOST]
    found = {
        "distribution": _fit(whole, distribution),
        "single calls": min(1.0, len(smooth) * min((_fit(each, distribution) for each in smooth if each.numel() >= FEW), default=1.0)),
        "independence": _independence(whole if distribution.discrete else distribution.cdf(whole)),
    }
    text = ", ".join(f"{name} p = {p:.2g}" for name, p in found.items())
    bad = [name for name, p in found.items() if p < limit]
    detail = f"{form}, {len(samples)} calls, {total} numbers: {text}; below {limit:.2g} is rejected ({p_value:g} for the whole run)"
    return GateResult("G2", title, "fail" if bad else "pass", detail, ("DISTRIBUTION",) if bad else (), found)


def _spread(x: torch.Tensor, dtype: torch.dtype, number: int) -> torch.Tensor:
    """Undoes the rounding to `dtype`: each value anywhere in its rounding interval, since the tests are for continuous numbers."""
    if dtype == torch.float64 or not known(dtype):
        return x
    noise = torch.from_numpy(generator.uniform(generator.key(0, "spread", number), x.numel(), -0.5, 0.5))
    return x + noise * ulp(x, dtype)


def _fit(x: torch.Tensor, distribution: Distribution) -> float:
    if distribution.discrete:
        first, shares = distribution.cells()
        counts = torch.bincount((x - first).long(), minlength=len(shares)).double()
        expected = torch.tensor(shares, dtype=torch.float64) * x.numel()
        used = expected > 0
        if bool((counts[~used] > 0).any()):
            return 0.0
        square = float(((counts - expected)[used].square() / expected[used]).sum())
        freedom = max(1, int(used.sum()) - 1)
        return float(torch.special.gammaincc(torch.tensor(freedom / 2, dtype=torch.float64), torch.tensor(square / 2, dtype=torch.float64)))
    n = x.numel()
    at = distribution.cdf(x.sort().values)
    steps = torch.arange(n, dtype=torch.float64)
    distance = float(torch.maximum((steps + 1) / n - at, at - steps / n).max())
    scaled = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * distance
    series: float = sum((1 if k % 2 else -1) * math.exp(-2 * k * k * scaled * scaled) for k in range(1, 101))
    return min(1.0, max(0.0, 2 * series)) if scaled > 0.2 else 1.0


def _independence(x: torch.Tensor) -> float:
    """p-value of the largest autocorrelation at any distance that leaves a tenth of the numbers."""
    n = x.numel()
    if bool((x == x[0]).all()):
        return 1.0
    centred = (x - x.mean()) / x.std(correction=0)
    power = torch.fft.rfft(centred, 2 * n).abs().square()
    lags = torch.fft.irfft(power, 2 * n)[1 : n - max(FEW // 4, n // 10)]
    pairs = torch.arange(n - 1, n - 1 - lags.numel(), -1, dtype=torch.float64)
    largest = float((lags / pairs.sqrt()).abs().max())
    single: float = math.erfc(largest / math.sqrt(2))
    return min(1.0, single * len(lags))
