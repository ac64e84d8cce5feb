"""The declared cases of an operator, one per dtype column, with their input values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendops.spec.attrs import complete
from ascendops.spec.shapes import bind
from ascendops.testing import saved

if TYPE_CHECKING:
    import torch

    from ascendops.spec.model import Case, OpSpec, TensorSpec


@dataclass(frozen=True)
class TestCase:
    """One case for one dtype column; `id` is its place in the operator's list, e.g. `float16-tail-3x1023-full_load`."""

    __test__ = False

    spec: OpSpec
    case: Case
    column: int

    @property
    def id(self) -> str:
        """dtypes, case name, shapes and the tiling key it must reach."""
        parts = [self.dtype, self.case.name, self.shapes]
        return "-".join(filter(None, [*parts, self.case.tiling_key]))

    @property
    def dtype(self) -> str:
        """The first input's dtype, or all different dtypes of the column if another column starts with the same."""
        first = [tensor.dtypes for tensor in (*self.spec.inputs, *self.spec.outputs)]
        if first[0].count(first[0][self.column]) == 1:
            return first[0][self.column]
        return "+".join(dict.fromkeys(dtypes[self.column] for dtypes in first))

    @property
    def shapes(self) -> str:
        """Input shapes such as `3x1023` or `3x4,1x4`; equal shapes once, `scalar` for a rank of 0."""
        return ",".join(dict.fromkeys(_shape_text(shape) for shape in self.case.shapes.values()))

    def values(self, seed: int) -> dict[str, Any]:
        """Inputs (tensors, None or lists) in schema order, then every attribute.

        The same seed gives the same bits on every machine.
        """
        made: dict[str, Any] = {tensor.name: self._input(tensor, seed) for tensor in self.spec.inputs}
        if any(tensor.made_by is not None and made[tensor.name] is not None for tensor in self.spec.inputs):
            made |= saved.values(self, {**made, **self.attrs})
        return {**made, **self.attrs}

    @property
    def attrs(self) -> dict[str, Any]:
        """Every attribute: the case's values, else the defaults."""
        return dict(complete(self.spec.attrs, self.case.attrs))

    @property
    def elements(self) -> int:
        """Number of input elements."""
        return sum(_numel(shape) for shape in self.case.shapes.values())

    def recipe(self, seed: int) -> dict[str, Any]:
        """How the inputs are made, as plain data; `digest` is its hash."""
        return {
            "op": self.spec.name,
            "dtypes": {tensor.name: tensor.dtypes[self.column] for tensor in (*self.spec.inputs, *self.spec.outputs)},
            "shapes": {name: _plain(shape) for name, shape in self.case.shapes.items()},
            "attrs": {name: _plain(value) for name, value in self.attrs.items()},
            "layout": self.case.layout,
            "values": self.case.values,
            "case": self.case.name,
            "seed": seed,
        }

    def digest(self, seed: int) -> str:
        """The case's name on every machine: 12 hex digits of the hash of its recipe and the generator's version."""
        from ascendops.parity.bundle import canonical_hash
        from ascendops.parity.inputs import GENERATOR

        return canonical_hash({"generator": GENERATOR, **self.recipe(seed)})[:12]

    def output_dtypes(self) -> list[torch.dtype | None]:
        """Declared dtype of each output in this column."""
        import torch

        return [getattr(torch, tensor.dtypes[self.column]) for tensor in self.spec.outputs]

    def output_names(self) -> list[str]:
        """Declared name of each output."""
        return [tensor.name for tensor in self.spec.outputs]

    def _input(self, tensor: TensorSpec, seed: int) -> Any:
        shape: Any = self.case.shapes.get(tensor.name)
        if shape is None:
            return None
        if tensor.variadic:
            shapes = shape if not shape or isinstance(shape[0], tuple) else (shape,)
            return [self._tensor(tensor, one, seed, i) for i, one in enumerate(shapes)]
        return self._tensor(tensor, shape, seed, 0)

    def _tensor(self, tensor: TensorSpec, shape: tuple[int, ...], seed: int, number: int) -> torch.Tensor:
        import torch

        from ascendops.parity import inputs, layouts

        dtype = tensor.dtypes[self.column]
        stream = inputs.key(seed, self.case.name, dtype, tensor.name, number)
        if tensor.range is None:
            made = inputs.values(shape, getattr(torch, dtype), self.case.values, stream)
        else:
            binding = bind(self.spec, self.case.shapes, self.case.attrs)
            low, high = (int(binding.evaluate(end)) for end in tensor.range)
            made = inputs.integers(shape, getattr(torch, dtype), low, high, stream, tensor.sorted)
        return layouts.apply(made, self.case.layout)


def test_cases(spec: OpSpec) -> Iterator[TestCase]:
    """Every declared case for every dtype column it is meant for."""
    first = (*spec.inputs, *spec.outputs)[0].dtypes
    for case in spec.cases:
        for column in range(spec.columns):
            if case.dtypes is None or first[column] in case.dtypes:
                yield TestCase(spec, case, column)


def from_recipe(spec: OpSpec, recipe: Mapping[str, Any], column: int) -> TestCase:
    """The case that `TestCase.recipe` described."""
    from ascendops.spec.model import Case

    shapes = {name: _frozen(shape) for name, shape in recipe["shapes"].items()}
    attrs = {name: _frozen(value) for name, value in recipe["attrs"].items()}
    return TestCase(spec, Case(recipe["case"], shapes, attrs, layout=recipe["layout"], values=recipe["values"]), column)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


test_cases.__test__ = False  # type: ignore[attr-defined]


def _numel(shape: Any) -> int:
    if shape and isinstance(shape[0], tuple):
        return sum(map(_numel, shape))
    return math.prod(shape or ())


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def _shape_text(shape: Any) -> str:
    if shape and isinstance(shape[0], tuple):
        return "+".join(_shape_text(one) for one in shape)
    return "x".join(map(str, shape)) or "scalar"
