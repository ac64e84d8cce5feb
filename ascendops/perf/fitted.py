"""The correction of the mechanistic model: what measured calls of the same operator, category or size took instead.

log(t / t_mechanistic) is a Gaussian process: one smooth function of the features for all calls, one for each category, one for each operator
and one for each operator on its chip and dtypes, added up. An operator without measurements gets the first two, a category without
measurements the first; far from every measurement the correction fades to the mean of what applies. tools/fit_estimate.py fits it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendops import resources
from ascendops.perf.ops import Traits
from ascendops.perf.pipes import Globals, Work, product
from ascendops.perf.table import Config

FEATURES = ("log_us", "log_moved", "log_blocks", "log_rows", "log_row", "misaligned", "log_k", "mte2_share", "broadcast")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hyper:
    """Variances and lengths of the kernel, in units of log time and of the features.

    Attributes:
        mean: Variance of the constants: category, operator, operator with chip and dtypes.
        smooth: Variance of the functions: all calls, category, operator, operator with chip and dtypes.
        length: One length per feature; larger means that the feature matters less.
        noise: Variance of one measurement.
    """

    mean: tuple[float, ...] = (0.01, 0.05, 0.01)
    smooth: tuple[float, ...] = (0.05, 0.1, 0.05, 0.02)
    length: tuple[float, ...] = (3.0, 1.7, 1.2, 2.2, 2.5, 2.0, 3.0, 2.0, 0.8)
    noise: float = 0.003


@dataclass(frozen=True)
class Labels:
    """What two calls can have in common: the category, the operator, and the operator with chip and dtypes."""

    category: str
    op: str
    variant: str


@dataclass(frozen=True)
class Parameters:
    """Globals for all calls, and those of the categories that were measured."""

    general: Globals
    category: dict[str, Globals]

    def of(self, labels: Labels) -> Globals:
        """Those of the category, else those for all calls."""
        return self.category.get(labels.category, self.general)


@dataclass
class Correction:
    """A fitted correction: the measured calls' labels and features, and their weights."""

    hyper: Hyper
    labels: list[Labels]
    features: Array
    weights: Array
    _ops: frozenset[str] = field(init=False)
    _categories: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._ops = frozenset(label.op for label in self.labels)
        self._categories = frozenset(label.category for label in self.labels)

    def log_factor(self, labels: Labels, features: Array) -> float:
        """The logarithm of measured over mechanistic time that is to be expected."""
        return float((kernel(self.hyper, [labels], features[None, :], self.labels, self.features) @ self.weights)[0])

    def basis(self, labels: Labels) -> str:
        """What the correction of a call rests on: `operator`, `category` or `general`."""
        return "operator" if labels.op in self._ops else "category" if labels.category in self._categories else "general"


def kernel(hyper: Hyper, left: list[Labels], x: Array, right: list[Labels], y: Array) -> Array:
    """Covariance of two lists of calls, shape (left, right)."""
    scaled = (x[:, None, :] - y[None, :, :]) / np.asarray(hyper.length)
    near = np.exp(-0.5 * np.minimum((scaled**2).sum(axis=2), 1e3))
    total: Array = hyper.smooth[0] * near
    for index, name in enumerate(("category", "op", "variant")):
        same = np.equal.outer([getattr(label, name) for label in left], [getattr(label, name) for label in right])
        total = total + same * (hyper.mean[index] + hyper.smooth[index + 1] * near)
    return total


def labels(config: Config, traits: Traits) -> Labels:
    """The labels of a call; names of one operator that differ in case or underscores are one."""
    op = _ALIAS.get(config.op.lower(), config.op.lower())
    dtypes = ",".join(tensor.dtype for tensor in (*config.inputs[:4], *config.outputs[:1]))
    return Labels(traits.category, op, f"{op}|{config.chip.lower().removeprefix('ascend')}|{dtypes}")


_ALIAS = {"dtypecast": "cast", "softmax": "softmaxv2", "matmul": "matmulv2", "batchmatmul": "batchmatmulv2", "layernorm": "layernormv3", "index_select": "index"}


def features(config: Config, traits: Traits, work: Work) -> Array:
    """The features of a call, in the order of FEATURES."""
    out = max(config.outputs or config.inputs, key=lambda tensor: tensor.bytes)
    first = config.inputs[0] if config.inputs else out
    k = product(config)[2] if traits.cube else 1.0
    busy = sum(value for name, value in work.us.items() if name != "launch")
    line = first.shape[-1] * first.itemsize if first.shape else 1.0
    misaligned = 0.0 if line % 512 == 0 else 0.5 if line % 32 == 0 else 1.0
    return np.array([
        math.log(work.total), math.log1p(work.moved / 1024), math.log1p(work.blocks), math.log1p(work.rows), math.log1p(work.row),
        misaligned, math.log1p(k), work.us["mte2"] / busy if busy else 0.0, _broadcast(config),
    ])  # fmt: skip


def _broadcast(config: Config) -> float:
    """How the second operand meets the first: 0 in equal shapes or alone, 1 as a row for all rows, 2 as one value per row."""
    if len(config.inputs) < 2 or config.inputs[0].elements == config.inputs[1].elements:
        return 0.0
    widths = [tensor.shape[-1] if tensor.shape else 1 for tensor in config.inputs[:2]]
    return 1.0 if widths[0] == widths[1] else 2.0


@lru_cache(maxsize=1)
def shipped() -> tuple[Parameters, Correction]:
    """The parameters that come with the package (data/perf/coefficients.json)."""
    return load(json.loads(resources.data("perf/coefficients.json").read_text(encoding="utf-8")))


def load(data: dict[str, Any]) -> tuple[Parameters, Correction]:
    """Parameters from the JSON that tools/fit_estimate.py writes."""
    found = data["hyper"]
    hyper = Hyper(tuple(found["mean"]), tuple(found["smooth"]), tuple(found["length"]), found["noise"])
    support = data["support"]
    parameters = Parameters(
        Globals(**data["general"]),
        {name: Globals(**values) for name, values in data["category"].items()},
    )
    return parameters, Correction(
        hyper, [Labels(*row["labels"]) for row in support],
        np.array([row["features"] for row in support]), np.array([row["weight"] for row in support]),
    )  # fmt: skip


def dump(names: list[Labels], x: Array, weights: Array) -> list[dict[str, Any]]:
    """The support of a correction as JSON."""
    return [
        {"labels": [label.category, label.op, label.variant], "features": [round(float(v), 4) for v in row], "weight": round(float(w), 5)}
        for label, row, w in zip(names, x, weights, strict=True)
    ]
