"""The [torch] table: what PyTorch may do with the arguments of an operator, and which variants it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ascendops.errors import BadValue, did_you_mean
from ascendops.spec.table import Table

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

KEYS = ("contiguous", "autocast", "variants")
CONTIGUOUS = ("copy", "required")
CASTS = ("lower", "float32")
VARIANTS = ("out", "inplace")
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


@dataclass(frozen=True)
class TorchPolicy:
    """How PyTorch treats the operator.

    Attributes:
        contiguous: `copy`: an input that is not contiguous is copied, and counted; `required`: it is refused.
        autocast: Input -> `lower` (cast to autocast's dtype) or `float32`. Inputs without an entry are cast only where no dtype column
            fits what was given.
        variants: `out` (NAME.out writes into given tensors) and `inplace` (NAME_ writes the result into the first input).
    """

    contiguous: str = "copy"
    autocast: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[str, ...] = ()


def read(top: Table) -> TorchPolicy:
    """The [torch] table of one operator; the defaults without one.

    Raises:
        BadValue: A word is not one of the allowed ones.
    """
    table = top.table("torch", KEYS)
    casts = table.table("autocast")
    autocast = {name: casts.word(name, CASTS, "lower") for name in casts.data}
    variants: tuple[str, ...] = table.words("variants", '["out"]', ())
    for word in variants:
        if word not in VARIANTS:
            raise BadValue(f"'variants' has '{word}'", where=table.where("variants"), help=did_you_mean(word, VARIANTS))
    return TorchPolicy(table.word("contiguous", CONTIGUOUS, "copy"), autocast, variants)


def check(spec: OpSpec, top: Table) -> None:
    """Compare the [torch] table with the operator.

    Raises:
        BadValue: It names something that is not a floating-point input, or a variant that this schema cannot have.
    """
    inputs = {tensor.name: tensor for tensor in spec.inputs}
    for name in spec.torch.autocast:
        where = top.where("torch", "autocast", name)
        if name not in inputs:
            raise BadValue(f"'{name}' in autocast is not an input of {spec.name}", where=where, help=did_you_mean(name, inputs))
        if not _FLOATS.intersection(inputs[name].dtypes):
            raise BadValue(f"'{name}' in autocast has no floating-point dtype", where=where)
    where = top.where("torch", "variants")
    if spec.torch.variants and any(tensor.mutated for tensor in spec.inputs):
        raise BadValue(f"{spec.name} already writes to an input, so it has no variants", where=where)
    if "inplace" in spec.torch.variants:
        first = spec.inputs[0] if spec.inputs else None
        if first is None or first.optional or first.variadic or len(spec.outputs) != 1 or spec.outputs[0].dtypes != first.dtypes:
            raise BadValue(
                f"{spec.name} has no in-place variant", where=where,
                why="that needs a first input and a single output of the same dtypes", help='remove "inplace"',
            )  # fmt: skip
