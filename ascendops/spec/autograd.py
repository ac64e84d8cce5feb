"""The [autograd] table: how gradients of an operator are computed, by another operator of the project or by formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendops.errors import AutogradError, did_you_mean
from ascendops.spec import formula
from ascendops.spec.table import Table

if TYPE_CHECKING:
    from ascendops.spec.formula import Formula
    from ascendops.spec.model import OpSpec

KEYS = ("backward", "grads", "formula")
PREFIX = "grad_"


@dataclass(frozen=True)
class Autograd:
    """Exactly one of the two ways.

    Attributes:
        backward: Name of the operator that computes the gradients, or None.
        grads: Forward input -> the output of that operator that is its gradient.
        formula: Forward input -> its gradient as a torch expression.
        where: `op.toml:line`.
    """

    backward: str | None
    grads: Mapping[str, str]
    formula: Mapping[str, Formula]
    where: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """The forward inputs that have a gradient."""
        return tuple(self.grads) if self.backward else tuple(self.formula)


def read(top: Table) -> Autograd | None:
    """The [autograd] table of one operator; None without one. `check` compares it with the operators.

    Raises:
        AutogradError: It has neither or both of `backward` and `formula`, or a formula does not parse.
    """
    if "autograd" not in top:
        return None
    table = top.table("autograd", KEYS)
    backward = table.text("backward", '"softmax_backward"', None)
    if (backward is None) == ("formula" not in table):
        raise AutogradError(
            "[autograd] needs exactly one of backward and formula", where=table.where(),
            help='write backward = "NAME" with grads = { x = "grad_x" }, or formula = { x = "grad_y * 2" }',
        )  # fmt: skip
    if backward is None and "grads" in table:
        raise AutogradError("grads belongs to backward, not to formula", where=table.where("grads"), help="remove grads, or name a backward operator")
    grads = _strings(table, "grads")
    if backward is not None and not grads:
        raise AutogradError("[autograd] has no grads", where=table.where("backward"), help='add for example grads = { x = "grad_x" }')
    formulas = {name: formula.parse(text, where=table.where("formula", name)) for name, text in _strings(table, "formula").items()}
    return Autograd(backward, grads, formulas, table.where())


def _strings(table: Table, key: str) -> dict[str, str]:
    inner = table.table(key)
    return {name: str(inner.text(name, '"grad_x"')) for name in inner.data}


def check(spec: OpSpec) -> None:
    """Compare the [autograd] table of every operator of a project with the operators.

    Raises:
        AutogradError: It names a tensor or operator that is not there, or an argument of the backward operator has no source.
    """
    for op in spec.operators:
        if op.autograd is not None:
            _check_one(op, op.autograd, {each.name: each for each in spec.operators})


def _check_one(op: OpSpec, autograd: Autograd, operators: Mapping[str, OpSpec]) -> None:
    inputs = {tensor.name: tensor for tensor in op.inputs}
    for tensor in op.inputs:
        if tensor.mutated:
            raise AutogradError(
                f"{op.name} writes to '{tensor.name}', so it cannot have gradients", where=autograd.where,
                help="declare an operator that returns a new tensor; [torch] variants can add the in-place form",
            )  # fmt: skip
    for name in autograd.inputs:
        if name not in inputs:
            raise AutogradError(f"'{name}' is not an input of {op.name}", where=autograd.where, help=did_you_mean(name, inputs))
        if inputs[name].variadic:
            raise AutogradError(f"'{name}' is a list of tensors, for which gradients cannot be declared", where=autograd.where)
    if autograd.backward is None:
        for found in autograd.formula.values():
            known = [*_available(op), *(attr.name for attr in op.attrs)]
            for used in sorted(found.names.difference(known)):
                raise AutogradError(
                    f"'{used}' in '{found.text}' is not known", where=found.where, why=f"known: {', '.join(known)}", help=did_you_mean(used, known)
                )
        return
    if autograd.backward not in operators or autograd.backward == op.name:
        others = [name for name in operators if name != op.name]
        hint = did_you_mean(autograd.backward, others) if others else f"declare it: [operators.{autograd.backward}]"
        raise AutogradError(f"there is no other operator '{autograd.backward}' in this project", where=autograd.where, help=hint)
    backward = operators[autograd.backward]
    produced = [tensor.name for tensor in backward.outputs]
    for name, grad in autograd.grads.items():
        if grad not in produced:
            raise AutogradError(f"'{grad}' (for {name}) is not an output of {backward.name}", where=autograd.where, help=did_you_mean(grad, produced))
    backward_sources(op, backward)


def _available(op: OpSpec) -> list[str]:
    """Tensors that a gradient may read, in the order in which their names are looked up."""
    return [*(PREFIX + tensor.name for tensor in op.outputs), *(tensor.name for tensor in op.inputs), *(tensor.name for tensor in op.outputs)]


def backward_sources(op: OpSpec, backward: OpSpec) -> dict[str, str | None]:
    """Where each argument of the backward operator comes from: `grad_<output>`, an input, an output or an attribute of `op`.

    None stands for an absent optional tensor, or an attribute that keeps its default.

    Raises:
        AutogradError: An argument has no source, or an attribute another type than its source.
    """
    where = op.autograd.where if op.autograd is not None else None
    tensors, attrs = _available(op), {attr.name: attr for attr in op.attrs}
    found: dict[str, str | None] = {}
    for tensor in backward.inputs:
        if tensor.name not in tensors and not tensor.optional:
            raise AutogradError(
                f"'{tensor.name}' of {backward.name} has no source", where=where,
                why=f"tensors are found by name among: {', '.join(tensors)}", help=did_you_mean(tensor.name, tensors),
            )  # fmt: skip
        found[tensor.name] = tensor.name if tensor.name in tensors else None
    for attr in backward.attrs:
        source = attrs.get(attr.name)
        if source is None and attr.required:
            raise AutogradError(
                f"attribute '{attr.name}' of {backward.name} has no source", where=where, why=f"{op.name} has no attribute of that name",
                help="give it a default, or add it to the forward schema",
            )  # fmt: skip
        if source is not None and source.type != attr.type:
            raise AutogradError(f"attribute '{attr.name}' is {source.type} in {op.name} but {attr.type} in {backward.name}", where=where)
        found[attr.name] = None if source is None else attr.name
    return found
