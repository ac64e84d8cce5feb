"""The second implementation that a case is compared with: a Triton kernel, or the golden in torch's own dtypes."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import KernelCrash, KernelHang, UnknownReference, WorkerError, did_you_mean
from ascendops.worker import Worker

if TYPE_CHECKING:
    import torch

    from ascendops.parity.bundle import Bundle
    from ascendops.spec.model import OpSpec

KINDS = ("auto", "triton", "cuda", "torch", "none")
_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Answer:
    """The reference's outputs, or None and the reason why it did not run; `how` says what ran, e.g. `Triton interpreter`.

    `samples` has (flat indices, values) per output where a bundle holds only a part of them.
    """

    outputs: list[torch.Tensor | None] | None
    reason: str = ""
    how: str = ""
    samples: list[Any] | None = None


@dataclass
class Reference:
    """The reference of one operator, in its own worker process.

    Attributes:
        kind: `triton`, `cuda`, `torch`, `bundle` or `none`.
        target: `file.py:function`.
        missing: Why it cannot run at all, or empty.
        bundle: The golden bundle, for kind `bundle`.
    """

    kind: str
    target: str = ""
    missing: str = ""
    bundle: Bundle | None = field(default=None, repr=False)
    _worker: Worker | None = field(default=None, repr=False)

    def __call__(self, values: Mapping[str, Any], case: str = "") -> Answer:
        """The reference's outputs for a case's values; `case` is its id, by which a bundle names it in errors.

        Raises:
            BundleInputs: A bundle has this case with other inputs.
        """
        return self.ask(values, case)()

    def ask(self, values: Mapping[str, Any], case: str = "") -> Callable[[], Answer]:
        """Starts the reference on a case's values; what it returns waits for the outputs.

        Raises:
            BundleInputs: A bundle has this case with other inputs.
        """
        if self.bundle is not None:
            recorded = _recorded(self.bundle, case, values)
            return lambda: recorded
        if self.missing or self.kind == "none":
            return lambda: Answer(None, self.missing)
        self.start()
        assert self._worker is not None
        try:
            self._worker.begin(self.target, dict(values))
        except (KernelCrash, KernelHang) as error:
            failed = Answer(None, error.what)
            return lambda: failed
        return functools.cache(self._collect)

    def _collect(self) -> Answer:
        assert self._worker is not None
        try:
            outputs, how = self._worker.collect()
        except (KernelCrash, KernelHang, WorkerError) as error:
            return Answer(None, error.what)
        return Answer(outputs, how=how)

    def start(self) -> None:
        """Starts the worker without waiting for it, if this reference can run."""
        if self._worker is None and self.target:
            target = f"ascendops.testing.reference:call_{self.kind}"
            self._worker = Worker(
                target, env={"OMP_NUM_THREADS": "1"}, timeout_s=_TIMEOUT_S, label=f"the {self.kind} reference"
            )
            self._worker.start()

    def close(self) -> None:
        """Ends the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def choose(spec: OpSpec, wanted: str) -> Reference:
    """The reference of an operator for `--reference wanted`: auto takes Triton where op.toml declares it.

    Raises:
        UnknownReference: `wanted` is neither known nor a folder.
        BundleStale: The bundle was recorded from another declaration or source; other errors of bundles likewise.
    """
    if wanted not in KINDS:
        if not Path(wanted).is_dir():
            raise UnknownReference(
                f"reference '{wanted}' is neither known nor the folder of a bundle", help=did_you_mean(wanted, KINDS)
            )
        return _bundle(spec, Path(wanted))
    if wanted == "none":
        return Reference("none")
    if wanted == "torch":
        return Reference("torch", f"{spec.root / 'golden.py'}:{golden_name(spec)}")
    return _cuda(spec) if wanted == "cuda" else _triton(spec)


def _triton(spec: OpSpec) -> Reference:
    target = declared(spec, "triton")
    if target is None:
        return Reference("triton", missing="op.toml declares no Triton reference")
    path = Path(target.rpartition(":")[0])
    if not path.is_file():
        return Reference("triton", missing=f"{path} does not exist")
    if importlib.util.find_spec("triton") is None:
        return Reference("triton", missing="triton is not installed")
    return Reference("triton", target)


def _cuda(spec: OpSpec) -> Reference:
    from ascendops import resources

    shipped = resources.cuda_reference() / spec.name / f"{spec.name}.cu"
    target = declared(spec, "cuda") or (f"{shipped}:{spec.name}" if shipped.is_file() else None)
    if target is None:
        return Reference("cuda", missing="op.toml declares no CUDA reference")
    if shutil.which("nvcc") is None:
        return Reference("cuda", missing="nvcc is not here, so the CUDA reference cannot be compiled")
    return Reference("cuda", target)


def _bundle(spec: OpSpec, folder: Path) -> Reference:
    from ascendops.parity import bundle
    from ascendops.testing.record import check

    found = bundle.load(folder, spec.name)
    check(found, spec, declared(spec, "triton") if found.how.startswith("Triton") else None)
    return Reference("bundle", bundle=found)


def declared(spec: OpSpec, kind: str) -> str | None:
    """`path:function` of the reference of this kind that op.toml declares."""
    target = spec.reference.get(kind)
    return f"{spec.root / target}" if target else None


def _recorded(bundle: Bundle, case: str, values: Mapping[str, Any]) -> Answer:
    entry = bundle.find(case, values)
    if entry is None:
        return Answer(None, bundle.left_out.get(case, "the bundle does not have the case"))
    how = f"recorded: {bundle.how}"
    outputs = bundle.outputs(entry)
    if outputs is None:
        return Answer(None, "the bundle has a sample of the outputs", how, bundle.samples(entry))
    return Answer(outputs, how=how)


def call_triton(target: str, values: dict[str, Any]) -> tuple[list[Any], str]:
    """Runs a Triton reference: natively where CUDA is, else in Triton's interpreter with the bfloat16 repair."""
    import torch

    from ascendops.loading import resolve
    from ascendops.parity.calling import invoke, map_tensors, outputs_of
    from ascendops.testing import triton_interp

    native = torch.cuda.is_available()
    if not native:
        triton_interp.activate()
    function = resolve(target)
    if native:
        result = invoke(function, map_tensors(values, lambda tensor: tensor.cuda()))
        how = f"Triton on {torch.cuda.get_device_name()}"
    else:
        result = invoke(function, values)
        how = "Triton interpreter on the CPU"
    return [None if out is None else out.detach().cpu() for out in outputs_of(result)], how


def call_cuda(target: str, values: dict[str, Any]) -> tuple[list[Any], str]:
    """Compiles a CUDA C++ reference and runs it; it registers its function as torch.ops.ascendops_cuda.NAME."""
    import torch

    from ascendops.parity.calling import map_tensors, outputs_of
    from ascendops.testing.nvcc import load

    function = load(target)
    arguments = map_tensors(values, lambda tensor: tensor.cuda())
    result = function(*arguments.values())
    how = f"CUDA C++ on {torch.cuda.get_device_name()}"
    return [None if out is None else out.detach().cpu() for out in outputs_of(result)], how


def call_torch(target: str, values: dict[str, Any]) -> tuple[list[Any], str]:
    """Runs golden.py on the inputs as they are, so that torch computes in their own dtypes."""
    from ascendops.loading import resolve
    from ascendops.parity.calling import invoke, outputs_of

    return outputs_of(invoke(resolve(target), values)), "torch on the CPU"


def golden_name(spec: OpSpec) -> str:
    """The function of golden.py that says what an operator means: `golden` for the first one of op.toml, else the operator's name."""
    return "golden" if spec.name == spec.project else spec.name


def golden_of(spec: OpSpec) -> Any:
    """The operator's function of the project's golden.py.

    Raises:
        GoldenError: There is no such file or function, or the file does not import.
    """
    return golden_function(spec, golden_name(spec))


def golden_function(spec: OpSpec, name: str) -> Any:
    """A function of the project's golden.py; of goldens for TTK, the one that is registered for the operator.

    Raises:
        GoldenError: There is no such file or function, or the file does not import.
    """
    from ascendops.errors import GoldenError
    from ascendops.loading import load_file

    path: Path = spec.root / "golden.py"
    if not path.is_file():
        raise GoldenError(
            f"{spec.name} has no golden.py", where=str(path), why="results are judged against a float64 golden",
            help=f"write it with a function `{golden_name(spec)}` that takes the inputs in float64, then the attributes",
        )  # fmt: skip
    try:
        module = load_file(path)
    except Exception as error:  # the boundary to the user's code
        raise GoldenError(f"golden.py cannot be imported: {type(error).__name__}: {error}", where=str(path)) from error
    if callable(getattr(module, name, None)):
        return getattr(module, name)
    registered = ttk_golden(module, spec)
    if registered is not None and name == golden_name(spec):
        return registered
    raise GoldenError(f"golden.py defines no function `{name}`", where=str(path), help="it takes the inputs in float64, then the attributes")


def ttk_golden(module: Any, spec: OpSpec) -> Any:
    """The golden that a module registers for CANN's operator test kit (`__spec__` or `__golden__`), taking tensors; None if it registers none for the operator."""
    from ascendops.spec.names import snake

    names = dict.fromkeys((spec.name, spec.name.removesuffix("_custom"), snake(spec.op_type)))
    classes = module.__spec__ if isinstance(module.__spec__, dict) else {}  # else it is Python's own, of the import
    functions = getattr(module, "__golden__", {}).get("kernel", {})
    for name in names:
        if name in classes:
            return _numpy_golden(getattr(module, classes[name]).golden, spec)
        if name in functions:
            return _numpy_golden(getattr(module, functions[name]), spec)
    return None


def _numpy_golden(function: Any, spec: OpSpec) -> Any:
    """A golden of the test kit takes NumPy arrays and keywords about the case, and returns an array or several."""

    def golden(*tensors: Any, **attrs: Any) -> Any:
        arrays = [tensor if tensor is None else [one.numpy() for one in tensor] if isinstance(tensor, (list, tuple)) else tensor.numpy() for tensor in tensors]
        about = {"input_dtypes": [str(getattr(array, "dtype", None)) for array in arrays], "output_dtypes": ["float64"] * len(spec.outputs)}
        return function(*arrays, **attrs, **about)

    return golden
