"""What op_host decides for a call, kept for later calls with the same shapes, dtypes and attributes, as aclnn keeps it on a device."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build.signature import Bound
    from ascendops.twin.host import OpDef, Tiling

_MOST = 1024


@dataclass(frozen=True)
class Plan:
    """One decision of op_host.

    Attributes:
        column: The dtype column.
        shapes: Shape of each output.
        dtypes: dtype of each output.
        tiling: What the tiling function set; None when all outputs are empty and nothing is launched.
        notes: What had to be assumed.
    """

    column: int
    shapes: list[Any]
    dtypes: list[str]
    tiling: Tiling | None
    notes: tuple[str, ...]


class Plans:
    """The plans of one operator; none is kept for an operator whose host functions read elements of inputs."""

    def __init__(self, definition: OpDef) -> None:
        self._reads = bool(definition.shape_depends or definition.tiling_depends) or any(param.value_depend for param in definition.inputs)
        self._kept: dict[Hashable, Plan] = {}

    def key(self, bound: Bound, tensors: Mapping[str, Any], given: Sequence[Any] = ()) -> Hashable | None:
        """What the plan of a call depends on, `given` being tensors for its outputs; None when that cannot be known."""
        if self._reads:
            return None
        described = tuple(_described(value) for value in (*tensors.values(), *given))
        return (len(given), *described, *bound.attrs.values())

    def get(self, key: Hashable | None) -> Plan | None:
        """The plan that was kept for this key."""
        return None if key is None else self._kept.get(key)

    def keep(self, key: Hashable | None, plan: Plan) -> None:
        """Keeps a plan; the oldest goes when there are many."""
        if key is not None:
            if len(self._kept) >= _MOST:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = plan


def _described(value: Any) -> Hashable:
    if value is None:
        return None
    if isinstance(value, list):
        return tuple((tensor.shape, tensor.dtype) for tensor in value)
    return value.shape, value.dtype
