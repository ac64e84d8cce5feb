"""Gallery operators under torch.ops: small inputs for gradcheck, and the samples that PyTorch tests its own operator of the same math with."""

from __future__ import annotations

import sys
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch_projects import small

import ascendops
from ascendops.errors import BadOpName
from ascendops.render.families import all_families
from ascendops.spec import load
from ascendops.testing.cases import TestCase, test_cases
from ascendops.testing.matrix import resized

MOST = 36  # elements of an input: gradgradcheck calls the operator twice for each
PRESETS = [(family.name, preset) for family in all_families() for preset in family.presets]


@dataclass
class Subject:
    """One gallery operator, built in float32 and registered in a namespace of its own."""

    family: str
    preset: str
    root: Path
    spec: Any = None
    op: Any = None
    case: Any = None

    def __post_init__(self) -> None:
        namespace = f"ascendops_gallery_{self.preset}"
        name = self.preset
        try:
            folder = small(self.root, name, family=self.family, like=self.preset)
        except BadOpName:  # it clashes with a C function
            name = f"{self.preset}_custom"
            folder = small(self.root, name, family=self.family, like=self.preset)
        whole = small(self.root / "whole", name, cases=True, family=self.family, like=self.preset)
        library = ascendops.open_project(folder).build("twin")
        library.register(namespace)
        self.spec, self.op = library.ops[name].spec, getattr(getattr(torch.ops, namespace), name)
        self.case = _smallest(load(whole))

    def call(self, values: dict[str, Any]) -> tuple[torch.Tensor, ...]:
        """The outputs for values by name."""
        given, made = self.arguments(values), None
        made = self.op(*given[0], **given[1])
        return made if isinstance(made, tuple) else (made,)

    def arguments(self, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments of the schema."""
        arguments = self.spec.schema.arguments
        return tuple(values.get(a.name) for a in arguments if not a.kwarg_only), {a.name: values.get(a.name) for a in arguments if a.kwarg_only}

    def inputs(self) -> dict[str, Any]:
        """Inputs of the small case: floats of 0.8 to 2.4 with both signs where the operator takes those, no two of them near each other."""
        signed = self._spread(signed=True)
        if all(out.isfinite().all() for out in self.call(signed) if out.is_floating_point()):
            return signed
        return self._spread(signed=False)

    def _spread(self, signed: bool) -> dict[str, Any]:
        values = self.case.values(0)
        for number, (name, value) in enumerate(values.items()):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                count = value.numel()
                grid = torch.linspace(0.8, 2.4, 3 * count + 1)[number % 3 : 3 * count : 3]
                grid = grid[torch.randperm(count, generator=torch.Generator().manual_seed(number))]
                values[name] = (grid * (torch.arange(count) % 2 * 2 - 1) if signed else grid).reshape(value.shape)
        return values

    @property
    def differentiable(self) -> list[str]:
        """Inputs with a gradient."""
        autograd = self.spec.autograd
        return [] if autograd is None else [name for name in self.case.values(0) if name in {*autograd.grads, *autograd.formula}]

    @property
    def twice(self) -> bool:
        """Whether the backward has a gradient, too."""
        autograd = self.spec.autograd
        return autograd is not None and (autograd.backward is None or self.spec.sibling(autograd.backward).autograd is not None)


def _smallest(spec: Any) -> TestCase:
    cases = [case for case in test_cases(spec) if spec.inputs[0].dtypes[case.column] in ("float32", "int8") and case.elements > 1]
    halves = ("float16", "bfloat16")
    cases = [case for case in cases if all(t.dtypes[case.column] not in halves for t in spec.inputs)]
    cases = [case for case in cases if all(t.dtypes[case.column] not in halves for t in spec.outputs)] or cases  # some have no other outputs
    best = min(cases, key=lambda case: case.elements)
    improved = True
    while improved and max(_sizes(best)) > MOST:
        improved = False
        for smaller in resized(spec, best.case, lambda size: [each for each in (3, 2, 4) if each < size]):
            candidate = TestCase(spec, smaller, best.column)
            if 1 < candidate.elements < best.elements:
                best, improved = candidate, True
                break
    return best


def _sizes(case: TestCase) -> list[int]:
    return [value.numel() for value in case.values(0).values() if isinstance(value, torch.Tensor)]


class Skipped(Exception):
    """A sample outside of what the kit's operator declares; the text says why."""


def _same(ours: Any, sample: Any) -> Any:
    return ours(sample.input, *sample.args, **sample.kwargs)


def _need(condition: bool, reason: str) -> None:
    if not condition:
        raise Skipped(reason)


def _unary(ours: Any, sample: Any) -> Any:
    return ours(sample.input)


def _gelu(ours: Any, sample: Any) -> Any:
    _need(sample.kwargs.get("approximate", "none") == "none", "approximate=tanh")
    return ours(sample.input)


def _leaky_relu(ours: Any, sample: Any) -> Any:
    return ours(sample.input, *sample.args, **{"negative_slope": 0.01, **sample.kwargs})


def _clamp(ours: Any, sample: Any) -> Any:
    bounds = {"min_val": -1.0, "max_val": 1.0, **dict(zip(("min_val", "max_val"), sample.args, strict=False)), **sample.kwargs}
    return ours(sample.input, float(bounds["min_val"]), float(bounds["max_val"]))


def _binary(ours: Any, sample: Any) -> Any:
    other = sample.args[0]
    _need(isinstance(other, torch.Tensor) and other.dtype == torch.float32, "the other operand is no float32 tensor")
    _need(not sample.kwargs.get("alpha") and not sample.kwargs.get("rounding_mode"), "alpha or rounding_mode")
    return ours(sample.input, other)


def _reduction(ours: Any, sample: Any) -> Any:
    given = {**dict(zip(("dim", "keepdim"), sample.args, strict=False)), **sample.kwargs}
    _need(set(given) <= {"dim", "keepdim"} and isinstance(given.get("dim"), int), "dim is not one number")
    _need(sample.input.dim() > 0, "a scalar")
    _need(sample.input.shape[given["dim"]] > 0, "nothing to reduce")
    return ours(sample.input, **given)


def _last(ours: Any, sample: Any) -> Any:
    _need(sample.input.dim() > 0, "a scalar")
    _need(sample.args[0] % sample.input.dim() == sample.input.dim() - 1 and not sample.kwargs, "dim is not the last")
    return ours(sample.input)


def _layer_norm(ours: Any, sample: Any) -> Any:
    shape, *rest = sample.args
    _need(len(shape) == 1, "more than one normalized dim")
    _need(len(rest) == 2 and all(isinstance(each, torch.Tensor) for each in rest), "no weight or bias")
    return ours(sample.input, *rest, sample.kwargs.get("eps", 1e-5))[0]


def _rms_norm(ours: Any, sample: Any) -> Any:
    shape, *rest = sample.args
    weight = rest[0] if rest else sample.kwargs.get("weight")
    _need(len(shape) == 1, "more than one normalized dim")
    _need(isinstance(weight, torch.Tensor), "no weight")
    eps = sample.kwargs.get("eps", rest[1] if len(rest) > 1 else None)
    return ours(sample.input, weight, torch.finfo(torch.float32).eps if eps is None else eps)[0]


def _group_norm(ours: Any, sample: Any) -> Any:
    given = {**dict(zip(("num_groups", "weight", "bias", "eps"), sample.args, strict=False)), **sample.kwargs}
    _need(isinstance(given.get("weight"), torch.Tensor) and isinstance(given.get("bias"), torch.Tensor), "no weight or bias")
    return ours(sample.input, given["weight"], given["bias"], given["num_groups"], given.get("eps", 1e-5))[0]


def _linear(ours: Any, sample: Any) -> Any:
    bias = sample.args[1] if len(sample.args) > 1 else sample.kwargs.get("bias")
    _need(isinstance(bias, torch.Tensor), "no bias")
    _need(sample.input.dim() == 2 and sample.args[0].dim() == 2, "x or weight is no matrix")
    return ours(sample.input, sample.args[0], bias)


def _embedding(ours: Any, sample: Any) -> Any:
    _need(not any(value for name, value in sample.kwargs.items() if name != "padding_idx"), "max_norm, scale_grad_by_freq or sparse")
    return ours(sample.args[0] if sample.input.dtype == torch.int64 else sample.input, sample.input if sample.input.dtype == torch.int64 else sample.args[0])


def _cross_entropy(ours: Any, sample: Any) -> Any:
    target, given = sample.args[0], sample.kwargs
    _need(target.dtype == torch.int64 and sample.input.dim() == 2, "targets are probabilities, or there are more dims")
    _need(given.get("weight") is None and not given.get("label_smoothing"), "weight or label_smoothing")
    ignore = given.get("ignore_index", -100)
    loss = ours(sample.input, target, ignore)[0]
    kind = given.get("reduction", "mean")
    return loss if kind == "none" else loss.sum() if kind == "sum" else loss.sum() / (target != ignore).sum()


def _cumsum(ours: Any, sample: Any) -> Any:
    _need(not sample.kwargs and sample.input.dim() > 0, "dtype, or a scalar")
    return ours(sample.input, *sample.args)


def _transpose(ours: Any, sample: Any) -> Any:
    rank = sample.input.dim()
    _need(rank >= 2 and {each % rank for each in sample.args} == {rank - 1, rank - 2}, "dims are not the last two")
    return ours(sample.input)


def _first(want: Any) -> Any:
    return want[0] if isinstance(want, tuple) else want


Adapter = Callable[[Any, Any], Any]
_F = "nn.functional."
OPINFOS: dict[str, tuple[str, str, Adapter]] = {
    **{name: (name, "", _unary) for name in ("abs", "neg", "square", "exp", "log", "sqrt", "reciprocal", "rsqrt", "sigmoid", "tanh")},
    "relu": (_F + "relu", "", _unary), "silu": (_F + "silu", "", _unary), "gelu": (_F + "gelu", "", _gelu),
    "leaky_relu": (_F + "leaky_relu", "", _leaky_relu), "clamp": (_F + "hardtanh", "", _clamp), "div": ("div", "no_rounding_mode", _binary),
    **{name: (name, "", _binary) for name in ("add", "sub", "mul", "maximum", "minimum")},
    **{name: (name, "", _reduction) for name in ("sum", "mean", "amax", "amin")},
    **{name: (name, "reduction_with_dim", _reduction) for name in ("max", "min")},
    "softmax": ("softmax", "", _last), "log_softmax": ("log_softmax", "", _last), "layer_norm": (_F + "layer_norm", "", _layer_norm),
    "rms_norm": (_F + "rms_norm", "", _rms_norm), "group_norm": (_F + "group_norm", "", _group_norm), "linear": (_F + "linear", "", _linear),
    "batched_matmul": ("bmm", "", _same), "embedding": (_F + "embedding", "", _embedding), "cross_entropy": (_F + "cross_entropy", "", _cross_entropy),
    "cumsum": ("cumsum", "", _cumsum), "transpose": ("transpose", "", _transpose),
}  # fmt: skip


@dataclass
class Samples:
    """How many of PyTorch's samples ran, and why the others did not."""

    ran: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def run_samples(subject: Subject) -> Samples | None:
    """Compares the operator with torch's own on every sample of OpInfo (float32); None where torch has no operator of this math."""
    if subject.preset not in OPINFOS:
        return None
    name, variant, adapter = OPINFOS[subject.preset]
    (info,) = [one for one in op_db() if one.name == name and one.variant_test_name == variant]
    found = Samples()
    for sample in info.sample_inputs("cpu", torch.float32):
        try:
            ours = adapter(subject.op, sample)
        except Skipped as reason:
            found.skipped[str(reason)] += 1
            continue
        torch.testing.assert_close(ours, _first(info.op(sample.input, *sample.args, **sample.kwargs)), atol=2e-5, rtol=1e-4, equal_nan=True)
        found.ran += 1
    return found


def op_db() -> Any:
    """torch's list of operators with their samples."""
    if "expecttest" not in sys.modules:  # torch's test classes, which are not used here, need it
        stub = types.ModuleType("expecttest")
        stub.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stub
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the modules that it imports
        from torch.testing._internal.common_methods_invocations import op_db as found

    return found
