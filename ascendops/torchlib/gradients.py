"""Autograd of a registered operator: by another operator of the project, by formulas, or a refusal that says what to declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad

from ascendops.errors import GradientError
from ascendops.spec.autograd import PREFIX, backward_sources
from ascendops.torchlib.formula import Like, evaluate, fit

if TYPE_CHECKING:
    from ascendops.build.operator import Operator
    from ascendops.spec.autograd import Autograd
    from ascendops.spec.model import OpSpec


@dataclass(frozen=True)
class Plan:
    """What one operator's backward needs.

    Attributes:
        order: Positional arguments of the schema: backward returns one gradient for each.
        tensors: Names of inputs and outputs to save.
        attrs: Names of attributes to keep.
        likes: Names of inputs of which shape and dtype are kept, so that they may be overwritten.
        used: The outputs whose gradients are read; the others are marked as not differentiable.
    """

    order: tuple[str, ...]
    tensors: tuple[str, ...]
    attrs: tuple[str, ...]
    likes: tuple[str, ...]
    used: frozenset[str]


def plan(spec: OpSpec) -> Plan:
    """Which values the gradients of an operator with [autograd] need."""
    assert spec.autograd is not None
    if spec.autograd.backward is not None:
        backward = spec.sibling(spec.autograd.backward)
        needed = {source for source in backward_sources(spec, backward).values() if source is not None}
    else:
        needed = {name for formula in spec.autograd.formula.values() for name in formula.names}
        needed |= {tensor.name for tensor in spec.inputs if tensor.variadic and tensor.name in spec.autograd.formula}
    grads = {PREFIX + tensor.name: tensor.name for tensor in spec.outputs}
    tensors = [tensor.name for tensor in (*spec.inputs, *spec.outputs)]
    return Plan(
        tuple(arg.name for arg in spec.schema.arguments if not arg.kwarg_only),
        tuple(name for name in tensors if name in needed),
        tuple(attr.name for attr in spec.attrs if attr.name in needed),
        tuple(name for name in spec.autograd.formula if name not in needed),
        frozenset(output for grad, output in grads.items() if grad in needed),
    )


def applies(spec: OpSpec) -> bool:
    """Whether an operator gets an Autograd kernel: not one that writes to inputs, or with tensors by name alone, which PyTorch cannot do."""
    return not any(arg.kwarg_only and arg.is_tensor for arg in spec.schema.arguments) and not any(t.mutated for t in spec.inputs)


def register(qualified: str, operator: Operator, target: Any) -> None:
    """Gives the operator its Autograd kernel, where it gets one.

    `target` stands for the torch.library.Library that torch.library.register_autograd registers the kernel with: `Direct` or `Renamed`.
    """
    spec = operator.spec
    if spec is None or not applies(spec):
        return
    if spec.autograd is None:
        torch.library.register_autograd(qualified, _refuse(qualified, spec), lib=target)
        return
    backward = _by_operator if spec.autograd.backward is not None else _by_formula
    steps = plan(spec)
    torch.library.register_autograd(
        qualified, backward(qualified, spec, spec.autograd, steps), setup_context=_setup(spec, steps), lib=target
    )


def _any_requires_grad(*args: Any) -> bool:
    """For versions of PyTorch whose torch._C has no such function: 2.7 is one."""
    tensors = (one for value in args for one in (value if isinstance(value, (list, tuple)) else (value,)))
    return any(isinstance(one, torch.Tensor) and one.requires_grad for one in tensors)


@dataclass(frozen=True)
class Renamed:
    """A library in which the Autograd kernel belongs to another name: the operator's own kernel is compiled and calls it there."""

    library: torch.library.Library
    name: str

    def impl(self, name: str, kernel: Callable[..., Any], key: str, **options: Any) -> None:
        """As Library.impl, for `self.name` and a kernel that gets the keyset first."""

        def run(keyset: Any, *args: Any, **kwargs: Any) -> Any:
            if forward_ad._current_level >= 0:
                _refuse_tangents(name, args)
            return kernel(keyset, *args, **kwargs)

        self.library.impl(self.name, run, key, **options)


@dataclass(frozen=True)
class Direct:
    """A library in which a call that needs no gradient and has only CPU tensors goes straight to `on_cpu`, the operator's CPU kernel.

    torch's kernel dispatches again, from Python, which costs several times what the call itself does.
    """

    library: torch.library.Library
    on_cpu: Callable[..., Any]

    def impl(self, name: str, kernel: Callable[..., Any], key: str, **options: Any) -> None:
        """As Library.impl, for a kernel that gets the keyset first."""
        on_cpu, below, cpu = self.on_cpu, torch._C._after_ADInplaceOrView_keyset, torch._C.DispatchKey.CPU
        enabled, any_requires = torch.is_grad_enabled, getattr(torch._C, "_any_requires_grad", _any_requires_grad)

        def run(keyset: Any, *args: Any, **kwargs: Any) -> Any:
            if forward_ad._current_level >= 0:
                _refuse_tangents(name, args)
            if (enabled() and any_requires(*args)) or (keyset & below).highestPriorityTypeId() != cpu:
                return kernel(keyset, *args, **kwargs)
            return on_cpu(*args, **kwargs)

        self.library.impl(name, run, key, **options)


def _refuse_tangents(name: str, args: tuple[Any, ...]) -> None:
    """An operator knows nothing of tangents; without this they would be zero."""
    for value in args:
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, torch.Tensor) and forward_ad.unpack_dual(one).tangent is not None:
                raise GradientError(
                    f"{name} has no forward-mode gradient", why="[autograd] declares gradients for backward()",
                    help="use torch.autograd.grad, or twice over it for a Jacobian-vector product",
                )  # fmt: skip


def _refuse(qualified: str, spec: OpSpec) -> Callable[..., Any]:
    def backward(ctx: Any, *grads: Any) -> Any:
        del ctx, grads
        raise GradientError(
            f"{qualified} has no gradient", where=str(spec.path), why=f"{spec.name} declares no [autograd]",
            help='declare for example formula = { x = "grad_y * ..." }, or call it under torch.no_grad()',
        )  # fmt: skip

    return backward


def _setup(spec: OpSpec, steps: Plan) -> Callable[..., None]:
    outputs = [tensor.name for tensor in spec.outputs]

    def setup(ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Mapping[str, Any] | None = None) -> None:
        made = output if isinstance(output, tuple) else (output,)
        values = {**dict(zip(steps.order, inputs, strict=False)), **(keyword_only_inputs or {}), **dict(zip(outputs, made, strict=True))}
        ctx.mark_non_differentiable(*(one for name, one in zip(outputs, made, strict=True) if name not in steps.used))
        lists = [name for name in steps.tensors if isinstance(values[name], (list, tuple))]
        ctx.ascendops_lists = {name: len(values[name]) for name in lists}
        saved = [one for name in steps.tensors for one in (values[name] if name in lists else [values[name]])]
        ctx.save_for_backward(*saved)
        ctx.ascendops_attrs = {name: values[name] for name in steps.attrs}
        ctx.ascendops_likes = {name: Like(values[name].shape, values[name].dtype, values[name].device) for name in steps.likes if values[name] is not None}

    return setup


def _values(ctx: Any, spec: OpSpec, steps: Plan, grads: tuple[Any, ...]) -> dict[str, Any]:
    saved = iter(ctx.saved_tensors)
    values: dict[str, Any] = {PREFIX + tensor.name: grad for tensor, grad in zip(spec.outputs, grads, strict=True)}
    for name in steps.tensors:
        count = ctx.ascendops_lists.get(name)
        value = next(saved) if count is None else [next(saved) for _ in range(count)]
        values.setdefault(name, value)
    return {**values, **ctx.ascendops_likes, **ctx.ascendops_attrs}


def _widened(value: Any) -> Any:
    """16-bit tensors in float32, so that a formula of several steps is rounded once."""
    half = isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if half else value


def _by_formula(qualified: str, spec: OpSpec, autograd: Autograd, steps: Plan) -> Callable[..., Any]:
    del qualified

    def backward(ctx: Any, *grads: Any) -> Any:
        values = _values(ctx, spec, steps, grads)
        wide = {name: _widened(value) for name, value in values.items()}
        common: dict[str, Any] = {}
        found: list[Any] = []
        for name, needed in zip(steps.order, ctx.needs_input_grad, strict=False):
            formula = autograd.formula.get(name)
            tensor = isinstance(needed, bool) and needed
            if tensor and formula is None:
                raise GradientError(f"{spec.name} declares no gradient for '{name}'", where=autograd.where, help=f"add {name} to formula, or detach it")
            found.append(fit(evaluate(formula, wide, common), values[name]) if tensor and formula is not None else None)
        return tuple(found)

    return backward


def _by_operator(qualified: str, spec: OpSpec, autograd: Autograd, steps: Plan) -> Callable[..., Any]:
    assert autograd.backward is not None
    other = spec.sibling(autograd.backward)
    sources = backward_sources(spec, other)
    produced = [tensor.name for tensor in other.outputs]
    namespace = qualified.partition("::")[0]
    keyword_only = {arg.name for arg in other.schema.arguments if arg.kwarg_only}
    positional = [arg.name for arg in other.schema.arguments if not arg.kwarg_only]
    defaults = {attr.name: attr.default for attr in other.attrs}

    def backward(ctx: Any, *grads: Any) -> Any:
        values = _values(ctx, spec, steps, grads)

        def value(name: str) -> Any:
            source = sources[name]
            return defaults.get(name) if source is None else values[source]

        call = getattr(getattr(torch.ops, namespace), other.name)
        results = call(*(value(name) for name in positional), **{name: value(name) for name in keyword_only})
        by_name = dict(zip(produced, results if isinstance(results, tuple) else (results,), strict=True))
        found: list[Any] = []
        for name, needed in zip(steps.order, ctx.needs_input_grad, strict=False):
            tensor = isinstance(needed, bool) and needed
            if tensor and name not in autograd.grads:
                raise GradientError(f"{spec.name} declares no gradient for '{name}'", where=autograd.where, help=f"add {name} to grads, or detach it")
            found.append(by_name[autograd.grads[name]] if tensor else None)
        return tuple(found)

    return backward
