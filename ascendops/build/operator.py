"""A built operator: InferShape, tiling and kernel behind one call."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ascendops.build import inferred, outputs as places
from ascendops.build.call import Call, TensorArg, host_tensor
from ascendops.build.kernel_shapes import KernelShapes
from ascendops.build.plan import Plan, Plans
from ascendops.build.result import RunResult
from ascendops.build.signature import Bound, Signature
from ascendops.build.tensors import as_list, as_tensor, dtype_name
from ascendops.errors import InputError
from ascendops.twin.diagnostics import raise_for_findings
from ascendops.twin.host import HostLibrary, OpDef
from ascendops.twin.launch import launch

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from ascendops.spec.model import OpSpec
    from ascendops.spec.socs import Soc

_OPTIONS = ("checks", "auto_sync", "trace", "timeout_s", "out")  # of `run`; no attribute has such a name
_SAME_BYTES = {"bool": frozenset({"bool", "int8", "uint8"})}


@dataclass
class Operator:
    """One operator of a library. Call it with tensors and attributes in schema order.

    Attributes:
        name: snake_case name.
        definition: OpDef as op_host registers it.
        signature: Argument order, kinds and defaults.
        spec: The op.toml declaration, or None for a project without one.
        kernels: Kernel library of each dtype column.
        backend: `twin` or `cann`.
    """

    backend: ClassVar[str] = "twin"

    name: str
    definition: OpDef
    signature: Signature
    soc: Soc
    host: HostLibrary
    kernels: Sequence[Path]
    entry: str
    spec: OpSpec | None = None

    @functools.cached_property
    def plans(self) -> Plans:
        """What op_host decided for earlier calls."""
        return Plans(self.definition)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Input names in declaration order."""
        return tuple(param.name for param in self.definition.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Output names in declaration order."""
        return tuple(param.name for param in self.definition.outputs)

    @property
    def attrs(self) -> tuple[str, ...]:
        """Attribute names in declaration order."""
        return tuple(attr.name for attr in self.definition.attrs)

    @property
    def dtypes(self) -> dict[str, tuple[str, ...]]:
        """dtype columns of every input and output."""
        return {param.name: param.dtypes for param in (*self.definition.inputs, *self.definition.outputs)}

    @property
    def formats(self) -> dict[str, tuple[str, ...]]:
        """Format columns of every input and output."""
        return {param.name: param.formats for param in (*self.definition.inputs, *self.definition.outputs)}

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        """Runs the operator; returns one tensor, or a tuple when it has several outputs (see `run`).

        The host functions run once for each combination of shapes, dtypes and attributes.
        """
        options = {name: attrs.pop(name) for name in _OPTIONS if name in attrs}
        outputs = self._run(self.signature.bind(args, attrs), self.plans, **options).outputs
        return outputs[0] if len(outputs) == 1 else outputs

    def run(
        self,
        *args: Any,
        checks: str = "error",
        auto_sync: bool = True,
        trace: bool = False,
        timeout_s: float = 60.0,
        out: Sequence[torch.Tensor] | torch.Tensor | None = None,
        **attrs: Any,
    ) -> RunResult:
        """Runs InferShape, InferDataType, the tiling function and the kernel.

        Args:
            *args: Tensors (torch or NumPy) and attributes in schema order; lists for tensor lists, None for absent ones.
            checks: `error` raises for error-level findings, `warn` only records them, `off` does not look.
            auto_sync: Models the compiler's --cce-auto-sync.
            trace: Records a timeline.
            timeout_s: Seconds after which the kernel counts as hanging.
            out: Tensors to write the outputs into. Without an op.toml their shapes and dtypes are the outputs', as for an aclnn call.
            **attrs: Attributes (and tensors) by name.

        Raises:
            InputError: Arguments that the declaration does not allow.
            OpHostError: InferShape or tiling refused them.
            TwinCheckError: The kernel has a fault.
            KernelCrash: The kernel crashed.
            KernelHang: The kernel did not end in time.
        """
        bound = self.signature.bind(args, attrs)
        return self._run(bound, None, checks=checks, auto_sync=auto_sync, trace=trace, timeout_s=timeout_s, out=out)

    def _run(self, bound: Bound, plans: Plans | None, *, out: Any = None, checks: str = "error", **options: Any) -> RunResult:
        call = self._prepare(bound, plans, out)
        if call.tiling is None:
            return RunResult(tuple(call.outputs), 0, 0, b"", 0, (), None, 0.0, self.soc.name, self.backend)
        result = self.execute(call, {"checks": checks, **options})
        if checks == "error":
            raise_for_findings(self.name, result.diagnostics)
        return result

    def execute(self, call: Call, options: Mapping[str, Any]) -> RunResult:
        """Launches the kernel of a call that is not empty; `options` are those of `run`."""
        assert call.tiling is not None
        tiling, computed = call.tiling, KernelShapes(self.definition)
        args = [places.gm_argument(call.tensors[param.name], param.name) for param in self.definition.inputs]
        empty = places.without_contents(self.definition, call.tensors, call.given)
        named = zip(self.definition.outputs, call.outputs, strict=True)
        args += [places.gm_argument(value, param.name, undefined=param.name in empty) for param, value in named]
        args += computed.arguments()
        launched = launch(
            self.kernels[call.column], self.entry, args, block_dim=tiling.block_dim, tiling=tiling.data, tiling_key=tiling.key,
            workspace_bytes=sum(tiling.workspaces), soc=self.soc, **options,
        )  # fmt: skip
        places.copy_back(call.outputs, call.given)
        outputs, wrong = computed.applied(self.definition, call.outputs)
        found = wrong if options["checks"] != "off" else ()
        return RunResult(
            tuple(outputs), tiling.key, tiling.block_dim, tiling.data, sum(tiling.workspaces), (*launched.diagnostics, *found),
            launched.timeline, launched.seconds, self.soc.name, self.backend, call.notes,
        )  # fmt: skip

    def prepare(self, *args: Any, **attrs: Any) -> Call:
        """What op_host decides for a call, with the outputs ready to be written; nothing is launched, and no kernel is needed.

        Raises:
            InputError: Arguments that the declaration does not allow.
            OpHostError: InferShape or tiling refused them.
        """
        return self._prepare(self.signature.bind(args, attrs), None, None)

    def _prepare(self, bound: Bound, plans: Plans | None, out: Any) -> Call:
        """What op_host says about a call, or said about an earlier one like it, and its outputs, ready to be written."""
        tensors = self._tensors(bound)
        given = places.as_given(self.definition, out)
        key = plans.key(bound, tensors, given) if plans is not None else None
        plan = plans.get(key) if plans is not None else None
        if plan is None:
            plan, outputs = self._plan(bound, tensors, given)
            if plans is not None:
                plans.keep(key, plan)
        else:
            outputs = places.allocate(self.definition, plan.shapes, plan.dtypes, tensors, given)
        if plan.tiling is not None:
            places.initialise(self.definition, outputs, plan.column, tensors)
        return Call(bound.attrs, tensors, plan.column, outputs, given, plan.tiling, plan.notes)

    def _plan(self, bound: Bound, tensors: Mapping[str, TensorArg], given: Sequence[Any]) -> tuple[Plan, list[Any]]:
        """What op_host says about a call, and the outputs that were allocated for it."""
        host_inputs = [host_tensor(param, tensors[param.name]) for param in self.definition.inputs]
        column = self._column_by_outputs(self.columns(tensors), bound, host_inputs, given)
        shapes, notes = inferred.output_shapes(self, bound, tensors, host_inputs, given)
        dtypes = inferred.output_dtypes(self, host_inputs, bound, column)
        outputs = places.allocate(self.definition, shapes, dtypes, tensors, given)
        if outputs and all(tensor.numel() == 0 for tensor in places.flat(outputs)):
            return Plan(column, shapes, dtypes, None, notes), outputs
        tiling = self.host.tiling(self.definition.op_type, host_inputs, places.host_tensors(outputs), bound.attrs, self.soc)
        return Plan(column, shapes, dtypes, tiling, notes), outputs

    def _tensors(self, bound: Bound) -> dict[str, TensorArg]:
        found: dict[str, TensorArg] = {}
        for param in self.definition.inputs:
            value = bound.tensors[param.name]
            if param.param_type == "dynamic":
                found[param.name] = as_list(value, param.name, self.name)
            elif value is None and param.param_type == "optional":
                found[param.name] = None
            else:
                found[param.name] = as_tensor(value, param.name, self.name)
        return found

    def infer_shapes(self, bound: Bound) -> list[tuple[int, ...]]:
        """Output shapes by the compiled InferShape for tensors of which only shape and dtype are looked at."""
        inputs = [host_tensor(param, bound.tensors[param.name]) for param in self.definition.inputs]
        return self.host.infer_shape(self.definition.op_type, inputs, bound.attrs)

    def column(self, tensors: Mapping[str, TensorArg]) -> int:
        """Index of the first dtype column that the given tensors fit.

        Raises:
            InputError: None fits; the message lists the columns.
        """
        return self.columns(tensors)[0]

    def columns(self, tensors: Mapping[str, TensorArg]) -> list[int]:
        """The dtype columns that the given tensors fit; bool also fits int8 and uint8 where no column has bool.

        Raises:
            InputError: None fits; the message lists the columns.
        """
        given = {}
        for param in self.definition.inputs:
            value = tensors[param.name]
            kinds = {dtype_name(t) for t in (value if isinstance(value, (list, tuple)) else [value]) if t is not None}
            if len(kinds) > 1:
                raise InputError(f"{self.name}: the tensors of '{param.name}' have different dtypes: {', '.join(sorted(kinds))}")
            if kinds:
                given[param.name] = kinds.pop()
        dtypes, every = self.dtypes, range(len((*self.definition.inputs, *self.definition.outputs)[0].dtypes))
        found = [c for c in every if all(dtypes[name][c] == kind for name, kind in given.items())]
        found = found or [c for c in every if all(dtypes[name][c] in _SAME_BYTES.get(kind, {kind}) for name, kind in given.items())]
        if found:
            return found
        allowed = [", ".join(f"{name}: {dtypes[name][c]}" for name in given) for c in every]
        got = ", ".join(f"{name}: {kind}" for name, kind in given.items())
        raise InputError(f"{self.name} has no kernel for {got}", where=self.where, help="use one of: " + " | ".join(dict.fromkeys(allowed)))

    def _column_by_outputs(self, columns: Sequence[int], bound: Bound, inputs: Sequence[Any], given: Sequence[Any]) -> int:
        """Of columns that the inputs fit, the one with the given outputs' dtypes, else with those of InferDataType."""
        made = [[param.dtypes[column] for param in self.definition.outputs] for column in columns]
        if all(dtypes == made[0] for dtypes in made):
            return columns[0]
        wanted: list[str] | None = None
        if given:
            wanted = [dtype_name(places.flat([output])[0]) for output in given]
        elif self.definition.has_inferdtype:
            wanted = self.host.infer_dtype(self.definition.op_type, inputs, bound.attrs)
        return columns[made.index(wanted)] if wanted in made else columns[0]

    @property
    def where(self) -> str:
        """The signature, for errors."""
        return str(self.signature)
