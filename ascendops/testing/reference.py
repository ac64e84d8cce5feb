"""The second implementation that a case is compared with: a Triton kernel, or the golden in torch's own dtypes."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import KernelCrash, KernelHang, UnknownReference, WorkerError, did_you_mean
from ascendops.worker import Worker

if TYPE_CHECKING:
    import torch

    from ascendops.spec.model import OpSpec

KINDS = ("auto", "triton", "torch", "none")
_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Answer:
    """The reference's outputs, or None and the reason why it did not run; `how` says what ran, e.g. `Triton interpreter`."""

    outputs: list[torch.Tensor | None] | None
    reason: str = ""
    how: str = ""


@dataclass
class Reference:
    """The reference of one operator, in its own worker process.

    Attributes:
        kind: `triton`, `torch` or `none`.
        target: `file.py:function`.
        missing: Why it cannot run at all, or empty.
    """

    kind: str
    target: str = ""
    missing: str = ""
    _worker: Worker | None = field(default=None, repr=False)

    def __call__(self, values: Mapping[str, Any]) -> Answer:
        """The reference's outputs for a case's values."""
        if self.missing or self.kind == "none":
            return Answer(None, self.missing)
        self.start()
        assert self._worker is not None
        try:
            outputs, how = self._worker.call(self.target, dict(values))
        except (KernelCrash, KernelHang, WorkerError) as error:
            return Answer(None, error.what)
        return Answer(outputs, how=how)

    def start(self) -> None:
        """Starts the worker without waiting for it, if this reference can run."""
        if self._worker is None and self.target:
            function = "call_triton" if self.kind == "triton" else "call_torch"
            target = f"ascendops.testing.reference:{function}"
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
        UnknownReference: `wanted` is not known.
    """
    if wanted not in KINDS:
        raise UnknownReference(f"reference '{wanted}' is not known", help=did_you_mean(wanted, KINDS))
    if wanted == "none":
        return Reference("none")
    if wanted == "torch":
        return Reference("torch", f"{spec.root / 'golden.py'}:{golden_name(spec)}")
    declared = spec.reference.get("triton")
    if not declared:
        return Reference("triton", missing="op.toml declares no Triton reference")
    file, _, function = declared.rpartition(":")
    path = spec.root / file
    if not path.is_file():
        return Reference("triton", missing=f"{path} does not exist")
    if importlib.util.find_spec("triton") is None:
        return Reference("triton", missing="triton is not installed")
    return Reference("triton", f"{path}:{function}")


def call_triton(target: str, values: dict[str, Any]) -> tuple[list[Any], str]:
    """Runs a Triton reference: natively where CUDA is, else in Triton's interpreter with the bfloat16 repair."""
    import torch

    from ascendops.parity.calling import invoke, map_tensors, outputs_of
    from ascendops.testing import triton_interp
    from ascendops.worker import resolve

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


def call_torch(target: str, values: dict[str, Any]) -> tuple[list[Any], str]:
    """Runs golden.py on the inputs as they are, so that torch computes in their own dtypes."""
    from ascendops.parity.calling import invoke, outputs_of
    from ascendops.worker import resolve

    return outputs_of(invoke(resolve(target), values)), "torch on the CPU"


def golden_name(spec: OpSpec) -> str:
    """The function of golden.py that says what an operator means: `golden` for the first one of op.toml, else the operator's name."""
    return "golden" if spec.name == spec.project else spec.name


def golden_of(spec: OpSpec) -> Any:
    """The operator's function of the project's golden.py.

    Raises:
        GoldenError: There is no such file or function, or the file does not import.
    """
    from ascendops.errors import GoldenError
    from ascendops.worker import load_file

    path: Path = spec.root / "golden.py"
    try:
        module = load_file(path)
    except Exception as error:  # the boundary to the user's code
        raise GoldenError(f"golden.py cannot be imported: {type(error).__name__}: {error}", where=str(path)) from error
    name = golden_name(spec)
    if not callable(getattr(module, name, None)):
        raise GoldenError(
            f"golden.py defines no function `{name}`",
            where=str(path),
            help="it takes the inputs in float64, then the attributes",
        )
    return getattr(module, name)
