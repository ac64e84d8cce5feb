"""torch.autocast of a registered operator: inputs are cast as [torch] autocast says, else only where no dtype column fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ascendops.build.operator import Operator
    from ascendops.spec.model import OpSpec

KEYS = {"AutocastCPU": "cpu", "AutocastCUDA": "cuda", "AutocastPrivateUse1": "npu"}
_FLOATS = frozenset({torch.float16, torch.bfloat16, torch.float32})


def register(qualified: str, operator: Operator, library: torch.library.Library) -> None:
    """Gives the operator its Autocast kernels; an operator without op.toml, or one that writes to inputs, is left alone."""
    if operator.spec is None or any(tensor.mutated for tensor in operator.spec.inputs):
        return
    name = qualified.partition("::")[2]
    for key in KEYS:
        library.impl(name, _kernel(qualified, operator.spec, key), key)


def _kernel(qualified: str, spec: OpSpec, key: str) -> Callable[..., Any]:
    names = [arg.name for arg in spec.schema.arguments if not arg.kwarg_only]
    excluded = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
    namespace, name = qualified.split("::")

    def cast(*args: Any, **kwargs: Any) -> Any:
        device = torch._C._get_privateuse1_backend_name() if key == "AutocastPrivateUse1" else KEYS[key]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        dtypes = targets(spec, given, torch.get_autocast_dtype(device))
        with torch._C._ExcludeDispatchKeyGuard(excluded):
            positional = [_to(value, dtypes.get(each)) for each, value in zip(names, args, strict=False)]
            return getattr(getattr(torch.ops, namespace), name)(*positional, **{each: _to(value, dtypes.get(each)) for each, value in kwargs.items()})

    return cast


def _to(value: Any, dtype: torch.dtype | None) -> Any:
    if dtype is None or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_to(one, dtype) for one in value]
    return value.to(dtype)


def targets(spec: OpSpec, given: Mapping[str, Any], lower: torch.dtype) -> dict[str, torch.dtype]:
    """The dtype that each floating-point input is cast to; inputs that stay as they are have no entry.

    Declared inputs follow [torch] autocast. If then no dtype column fits, the first column is taken that has the same integer inputs and in
    which no declared input changes, among those with the widest floating-point dtype that was given.
    """
    rules = {"lower": lower, "float32": torch.float32}
    have = {tensor.name: _dtype(given.get(tensor.name)) for tensor in spec.inputs}
    floats = {name: dtype for name, dtype in have.items() if dtype in _FLOATS}
    wanted = {name: rules[spec.torch.autocast[name]] if name in spec.torch.autocast else dtype for name, dtype in floats.items()}
    columns = [{t.name: getattr(torch, t.dtypes[column]) for t in spec.inputs} for column in range(spec.columns)]

    def fits(column: Mapping[str, torch.dtype], need: Mapping[str, torch.dtype | None]) -> bool:
        return all(dtype is None or column[name] == dtype for name, dtype in need.items())

    if not any(fits(column, {**have, **wanted}) for column in columns):
        widest = lower
        for dtype in wanted.values():
            widest = torch.promote_types(widest, dtype)
        declared = {name: dtype for name, dtype in wanted.items() if name in spec.torch.autocast}
        fixed = {**{name: dtype for name, dtype in have.items() if name not in floats}, **declared}
        found = [c for c in columns if fits(c, fixed) and any(c[name] == widest for name in floats)]
        if found:
            wanted = {name: found[0][name] for name in floats}
    return {name: dtype for name, dtype in wanted.items() if floats[name] != dtype}


def _dtype(value: Any) -> torch.dtype | None:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return first.dtype if isinstance(first, torch.Tensor) else None
