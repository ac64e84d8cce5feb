"""The [random] table: outputs that are random numbers, and the distribution of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendops.errors import BadValue, did_you_mean
from ascendops.spec.table import Table

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

DISTRIBUTIONS = {"uniform": "uniform(low, high)", "normal": "normal(mean, deviation)", "exponential": "exponential(rate)", "bernoulli": "bernoulli(p)", "integers": "integers(low, high)"}
P_VALUE = 1e-3
_CALL = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_ARGUMENT = re.compile(r"(1\s*-\s*)?([A-Za-z_]\w*)")


@dataclass(frozen=True)
class RandomPolicy:
    """What is random about an operator.

    Attributes:
        outputs: Output -> its distribution, such as `bernoulli(1 - p)`.
        seed: The attribute that seeds the generator; None if each call draws other numbers.
        p_value: Probability that a whole run rejects right numbers by chance.
    """

    outputs: Mapping[str, str] = field(default_factory=dict)
    seed: str | None = None
    p_value: float = P_VALUE


def read(top: Table) -> RandomPolicy:
    """The [random] table of one operator; nothing is random without one."""
    table = top.table("random", ("outputs", "seed", "p_value"))
    outputs = table.table("outputs")
    texts = {name: outputs.text(name, '"uniform(0, 1)"') for name in outputs.data}
    return RandomPolicy(texts, table.text("seed", '"seed"', None), float(table.get("p_value", (int, float), "0.001", P_VALUE)))


def check(spec: OpSpec, top: Table) -> None:
    """Compares the [random] table with the operator.

    Raises:
        BadValue: It names something that the operator has not, or no distribution.
    """
    table, policy = top.table("random"), spec.random
    attrs, outputs = {attr.name for attr in spec.attrs}, {tensor.name for tensor in spec.outputs}
    if policy.seed is not None and policy.seed not in attrs:
        raise BadValue(f"'{policy.seed}' is no attribute", where=table.where("seed"), help=did_you_mean(policy.seed, attrs))
    if not 1e-9 <= policy.p_value <= 0.1:
        raise BadValue(f"'p_value' cannot be {policy.p_value:g}", where=table.where("p_value"), help="write p_value = 0.001: the chance that right numbers are rejected")
    for name, text in policy.outputs.items():
        where = top.table("random").where("outputs", name)
        if name not in outputs:
            raise BadValue(f"'{name}' is no output", where=where, help=did_you_mean(name, outputs))
        unknown = [word for word in parse(text, where)[1] if isinstance(word, str) and _name(word) not in attrs]
        if unknown:
            raise BadValue(f"'{_name(unknown[0])}' is no attribute", where=where, help=did_you_mean(_name(unknown[0]), attrs))


def parse(text: str, where: str | None = None) -> tuple[str, tuple[float | str, ...]]:
    """Name and arguments of a distribution; an argument is a number, an attribute's name, or `1 - ` that.

    Raises:
        BadValue: There is no such distribution, or it takes other arguments.
    """
    match = _CALL.fullmatch(text)
    if match is None or match[1] not in DISTRIBUTIONS:
        raise BadValue(f"'{text}' is no distribution", where=where, help=f"use one of: {', '.join(DISTRIBUTIONS.values())}")
    form, words = DISTRIBUTIONS[match[1]], [word.strip() for word in match[2].split(",")]
    wrong = next((word for word in words if not _NUMBER.fullmatch(word) and not _ARGUMENT.fullmatch(word)), None)
    if wrong is not None or len(words) != form.count(",") + 1:
        raise BadValue(f"'{text}' is not {form}", where=where, help="an argument is a number, the name of an attribute, or 1 - that")
    return match[1], tuple(float(word) if _NUMBER.fullmatch(word) else word for word in words)


def arguments(text: str, values: Mapping[str, Any]) -> tuple[str, tuple[float, ...]]:
    """Name and arguments of a distribution for attributes with these values."""
    name, words = parse(text)
    found = []
    for word in words:
        if isinstance(word, str):
            value = float(values[_name(word)])
            found.append(1 - value if word.startswith("1") else value)
        else:
            found.append(word)
    return name, tuple(found)


def _name(word: str) -> str:
    match = _ARGUMENT.fullmatch(word)
    assert match is not None
    return match[2]
