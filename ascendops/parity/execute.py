"""One call of a candidate under observation: fresh inputs, poisoned outputs, guard zones, aliasing, changed inputs.

Every uninitialised tensor that the call allocates through torch (`torch.empty` and its kin), and every `out` buffer, is filled
with a pattern first. Two calls with different patterns show which elements the candidate never wrote.
"""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ascendops.errors import AscendOpsError, KernelCrash, KernelHang, TwinCheckError
from ascendops.loading import resolve
from ascendops.parity.calling import Outputs, Values, clone, invoke, named_tensors, outputs_of, takes_out
from ascendops.parity.zones import InputZones
from ascendops.worker import Worker

POISONS = (0xFF, 0x5A)  # nan in every float format, and a large number in every one
_GUARD = 64  # bytes before and after each `out` buffer
_GUARD_BYTE = 0xC3

_NO_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory|OOM", re.IGNORECASE)
_plain_empty = torch.empty  # never the poisoned one
OutSpec = tuple[tuple[int, ...], torch.dtype]


@dataclass
class Run:
    """What one call did.

    Attributes:
        outputs: Its tensors on the CPU, contiguous; empty if it failed.
        devices: Device type of each output as returned.
        mutated: Names of inputs whose storage changed.
        aliases: (output number, input name) pairs that share memory.
        overrun: Numbers of `out` buffers whose guard zones were written.
        trespassed: Names of inputs next to whose memory something was written.
        error: Message if the call raised, crashed or hung; `label` then says which (EXCEPTION, CRASH, HANG).
        info: What the runner knows besides the outputs (tiling key, findings, ...).
    """

    outputs: Outputs = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    mutated: tuple[str, ...] = ()
    aliases: tuple[tuple[int, str], ...] = ()
    overrun: tuple[int, ...] = ()
    trespassed: tuple[str, ...] = ()
    error: str = ""
    label: str = ""
    info: dict[str, Any] = field(default_factory=dict)


Runner = Callable[[Values, "int | None", "Sequence[OutSpec] | None"], Run]


def local_runner(candidate: Callable[..., Any]) -> Runner:
    """A runner that calls `candidate` in this process."""

    def run(values: Values, poison: int | None, outs: Sequence[OutSpec] | None) -> Run:
        return run_once(candidate, values, poison, outs)

    return run


def worker_runner(target: str, worker: Worker) -> Runner:
    """A runner that calls the function named `target` inside a worker made by `Worker("ascendops.parity.execute:remote")`."""

    def run(values: Values, poison: int | None, outs: Sequence[OutSpec] | None) -> Run:
        try:
            result = worker.call(target, dict(values), poison, outs)
        except KernelCrash as error:
            return failed(error, crash_label(error))
        except KernelHang as error:
            return failed(error, "HANG")
        assert isinstance(result, Run)
        return result

    return run


def remote(target: str, values: Values, poison: int | None, outs: Sequence[OutSpec] | None) -> Run:
    """`run_once` for a function given by name (what the worker calls)."""
    return run_once(resolve(target), values, poison, outs)


def run_once(
    candidate: Callable[..., Any], values: Values, poison: int | None, outs: Sequence[OutSpec] | None, in_place: bool = False
) -> Run:
    """One observed call of `candidate` on a copy of `values`, or on the values themselves.

    Args:
        poison: Byte to fill uninitialised memory with, or None to leave it alone.
        outs: Shape and dtype of each output; if given and the candidate takes `out`, it writes into such buffers.
    """
    zones = InputZones(0 if poison is None else poison)
    fresh = dict(values) if in_place else clone(values, zones.copy)
    before = _bytes_of(values)
    buffers = (
        [_guarded(spec, 0 if poison is None else poison) for spec in outs] if outs and takes_out(candidate, values) else []
    )
    extra = {} if not buffers else {"out": buffers[0] if len(buffers) == 1 else tuple(buffers)}
    try:
        if poison is None:
            result = invoke(candidate, fresh, **extra)
        else:
            with _poisoned(poison):
                result = invoke(candidate, fresh, **extra)
        returned = list(buffers) if buffers else outputs_of(result)
    except AscendOpsError as error:
        return failed(error, crash_label(error) if isinstance(error, KernelCrash) else _label_of(error))
    except Exception as error:  # noqa: BLE001  the boundary to the user's code
        label = "OUT_OF_MEMORY" if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)) else "EXCEPTION"
        return Run(error=f"{type(error).__name__}: {error}\n{_last_lines()}", label=label)
    return Run(
        outputs=[None if out is None else out.detach().cpu().contiguous().clone() for out in returned],
        devices=["" if out is None else out.device.type for out in returned],
        mutated=_changed(before, fresh),
        trespassed=zones.touched(fresh),
        aliases=tuple((i, name) for i, out in enumerate(returned) if out is not None for name in _overlaps(out, fresh)),
        overrun=tuple(i for i, buffer in enumerate(buffers) if not _guards_intact(buffer)),
    )


def failed(error: AscendOpsError, label: str) -> Run:
    """The run that ended with an error of the catalogue."""
    return Run(error="\n".join(filter(None, [error.what, error.why, error.help])), label=label)


def crash_label(error: KernelCrash) -> str:
    """CRASH, or OUT_OF_MEMORY for a process that the system killed."""
    return "OUT_OF_MEMORY" if "SIGKILL" in error.what else "CRASH"


def _label_of(error: AscendOpsError) -> str:
    if isinstance(error, TwinCheckError):
        return "FINDING"
    return "HANG" if isinstance(error, KernelHang) else "EXCEPTION"


def _last_lines() -> str:
    return "\n".join(traceback.format_exc().strip().splitlines()[-5:-1])


def _storage_bytes(tensor: torch.Tensor) -> torch.Tensor:
    storage = tensor.untyped_storage()
    return _plain_empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)


def _bytes_of(values: Values) -> dict[str, torch.Tensor]:
    return {name: _storage_bytes(tensor).cpu() for name, tensor in named_tensors(values)}


def _changed(before: dict[str, torch.Tensor], after: Values) -> tuple[str, ...]:
    return tuple(
        name for name, tensor in named_tensors(after) if not torch.equal(before[name], _storage_bytes(tensor).cpu())
    )


def _overlaps(out: torch.Tensor, values: Values) -> list[str]:
    place = out.untyped_storage().data_ptr()
    if out.numel() == 0 or place == 0:
        return []
    return [
        name
        for name, tensor in named_tensors(values)
        if tensor.numel() and tensor.untyped_storage().data_ptr() == place
    ]


def _guarded(spec: OutSpec, fill: int) -> torch.Tensor:
    shape, dtype = spec
    count = 1
    for dim in shape:
        count *= dim
    size = count * dtype.itemsize
    raw = torch.full((_GUARD + size + _GUARD,), _GUARD_BYTE, dtype=torch.uint8)
    raw[_GUARD : _GUARD + size] = fill
    return raw[_GUARD : _GUARD + size].view(dtype).view(shape)


def _guards_intact(buffer: torch.Tensor) -> bool:
    raw = _storage_bytes(buffer)
    start = buffer.storage_offset() * buffer.dtype.itemsize
    end = start + buffer.numel() * buffer.dtype.itemsize
    return bool((raw[:start] == _GUARD_BYTE).all()) and bool((raw[end:] == _GUARD_BYTE).all())


_FACTORIES = (
    (torch, ("empty", "empty_like", "empty_strided", "empty_permuted")),
    (torch.Tensor, ("new_empty", "new_empty_strided")),
)


@contextlib.contextmanager
def _poisoned(fill: int) -> Iterator[None]:
    """Fills what torch.empty and its kin return with one byte, while the context lasts.

    The functions are replaced by name; a dispatch mode would see calls from C++ as well, but importing it costs seconds.
    """

    def watch(original: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if isinstance(result, torch.Tensor) and result.layout == torch.strided and result.numel():
                _storage_bytes(result).fill_(fill)
            return result

        return made

    saved = [(home, name, getattr(home, name)) for home, names in _FACTORIES for name in names]
    try:
        for home, name, original in saved:
            setattr(home, name, watch(original))
        yield
    finally:
        for home, name, original in saved:
            setattr(home, name, original)
