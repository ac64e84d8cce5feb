"""From a file's kernels to jobs for the worker: one for each kernel, dtype and configuration."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any

from ascendops.migrate.lowering.arguments import kinds, study
from ascendops.migrate.lowering.choices import Choice, choices, fixed_parameters, uses
from ascendops.migrate.lowering.launches import Launch, by_name, find
from ascendops.migrate.lowering.lint import lint
from ascendops.migrate.lowering.slices import Slice
from ascendops.migrate.lowering.verdict import Verdict

DTYPES = ("fp32", "fp16", "bf16")
_SCALARS = {"int": "i32", "int64": "i64", "float": "fp32", "bool": "i1"}
_POINTERS = {"index": "*i64", "index32": "*i32", "mask": "*i1"}
_LARGEST = 65536


@dataclass(frozen=True)
class Job:
    """One compilation.

    Attributes:
        sizes: The compile-time parameters that are block sizes, largest value first.
        loose: Those among the compile-time values that are assumptions, or depend on one.
        strides: Integer arguments that a launch may pass as 1.
    """

    verdict: Verdict
    module: str
    kernel: str
    dtype: str
    signature: dict[str, str]
    constants: dict[str, Any]
    divisible: tuple[str, ...]
    config: dict[str, Any]
    assumed: dict[str, Any]
    sizes: tuple[str, ...] = ()
    loose: frozenset[str] = frozenset()
    strides: tuple[str, ...] = ()

    def request(self, number: int) -> dict[str, Any]:
        """What the worker needs of it."""
        return {
            "id": number, "module": self.module, "kernel": self.kernel, "signature": self.signature,
            "constants": self.constants, "divisible": list(self.divisible),
        }  # fmt: skip

    def smaller(self, factor: int) -> Job | None:
        """The job with its tiles about `factor` times smaller: the largest size is halved again and again, down to 16."""
        values = {name: self.config[name] for name in self.sizes}
        while factor > 1 and values and max(values.values()) > 16:
            largest = max(values, key=lambda name: values[name])
            values[largest] //= 2
            factor //= 2
        return self._with(values) if values and factor <= 1 else None

    def unit(self) -> list[Job]:
        """The job as Triton compiles it when every argument that may be a stride is 1; empty if there is none."""
        ones = dict.fromkeys(self.strides, 1)
        signature = {name: kind for name, kind in self.signature.items() if name not in ones}
        return [replace(self, signature=signature, constants={**self.constants, **ones}, strides=())] if ones else []

    def larger(self, factor: int) -> Job | None:
        """The job with its one block size, an assumed one, `factor` times as large, up to 65536; None if it has several."""
        if len(self.sizes) != 1 or self.sizes[0] not in self.loose:
            return None
        value = self.config[self.sizes[0]] * factor
        return self._with({self.sizes[0]: value}) if value <= _LARGEST else None

    def _with(self, values: dict[str, int]) -> Job:
        return replace(self, constants={**self.constants, **values}, config={**self.config, **values})


@dataclass
class Options:
    """What to try.

    Attributes:
        target: The SoC as the compiler names it, e.g. `Ascend910B2`.
        dtypes: Dtypes of the data, of fp32, fp16 and bf16.
        configs: At most so many configurations of a kernel, spread over their sizes.
        constants: Compile-time values that the user gave; they win.
        types: Types of arguments that the user gave, e.g. `*fp16` or `i64`.
        kernels: Only these kernels; empty means all.
        flags: Try switches that nothing in the file decides both ways.
    """

    target: str
    dtypes: tuple[str, ...] = DTYPES
    configs: int = 8
    constants: dict[str, Any] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    kernels: frozenset[str] = frozenset()
    flags: bool = True


def plan(piece: Slice, options: Options) -> list[tuple[Verdict, list[Job]]]:
    """A verdict without attempts, and its jobs, for each kernel of a slice."""
    return [
        _kernel(piece, node, options)
        for name, node in piece.kernels.items()
        if not options.kernels or name in options.kernels
    ]


def _kernel(piece: Slice, node: ast.FunctionDef, options: Options) -> tuple[Verdict, list[Job]]:
    fixed = fixed_parameters(node)
    studied = study(piece.tree, node, piece.helpers)
    size = 64 if _dots(piece, node) else 1024
    launches = list(find(piece.tree, node, set(fixed), size))
    launch = launches[0] if launches else None
    types = kinds(node, studied, launch.kinds if launch else {})
    every = choices(piece.tree, node, launch, size)
    verdict = Verdict(node.name, piece.file, node.lineno, types, options.target, configurations=len(every))
    verdict.strides = tuple(sorted(name for name in studied.strides if types.get(name) == "int" and not (launch and name in launch.ones)))
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    verdict.refused = "; ".join(f"{name}: {why}" for name, why in piece.refused.items() if name == node.name or name in called)
    verdict.notes = lint(piece.tree, node, piece.helpers, piece.file, launches)
    jobs: list[Job] = []
    dtypes = options.dtypes if "data" in types.values() else options.dtypes[:1]
    chosen = spread(every, options.configs)
    if options.flags:
        chosen += _flipped(chosen[0], uses(piece.tree, node, fixed), launch.loose if launch else set())
    for choice in chosen:
        choice.values.update({name: value for name, value in options.constants.items() if name in fixed})
        choice.assumed -= set(options.constants)
        jobs += [_job(piece, node, verdict, choice, launch, dtype, options) for dtype in dtypes]
    return verdict, jobs


def _job(piece: Slice, node: ast.FunctionDef, verdict: Verdict, choice: Choice, launch: Launch | None, dtype: str, options: Options) -> Job:
    types = verdict.signature
    signature: dict[str, str] = {}
    constants = dict(choice.values)
    ones = launch.ones if launch else by_name([name for name, kind in types.items() if kind == "int"])
    written = launch.dtypes if launch else {}
    for name, kind in types.items():
        if name in options.types:
            signature[name] = options.types[name]
        elif launch and launch.kinds.get(name) == "none":
            constants[name] = None
        elif name in ones and kind == "int":
            constants[name] = 1
        elif name in written and kind in ("data", *_POINTERS):
            signature[name] = f"*{written[name]}"
        else:
            signature[name] = f"*{dtype}" if kind == "data" else _POINTERS.get(kind) or _SCALARS[kind]
    use = uses(piece.tree, node, list(choice.values))
    divisible = tuple(name for name, kind in types.items() if name in signature and (signature[name].startswith("*") or "stride" in name.lower()))
    sizes = tuple(
        sorted((name for name, value in choice.values.items() if isinstance(value, int) and not isinstance(value, bool) and value >= 16 and use[name] == "size"), key=lambda name: -choice.values[name])
    )  # fmt: skip
    loose = choice.assumed | ((launch.loose if launch else set()) - set(options.constants) - choice.given)
    assumed: dict[str, Any] = {name: choice.values[name] for name in sorted(choice.assumed)}
    if launch and loose & launch.loose:
        assumed.update(launch.assumed)
    return Job(verdict, piece.name, node.name, dtype, signature, constants, divisible, choice.values, assumed, sizes, frozenset(loose), tuple(name for name in verdict.strides if name in signature))


def _flipped(choice: Choice, use: dict[str, str], loose: set[str]) -> list[Choice]:
    """The choice with each of up to three undecided switches the other way."""
    undecided = [name for name, value in choice.values.items() if isinstance(value, bool) and use.get(name) == "flag" and name in choice.assumed | loose - choice.given]
    return [
        Choice({**choice.values, name: not choice.values[name]}, set(choice.assumed), choice.line, choice.given)
        for name in undecided[:3]
    ]


def _dots(piece: Slice, node: ast.FunctionDef) -> bool:
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    bodies = [node, *(helper for name, helper in piece.helpers.items() if name in called)]
    return any(isinstance(part, ast.Attribute) and part.attr == "dot" for body in bodies for part in ast.walk(body))


def spread(every: list[Choice], most: int) -> list[Choice]:
    """At most `most` configurations: the smallest, the largest, and others evenly between them by tile size."""
    if len(every) <= most:
        return every

    def area(choice: Choice) -> int:
        product = 1
        for value in choice.values.values():
            product *= value if isinstance(value, int) and value > 1 else 1
        return product

    ordered = sorted(every, key=area)
    return [ordered[round(index * (len(ordered) - 1) / max(1, most - 1))] for index in range(most)]
