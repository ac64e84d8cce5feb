"""Raw kernels: compile one Ascend C source, launch its entry functions on arrays."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ascendops.errors import InputError
from ascendops.spec import socs
from ascendops.twin import compilation as cc, includes
from ascendops.twin.diagnostics import raise_for_findings
from ascendops.twin.entries import exported, pick_entry
from ascendops.twin.launch import GmBuffer, LaunchResult, launch
from ascendops.twin.loaded import signature
from ascendops.words import plural


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel source.

    Attributes:
        path: The source.
        library: The compiled library.
        entries: Names of its entry functions.
        soc: The SoC it models.
        symbols: C name of each entry in the library.
    """

    path: Path
    library: Path
    entries: tuple[str, ...]
    soc: socs.Soc
    symbols: Mapping[str, str] = field(default_factory=dict)

    def launch(
        self,
        name: str | None = None,
        *,
        block_dim: int,
        args: Sequence[Any],
        tiling: bytes | None = None,
        workspace_bytes: int = 0,
        tiling_key: int = 0,
        checks: str = "error",
        auto_sync: bool = True,
        trace: bool = False,
        timeout_s: float = 60.0,
    ) -> LaunchResult:
        """Runs one entry function on `block_dim` blocks.

        Args:
            name: The entry function; may be left out when there is one. An instance of a template: `add<half, 64>`, or `add` for its only one.
            block_dim: Number of blocks.
            args: The kernel's parameters in order without workspace and tiling: torch or NumPy arrays become GM pointers
                (contiguous; written in place), ints and floats are passed by value with the parameter's own type, bytes (or a
                ctypes.Structure, or an element of a structured array) are a struct by value, None is a null pointer.
            tiling: Bytes that the last parameter points to.
            workspace_bytes: Bytes of the workspace parameter, which comes before tiling.
            tiling_key: Value that TILING_KEY_IS compares with.
            checks: `error`, `warn` or `off`.
            auto_sync: Models the compiler's --cce-auto-sync.
            trace: Records a timeline.
            timeout_s: Seconds after which the kernel counts as hanging.

        Raises:
            InputError: Arguments that do not fit the kernel's parameters.
            TwinCheckError: The kernel has a fault.
            KernelCrash: The kernel crashed.
            KernelHang: The kernel did not end in time.
        """
        entry = pick_entry(self.entries, name, self.path)
        symbol = cc.symbol(self.symbols.get(entry, entry))
        if workspace_bytes < 0:
            raise InputError(f"workspace_bytes must not be negative, it is {workspace_bytes}", where=str(self.path))
        if tiling is not None and not isinstance(tiling, (bytes, bytearray, memoryview)):
            raise InputError(f"tiling must be bytes, not {type(tiling).__name__}", where=str(self.path))
        letters = signature(self.library, symbol)
        values = [_argument(value, index, entry) for index, value in enumerate(args)]
        extra = len(letters) - len(values)
        if extra < 0 or extra > 2 or (extra == 0 and tiling is not None) or (extra == 1 and tiling is not None and workspace_bytes):
            raise InputError(
                f"{entry} has {plural(len(letters), 'parameter')}, given: {plural(len(values), 'argument')}"
                + (" and a workspace" if workspace_bytes else "") + (" and tiling bytes" if tiling is not None else ""),
                where=str(self.path),
                help="args are the parameters before workspace and tiling, which are given by workspace_bytes= and tiling=",
            )  # fmt: skip
        result = launch(
            self.library, symbol, values, block_dim=block_dim, tiling=tiling or b"", tiling_key=tiling_key,
            workspace_bytes=workspace_bytes, soc=self.soc, checks=checks, auto_sync=auto_sync, trace=trace, timeout_s=timeout_s,
            has_workspace=extra == 2 or (extra == 1 and tiling is None), has_tiling=extra == 2 or (extra == 1 and tiling is not None),
        )  # fmt: skip
        if checks == "error":
            raise_for_findings(entry, result.diagnostics)
        return result


def _argument(value: Any, index: int, entry: str) -> GmBuffer | int | float | bytes | ctypes.Structure | None:
    """A GM buffer over the array's own memory, or the scalar or the bytes of the struct itself."""
    if value is None or isinstance(value, (int, float, bytes, ctypes.Structure, GmBuffer)):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if getattr(getattr(value, "dtype", None), "names", None) and value.ndim == 0:  # one element of a structured array
        record: bytes = value.tobytes()
        return record
    if hasattr(value, "data_ptr"):
        if not value.is_contiguous() or value.device.type != "cpu":
            raise InputError(f"argument {index} of {entry} must be a contiguous CPU tensor", help="pass x.contiguous().cpu()")
        return GmBuffer(value.data_ptr(), value.numel() * value.element_size(), f"argument {index}")
    if hasattr(value, "__array_interface__"):
        if value.ndim and not value.flags.writeable:
            raise InputError(f"argument {index} of {entry} is read-only, and kernels write in place", help="pass a copy")
        if not value.flags.c_contiguous:
            raise InputError(f"argument {index} of {entry} must be C-contiguous", help="pass numpy.ascontiguousarray(x)")
        if hasattr(value, "item") and value.ndim == 0 and not value.flags.writeable:
            scalar: int | float = value.item()
            return scalar
        return GmBuffer(value.ctypes.data, value.nbytes, f"argument {index}")
    kind = type(value).__name__
    raise InputError(f"argument {index} of {entry} is a {kind}", help="pass torch or NumPy arrays, ints, floats, the bytes of a struct or None")


def compile(  # noqa: A001  `ascendops.twin.compile` is the contract
    path: str | os.PathLike[str],
    *,
    soc: str = "Ascend910B1",
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    defines: Mapping[str, Any] | None = None,
    instances: Sequence[str] = (),
    sources: Sequence[str | os.PathLike[str]] = (),
) -> Kernel:
    """Compiles a kernel source for the CPU twin.

    Args:
        path: A .cpp or .asc with one or more `__global__` functions. Host code beside them (a main function, launches with <<<>>>,
            PyTorch bindings) is left out.
        soc: The SoC to model.
        include_dirs: Extra include folders; the source's own folder is always one.
        defines: Macros, such as `{"DTYPE_X": "half"}`.
        instances: Instances of template kernels to compile besides those that the file launches: `["add<half, 64>"]`.
        sources: Further sources, which define functions that the kernel declares and calls. They get the same macros and folders.

    Raises:
        InputError: The file is missing, has no entry function, or only templates without an instance.
        CompileError: The compiler refused it, or no source defines a function that is called.
        CompilerNotFound: There is no compiler.
    """
    source = Path(path).expanduser().absolute()
    if not source.is_file():
        raise InputError(f"no kernel source {source}", where=str(source))
    others = tuple(Path(other).expanduser().absolute() for other in sources)
    for other in others:
        if not other.is_file():
            raise InputError(f"no source {other}", where=str(other))
    found = exported(source, instances)
    target = socs.resolve(soc)
    folders = tuple(Path(folder).absolute() for folder in include_dirs)
    folders += includes.kernel_folders(source, (source.parent, *folders, source.parent))
    macros = {name: str(value) for name, value in (defines or {}).items()}
    symbols = {one.name: one.symbol for one in found}
    expressions = {one.symbol: one.expression for one in found}
    unit = cc.KernelSource(source, tuple(expressions), target, folders, macros, "", source.name, expressions=expressions, others=others)
    return Kernel(source, cc.compile_kernel(unit).path / "kernel.so", tuple(symbols), target, symbols)
