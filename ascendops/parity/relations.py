"""Relations that hold between results of one operator, whatever its golden says: metamorphic properties and batch invariance.

Each is tried on inputs for which the change is exact in every float dtype, so that only the candidate's own rounding is between both results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from ascendops.parity.calling import Outputs, Values
from ascendops.parity.execute import Run
from ascendops.parity.golden import wide_of
from ascendops.parity.sensitivity import truths
from ascendops.parity.truth import Truth
from ascendops.parity.verdict import GateResult, called

KINDS = {
    "shift": "f(x + c) = f(x)",
    "scale": "f(2 x) = 2 f(x)",
    "odd": "f(-x) = -f(x)",
    "permute": "elements of rows in another order give the same results in that order, or the same result",
    "rows": "rows alone, and in another order, give what they give in the batch",
    "idempotent": "f(f(x)) = f(x)",
    "involution": "f(f(x)) = x",
    "additive": "f(x + z) = f(x) + f(z)",
}
_GRID = 8.0  # multiples of 1/8 between -4 and 4: with 2 added, six bits
_LIMIT = 4.0
_SHIFT = 2.0
Change = Callable[[torch.Tensor], torch.Tensor]
Pair = tuple[str, Values, "Callable[[Outputs], Outputs]"]  # what was done, the other inputs, what it does to the outputs


def check(
    kind: str, names: Sequence[str], golden: Callable[..., object], values: Values, run: Callable[[Values], Run], dtypes: list[torch.dtype | None] | None = None, seed: int = 0,
    outputs: Sequence[str] = (),
) -> GateResult:  # fmt: skip
    """Whether the relation holds for the candidate on inputs like `values`.

    Args:
        kind: One of KINDS.
        names: The inputs that change together.
        run: Calls the candidate.
        dtypes: Declared dtypes of the outputs.
        outputs: Their names.
    """
    title = f"relation {kind}"
    base = _on_grid(values, names) if kind in ("shift", "additive") else dict(values)
    first = run(base)
    if first.error:
        return GateResult("G6", title, "fail", first.error.splitlines()[0], ("RELATION",))
    allowed = truths(golden, base, dtypes, seed)
    if kind == "additive":
        return _additive(title, names, base, first, run, lambda given: truths(golden, given, dtypes, seed), outputs)
    for what, changed, change in _pairs(kind, names, base, first.outputs):
        other = run(changed)
        text = other.error.splitlines()[0] if other.error else _compare(change(first.outputs), other.outputs, change([_room(t) for t in allowed]), truths(golden, changed, dtypes, seed), outputs)
        if text:
            return GateResult("G6", title, "fail", f"{KINDS[kind]} does not hold: {what}: {text}", ("RELATION",))
    return GateResult("G6", title, "pass", KINDS[kind])


def _additive(title: str, names: Sequence[str], base: Values, first: Run, run: Callable[[Values], Run], truth: Callable[[Values], list[Truth | None]], outputs: Sequence[str]) -> GateResult:
    """f(x + z) against f(x) + f(z), where z is x in another order, so that x + z is exact."""
    def reordered(x: torch.Tensor) -> torch.Tensor:
        flat = x.contiguous().flatten()
        return flat[_order(flat.numel())].reshape(x.shape)

    other = {name: reordered(item) if name in names else item for name, item in base.items()}
    both = {name: item + other[name] if name in names else item for name, item in base.items()}
    second, third = run(other), run(both)
    failed = next((each for each in (second, third) if each.error), None)
    if failed is not None:
        text = failed.error.splitlines()[0]
    else:
        expected = [None if a is None or b is None else wide_of(a) + wide_of(b) for a, b in zip(first.outputs, second.outputs, strict=True)]
        rooms = [[_room(t) for t in truth(given)] for given in (base, other)]
        room = [None if a is None or b is None else a + b for a, b in zip(*rooms, strict=True)]
        found = [None if out is None else wide_of(out) for out in third.outputs]
        text = _compare(expected, found, room, truth(both), outputs)
    return GateResult("G6", title, "fail" if text else "pass", f"{KINDS['additive']} does not hold: {text}" if text else KINDS["additive"], ("RELATION",) if text else ())


def _on_grid(values: Values, names: Sequence[str]) -> dict[str, object]:
    def snap(tensor: torch.Tensor) -> torch.Tensor:
        wide = torch.nan_to_num(tensor.double(), 0.0, _LIMIT, -_LIMIT).clamp(-_LIMIT, _LIMIT)
        return (torch.round(wide * _GRID) / _GRID).to(tensor.dtype)

    return {name: snap(item) if name in names else item for name, item in values.items()}


def _pairs(kind: str, names: Sequence[str], base: Values, outputs: Outputs) -> list[Pair]:
    def changed(change: Change) -> dict[str, object]:
        return {name: change(item) if name in names else item for name, item in base.items()}

    if kind == "shift":
        return [(f"{_SHIFT:g} added", changed(lambda x: x + _SHIFT), lambda outs: outs)]
    if kind == "scale":
        return [("doubled", changed(lambda x: x * 2), lambda outs: [None if out is None else out * 2 for out in outs])]
    if kind == "odd":
        return [("negated", changed(lambda x: -x), lambda outs: [None if out is None else -out for out in outs])]
    if kind == "idempotent":
        again = {**base, names[0]: outputs[0]} if outputs and outputs[0] is not None else dict(base)
        return [("applied twice", again, lambda outs: outs[:1])]
    if kind == "involution":
        again = {**base, names[0]: outputs[0]} if outputs and outputs[0] is not None else dict(base)
        start = base[names[0]]
        return [("applied twice", again, lambda outs: [start.contiguous(), *outs[1:]])]
    size = next(base[name].shape for name in names)
    if kind == "permute":
        order = _order(size[-1])
        return [("elements in another order", changed(lambda x: x[..., order].contiguous()), lambda outs: [_along(out, size, -1, order) for out in outs])]
    rows = size[0] if len(size) > 1 else 0
    chosen = [torch.tensor([row]) for row in sorted({0, rows // 2, rows - 1}) if rows > 1] + ([_order(rows)] if rows > 1 else [])
    return [
        (f"row {int(index)} alone" if len(index) == 1 else "rows in another order", changed(lambda x, i=index: x[i].contiguous()), lambda outs, i=index: [None if out is None else out[i] for out in outs])  # type: ignore[misc]
        for index in chosen
    ]


def _order(size: int) -> torch.Tensor:
    step = next((n for n in (7, 5, 3, 2) if size % n), 1)
    return (torch.arange(size) * step + size // 2) % max(size, 1)


def _along(out: torch.Tensor | None, size: Sequence[int], dim: int, order: torch.Tensor) -> torch.Tensor | None:
    return out if out is None or tuple(out.shape) != tuple(size) else out.index_select(dim, order)


def _room(truth: Truth | None) -> torch.Tensor | None:
    return None if truth is None or truth.kappa is None or (truth.want.dim() and truth.dtype is not None and truth.dtype.is_complex) else truth.allowed


def _compare(expected: Outputs, found: Outputs, room: Outputs, others: Sequence[Truth | None], names: Sequence[str]) -> str:
    """What differs by more than both results may be wrong; empty if nothing."""
    for i, (a, b) in enumerate(zip(expected, found, strict=False)):
        if a is None or b is None:
            continue
        if a.shape != b.shape:
            return f"output {called(names, i)} has shape {list(b.shape)}, not {list(a.shape)}"
        here, there = room[i] if i < len(room) else None, _room(others[i])
        limit = 0.0 if here is None or there is None else here.abs() + there
        wide_a, wide_b = wide_of(a), wide_of(b)
        same = (wide_a == wide_b) | (torch.isnan(wide_a) & torch.isnan(wide_b)) | ((wide_a - wide_b).abs() <= limit)
        if not bool(same.all()):
            place = tuple(torch.nonzero(~same)[0].tolist())
            return f"{int((~same).sum())} of {same.numel()} elements of output {called(names, i)} differ, the first at {list(place)}: {wide_b[place].item():.9g} instead of {wide_a[place].item():.9g}"
    return ""
