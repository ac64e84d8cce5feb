"""Operators that are built and installed for CANN: called on the device through aclnn, without torch_npu."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ascendops.build import acl, aclnn, outputs as places
from ascendops.build.operator import Operator
from ascendops.build.result import RunResult
from ascendops.build.twin import host_library, signature
from ascendops.errors import InputError, ToolchainMissing
from ascendops.spec import names
from ascendops.twin.diagnostics import Diagnostic

if TYPE_CHECKING:
    from ascendops.build.aclnn import Overrun
    from ascendops.build.call import Call
    from ascendops.build.project import Project
    from ascendops.spec.socs import Soc
    from ascendops.toolchain.cann import Toolkit

DEFAULT_TIMEOUT_S = 60.0
NOTE = "tiling key and block count are those of the operator's tiling function, run on this host; the device does not report them"


@dataclass
class InstalledOperator(Operator):
    """An operator of an installed package; called like one of the twin, with tensors on the host.

    Attributes:
        vendor: The folder of the installed package (an entry of ASCEND_CUSTOM_OPP_PATH).
        toolkit: Root of the toolkit.
    """

    backend: ClassVar[str] = "cann"

    vendor: Path = Path()
    toolkit: Path = Path()

    def execute(self, call: Call, options: Mapping[str, Any]) -> RunResult:
        """Copies the inputs to the device, runs the operator and copies the outputs back.

        `checks` says what happens when the kernel wrote outside its tensors, `timeout_s` after how long it hangs; `auto_sync` and `trace` have no
        effect: the build decided the one, and msprof traces a device.

        Raises:
            DeviceError: The runtime or the operator reports an error.
            KernelHang: The kernel did not end in time.
        """
        assert call.tiling is not None
        runtime, library = acl.runtime(self.toolkit), acl.operator_library(self.vendor)
        start = time.perf_counter()
        timeout_s = options.get("timeout_s", DEFAULT_TIMEOUT_S)
        given = aclnn.Given(call.tensors, call.attrs, call.outputs, call.column)
        done = aclnn.call(aclnn.Target(runtime, library, self.definition), given, timeout_s)
        seconds = time.perf_counter() - start
        places.copy_back(call.outputs, call.given)
        found = tuple(self._finding(one) for one in done.overruns) if options["checks"] != "off" else ()
        return RunResult(
            tuple(call.outputs), call.tiling.key, call.tiling.block_dim, call.tiling.data, done.workspace_bytes, found, None, seconds,
            runtime.soc, self.backend, (*call.notes, NOTE),
        )  # fmt: skip

    def times(self, *args: Any, repeats: int = 20, timeout_s: float = DEFAULT_TIMEOUT_S, **attrs: Any) -> list[float]:
        """Microseconds of `repeats` launches on the device, one by one, each after the L2 was overwritten; arguments as for a call.

        Raises:
            InputError: Arguments that the declaration does not allow, or outputs that are empty.
            DeviceError: The runtime or the operator reports an error.
            KernelHang: The kernel did not end in time.
        """
        call = self._prepare(self.signature.bind(args, attrs), None, None)
        if call.tiling is None:
            raise InputError(f"{self.name}: all outputs of these inputs are empty, so nothing is launched")
        target = aclnn.Target(acl.runtime(self.toolkit), acl.operator_library(self.vendor), self.definition)
        given = aclnn.Given(call.tensors, call.attrs, call.outputs, call.column)
        return aclnn.timed(target, given, timeout_s, repeats, 2 * self.soc.l2_bytes)

    def _finding(self, overrun: Overrun) -> Diagnostic:
        kind, severity = ("GM-PADDING", "warning") if overrun.harmless else ("GM-BOUNDS", "error")
        return Diagnostic(kind, severity, f"{overrun}; the device does not say by which line: run the case with --backend twin", None, 0, 0, 0, "")


@dataclass(frozen=True)
class ExtensionOperator:
    """An operator that an extension for torch_npu registers (gen/torch of a TBE project).

    Attributes:
        name: snake_case name.
        vendor: The folder of the package that holds its kernel.
    """

    name: str
    vendor: Path

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        """Calls torch.ops.ascendops.NAME; host tensors are moved to the NPU, and the results back.

        Raises:
            ToolchainMissing: No extension has registered the operator.
        """
        import torch

        if not hasattr(torch.ops.ascendops, self.name):
            raise ToolchainMissing(
                f"torch.ops.ascendops.{self.name} is not registered", where=str(self.vendor),
                help="on the Ascend host: pip install --no-build-isolation ./gen/torch, and import the package that it makes",
            )  # fmt: skip
        moved = [value.to("npu") if isinstance(value, torch.Tensor) else value for value in args]
        result = getattr(torch.ops.ascendops, self.name)(*moved, **attrs)
        if not any(isinstance(value, torch.Tensor) and value.device.type == "cpu" for value in args):
            return result
        return tuple(one.cpu() for one in result) if isinstance(result, (tuple, list)) else result.cpu()

    def run(self, *args: Any, out: Any = None, **options: Any) -> RunResult:
        """Like a call, as a result; the device reports neither tiling nor findings.

        Raises:
            ToolchainMissing: No extension has registered the operator.
        """
        import torch

        attrs = {name: value for name, value in options.items() if name not in ("checks", "auto_sync", "trace", "timeout_s")}
        start = time.perf_counter()
        result = self(*args, **attrs)
        outputs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        for target, value in zip([out] if isinstance(out, torch.Tensor) else out or (), outputs, strict=False):
            target.copy_(value)
        return RunResult(outputs, 0, 0, b"", 0, (), None, time.perf_counter() - start, "", "cann", ("the device reports no tiling key",))


def operators(project: Project, soc: Soc, toolkit: Toolkit, vendor: Path) -> dict[str, Operator]:
    """The operators of a project whose package is installed at `vendor`; op_host is compiled for this host too, for shapes and tiling.

    Raises:
        CompileError: op_host does not compile on this host.
    """
    host, _ = host_library(project, soc)
    found: dict[str, Operator] = {}
    for declared in host.ops.values():
        definition = declared.for_unit(soc.unit)
        name = names.snake(definition.op_type)
        spec = next((op for op in project.specs if op.op_type == definition.op_type), None)
        found[name] = InstalledOperator(name, definition, signature(name, definition, spec), soc, host, (), "", spec, vendor, toolkit.root)
    return found
