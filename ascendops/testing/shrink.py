"""`ascendops test --shrink`: makes a failing case smaller while it fails in the same way, and writes it as a script of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError
from ascendops.testing.matrix import resized
from ascendops.testing.outcome import shorten

if TYPE_CHECKING:
    from ascendops.testing.cases import TestCase
    from ascendops.testing.options import Options

TRIES = 60
VALUE_TRIES = 80  # runs to spend on single elements
FEW = 64  # elements of a case whose values are made plain, and written out
FOLDER = Path(".ascendops") / "repro"
_SIMPLER = ("ramp", "exact", "random")  # kinds of values, the easiest to read first
Fails = Callable[[Sequence["TestCase"], bool], frozenset[str]]


@dataclass(frozen=True)
class Shrunk:
    """The smallest sequence of cases that still fails: one, or an earlier one and this, where only the order brings it out."""

    cases: tuple[TestCase, ...]
    labels: frozenset[str]
    tries: int


def shrink(case: TestCase, earlier: TestCase | None, fails: Fails, tries: int = TRIES, seed: int = 0) -> Shrunk | None:
    """The smallest form of a failing case.

    Args:
        earlier: The case that ran before it, for faults that need two calls.
        fails: Labels of the last of these cases when they run in this order, in a fresh process if asked; empty if it passes.
        tries: Runs to spend on shapes, dtypes, layouts and kinds of values; single elements have their own.
        seed: Seed of the input values.

    Returns:
        None if the failure does not come back.
    """
    counter = [0]

    def labels(cases: tuple[TestCase, ...], fresh: bool = True) -> frozenset[str]:
        counter[0] += 1
        return fails(cases, fresh)

    before: tuple[TestCase, ...] = ()
    found = labels((case,))
    if not found and earlier is not None:
        before = (earlier,)
        found = labels((earlier, case))
    if not found:
        return None
    best, improved = case, True
    while improved and counter[0] < tries:
        improved = False
        for smaller in _smaller(best):
            if counter[0] >= tries:
                break
            if _labels_of(labels, (*before, smaller), bool(before)) & found:
                best, improved = smaller, True
                break
    best = _plain_values(best, seed, lambda smaller: bool(_labels_of(labels, (*before, smaller), bool(before)) & found))
    return Shrunk((*before, best), found, counter[0])


def _plain_values(case: TestCase, seed: int, fails: Callable[[TestCase], bool]) -> TestCase:
    """The case with as many elements as possible set to 0, 1 or a whole number, if it has few and lies contiguously."""
    import torch

    from ascendops.testing.given import GivenCase, recorded

    values = case.values(seed)
    tensors = {tensor.name: values[tensor.name] for tensor in case.spec.inputs if isinstance(values[tensor.name], torch.Tensor)}
    ranged = {tensor.name for tensor in case.spec.inputs if tensor.range is not None}
    if any(tensor.made_by is not None for tensor in case.spec.inputs):
        return case  # they would no longer fit the others
    free = [name for name, tensor in tensors.items() if name not in ranged and tensor.dtype != torch.bool and not tensor.is_complex()]
    if case.case.layout != "contiguous" or case.elements > FEW or len(tensors) < len([v for v in values.values() if isinstance(v, (list, torch.Tensor))]):
        return case
    best, left = case, VALUE_TRIES

    def keep(name: str, changed: torch.Tensor) -> bool:
        nonlocal best, left
        if left <= 0 or torch.equal(changed.double(), tensors[name].double()):
            return False
        left -= 1
        made = GivenCase(case.spec, case.case, case.column, load=recorded({**tensors, name: changed}), content="shrunk")
        if not fails(made):
            return False
        best, tensors[name] = made, changed
        return True

    for name in free:
        if keep(name, torch.zeros_like(tensors[name])) or keep(name, torch.ones_like(tensors[name])):
            continue
        keep(name, tensors[name].double().round().to(tensors[name].dtype))
        for place in range(tensors[name].numel()):
            for simple in (0.0, 1.0):
                changed = tensors[name].clone().contiguous()
                changed.view(-1)[place] = simple
                if keep(name, changed):
                    break
    return best


def _labels_of(labels: Callable[[tuple[TestCase, ...], bool], frozenset[str]], cases: tuple[TestCase, ...], fresh: bool) -> frozenset[str]:
    """The labels of a smaller form; none if it is no call at all, such as a shape that the golden refuses."""
    try:
        return labels(cases, fresh)
    except AscendOpsError:
        return frozenset()


def _smaller(case: TestCase) -> Iterator[TestCase]:
    """Simpler neighbours of a case, the boldest first: dtype, layout, values, then each axis."""
    if case.column > 0:
        yield replace(case, column=0)
    if case.case.layout != "contiguous":
        yield replace(case, case=replace(case.case, layout="contiguous"))
    simpler = _SIMPLER[: _SIMPLER.index(case.case.values)] if case.case.values in _SIMPLER else _SIMPLER
    for recipe in simpler:
        yield replace(case, case=replace(case.case, values=recipe))
    for made in resized(case.spec, case.case, lambda size: [n for n in (1, size // 8, size // 2, size - 1) if 0 < n < size]):
        yield replace(case, case=replace(made, tiling_key=None, name=case.case.name))


def written(case: TestCase, earlier: TestCase | None, fails: Fails, options: Options, golden: str) -> str:
    """Shrinks a failing case and writes its script to the project's FOLDER: a line for the report. The arguments are those of `shrink` and `script`."""
    found = shrink(case, earlier, fails, seed=options.seed)
    if found is None:
        return "the failure does not come back when the case runs alone, or after the one before it"
    path = case.spec.root / FOLDER / f"{case.spec.name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script(found, options.backend, options.soc, options.seed, golden), encoding="utf-8")
    last = found.cases[-1]
    return f"the smallest case that fails like this is {last.dtype} {last.shapes} {last.case.values}: python {shorten(path)}"


def script(shrunk: Shrunk, backend: str, soc: str, seed: int, golden: str) -> str:
    """The cases as a script of at most 20 lines that exits with 1 while the fault is there."""
    spec = shrunk.cases[0].spec
    lines = [
        f'"""{spec.name} fails: {", ".join(sorted(shrunk.labels))}. Run it beside the project folder {spec.root.name}/."""',
        "from pathlib import Path",
        "from math import inf, nan",
        "import torch",
        "import ascendops",
        "from ascendops.parity import inputs, layouts, verify",
        "from ascendops.loading import load_file",
        f'here = Path("{spec.root.name}") if Path("{spec.root.name}/op.toml").exists() else Path("{spec.root}")',
        f'op = ascendops.open_project(here).build(backend="{backend}", soc="{soc}").ops["{spec.name}"]',
        f'golden = load_file(here / "golden.py").{golden}',
        "cases = [",
        *(f"    {_values(case, seed)}," for case in shrunk.cases),
        "]",
        "verdict = verify(op, golden, cases, repeats=2)",
        "print(verdict)",
        "raise SystemExit(not verdict.passed)",
    ]
    return "\n".join(lines) + "\n"


def _values(case: TestCase, seed: int) -> str:
    """The case as an expression: its inputs by recipe, its attributes as they are."""
    from ascendops.parity import inputs
    from ascendops.testing.given import GivenCase

    parts = []
    for tensor in case.spec.inputs:
        shape: Any = case.case.shapes.get(tensor.name)
        dtype = tensor.dtypes[case.column]
        if shape is None:
            parts.append(f'"{tensor.name}": None')
            continue
        if isinstance(case, GivenCase) or tensor.made_by is not None:
            parts.append(f'"{tensor.name}": torch.tensor({case.values(seed)[tensor.name].tolist()}, dtype=torch.{dtype})')
            continue
        many = tensor.variadic and shape and isinstance(shape[0], tuple)
        made = [
            _tensor(case, tensor, one, dtype, inputs.key(seed, case.case.name, dtype, tensor.name, i))
            for i, one in enumerate(shape if many else (shape,))
        ]
        parts.append(f'"{tensor.name}": ' + (f"[{', '.join(made)}]" if tensor.variadic else made[0]))
    parts += [f'"{name}": {value!r}' for name, value in case.attrs.items()]
    return "{" + ", ".join(parts) + "}"


def _tensor(case: TestCase, tensor: Any, shape: tuple[int, ...], dtype: str, stream: int) -> str:
    if tensor.range is None:
        made = f'inputs.values({shape}, torch.{dtype}, "{case.case.values}", {stream})'
    else:
        from ascendops.spec.shapes import bind

        binding = bind(case.spec, case.case.shapes, case.case.attrs)
        low, high = (int(binding.evaluate(end)) for end in tensor.range)
        made = f"inputs.integers({shape}, torch.{dtype}, {low}, {high}, {stream}, {tensor.sorted})"
    return made if case.case.layout == "contiguous" else f'layouts.apply({made}, "{case.case.layout}")'

