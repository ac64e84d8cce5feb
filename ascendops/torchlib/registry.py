"""Registration with torch.library. One process can build an operator again: the same schema rebinds, another one is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import RegistrationError
from ascendops.torchlib import batching, casting, gradients, kernels, native, schema
from ascendops.torchlib.kernels import Entry

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.build.operator import Operator
    from ascendops.spec.model import OpSpec

_libraries: dict[str, torch.library.Library] = {}
_entries: dict[str, Entry] = {}
_schemas: dict[str, tuple[str, ...]] = {}


def register(library: Library, namespace: str, *, compiled: bool = False) -> Any:
    """Defines every operator of the library under `torch.ops.<namespace>`: kernels for CPU, CUDA, NPU and Meta, autograd, vmap, autocast, variants.

    With `compiled`, calls on the CPU do without Python where an operator allows that; see `kinds`.

    Raises:
        RegistrationError: An operator of that name with another declaration is registered already in this process, or with Python kernels
            when compiled ones are asked for.
        CompilerNotFound: There is no C++ compiler for `compiled`.
        CompileError: The compiled kernels do not compile with this PyTorch.
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
    found = _native(library, namespace) if compiled else None
    for name, operator in library.ops.items():
        qualified = f"{namespace}::{name}"
        if qualified in _entries:
            _entries[qualified].update(operator)
            continue
        made = _entries[qualified] = Entry(qualified, operator)
        made.update(operator)
        made.native = found if native.refusal(operator) is None else None
        _define(target, made, operator)
        _schemas[qualified] = texts[qualified]
    return getattr(torch.ops, namespace)


def _native(library: Library, namespace: str) -> native.Native | None:
    """The compiled kernels of the operators that are new and can have one."""
    known = [name for name in library.ops if (entry := _entries.get(f"{namespace}::{name}")) is not None and entry.native is None]
    known = [name for name in known if native.refusal(library.ops[name]) is None]
    if known:
        raise RegistrationError(
            f"{namespace}::{known[0]} is registered already with its Python kernel", why="a kernel cannot be replaced in a process",
            help="call register(compiled=True) first, or use another namespace",
        )  # fmt: skip
    specs = [op.spec for name, op in library.ops.items() if f"{namespace}::{name}" not in _entries and native.refusal(op) is None]
    return native.load([spec for spec in specs if spec is not None], namespace) if specs else None


def kinds(namespace: str) -> dict[str, str]:
    """For each registered operator of a namespace `compiled`, or why its CPU kernel is the Python one."""
    entries = {qualified.partition("::")[2]: entry for qualified, entry in _entries.items() if qualified.startswith(f"{namespace}::")}
    return {name: "compiled" if entry.native else native.refusal(entry.operator) or "registered without compiled=True" for name, entry in entries.items()}


def entry(qualified: str) -> Entry:
    """What is registered as `namespace::name`."""
    return _entries[qualified]


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
    name = operator.name
    _declare(target, entry.qualified, schema.torch_schema(operator))
    if spec is not None and schema.returns_alias(spec):
        target.define(schema.mutate_schema(spec))
        target.impl(name, _returning_inputs(entry, spec), "CompositeImplicitAutograd")
        name = f"{name}.{schema.MUTATE}"
        entry.fresh = tuple(index for index, item in enumerate(spec.schema.returns) if item.type.alias is None)
    elif spec is not None and not spec.schema.returns:
        entry.fresh = ()
    for key, kernel in (("CPU", kernels.on_cpu), ("CUDA", kernels.on_cuda), ("PrivateUse1", kernels.on_npu), ("Meta", kernels.on_meta)):
        if not has_kernel(entry.qualified, key):
            target.impl(name, kernel(entry), key)
    if name == operator.name:
        if entry.native is not None:
            _define_behind(entry, operator, entry.native)
        elif not has_kernel(entry.qualified, "Autograd"):
            gradients.register(entry.qualified, operator, gradients.Direct(target, kernels.on_cpu(entry)))
        batching.register(entry.qualified, operator, target)
        casting.register(entry.qualified, operator, target)
    if spec is not None:
        _define_variants(target, entry, spec)


def _define_behind(entry: Entry, operator: Operator, compiled: native.Native) -> None:
    """What the compiled kernels of an operator call: its Python kernel, and `NAME.gradient`, the same with gradients."""
    namespace = native.python_namespace(entry.qualified.partition("::")[0])
    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    target, text = _libraries[namespace], schema.torch_schema(operator)
    target.define(text)
    target.impl(operator.name, kernels.behind_native(entry, compiled), "CPU")
    if operator.spec is not None and gradients.applies(operator.spec):
        target.define(text.replace("(", ".gradient(", 1))
        gradients.register(entry.qualified, operator, gradients.Renamed(target, f"{operator.name}.gradient"))


def has_kernel(qualified: str, key: str) -> bool:
    """Whether an extension (gen/torch) has registered a kernel for this dispatch key before; it stays."""
    found: bool = torch._C._dispatch_has_kernel_for_dispatch_key(qualified, key)
    return found


def _declare(target: torch.library.Library, qualified: str, text: str) -> None:
    """Defines the operator, unless an extension has done that with the same schema."""
    for found in torch._C._jit_get_schemas_for_operator(qualified):
        if not found.overload_name:
            wanted = torch._C.parse_schema(f"{qualified.partition('::')[0]}::{text}")
            if _interface(found) != _interface(wanted):
                raise RegistrationError(
                    f"{qualified} is registered already with another schema", why=f"registered: {found}\nnow:        {wanted}",
                    help="an installed extension registers it: build and install gen/torch again, or use another namespace",
                )  # fmt: skip
            return
    target.define(text)


def _interface(found: Any) -> tuple[list[Any], list[str]]:
    """Arguments and results of a schema; the names of results do not matter."""
    arguments = [(each.name, str(each.type), str(each.default_value), each.kwarg_only, each.alias_info is not None and each.alias_info.is_write) for each in found.arguments]
    return arguments, [str(each.type) for each in found.returns]


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
