"""The AscendCL runtime of a toolkit through ctypes: device memory, a stream, and the objects that aclnn functions take.

Signatures and numbers as in the toolkit's acl/acl_rt.h, acl/acl_base.h and aclnn/acl_meta.h. Device 0 is used: ASCEND_RT_VISIBLE_DEVICES says which that is.
"""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import DeviceError, ToolchainMissing
from ascendops.spec.dtypes import BY_NAME

if TYPE_CHECKING:
    import torch

FORMATS = {"NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "FRACTAL_NZ": 29, "NCDHW": 30, "NDC1HWC0": 32}
_TO_DEVICE, _TO_HOST, _HUGE_FIRST = 1, 2, 0
_TIMEOUTS = (507046, 107020)  # ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, ACL_ERROR_RT_TASK_TIMEOUT
_I64, _PTR = c.c_int64, c.c_void_p

_RUNTIME: dict[str, tuple[Any, list[Any]]] = {
    "aclInit": (c.c_int, [c.c_char_p]),
    "aclGetRecentErrMsg": (c.c_char_p, []),
    "aclrtGetSocName": (c.c_char_p, []),
    "aclrtSetDevice": (c.c_int, [c.c_int32]),
    "aclrtCreateStream": (c.c_int, [c.POINTER(_PTR)]),
    "aclrtSynchronizeStreamWithTimeout": (c.c_int, [_PTR, c.c_int32]),
    "aclrtMalloc": (c.c_int, [c.POINTER(_PTR), c.c_size_t, c.c_int]),
    "aclrtFree": (c.c_int, [_PTR]),
    "aclrtMemcpy": (c.c_int, [_PTR, c.c_size_t, _PTR, c.c_size_t, c.c_int]),
    "aclrtMemsetAsync": (c.c_int, [_PTR, c.c_size_t, c.c_int32, c.c_size_t, _PTR]),
    "aclrtCreateEvent": (c.c_int, [c.POINTER(_PTR)]),
    "aclrtRecordEvent": (c.c_int, [_PTR, _PTR]),
    "aclrtEventElapsedTime": (c.c_int, [c.POINTER(c.c_float), _PTR, _PTR]),
    "aclrtDestroyEvent": (c.c_int, [_PTR]),
}
_OBJECTS: dict[str, tuple[Any, list[Any]]] = {
    "aclCreateTensor": (_PTR, [_PTR, c.c_uint64, c.c_int, _PTR, _I64, c.c_int, _PTR, c.c_uint64, _PTR]),
    "aclCreateTensorList": (_PTR, [_PTR, c.c_uint64]),
    "aclCreateIntArray": (_PTR, [_PTR, c.c_uint64]),
    "aclCreateFloatArray": (_PTR, [_PTR, c.c_uint64]),
    "aclCreateBoolArray": (_PTR, [_PTR, c.c_uint64]),
    **{f"aclDestroy{kind}": (c.c_int, [_PTR]) for kind in ("Tensor", "TensorList", "IntArray", "FloatArray", "BoolArray")},
}
_loaded: dict[Path, Acl] = {}


class Acl:
    """The runtime, initialised on device 0 with one stream.

    Raises:
        ToolchainMissing: A library of the toolkit is not there or does not load.
        DeviceError: There is no usable device.
    """

    def __init__(self, root: Path) -> None:
        self._functions = _functions(_library(root, "libascendcl.so"), _RUNTIME) | _functions(_library(root, "libnnopbase.so"), _OBJECTS)
        self.check(self._functions["aclInit"](None), "aclInit")
        self.check(self._functions["aclrtSetDevice"](0), "aclrtSetDevice(0)")
        self._stream = _PTR()
        self.check(self._functions["aclrtCreateStream"](c.byref(self._stream)), "aclrtCreateStream")

    @property
    def soc(self) -> str:
        """Name of the device's SoC, such as `Ascend910B3`."""
        name = self._functions["aclrtGetSocName"]()
        return name.decode() if name else ""

    @property
    def stream(self) -> Any:
        """The stream that calls run on."""
        return self._stream

    def check(self, status: int, what: str) -> None:
        """Raises what the runtime says about a failed call.

        Raises:
            DeviceError: The status is not 0.
        """
        if status == 0:
            return
        text = self._functions["aclGetRecentErrMsg"]()
        why = text.decode(errors="replace").strip() if text else f"status {status}; the plog files of CANN may say more"
        raise DeviceError(f"{what} failed with status {status}", why=why, help="ascendops doctor checks the driver; ascendops explain ASC415")

    def malloc(self, size: int) -> int:
        """Address of `size` bytes of device memory (at least 1)."""
        found = _PTR()
        self.check(self._functions["aclrtMalloc"](c.byref(found), max(size, 1), _HUGE_FIRST), f"aclrtMalloc of {size} bytes")
        return int(found.value or 0)

    def free(self, address: int) -> None:
        """Gives device memory back."""
        self._functions["aclrtFree"](address)

    def to_device(self, address: int, host: int, size: int) -> None:
        """Copies bytes from the host."""
        self.check(self._functions["aclrtMemcpy"](address, size, host, size, _TO_DEVICE), f"copying {size} bytes to the device")

    def to_host(self, host: int, address: int, size: int) -> None:
        """Copies bytes to the host."""
        self.check(self._functions["aclrtMemcpy"](host, size, address, size, _TO_HOST), f"copying {size} bytes from the device")

    def fill(self, address: int, size: int) -> None:
        """Overwrites `size` bytes of device memory, on the stream."""
        self.check(self._functions["aclrtMemsetAsync"](address, size, 0, size, self._stream), f"aclrtMemsetAsync of {size} bytes")

    def event(self) -> Any:
        """A new event; `destroy_event` frees it."""
        made = _PTR()
        self.check(self._functions["aclrtCreateEvent"](c.byref(made)), "aclrtCreateEvent")
        return made

    def record(self, event: Any) -> None:
        """Has the stream note the time in an event."""
        self.check(self._functions["aclrtRecordEvent"](event, self._stream), "aclrtRecordEvent")

    def elapsed_us(self, start: Any, end: Any) -> float:
        """Microseconds between two events that the stream has passed."""
        milliseconds = c.c_float()
        self.check(self._functions["aclrtEventElapsedTime"](c.byref(milliseconds), start, end), "aclrtEventElapsedTime")
        return milliseconds.value * 1000

    def destroy_event(self, event: Any) -> None:
        """Frees an event."""
        self._functions["aclrtDestroyEvent"](event)

    def synchronise(self, timeout_s: float) -> bool:
        """Waits for the stream; False if it does not end in time."""
        status = self._functions["aclrtSynchronizeStreamWithTimeout"](self._stream, int(timeout_s * 1000))
        if status in _TIMEOUTS:
            return False
        self.check(status, "the kernel")
        return True

    def tensor(self, like: torch.Tensor, format_name: str, address: int) -> int:
        """An aclTensor over device memory, contiguous, of a host tensor's shape and dtype."""
        shape = (_I64 * like.dim())(*like.shape)
        strides = (_I64 * like.dim())(*like.stride())
        code = BY_NAME[str(like.dtype).removeprefix("torch.")].ge_code
        made = self._functions["aclCreateTensor"](shape, like.dim(), code, strides, 0, FORMATS.get(format_name, FORMATS["ND"]), shape, like.dim(), address)
        return self._made(made, "aclCreateTensor")

    def tensor_list(self, tensors: Sequence[int]) -> int:
        """An aclTensorList of aclTensors."""
        return self._made(self._functions["aclCreateTensorList"]((_PTR * len(tensors))(*tensors), len(tensors)), "aclCreateTensorList")

    def array(self, kind: str, values: Sequence[Any]) -> int:
        """An aclIntArray, aclFloatArray or aclBoolArray: `kind` is `Int`, `Float` or `Bool`."""
        item: Any = {"Int": _I64, "Float": c.c_float, "Bool": c.c_bool}[kind]
        return self._made(self._functions[f"aclCreate{kind}Array"]((item * len(values))(*values), len(values)), f"aclCreate{kind}Array")

    def destroy(self, kind: str, handle: int) -> None:
        """Frees an object: `kind` is `Tensor`, `TensorList`, `IntArray`, `FloatArray` or `BoolArray`."""
        self._functions[f"aclDestroy{kind}"](handle)

    def _made(self, handle: int | None, what: str) -> int:
        if not handle:
            self.check(-1, what)
        return int(handle or 0)


def runtime(root: Path) -> Acl:
    """The runtime of the toolkit at `root`, initialised once per process."""
    if root not in _loaded:
        _loaded[root] = Acl(root)
    return _loaded[root]


def operator_library(vendor: Path) -> Any:
    """libcust_opapi.so of an installed package, with its aclnn functions.

    Raises:
        ToolchainMissing: The package has none.
    """
    path = vendor / "op_api" / "lib" / "libcust_opapi.so"
    if not path.is_file():
        raise ToolchainMissing(f"{path} is not there", where=str(vendor), help="build it: ascendops build --backend cann")
    return _load(path)


def _library(root: Path, name: str) -> Any:
    places = [root / "lib64" / name, *sorted(root.glob(f"*-linux/lib64/{name}")), root / "runtime" / "lib64" / name, root / "compiler" / "lib64" / name]
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise ToolchainMissing(f"{name} was not found in the toolkit", where=str(root), why=f"looked in {', '.join(str(path.parent) for path in places)}")
    return _load(found)


def _load(path: Path) -> Any:
    try:
        return c.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    except OSError as error:
        raise ToolchainMissing(f"{path.name} does not load: {error}", where=str(path), help="source the toolkit's set_env.sh; is the NPU driver installed?") from error


def _functions(library: Any, signatures: dict[str, tuple[Any, list[Any]]]) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name, (result, arguments) in signatures.items():
        try:
            function = getattr(library, name)
        except AttributeError as error:
            raise ToolchainMissing(f"the toolkit's {Path(library._name).name} has no {name}", why="it is of another CANN version") from error
        function.restype, function.argtypes = result, arguments
        found[name] = function
    return found
