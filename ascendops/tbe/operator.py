"""A TBE operator behind the same call as an Ascend C one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendops.build.operator import Operator
from ascendops.build.result import RunResult
from ascendops.build.tensors import as_list, as_tensor
from ascendops.errors import TbeError
from ascendops.spec.attrs import op_def_value
from ascendops.tbe.source import Source, call

if TYPE_CHECKING:
    import torch

    from ascendops.build.signature import Bound


@dataclass
class TbeOperator(Operator):
    """An operator whose compute function is Python. `sources` are its implementations, the dynamic one first."""

    sources: Sequence[Source] = field(default_factory=tuple)

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        """Evaluates the compute; returns one tensor, or a tuple when it has several outputs (see `run`)."""
        outputs = self.run(*args, **attrs).outputs
        return outputs[0] if len(outputs) == 1 else outputs

    def run(
        self, *args: Any, checks: str = "error", auto_sync: bool = True, trace: bool = False, timeout_s: float = 60.0,  # noqa: ARG002
        out: Sequence[torch.Tensor] | torch.Tensor | None = None, **attrs: Any,
    ) -> RunResult:  # fmt: skip
        """Evaluates the dynamic implementation, then the static one, which must agree bit for bit.

        The options of kernels (checks, auto_sync, trace, timeout_s) have no meaning here: there is no kernel, only the graph of DSL calls.

        Raises:
            InputError: Arguments that the declaration does not allow.
            TbeError: The Python fails, uses what the twin does not evaluate, or both implementations differ.
        """
        bound = self.signature.bind(args, attrs)
        tensors = self._tensors(bound)
        start = time.perf_counter()
        outputs = self._allocate(tensors, bound, self.column(tensors))
        if any(tensor.numel() for tensor in outputs):
            outputs = self._evaluate(tensors, outputs, bound)
        if out is not None:
            outputs = [_written(target, value) for target, value in zip([out] if not isinstance(out, (list, tuple)) else out, outputs, strict=True)]
        return RunResult(tuple(outputs), 0, 0, b"", 0, (), None, time.perf_counter() - start, self.soc.name, "twin")

    def _tensors(self, bound: Bound) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for param in self.definition.inputs:
            value = bound.tensors[param.name]
            if param.param_type == "dynamic":
                found[param.name] = as_list(value, param.name, self.name)
            else:
                found[param.name] = None if value is None else as_tensor(value, param.name, self.name)
        return found

    def _allocate(self, tensors: Mapping[str, Any], bound: Bound, column: int) -> list[torch.Tensor]:
        import torch

        assert self.spec is not None
        shapes = {name: [tuple(one.shape) for one in t] if isinstance(t, list) else None if t is None else tuple(t.shape) for name, t in tensors.items()}
        sizes = self.spec.output_shapes(shapes, bound.attrs)
        return [torch.empty(size, dtype=getattr(torch, param.dtypes[column])) for param, size in zip(self.definition.outputs, sizes, strict=True)]

    def _evaluate(self, tensors: Mapping[str, Any], outputs: Sequence[torch.Tensor], bound: Bound) -> list[torch.Tensor]:
        assert self.spec is not None
        inputs = [(param.name, tensors[param.name]) for param in self.definition.inputs]
        named = [(param.name, tensor) for param, tensor in zip(self.definition.outputs, outputs, strict=True)]
        attrs = {attr.name: op_def_value(attr, bound.attrs[attr.name]) for attr in self.spec.attrs}
        first: list[torch.Tensor] | None = None
        for source in self.sources:
            values = call(source, inputs, named, attrs, self.name, self.soc)
            if first is not None:
                self._agree(first, values, source)
            first = first or values
        assert first is not None
        return first

    def _agree(self, first: Sequence[torch.Tensor], values: Sequence[torch.Tensor], source: Source) -> None:
        for param, one, other in zip(self.definition.outputs, first, values, strict=True):
            differing = int(((one != other) & ~((one != one) & (other != other))).sum())
            if differing:
                raise TbeError(
                    f"the {self.sources[0].mode} and the {source.mode} implementation of {self.name} differ in {differing} of {one.numel()} elements of '{param.name}'",
                    where=str(source.path), why="both are shipped, and the shape decides which one a model runs", help="compute the same in both",
                )  # fmt: skip


def _written(target: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    target.copy_(value)
    return target
