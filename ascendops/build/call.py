"""One call of an operator, bound and sized, before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendops.build.tensors import dtype_name, raw_bytes
from ascendops.twin.host import HostTensor, OpParam, Tiling

if TYPE_CHECKING:
    import torch

TensorArg = Any  # a tensor, None for an absent optional one, or a list of tensors


@dataclass(frozen=True)
class Call:
    """A call that is ready to launch.

    Attributes:
        attrs: Attribute values by name; `tensors` the inputs by name.
        column: dtype column.
        outputs: Allocated outputs, in place where an output has an input's name; `given` those of `out=`.
        tiling: What the tiling function chose; None when every output is empty and nothing is to be launched.
        notes: What had to be assumed.
    """

    attrs: Mapping[str, Any]
    tensors: Mapping[str, TensorArg]
    column: int
    outputs: Sequence[Any]
    given: Sequence[Any]
    tiling: Tiling | None
    notes: tuple[str, ...] = ()


def host_tensor(param: OpParam, value: TensorArg) -> HostTensor | list[HostTensor] | None:
    """What host functions see of an input: shape, dtype, and the elements where they may read them."""

    def one(tensor: torch.Tensor) -> HostTensor:
        data = raw_bytes(tensor) if param.value_depend and tensor.device.type == "cpu" else None
        return HostTensor(tuple(int(size) for size in tensor.shape), dtype_name(tensor), data=data)

    if value is None:
        return None
    return [one(tensor) for tensor in value] if isinstance(value, (list, tuple)) else one(value)
