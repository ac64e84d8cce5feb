"""Compiled CPU registration: C++ kernels for the CPU and Autograd keys, which run the twin without going through Python.

One library of boxed kernels serves every schema, so that an operator needs no compilation of its own. A call whose shapes, dtypes and
attributes an earlier call had takes what op_host decided then, allocates its outputs and launches the twin, all in C++ (src/call.h).
Anything else goes to the operator's Python kernel, registered as `<namespace>_python::<name>`, which hands its plan over. Gradients,
Meta, vmap, autocast and the variants are those of the Python registration.
"""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ascendops import progress, resources
from ascendops.build.operator import Operator
from ascendops.errors import RegistrationError
from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import compile_error
from ascendops.twin import launch, loaded
from ascendops.twin.diagnostics import raise_for_findings

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec
    from ascendops.torchlib.kernels import Entry

_SOURCES = Path(__file__).parent / "src"
_FLAGS = ("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-w")
_judge: list[torch.library.Library] = []


def python_namespace(namespace: str) -> str:
    """Where the Python kernels behind compiled ones are registered."""
    return f"{namespace}_python"


def refusal(operator: Operator) -> str | None:
    """Why an operator has no compiled kernel; None: it can have one."""
    spec = operator.spec
    if spec is None:
        return "it has no op.toml"
    if operator.backend != "twin":
        return f"it is built for {operator.backend}"
    if any(tensor.mutated for tensor in spec.inputs) or not spec.schema.returns:
        return "it writes to an input"
    if any(tensor.variadic for tensor in spec.outputs):
        return "it returns a list of tensors"
    return None


@dataclass(frozen=True)
class Native:
    """The loaded library of compiled kernels, one for all operators of the process.

    Attributes:
        library: It, for its C functions.
    """

    library: ctypes.CDLL

    def register(self, spec: OpSpec, namespace: str) -> None:
        """Registers the operator's kernels for the CPU and, if it has a gradient, Autograd keys.

        Raises:
            RegistrationError: PyTorch refused them.
        """
        from ascendops.torchlib import gradients as grads

        kinds = "".join("t" if argument.is_tensor else "a" for argument in spec.schema.arguments)
        inputs, outputs = ([tensor.name.encode() for tensor in tensors] for tensors in (spec.inputs, spec.outputs))
        problem = self.library.ascendops_cpu_register(
            namespace.encode(), spec.name.encode(), kinds.encode(), (ctypes.c_char_p * len(inputs))(*inputs), len(inputs),
            (ctypes.c_char_p * len(outputs))(*outputs), len(outputs), int(grads.applies(spec)),
        )  # fmt: skip
        if problem is not None:
            raise RegistrationError(f"{namespace}::{spec.name} cannot have compiled kernels", why=problem.decode(errors="replace"))

    def keep(self, entry: Entry, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Hands the plan of the call that has just run to the C++ kernel that waits for it, if the next call like it can do without Python."""
        operator = entry.operator
        definition = operator.definition
        if any(p.init_value or p.shape_depends_on_compute or p.param_type == "dynamic" for p in definition.outputs):
            return
        bound = operator.signature.bind(args, kwargs)
        plan = operator.plans.get(operator.plans.key(bound, operator._tensors(bound)))
        if plan is None or plan.tiling is None:
            return
        request = launch.request(operator.kernels[plan.column], operator.entry, plan.tiling, operator.soc)
        runtime = _runtime(operator.kernels[plan.column])
        self.library.ascendops_cpu_keep(ctypes.byref(request), runtime.twin_launch, runtime.twin_report, plan.tiling.data)

    def forget(self, qualified: str) -> None:
        """Drops the plans of an operator that was built again."""
        self.library.ascendops_cpu_forget(qualified.encode())

    def plans(self, qualified: str) -> int:
        """How many kinds of calls of `namespace::name` go without Python by now."""
        return int(self.library.ascendops_cpu_plans(qualified.encode()))


def _runtime(kernel: Path) -> ctypes.CDLL:
    """The runtime whose functions launch a kernel and report about it."""
    return loaded.runtime(kernel)


def load(specs: Sequence[OpSpec], namespace: str) -> Native:
    """Registers compiled kernels of these operators; the library is compiled once for each version of PyTorch (about 15 s), then from the cache.

    Raises:
        CompilerNotFound: There is no C++ compiler.
        CompileError: It does not compile with this PyTorch.
        RegistrationError: PyTorch refused the kernels of an operator.
    """
    native = _loaded()
    for spec in specs:
        native.register(spec, namespace)
    return native


@functools.cache
def _loaded() -> Native:
    path = _compiled()
    _register_judge()
    torch.ops.load_library(str(path))
    library = ctypes.CDLL(str(path))
    library.ascendops_cpu_register.restype = ctypes.c_char_p
    text, texts, number = ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t
    library.ascendops_cpu_register.argtypes = [text, text, text, texts, number, texts, number, ctypes.c_int]
    library.ascendops_cpu_plans.restype = ctypes.c_uint64
    return Native(library)


def _compiled() -> Path:
    root, compiler = Path(torch.__file__).parent, cxx.find_compiler()
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    folders = (resources.twin("include"), root / "include", root / "include/torch/csrc/api/include")
    command = [compiler.path, *_FLAGS, abi, *(f"-I{folder}" for folder in folders), "-shared", str(_SOURCES / "cpu.cpp")]
    files = [*sorted(_SOURCES.iterdir()), resources.twin("include") / "ascendc_twin" / "launch_abi.h"]

    def make(stage: Path) -> list[Path]:
        progress.tell(f"compiling the torch registration, once for torch {torch.__version__}: about 20 s")
        outcome = cxx.run([*command, "-o", str(stage / "cpu.so"), f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu", *cxx.loaded_runtime()])
        if outcome.returncode != 0:
            raise compile_error(outcome, f"the compiled CPU kernels for torch {torch.__version__}")
        return files

    return cache.publish("torch", cache.digest(compiler.identity, torch.__version__, *command), make).path / "cpu.so"


def _register_judge() -> None:
    """`ascendops_twin::judge`, which a compiled kernel calls when its launch found something: raises what the Python kernel would raise."""
    if _judge:
        return
    library = torch.library.Library("ascendops_twin", "FRAGMENT")
    library.define("judge(str op, str report) -> ()")

    def judge(op: str, report: str) -> None:
        from ascendops.torchlib import registry

        operator = registry.entry(op).operator
        result = launch.result_of(json.loads(report), operator.entry, operator.soc, "error")
        raise_for_findings(operator.name, result.diagnostics)

    library.impl("judge", judge, "CompositeExplicitAutograd")
    _judge.append(library)
