"""Registration with torch.library. One process can build an operator again: the same schema rebinds, another one is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import RegistrationError
from ascendops.torchlib.schema import torch_schema

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.build.operator import Operator

_libraries: dict[str, torch.library.Library] = {}
_operators: dict[str, Operator] = {}
_schemas: dict[str, str] = {}


def register(library: Library, namespace: str) -> Any:
    """Defines every operator of the library under `torch.ops.<namespace>` with CPU and Meta kernels.

    Raises:
        RegistrationError: An operator of that name with another schema is registered already in this process.
    """
    texts = {f"{namespace}::{name}": torch_schema(operator) for name, operator in library.ops.items()}
    for qualified, text in texts.items():
        if _schemas.get(qualified, text) != text:
            raise RegistrationError(
                f"{qualified} is registered already with another schema",
                why=f"registered: {_schemas[qualified]}\nnow:        {text}",
                help="use another namespace: lib.register('mine'), or a new process",
            )
    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    target = _libraries[namespace]
    for name, operator in library.ops.items():
        qualified = f"{namespace}::{name}"
        _operators[qualified] = operator
        if qualified not in _schemas:
            target.define(texts[qualified])
            target.impl(name, _cpu_kernel(qualified), "CPU")
            target.impl(name, _meta_kernel(qualified), "Meta")
            _schemas[qualified] = texts[qualified]
    return getattr(torch.ops, namespace)


def _cpu_kernel(qualified: str) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _operators[qualified](*args, **kwargs)

    return run


def _meta_kernel(qualified: str) -> Callable[..., Any]:
    def infer(*args: Any, **kwargs: Any) -> Any:
        outputs = meta_outputs(_operators[qualified], args, kwargs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return infer


def meta_outputs(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Empty outputs with the right shapes, dtypes and device for symbolic or meta inputs.

    Raises:
        InputError: dtypes that no column has.
        SpecError: Shapes that the declaration does not allow.
    """
    bound = operator.signature.bind(args, kwargs)
    given = [t for value in bound.tensors.values() for t in (value if isinstance(value, (list, tuple)) else [value]) if t is not None]
    device = given[0].device if given else torch.device("meta")
    column = operator.column(bound.tensors)
    if operator.spec is not None:
        shapes = operator.spec.output_shapes({name: None if t is None else t.shape for name, t in bound.tensors.items()}, bound.attrs)
    else:
        shapes = operator.infer_shapes(bound)
    return [
        torch.empty(tuple(shape), dtype=getattr(torch, param.dtypes[column]), device=device)
        for param, shape in zip(operator.definition.outputs, shapes, strict=True)
    ]
