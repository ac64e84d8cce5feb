"""The outputs of one call: a tensor for each declared output, a list of tensors for a dynamic one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ascendops.build.tensors import describe, dtype_name, nbytes
from ascendops.errors import InputError
from ascendops.twin.host import HostTensor, OpDef
from ascendops.twin.launch import GmBuffer

if TYPE_CHECKING:
    import torch

Nested = Any  # one item, or a list of them for a dynamic output
Shape = tuple[int, ...]


def as_given(definition: OpDef, out: Any) -> list[Nested]:
    """An `out=` argument as one entry per output; empty without one.

    Raises:
        InputError: Something in it is no tensor.
    """
    given = list(out) if isinstance(out, (list, tuple)) else [] if out is None else [out]
    if given:
        _check_tensors(definition, given)
    only_list = len(definition.outputs) == 1 and definition.outputs[0].param_type == "dynamic"
    if only_list and given and not isinstance(given[0], (list, tuple)):
        return [given]
    return given


def _check_tensors(definition: OpDef, given: Sequence[Any]) -> None:
    import torch

    wrong = next((item for item in flat(given) if item is not None and not isinstance(item, torch.Tensor)), None)
    if wrong is not None:
        names = ", ".join(param.name for param in definition.outputs)
        raise InputError(f"{definition.op_type}: out= must hold tensors, not {type(wrong).__name__}", help=f"pass a tensor for each output: {names}")


def flat(outputs: Sequence[Nested]) -> list[Any]:
    """All items in order."""
    return [item for output in outputs for item in (output if isinstance(output, (list, tuple)) else [output])]


def counts(definition: OpDef, tensors: Mapping[str, Any]) -> list[int]:
    """How many tensors each output has; a dynamic one has as many as its in-place input, else as the first list."""
    listed = next((len(value) for value in tensors.values() if isinstance(value, list)), 1)
    found = []
    for param in definition.outputs:
        own = tensors.get(param.name)
        found.append(1 if param.param_type != "dynamic" else len(own) if isinstance(own, list) else listed)
    return found


def nest(definition: OpDef, items: Sequence[Any], sizes: Sequence[int]) -> list[Nested]:
    """A flat list by output: `sizes` items for each."""
    nested, at = [], 0
    for param, size in zip(definition.outputs, sizes, strict=True):
        part = list(items[at : at + size])
        nested.append(part if param.param_type == "dynamic" else part[0])
        at += size
    return nested


def allocate(
    definition: OpDef, shapes: Sequence[Nested], dtypes: Sequence[str], tensors: Mapping[str, Any], given: Sequence[Nested]
) -> list[Nested]:
    """Output tensors: the input of the same name (in place), else the given one if it is contiguous, else a new one.

    Raises:
        InputError: A given tensor has another number, shape or dtype.
    """
    if given and len(given) != len(shapes):
        names = ", ".join(param.name for param in definition.outputs)
        raise InputError(f"{definition.op_type} has {len(shapes)} output{'' if len(shapes) == 1 else 's'} ({names}), out= has {len(given)}")
    made = []
    for index, (param, shape, dtype) in enumerate(zip(definition.outputs, shapes, dtypes, strict=True)):
        buffer = given[index] if given else None
        if tensors.get(param.name) is not None:
            made.append(tensors[param.name])
        elif isinstance(shape, list):
            buffers = buffer or [None] * len(shape)
            made.append([_one(param.name, size, dtype, each) for size, each in zip(shape, buffers, strict=True)])
        else:
            made.append(_one(param.name, shape, dtype, buffer))
    return made


def _one(name: str, shape: Shape, dtype: str, buffer: torch.Tensor | None) -> torch.Tensor:
    import torch

    if buffer is not None and (tuple(buffer.shape) != tuple(shape) or dtype_name(buffer) != dtype):
        raise InputError(f"out '{name}' must be {dtype} {list(shape)}, not {describe([(name, buffer)])}")
    if buffer is not None and buffer.is_contiguous():
        return buffer
    return torch.empty(shape, dtype=getattr(torch, dtype))


def copy_back(outputs: Sequence[Nested], given: Sequence[Nested]) -> None:
    """Copies results into given tensors that could not be written directly."""
    for buffer, result in zip(flat(given), flat(outputs), strict=False):
        if buffer.data_ptr() != result.data_ptr():
            buffer.copy_(result)


def host_tensors(outputs: Sequence[Nested]) -> list[HostTensor | list[HostTensor]]:
    """What the tiling function sees of the outputs."""

    def one(tensor: torch.Tensor) -> HostTensor:
        return HostTensor(tuple(tensor.shape), dtype_name(tensor))

    return [[one(tensor) for tensor in output] if isinstance(output, list) else one(output) for output in outputs]


def initialise(definition: OpDef, outputs: Sequence[Nested], column: int, tensors: Mapping[str, Any]) -> None:
    """Fills the outputs that are declared with InitValue (one number, or one per dtype column), as the framework does before a launch."""
    for param, output in zip(definition.outputs, outputs, strict=True):
        if param.init_value and tensors.get(param.name) is None:
            for tensor in flat([output]):
                tensor.fill_(param.init_value[column if column < len(param.init_value) else 0])


def without_contents(definition: OpDef, tensors: Mapping[str, Any], given: Sequence[Nested]) -> set[str]:
    """Names of the outputs that hold nothing when the kernel starts: made here, neither an input in place nor declared with InitValue."""
    return {p.name for p in definition.outputs if not given and not p.init_value and tensors.get(p.name) is None}


def gm_argument(value: Any, name: str, *, undefined: bool = False) -> GmBuffer | None:
    """The kernel argument of a tensor, of a list of tensors, or of an absent one."""
    if value is None:
        return None
    if isinstance(value, list):
        return GmBuffer.tensor_list([gm_buffer(tensor, f"{name}[{i}]", undefined=undefined) for i, tensor in enumerate(value)], name)
    return gm_buffer(value, name, undefined=undefined)


def gm_buffer(tensor: torch.Tensor, name: str, *, undefined: bool = False) -> GmBuffer:
    """The GM buffer over a contiguous tensor's own memory."""
    return GmBuffer(tensor.data_ptr(), nbytes(tensor), name, shape=tuple(tensor.shape), undefined=undefined)
