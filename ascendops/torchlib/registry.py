"""Registration with torch.library. One process can build an operator again: the same schema rebinds, another one is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import RegistrationError
from ascendops.torchlib import batching, casting, gradients, kernels, schema
from ascendops.torchlib.kernels import Entry

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.build.operator import Operator
    from ascendops.spec.model import OpSpec

_libraries: dict[str, torch.library.Library] = {}
_entries: dict[str, Entry] = {}
_schemas: dict[str, tuple[str, ...]] = {}


def register(library: Library, namespace: str) -> Any:
    """Defines every operator of the library under `torch.ops.<namespace>`: kernels for CPU, CUDA, NPU and Meta, autograd, vmap, autocast, variants.

    Raises:
        RegistrationError: An operator of that name with another declaration is registered already in this process.
    """
    texts = {f"{namespace}::{name}": _declaration(operator) for name, operator in library.ops.items()}
    for qualified, text in texts.items():
        if _schemas.get(qualified, text) != text:
            raise RegistrationError(
                f"{qualified} is registered already with another schema",
                why="registered: {}\nnow:        {}".format("; ".join(_schemas[qualified]), "; ".join(text)),
                help="use another namespace: lib.register('mine'), or a new process",
            )
    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    target = _libraries[namespace]
    for name, operator in library.ops.items():
        qualified = f"{namespace}::{name}"
        if qualified in _entries:
            _entries[qualified].update(operator)
            continue
        entry = _entries[qualified] = Entry(qualified, operator)
        entry.update(operator)
        _define(target, entry, operator)
        _schemas[qualified] = texts[qualified]
    return getattr(torch.ops, namespace)


def _declaration(operator: Operator) -> tuple[str, ...]:
    """What cannot change in one process: the schemas, how gradients are computed, the autocast rules."""
    spec = operator.spec
    if spec is None:
        return (schema.torch_schema(operator),)
    autograd = spec.autograd
    gradient = () if autograd is None else (f"gradients by {autograd.backward} {dict(autograd.grads)}{ {k: v.text for k, v in autograd.formula.items()} }",)
    casts = (f"autocast {dict(spec.torch.autocast)}",) if spec.torch.autocast else ()
    return (schema.torch_schema(operator), *schema.variant_schemas(spec).values(), *gradient, *casts)


def _define(target: torch.library.Library, entry: Entry, operator: Operator) -> None:
    spec = operator.spec
    target.define(schema.torch_schema(operator))
    name = operator.name
    if spec is not None and schema.returns_alias(spec):
        target.define(schema.mutate_schema(spec))
        target.impl(name, _returning_inputs(entry, spec), "CompositeImplicitAutograd")
        name = f"{name}.{schema.MUTATE}"
        entry.fresh = tuple(index for index, item in enumerate(spec.schema.returns) if item.type.alias is None)
    elif spec is not None and not spec.schema.returns:
        entry.fresh = ()
    for key, kernel in (("CPU", kernels.on_cpu), ("CUDA", kernels.on_cuda), ("PrivateUse1", kernels.on_npu), ("Meta", kernels.on_meta)):
        target.impl(name, kernel(entry), key)
    if name == operator.name:
        gradients.register(entry.qualified, operator, target)
        batching.register(entry.qualified, operator, target)
        casting.register(entry.qualified, operator, target)
    if spec is not None:
        _define_variants(target, entry, spec)


def _returning_inputs(entry: Entry, spec: OpSpec) -> Callable[..., Any]:
    """NAME by way of NAME.mutate: returns the inputs that were written to, in their places among the outputs."""
    namespace, name = entry.qualified.split("::")
    aliased = [item.name if item.type.alias is not None else None for item in spec.schema.returns]

    def run(*args: Any, **kwargs: Any) -> Any:
        made = getattr(getattr(getattr(torch.ops, namespace), name), schema.MUTATE)(*args, **kwargs)
        fresh = iter(made if isinstance(made, tuple) else (made,))
        given = {**dict(zip(entry.names, args, strict=False)), **kwargs}
        outputs = tuple(next(fresh) if each is None else given[each] for each in aliased)
        return outputs[0] if len(outputs) == 1 else outputs

    return run


def _define_variants(target: torch.library.Library, entry: Entry, spec: OpSpec) -> None:
    """NAME.out and NAME_ are compositions of NAME and copy_, so autograd and torch.compile see through them."""
    namespace, name = entry.qualified.split("::")
    outputs = [tensor.name for tensor in spec.outputs]
    names = ["out"] if len(outputs) == 1 else outputs

    def out(*args: Any, **kwargs: Any) -> Any:
        buffers = [kwargs.pop(each) for each in names]
        made = getattr(getattr(torch.ops, namespace), name)(*args, **kwargs)
        for buffer, result in zip(buffers, made if isinstance(made, tuple) else (made,), strict=True):
            if buffer.shape != result.shape and buffer.numel() == 0:
                buffer.resize_(result.shape)
            _check_buffer(entry.qualified, buffer, result)
            buffer.copy_(result)
        return buffers[0] if len(buffers) == 1 else tuple(buffers)

    def inplace(first: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        result = getattr(getattr(torch.ops, namespace), name)(first, *args, **kwargs)
        _check_buffer(entry.qualified, first, result)
        return first.copy_(result)

    bodies = {"out": (f"{name}.out", out), "inplace": (f"{name}_", inplace)}
    for variant, text in schema.variant_schemas(spec).items():
        defined, body = bodies[variant]
        target.define(text)
        target.impl(defined, body, "CompositeImplicitAutograd")


def _check_buffer(qualified: str, buffer: torch.Tensor, result: torch.Tensor) -> None:
    if buffer.shape != result.shape or buffer.dtype != result.dtype:
        from ascendops.errors import InputError

        raise InputError(
            f"the result of {qualified} does not fit the tensor that it is written into",
            why=f"result: {result.dtype} {tuple(result.shape)}, given: {buffer.dtype} {tuple(buffer.shape)}", help="give a tensor of that shape and dtype",
        )  # fmt: skip
