"""The case matrix: cases made from an operator's declaration, besides those that op.toml declares, in tiers.

A made case starts from a declared one, so that its ranks, attributes and kinds of values suit the operator, and changes one thing:
the size of an axis (tails, powers of two and their neighbours, 0, 1), the number of rows (cores), the layout, or the values.
Cases that the declaration does not allow are left out. The same declaration gives the same cases everywhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ascendops.errors import SpecError, UnknownTier, did_you_mean
from ascendops.spec.shapes import bind, output_shape
from ascendops.testing.cases import TestCase, test_cases

if TYPE_CHECKING:
    from ascendops.spec.model import Case, OpSpec

TIERS = {"smoke": 12, "declared": 0, "default": 120, "full": 1500, "certify": 30000}
TAILS = (33, 1, 17, 0, 7, 129, 15, 31, 1023, 16, 32, 257, 63, 64, 65, 127, 128, 255, 256, 1024, 1025, 2047, 2048, 2049)
ROWS = (40, 39, 41, 81, 1, 20, 24, 48, 49)  # cores of the SoCs, one less, one more, twice and one
LAYOUTS = ("sliced", "transposed", "offset", "expanded")
ADVERSARIAL = ("exact", "tail", "negative", "special", "coded", "first", "ramp", "cancel", "outlier", "small", "onehot", "equal", "wide", "positive")
HUGE = (1 << 20) + 1  # tier full and above
LARGEST = 1 << 18  # elements of a made case; declared cases may be larger
_SHAPES = ((), (1,), (1, 1, 1, 1, 1, 1, 1, 1), (2, 3, 1, 5), (3, 2, 2, 2, 17), (1 << 15,))


def cases(spec: OpSpec, tier: str = "default", seed: int = 0) -> list[TestCase]:
    """The cases of a tier, the declared ones first.

    Raises:
        UnknownTier: There is no such tier.
    """
    if tier not in TIERS:
        raise UnknownTier(f"there is no tier '{tier}'", help=did_you_mean(tier, TIERS))
    declared = list(test_cases(spec))
    if tier == "declared" or not declared:
        return declared
    if tier == "smoke":
        return _smoke(declared, TIERS[tier])
    seen = {case.digest(seed) for case in declared}
    found = list(declared)
    for case in _made(spec, declared, TIERS[tier]):
        key = case.digest(seed)
        if key in seen:
            continue
        seen.add(key)
        found.append(case)
        if len(found) >= TIERS[tier]:
            break
    return found


def values(spec: OpSpec, tier: str = "default", seed: int = 0) -> list[dict[str, Any]]:
    """Inputs of a tier's cases: what `ascendops.parity.verify` takes as `cases`."""
    return [case.values(seed) for case in cases(spec, tier, seed)]


def _smoke(declared: Sequence[TestCase], count: int) -> list[TestCase]:
    """A few small cases: each tiling key, each dtype, each layout and each kind of values once, as far as they go."""
    chosen: list[TestCase] = []
    covered: set[Any] = set()
    for case in sorted(declared, key=lambda case: case.elements):
        features = {("key", case.case.tiling_key), ("dtype", case.column), ("layout", case.case.layout), ("values", case.case.values)}
        if not features <= covered:
            covered |= features
            chosen.append(case)
    return chosen[:count]


def _made(spec: OpSpec, declared: Sequence[TestCase], wanted: int) -> Iterator[TestCase]:
    """Made cases, the most telling first; each kind in turn, dtype columns in turn."""
    columns = itertools.cycle(range(spec.columns))
    kinds = [_tails(spec, declared), _values(spec, declared), _layouts(spec, declared), _rows(spec, declared), _shapes(spec, declared)]
    if wanted >= TIERS["full"]:
        kinds.append(_huge(spec, declared))
    for case in itertools.chain(_empty(spec, declared), _interleave(kinds)):
        yield TestCase(spec, case, next(columns))
    for case in _pairs(spec, declared, wanted):
        yield TestCase(spec, case, next(columns))


def _interleave(kinds: Sequence[Iterator[Case]]) -> Iterator[Case]:
    for group in itertools.zip_longest(*kinds):
        yield from (case for case in group if case is not None)


def _bases(declared: Sequence[TestCase]) -> list[Case]:
    """Declared cases to start from: for each set of attributes and each number of dims, one that is not empty and not large."""
    found: dict[Any, Case] = {}
    for one in sorted(declared, key=lambda one: abs(math.log2(one.elements + 1) - 10)):
        if one.elements and one.case.layout == "contiguous":
            ranks = tuple((name, len(shape or ())) for name, shape in one.case.shapes.items())
            found.setdefault((ranks, tuple(sorted((k, str(v)) for k, v in one.case.attrs.items()))), one.case)
    return list(found.values())


def recipes(declared: Sequence[TestCase]) -> tuple[str, ...]:
    """The kinds of values that suit the operator: all, if it declares a case with random ones, else the declared ones."""
    used = tuple(dict.fromkeys(one.case.values for one in declared))
    return ADVERSARIAL if "random" in used else used


def _usual(declared: Sequence[TestCase]) -> str:
    used = [one.case.values for one in declared]
    return max(dict.fromkeys(used), key=used.count)


def _empty(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    """Axes without elements where a result has some all the same; each axis once for each number of dims."""
    seen: set[Any] = set()
    for base in _bases(declared):
        ranks = tuple(len(shape or ()) for shape in base.shapes.values())
        for axis in _axes(spec, base):
            for case in _with(spec, base, f"{_word(axis)}_0", {axis: 0}, values=_usual(declared)):
                if (axis, ranks) not in seen and any(_numel(shape) for shape in spec.output_shapes(case.shapes, case.attrs)):
                    seen.add((axis, ranks))
                    yield case


def _tails(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    """Every axis at sizes around powers of two and blocks; sizes jump up and down, so that stale state shows."""
    for size in TAILS:
        for base in _bases(declared)[:4]:
            for axis in _axes(spec, base):
                yield from _with(spec, base, f"{_word(axis)}_{size}", {axis: size}, values=_usual(declared))


def _rows(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    """As many rows as there are cores, and one less and one more."""
    for rows in ROWS:
        for base in _bases(declared)[:2]:
            axes = _axes(spec, base)
            if len(axes) > 1:
                yield from _with(spec, base, f"rows_{rows}", {axes[0]: rows, axes[-1]: 65}, values=_usual(declared))
            elif axes:
                yield from _with(spec, base, f"rows_{rows}", {axes[0]: rows * 64 + 1}, values=_usual(declared))


def _huge(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    """One axis of 2^20 + 1, the others 1: offsets and counts beyond 16 bits, and beyond what 20 bits hold."""
    for base in _bases(declared)[:2]:
        axes = _axes(spec, base)
        for axis in axes:
            sizes = dict.fromkeys(axes, 1) | {axis: HUGE}
            yield from _with(spec, base, f"huge_{_word(axis)}", sizes, values=_usual(declared), largest=4 * HUGE)


def _layouts(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    for layout in LAYOUTS:
        for base in _bases(declared)[:3]:
            axes = _axes(spec, base)
            if axes:
                yield from _with(spec, base, f"{layout}_33", {axes[-1]: 33}, layout=layout, values=_usual(declared))


def _values(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    for recipe in recipes(declared):
        for base in _bases(declared)[:2]:
            axes = _axes(spec, base)
            if axes:
                yield from _with(spec, base, f"{recipe}_100", {axes[-1]: 100}, values=recipe)


def _shapes(spec: OpSpec, declared: Sequence[TestCase]) -> Iterator[Case]:
    """Other ranks, where an axis stands for any number of dims."""
    for shape in _SHAPES:
        for base in _bases(declared)[:1]:
            many = [name for name, value in _bound(spec, base).items() if isinstance(value, tuple)]
            if many and not base.attrs:
                yield from _with(spec, base, f"rank_{len(shape)}_{math.prod(shape)}", dict.fromkeys(many, shape), values=_usual(declared))


def _pairs(spec: OpSpec, declared: Sequence[TestCase], wanted: int) -> Iterator[Case]:
    """Pairs of changes, in an order that spreads over all of them."""
    chosen = recipes(declared)
    everything = list(itertools.product(range(len(TAILS)), range(len(TAILS)), chosen, ("contiguous", *LAYOUTS)))
    step = next(n for n in (7919, 7907, 7901) if math.gcd(n, len(everything)) == 1)
    bases = _bases(declared)
    for i in range(min(len(everything), 4 * wanted)):
        first, second, recipe, layout = everything[i * step % len(everything)]
        base = bases[i % len(bases)] if bases else None
        axes = _axes(spec, base) if base is not None else []
        if base is None or not axes:
            continue
        sizes = {axes[0]: TAILS[first], axes[-1]: TAILS[second]}
        yield from _with(spec, base, f"pair_{TAILS[first]}_{TAILS[second]}_{recipe}_{layout}", sizes, layout=layout, values=recipe)


def resized(spec: OpSpec, base: Case, sizes: Callable[[int], Sequence[int]]) -> Iterator[Case]:
    """The case with one axis changed to each of the sizes that `sizes` gives for it, and with fewer dims; what the declaration allows."""
    axes = _bound(spec, base)
    for axis in _axes(spec, base):
        for size in sizes(_size(axes, axis)):
            yield from _with(spec, base, base.name, {axis: size}, layout=base.layout, values=base.values)
    for name, value in axes.items():
        if isinstance(value, tuple) and len(value) > 1:
            yield from _with(spec, base, base.name, {name: value[1:]}, layout=base.layout, values=base.values)


def _bound(spec: OpSpec, base: Case) -> dict[str, Any]:
    binding = bind(spec, base.shapes, base.attrs)
    return {name: binding.values[name] for name in binding.owner}


def _axes(spec: OpSpec, base: Case) -> list[Any]:
    """Axes that can be changed: names, and (name, place) for the dims of an axis that stands for several."""
    found: list[Any] = []
    for name, value in _bound(spec, base).items():
        found += [(name, place) for place in range(len(value))] if isinstance(value, tuple) else [name]
    return found


def _with(
    spec: OpSpec, base: Case, name: str, sizes: dict[Any, Any], layout: str = "contiguous", values: str = "random", largest: int | None = None
) -> Iterator[Case]:
    """The base with other sizes, if the declaration allows them; axes of the same size change together if they must (broadcasting)."""
    axes = _bound(spec, base)
    linked = {other: size for axis, size in sizes.items() for other in _axes(spec, base) if _size(axes, other) == _size(axes, axis)}
    for changes in (sizes, {**linked, **sizes}):
        try:
            shapes = _rebuild(spec, base, _changed(axes, changes))
            outputs = spec.output_shapes(shapes, base.attrs)
        except SpecError:
            continue
        if not _possible(spec, shapes, base):
            continue
        total = sum(_numel(shape) for shape in (*shapes.values(), *outputs))
        if total <= (largest or LARGEST) and (total or 0 in sizes.values()):
            yield replace(base, name=f"{name}_{_tag(shapes, base)}", shapes=shapes, dtypes=None, tiling_key=None, layout=layout, values=values)
        return


def _possible(spec: OpSpec, shapes: dict[str, Any], base: Case) -> bool:
    """Whether every input with a range has numbers to hold: no index points into a table without rows."""
    binding = bind(spec, shapes, base.attrs)
    ranges = [tensor.range for tensor in spec.inputs if tensor.range and _numel(shapes.get(tensor.name))]
    return all(binding.evaluate(low) < binding.evaluate(high) for low, high in ranges)


def _size(axes: dict[str, Any], axis: Any) -> Any:
    return axes[axis[0]][axis[1]] if isinstance(axis, tuple) else axes[axis]


def _changed(axes: dict[str, Any], sizes: dict[Any, Any]) -> dict[str, Any]:
    changed = dict(axes)
    for axis, size in sizes.items():
        if isinstance(axis, tuple):
            whole = list(changed[axis[0]])
            whole[axis[1]] = size
            changed[axis[0]] = tuple(whole)
        else:
            changed[axis] = size
    return changed


def _rebuild(spec: OpSpec, base: Case, axes: dict[str, Any]) -> dict[str, Any]:
    """Input shapes for other axes; inputs with a rule follow from the others, lists keep their length."""
    binding = bind(spec, base.shapes, base.attrs)
    binding.values.update(axes)
    shapes: dict[str, Any] = {}
    by_rule = [tensor for tensor in spec.inputs if tensor.shape.rule is not None]
    for tensor in [t for t in spec.inputs if t not in by_rule] + by_rule:
        old = base.shapes.get(tensor.name)
        if old is None:
            shapes[tensor.name] = None
        elif tensor.variadic:
            shapes[tensor.name] = old
        else:
            binding.shapes.update(shapes)
            shapes[tensor.name] = tuple(output_shape(tensor, binding))
    ordered = {tensor.name: shapes[tensor.name] for tensor in spec.inputs if shapes[tensor.name] is not None}
    bind(spec, ordered, base.attrs)
    return ordered


def _numel(shape: Any) -> int:
    if shape is None:
        return 0
    return sum(map(_numel, shape)) if shape and isinstance(shape[0], tuple) else math.prod(shape)


def _tag(shapes: dict[str, Any], base: Case) -> str:
    """A few letters of what the case was made from, so that names stay unique."""
    from ascendops.spec.digest import digest

    return digest({"base": base.name, "shapes": str(shapes)})[:4]


def _word(axis: Any) -> str:
    return f"{axis[0]}{axis[1]}" if isinstance(axis, tuple) else str(axis)
