"""The host side of an operator on the CPU twin: OpDef, InferShape, InferDataType and the tiling function, compiled from op_host."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendops.errors import CompileError, InputError, KernelCrash, KernelHang, OpHostError, did_you_mean
from ascendops.spec import socs
from ascendops.twin.host_platform import platform_text
from ascendops.twin.host_request import HostTensor, TensorArg, pack
from ascendops.twin.opdef import OpAttr, OpDef, OpParam, TilingField, TilingStruct
from ascendops.twin.opdef_read import dtype_name, parse_op
from ascendops.twin.symbols import demangle, locate
from ascendops.twin.tiling_header import header
from ascendops.words import plural

__all__ = ["HostLibrary", "HostTensor", "OpAttr", "OpDef", "OpParam", "Tiling", "TilingField", "TilingStruct"]

_INFER_SHAPE, _INFER_DTYPE, _TILING = 0, 1, 2
_NAMES = {_INFER_SHAPE: "InferShape", _INFER_DTYPE: "InferDataType", _TILING: "the tiling function"}


@dataclass(frozen=True)
class Tiling:
    """What a tiling function decided.

    Attributes:
        key: Tiling key.
        block_dim: Number of blocks (cores) to launch.
        data: Bytes of the tiling struct.
        workspaces: Sizes of the GM workspaces, in bytes.
        schedule_mode: 1 when all blocks must run at once.
        notes: Remarks of the twin, such as an attribute read with the wrong type.
    """

    key: int
    block_dim: int
    data: bytes
    workspaces: list[int]
    schedule_mode: int = 0
    need_atomic: bool = False
    local_memory: int = 0
    notes: tuple[str, ...] = ()


class _Runtime:
    """The host runtime library, loaded once, with the SoCs it has been told of."""

    def __init__(self, path: Path) -> None:
        self.lib = ctypes.CDLL(str(path))
        self.lib.ascendops_host_open.restype = ctypes.c_void_p
        self.lib.ascendops_host_answer.restype = ctypes.c_char_p
        self.lib.ascendops_host_describe.restype = ctypes.c_char_p
        self.lib.ascendops_host_describe.argtypes = [ctypes.c_void_p]
        self.lib.ascendops_host_call.restype = ctypes.c_char_p
        self.lib.ascendops_host_call.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_double, ctypes.c_char_p, ctypes.c_size_t,
        ]  # fmt: skip
        self.platforms: dict[str, int] = {}
        self.platform(socs.resolve(socs.DEFAULT_SOC))

    def platform(self, soc: socs.Soc) -> int:
        """Number of a SoC in the runtime."""
        with _lock:
            if soc.name not in self.platforms:
                self.platforms[soc.name] = self.lib.ascendops_host_platform(platform_text(soc).encode())
            return self.platforms[soc.name]


_lock = threading.Lock()
_runtimes: dict[str, _Runtime] = {}  # by file name, which has a hash of the build


def _runtime(path: Path) -> _Runtime:
    if path.name not in _runtimes:
        _runtimes[path.name] = _Runtime(path.resolve())
    return _runtimes[path.name]


class HostLibrary:
    """A compiled op_host library.

    Args:
        path: The library of the op_host sources.
        runtime: The host runtime (twin/hostrt), compiled; by default the cached one.

    Raises:
        CompileError: It uses a function that no source defines.
        OpHostError: It cannot be loaded, or declares an operator that the Ascend tools would refuse.
        KernelCrash: Its OpDef code crashed.
    """

    def __init__(self, path: Path | str, runtime: Path | str | None = None) -> None:
        if runtime is None:
            from ascendops.twin.compilation import host_runtime_library

            runtime = host_runtime_library()
        self.path = Path(path).resolve()
        self._runtime = _runtime(Path(runtime))
        self._handle = self._runtime.lib.ascendops_host_open(str(self.path).encode())
        if not self._handle:
            self._raise("loading", self._runtime.lib.ascendops_host_answer(), "")
        answer = self._runtime.lib.ascendops_host_describe(self._handle)
        described = self._checked("the OpDef code", answer, "")
        problems: list[str] = []
        self.ops: dict[str, OpDef] = {raw["type"]: parse_op(raw, problems) for raw in described["ops"]}
        if problems:
            help_text = "give each input and output the same number of entries, or use DataTypeList and FormatList"
            raise OpHostError(problems[0], where=str(self.path), help=help_text)

    def op(self, op_type: str) -> OpDef:
        """The definition of an operator.

        Raises:
            InputError: The library has none of that name.
        """
        if op_type not in self.ops:
            raise InputError(f"the library has no operator '{op_type}'", where=str(self.path), help=did_you_mean(op_type, self.ops))
        return self.ops[op_type]

    def infer_shape(
        self, op_type: str, inputs: Sequence[TensorArg], attrs: Mapping[str, Any] | None = None, *,
        output_counts: Sequence[int] | None = None, timeout_s: float = 10.0,
    ) -> list[tuple[int, ...]]:  # fmt: skip
        """Output shapes by the operator's InferShape (or its Follow declarations).

        Args:
            op_type: Name in OP_ADD.
            inputs: One entry per declared input: a tensor, a list of them for a dynamic one, None for an absent one.
            attrs: Attribute values by name; missing ones get their default.
            output_counts: Tensors of each declared output; a dynamic output has as many as the first dynamic input.
            timeout_s: Seconds after which the function counts as hanging.

        Raises:
            InputError: Inputs or attributes that the declaration does not allow.
            OpHostError: The function returned a failure or threw, or there is none.
            KernelCrash: It crashed.
            KernelHang: It did not return in time.
        """
        return self.inferred_shapes(op_type, inputs, attrs, output_counts=output_counts, timeout_s=timeout_s)[0]

    def inferred_shapes(
        self, op_type: str, inputs: Sequence[TensorArg], attrs: Mapping[str, Any] | None = None, *,
        output_counts: Sequence[int] | None = None, timeout_s: float = 10.0,
    ) -> tuple[list[tuple[int, ...]], bool]:  # fmt: skip
        """As `infer_shape`, and whether the function set a shape at all: callers of aclnn bring outputs, so some functions set none."""
        op = self.op(op_type)
        followed = _followed_shapes(op, inputs)
        if not op.has_infershape and followed is not None:
            return followed, True
        outputs = _blank_outputs(op, inputs, output_counts)
        answer = self._call(op, _INFER_SHAPE, inputs, outputs, attrs or {}, None, False, timeout_s)
        return [tuple(shape) for shape in answer["shapes"]], bool(answer["touched"]) or not outputs

    def infer_dtype(
        self, op_type: str, inputs: Sequence[TensorArg], attrs: Mapping[str, Any] | None = None, *,
        output_counts: Sequence[int] | None = None, timeout_s: float = 10.0,
    ) -> list[str]:  # fmt: skip
        """Output dtypes (torch names) by the operator's InferDataType; arguments and errors as in `infer_shape`."""
        op = self.op(op_type)
        outputs = _blank_outputs(op, inputs, output_counts)
        answer = self._call(op, _INFER_DTYPE, inputs, outputs, attrs or {}, None, False, timeout_s)
        return [dtype_name(name) for name in answer["dtypes"]]

    def tiling(
        self, op_type: str, inputs: Sequence[TensorArg], outputs: Sequence[TensorArg], attrs: Mapping[str, Any] | None = None,
        soc: socs.Soc | str = socs.DEFAULT_SOC, *, deterministic: bool = False, timeout_s: float = 10.0,
    ) -> Tiling:  # fmt: skip
        """Runs the operator's tiling function for one SoC; arguments and errors as in `infer_shape`."""
        op = self.op(op_type)
        target = socs.resolve(soc) if isinstance(soc, str) else soc
        answer = self._call(op, _TILING, inputs, _outputs(op, outputs), attrs or {}, target, deterministic, timeout_s)
        called = _call_text(op, inputs, attrs or {})
        if answer["data_size"] > answer["capacity"]:
            what = f"the tiling function of {op_type} set a data size of {answer['data_size']} bytes"
            raise OpHostError(what, why=f"the tiling buffer has {answer['capacity']} bytes\n{called}")
        if answer["block_dim"] == 0:
            what = f"the tiling function of {op_type} set no block dim" if not answer["block_dim_set"] else f"the tiling function of {op_type} set block dim 0"
            raise OpHostError(what, why=called, help="call context->SetBlockDim with the number of cores to use, 1 or more")
        self._check_saved(op, answer, called)
        return Tiling(
            answer["key"], answer["block_dim"], bytes.fromhex(answer["data"]), answer["workspaces"], answer["schedule_mode"],
            answer["need_atomic"], answer["local_memory"], tuple(answer["notes"]),
        )  # fmt: skip

    def tiling_header(self, op_type: str) -> str | None:
        """C++ text that gives a kernel the plain form of the operator's macro tiling structures; None for plain structs."""
        return header(self.op(op_type))

    def _check_saved(self, op: OpDef, answer: Mapping[str, Any], called: str) -> None:
        for note in answer["notes"]:
            if note.startswith("SaveToBuffer"):
                raise OpHostError(f"the tiling data of {op.op_type} does not fit its buffer", why=f"{note}\n{called}")

    def _call(
        self, op: OpDef, what: int, inputs: Sequence[TensorArg], outputs: Sequence[TensorArg], attrs: Mapping[str, Any],
        soc: socs.Soc | None, deterministic: bool, timeout_s: float,
    ) -> Any:  # fmt: skip
        unknown = [name for name in attrs if all(attr.name != name for attr in op.attrs)]
        if unknown:
            raise InputError(f"{op.op_type} has no attribute '{unknown[0]}'", help=did_you_mean(unknown[0], [a.name for a in op.attrs]))
        platform = self._runtime.platform(soc or socs.resolve(socs.DEFAULT_SOC))
        request = pack(op, platform, inputs, outputs, attrs, _readable(op, what == _TILING), deterministic)
        answer = self._runtime.lib.ascendops_host_call(self._handle, op.op_type.encode(), what, timeout_s, request, len(request))
        return self._checked(f"{_NAMES[what]} of {op.op_type}", answer, _call_text(op, inputs, attrs))

    def _checked(self, what: str, answer: bytes, called: str) -> Any:
        decoded = json.loads(answer)
        if decoded["status"] != "ok":
            self._raise(what, answer, called)
        return decoded

    def _raise(self, what: str, answer: bytes, called: str) -> None:
        fault = json.loads(answer)
        message, status = fault["message"], fault["status"]
        trace = locate(str(self.path), tuple(offset for library, offset in fault["frames"] if library == str(self.path)))
        where = next((f"{frame.file}:{frame.line}" for frame in trace if "/twin/include/" not in frame.file and frame.file), None)
        why = "\n".join([*([called] if called else []), *fault["notes"], *[f"in {frame}" for frame in trace[:8]]]) or None
        if status == "crash":
            hint = "look for a null pointer (an index that is not declared, an absent optional input), a division by zero or an index out of range"
            raise KernelCrash(f"{what} crashed: {message}", where=where or str(self.path), why=why, help=hint)
        if status == "hang":
            raise KernelHang(f"{what} {message}", where=where or str(self.path), why=why, help="look for a loop whose step can be zero")
        if status == "load" and "undefined symbol: " in message:
            raise _undefined(message.rpartition("undefined symbol: ")[2].strip(), self.path)
        texts = {
            "exception": f"{what} threw: {message}",
            "failed": f"{what} returned a failure" + ("" if message == "4294967295" else f" ({message})"),
            "missing": f"{what} is not registered",
            "overrun": f"{what} {message}",
            "load": f"the op_host library cannot be loaded: {message}",
        }
        raise OpHostError(texts.get(status, f"{what}: {message}"), where=where or str(self.path), why=why)


def _undefined(symbol: str, library: Path) -> CompileError:
    """The link error that the loader found: op_host names a function that none of its sources defines."""
    name = demangle(symbol)
    hint = "define it in op_host/ with exactly this name, namespace and parameters"
    if name.startswith("optiling::"):
        hint += "; gen/op_host/ registers the tiling function by this name"
    return CompileError(f"op_host uses {name}, but no source defines it", where="op_host/", why=f"undefined symbol in {library}", help=hint)


def _readable(op: OpDef, tiling: bool) -> frozenset[str]:
    """Inputs whose elements a host function may read: those declared ValueDepend, or registered as data dependencies."""
    declared = {p.name for p in op.inputs if p.value_depend and (tiling or not p.tiling_only)}
    return frozenset(declared) | (op.tiling_depends if tiling else op.shape_depends)


def _followed_shapes(op: OpDef, inputs: Sequence[TensorArg]) -> list[tuple[int, ...]] | None:
    """Output shapes when every output is declared to follow an input's; else None."""
    likes = {param.name: param.shape_like for param in op.inputs}
    by_name = dict(zip((param.name for param in op.inputs), inputs, strict=False))
    shapes = []
    for output in op.outputs:
        source = output.shape_like
        while likes.get(source):
            source = likes[source]
        tensor = by_name.get(source)
        if not isinstance(tensor, HostTensor):
            return None
        shapes.append(tensor.shape)
    return shapes


def _blank_outputs(op: OpDef, inputs: Sequence[TensorArg], counts: Sequence[int] | None) -> list[TensorArg]:
    listed = next((len(value) for value in inputs if value is not None and not isinstance(value, HostTensor)), 1)
    if counts is None:
        counts = [listed if param.param_type == "dynamic" else 1 for param in op.outputs]
    return [[HostTensor((), "undefined")] * count for count in counts]


def _outputs(op: OpDef, outputs: Sequence[TensorArg]) -> list[TensorArg]:
    """Outputs by declaration; a flat list is cut when there is one dynamic output."""
    if len(outputs) == len(op.outputs):
        return list(outputs)
    if len(op.outputs) == 1 and op.outputs[0].param_type == "dynamic":
        return [[tensor for tensor in outputs if isinstance(tensor, HostTensor)]]
    raise InputError(f"{op.op_type} has {plural(len(op.outputs), 'output')}, given: {len(outputs)}")


def _call_text(op: OpDef, inputs: Sequence[TensorArg], attrs: Mapping[str, Any]) -> str:
    parts = []
    for param, value in zip(op.inputs, inputs, strict=False):
        text = "absent" if value is None else str(value) if isinstance(value, HostTensor) else f"[{', '.join(map(str, value))}]"
        parts.append(f"{param.name}: {text}")
    parts += [f"{attr.name}={attrs[attr.name] if attrs.get(attr.name) is not None else attr.default!r}" for attr in op.attrs]
    return "called with " + (", ".join(parts) or "no inputs")
