"""Launches a compiled kernel library on the CPU twin: arguments in, findings and timeline out."""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import InputError, KernelCrash, KernelHang
from ascendops.spec import socs
from ascendops.twin.arguments import Arguments, BufferRow, GmBuffer
from ascendops.twin.diagnostics import Diagnostic, diagnose
from ascendops.twin.loaded import cores_of, entry_of, load, of_cube_cores, runtime, signature
from ascendops.twin.timeline import Timeline

if TYPE_CHECKING:
    from ascendops.twin.host import Tiling

__all__ = ["GmBuffer", "LaunchResult", "launch", "request", "result_of"]

# Bytes at the start of a workspace that belong to the system; GetUserWorkspace skips them.
RESERVED_WORKSPACE = {2201: 16 << 20}
RESERVED_WORKSPACE_ELSEWHERE = 2 << 20

TIMEOUT_S = 60.0  # of a launch, unless the caller says otherwise


@dataclass(frozen=True)
class LaunchResult:
    """What a launch on the CPU twin gave.

    Attributes:
        status: `ok`, or `abandoned`: a block was ended early because it would hang or trap on the device.
        diagnostics: Findings, the first block's first.
        timeline: Modelled instruction times, when a trace was asked for.
        seconds: Wall time on this machine. It says nothing about the device.
        high_water: Most bytes used of each local memory by one block (`UB`, `L1`, ...).
        soc: The SoC that was modelled.
    """

    status: str
    diagnostics: tuple[Diagnostic, ...]
    timeline: Timeline | None
    seconds: float
    high_water: dict[str, int]
    soc: str


class _Launch(ctypes.Structure):
    _fields_ = [
        ("entry", ctypes.c_void_p),
        ("entry_aic", ctypes.c_void_p),
        ("args", ctypes.POINTER(ctypes.c_void_p)),
        ("block_dim", ctypes.c_uint32),
        ("aic", ctypes.c_uint8),
        ("aiv", ctypes.c_uint8),
        ("cores", ctypes.c_uint32),
        ("tiling", ctypes.c_void_p),
        ("tiling_bytes", ctypes.c_uint64),
        ("tiling_key", ctypes.c_uint64),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_uint64),
        ("buffers", ctypes.POINTER(BufferRow)),
        ("buffer_count", ctypes.c_uint32),
        ("npu_arch", ctypes.c_uint32),
        *[(f"{memory}_bytes", ctypes.c_uint64) for memory in ("ub", "l1", "l0a", "l0b", "l0c", "bt", "fb")],
        ("reserved_workspace", ctypes.c_uint64),
        ("checks", ctypes.c_uint8),
        ("auto_sync", ctypes.c_uint8),
        ("trace", ctypes.c_uint8),
        ("threads", ctypes.c_uint32),
        ("timeout_s", ctypes.c_double),
    ]


def _workspace(size: int) -> GmBuffer:
    """An uninitialised workspace, 512-byte aligned as on the device; pages that are never touched cost nothing."""
    import mmap

    memory = mmap.mmap(-1, max(size, 1))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return GmBuffer(address, size, "workspace", undefined=True, blank=True, keep=memory)


def launch(
    library: str | Path,
    entry: str,
    args: Sequence[Any],
    *,
    block_dim: int,
    tiling: bytes = b"",
    tiling_key: int = 0,
    workspace_bytes: int = 0,
    soc: str | socs.Soc = socs.DEFAULT_SOC,
    checks: str = "error",
    auto_sync: bool = True,
    trace: bool = False,
    timeout_s: float = TIMEOUT_S,
    has_workspace: bool = True,
    has_tiling: bool = True,
    threads: int = 0,
) -> LaunchResult:
    """Runs a kernel on `block_dim` blocks of the CPU twin and waits for it.

    Args:
        library: A library made by `compilation.compile_kernel`.
        entry: Name of the exported kernel.
        args: Its parameters before workspace and tiling: GmBuffer, numbers, ctypes structures, or None for a null pointer.
        block_dim: Number of blocks.
        tiling: Bytes the tiling parameter points to.
        tiling_key: What TILING_KEY_IS compares with.
        workspace_bytes: Size of the workspace.
        soc: The SoC that is modelled.
        checks: `error` or `warn` (the same here: the caller decides what an error means) or `off`.
        auto_sync: Whether the compiler is taken to order scalar accesses with the other pipes.
        trace: Records every instruction and models its time.
        timeout_s: Seconds after which the launch is ended.
        has_workspace: Whether a workspace pointer follows `args`.
        has_tiling: Whether a tiling pointer comes last.
        threads: Blocks that run at once; 0: as many as this process may use cores.

    Raises:
        InputError: The arguments do not fit the kernel's parameters.
        KernelCrash: A block crashed.
        KernelHang: The time is over, or a block would never end and `checks` is `off`.
    """
    target = socs.resolve(soc) if isinstance(soc, str) else soc
    _check_options(entry, block_dim, checks, timeout_s)
    workspace, tiling_buffer = _workspace(workspace_bytes), GmBuffer.of_bytes(tiling, "tiling", padded=True)
    values = [*args, *([workspace] if has_workspace else []), *([tiling_buffer] if has_tiling else [])]
    twin = runtime(library)
    packed = Arguments(signature(library, entry), values, entry)
    launch_request = _request(library, entry, target, block_dim, tiling_key)
    launch_request.args, launch_request.buffers, launch_request.buffer_count = packed.array, packed.table(), len(packed)
    launch_request.tiling, launch_request.tiling_bytes = tiling_buffer.address, len(tiling)
    launch_request.workspace, launch_request.workspace_bytes = workspace.address if has_workspace else None, workspace_bytes
    launch_request.checks, launch_request.auto_sync, launch_request.trace = checks != "off", auto_sync, trace
    launch_request.threads, launch_request.timeout_s = threads, timeout_s
    twin.twin_launch(ctypes.byref(launch_request))
    report = json.loads(twin.twin_report())
    return result_of(report, entry, target, checks)


def request(library: str | Path, entry: str, tiling: Tiling, soc: socs.Soc) -> ctypes.Structure:
    """A launch (TwinLaunch) as `launch` makes it by default, without its arguments and memory: for callers in C++."""
    made = _request(library, entry, soc, tiling.block_dim, tiling.key)
    made.tiling_bytes, made.workspace_bytes = len(tiling.data), sum(tiling.workspaces)
    made.checks, made.auto_sync, made.timeout_s = True, True, TIMEOUT_S
    return made


def _request(library: str | Path, entry: str, soc: socs.Soc, block_dim: int, key: int) -> _Launch:
    """A launch without its arguments, memory and options."""
    made = _Launch.from_buffer_copy(_blank_request(str(library), load(library), entry, soc, key))
    made.block_dim = block_dim
    return made


@functools.lru_cache(maxsize=256)
def _blank_request(library: str, kernels: ctypes.CDLL, entry: str, soc: socs.Soc, key: int) -> _Launch:
    aic, aiv = cores_of(kernels, entry, key)
    cubes = of_cube_cores(library) if aic else kernels
    return _Launch(entry=entry_of(kernels, entry), entry_aic=entry_of(cubes, entry), tiling_key=key, **_soc_fields(soc, aic, aiv))


_FIXPIPE_BUFFER = {2201: 7168}  # all of it; the platform files of CANN name its first part, of 2 KB


def _soc_fields(soc: socs.Soc, aic: int, aiv: int) -> dict[str, int]:
    """The fields of a launch that the SoC decides, and the cores of one block."""
    return {
        "aic": aic, "aiv": aiv, "cores": max(1, soc.aic if aic else soc.vector_cores), "npu_arch": soc.npu_arch,
        "ub_bytes": soc.ub_bytes, "l1_bytes": soc.l1_bytes, "l0a_bytes": soc.l0a_bytes, "l0b_bytes": soc.l0b_bytes,
        "l0c_bytes": soc.l0c_bytes, "bt_bytes": max(soc.bt_bytes, 1024), "fb_bytes": _FIXPIPE_BUFFER.get(soc.npu_arch, 2048),
        "reserved_workspace": RESERVED_WORKSPACE.get(soc.npu_arch, RESERVED_WORKSPACE_ELSEWHERE),
    }  # fmt: skip


def _check_options(entry: str, block_dim: int, checks: str, timeout_s: float) -> None:
    if checks not in {"error", "warn", "off"}:
        raise InputError(f"{entry}: checks cannot be {checks!r}", help='use "error", "warn" or "off"')
    if not isinstance(timeout_s, (int, float)):
        raise InputError(f"{entry}: timeout_s must be a number of seconds, not {type(timeout_s).__name__} {timeout_s!r}", help="such as 60")
    if not isinstance(block_dim, int) or not 1 <= block_dim <= 65535:
        raise InputError(f"{entry}: block_dim cannot be {block_dim!r}", help="use 1 to 65535; op_host sets it with SetBlockDim")


def result_of(report: dict[str, Any], entry: str, soc: socs.Soc, checks: str) -> LaunchResult:
    """What the report of a launch (the JSON of `twin_report`) says.

    Raises:
        KernelCrash: A block crashed.
        KernelHang: The time was over, or a block would never have ended and `checks` is `off`.
    """
    diagnostics = diagnose(report)
    timeline = Timeline.from_report(report, soc) if report["blocks"] else None
    result = LaunchResult(report["status"], diagnostics, timeline, report["seconds"], report["high_water"], soc.name)
    if report["status"] == "ok" or (report["status"] == "abandoned" and checks != "off"):
        return result
    wanted = {"crash": "CRASH", "hang": "HANG"}.get(report["status"])
    first = next((d for d in diagnostics if d.id == wanted), diagnostics[0] if diagnostics else None)
    where = f"{first.file}:{first.line}" if first and first.file else entry
    error = KernelCrash if report["status"] == "crash" else KernelHang
    raise error(
        f"the kernel {entry}: {first.message if first else report['status']}",
        where=where,
        why="\n".join(str(d) for d in diagnostics[:5]),
        help=f"ascendops explain {first.id}" if first else None,
    )
