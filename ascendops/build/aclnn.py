"""One aclnn call: tensors go to the device, aclnn<Op>GetWorkspaceSize and aclnn<Op> run, outputs come back.

The order of arguments is op_build's: inputs, attributes, outputs, then the workspace size and the executor.
"""

from __future__ import annotations

import contextlib
import ctypes as c
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendops.errors import KernelHang, ToolchainError

if TYPE_CHECKING:
    import torch

    from ascendops.build.acl import Acl
    from ascendops.twin.host import OpDef, OpParam

GUARD = 512  # bytes before and after every tensor on the device; also the alignment that it keeps
WARM_UP = 3  # launches that are not counted
_PATTERN = 0xA5
_BLOCK = 32
_VALUES: dict[str, Callable[[Any], Any]] = {"int": c.c_int64, "float": c.c_double, "bool": c.c_bool, "str": lambda text: c.c_char_p(text.encode())}
_ARRAYS = {"int": "Int", "float": "Float", "bool": "Bool"}


@dataclass(frozen=True)
class Overrun:
    """Guard bytes beside the tensor `name` that a call has changed; `place` is `before`, `in the padding of` (to a multiple of 32 bytes) or `behind`."""

    name: str
    place: str
    count: int

    @property
    def harmless(self) -> bool:
        """Whether an allocator would have left the bytes unused."""
        return self.place == "in the padding of"

    def __str__(self) -> str:
        return f"{self.count} bytes {self.place} '{self.name}' were overwritten in GM"


@dataclass(frozen=True)
class Done:
    """What a call left: the workspace that it asked for, and what it wrote outside its tensors."""

    workspace_bytes: int
    overruns: tuple[Overrun, ...] = ()


@dataclass
class _Buffer:
    """A tensor on the device between two guards."""

    name: str
    host: torch.Tensor
    base: int
    size: int

    @property
    def address(self) -> int:
        return self.base + GUARD


@dataclass
class _Call:
    """What one call holds until it has ended."""

    acl: Acl
    stack: contextlib.ExitStack
    buffers: dict[int, _Buffer] = field(default_factory=dict)

    def tensor(self, value: torch.Tensor, param: OpParam, column: int, name: str, owner: contextlib.ExitStack) -> int:
        """An aclTensor that `owner` destroys; the same host memory is the same device memory."""
        key = value.data_ptr() if value.numel() else id(value)
        buffer = self.buffers.get(key) or self._buffer(value, name)
        self.buffers[key] = buffer
        handle = self.acl.tensor(value, param.formats[column] if column < len(param.formats) else "ND", buffer.address)
        owner.callback(self.acl.destroy, "Tensor", handle)
        return handle

    def argument(self, value: Any, param: OpParam, column: int) -> Any:
        """The argument of an input or an output: null, an aclTensor, or an aclTensorList (which owns its tensors)."""
        if value is None:
            return c.c_void_p()
        if isinstance(value, list):
            with contextlib.ExitStack() as members:
                handles = [self.tensor(one, param, column, f"{param.name}[{i}]", members) for i, one in enumerate(value)]
                listed = self.acl.tensor_list(handles)
                members.pop_all()
            self.stack.callback(self.acl.destroy, "TensorList", listed)
            return c.c_void_p(listed)
        return c.c_void_p(self.tensor(value, param, column, param.name, self.stack))

    def attribute(self, value: Any, kind: str, name: str) -> Any:
        """The argument of an attribute.

        Raises:
            ToolchainError: aclnn functions take no attribute of that type.
        """
        base, is_list = kind.split("[")[0].rstrip("?"), "[" in kind
        if is_list and base in _ARRAYS and kind.count("[") == 1:
            handle = self.acl.array(_ARRAYS[base], list(value or ()))
            self.stack.callback(self.acl.destroy, f"{_ARRAYS[base]}Array", handle)
            return c.c_void_p(handle)
        if value is None and not is_list:
            raise ToolchainError(f"attribute '{name}' has no value, and aclnn functions need one", help="give it, or a default in the schema")
        if not is_list and base in _VALUES:
            return _VALUES[base](value)
        raise ToolchainError(f"attribute '{name}' is {kind}, which aclnn functions do not take", help="test the kernel with --backend twin")

    def memory(self, size: int) -> int:
        """Device memory until the end of the call."""
        address = self.acl.malloc(size)
        self.stack.callback(self.acl.free, address)
        return address

    def _buffer(self, value: torch.Tensor, name: str) -> _Buffer:
        size = value.numel() * value.element_size()
        padded = -(-size // GUARD) * GUARD
        base = self.memory(padded + 2 * GUARD)
        guard = (c.c_uint8 * (padded - size + GUARD))(*[_PATTERN] * (padded - size + GUARD))
        self.acl.to_device(base, c.addressof(guard), GUARD)
        self.acl.to_device(base + GUARD + size, c.addressof(guard), len(guard))
        if size:
            self.acl.to_device(base + GUARD, value.data_ptr(), size)
        return _Buffer(name, value, base, size)


@dataclass(frozen=True)
class Target:
    """What is called: aclnn<Op>GetWorkspaceSize and aclnn<Op> of a package's library."""

    acl: Acl
    library: Any
    definition: OpDef

    @property
    def name(self) -> str:
        """The second function's name.

        Where host functions read elements of an input, op_build makes aclnn<Op> with arrays in its place, and aclnn<Op>Tensor with tensors.
        """
        return f"aclnn{self.definition.op_type}{'Tensor' if any(param.value_depend for param in self.definition.inputs) else ''}"

    def arguments(self, made: _Call, given: Given) -> list[Any]:
        """The arguments of both functions, which are looked for first: a form that the package lacks is no fault of the arguments."""
        for name in (f"{self.name}GetWorkspaceSize", self.name):
            _symbol(self.library, name)
        return _arguments(made, self.definition, given)

    def ask(self, arguments: Sequence[Any]) -> tuple[int, Any]:
        """Bytes of workspace, and the executor of one launch."""
        size, executor = c.c_uint64(0), c.c_void_p()
        first = _symbol(self.library, f"{self.name}GetWorkspaceSize")
        self.acl.check(first(*arguments, c.byref(size), c.byref(executor)), f"{self.name}GetWorkspaceSize")
        return size.value, executor

    def launch(self, workspace: int | None, size: int, executor: Any) -> None:
        """Puts the kernel on the stream."""
        second = _symbol(self.library, self.name)
        self.acl.check(second(c.c_void_p(workspace), c.c_uint64(size), executor, self.acl.stream), self.name)

    def wait(self, timeout_s: float) -> None:
        """Waits for the stream.

        Raises:
            KernelHang: It did not end in time.
        """
        if not self.acl.synchronise(timeout_s):
            raise KernelHang(f"{self.name} did not end within {timeout_s:g} s on the device", where=self.acl.soc)


@dataclass(frozen=True)
class Given:
    """The tensors and attributes of one call, contiguous on the host: outputs are written in place, one named like an input through that input."""

    tensors: Mapping[str, Any]
    attrs: Mapping[str, Any]
    outputs: Sequence[Any]
    column: int


def call(target: Target, given: Given, timeout_s: float) -> Done:
    """Runs aclnn<Op> once.

    Raises:
        ToolchainError: The package lacks the functions, or an argument is of a type that they do not take.
        DeviceError: The runtime or the operator reports an error.
        KernelHang: The stream did not end in time.
    """
    with contextlib.ExitStack() as stack:
        made = _Call(target.acl, stack)
        size, executor = target.ask(target.arguments(made, given))
        target.launch(made.memory(size) if size else None, size, executor)
        target.wait(timeout_s)
        return Done(size, tuple(_back(target.acl, made.buffers.values())))


def timed(target: Target, given: Given, timeout_s: float, repeats: int, flush_bytes: int) -> list[float]:
    """Microseconds of each of `repeats` launches between two events, after `WARM_UP` others; before each, `flush_bytes` are overwritten to empty the L2.

    Raises:
        ToolchainError, DeviceError, KernelHang: As in `call`.
    """
    acl = target.acl
    with contextlib.ExitStack() as stack:
        made = _Call(acl, stack)
        arguments = target.arguments(made, given)
        flush = made.memory(flush_bytes)
        workspaces: dict[int, int] = {}
        times = []
        for number in range(WARM_UP + repeats):
            size, executor = target.ask(arguments)
            if size and size not in workspaces:
                workspaces[size] = made.memory(size)
            acl.fill(flush, flush_bytes)
            with contextlib.ExitStack() as events:
                start, end = acl.event(), acl.event()
                events.callback(acl.destroy_event, start)
                events.callback(acl.destroy_event, end)
                acl.record(start)
                target.launch(workspaces.get(size), size, executor)
                acl.record(end)
                target.wait(timeout_s)
                if number >= WARM_UP:
                    times.append(acl.elapsed_us(start, end))
        return times


def _arguments(made: _Call, definition: OpDef, given: Given) -> list[Any]:
    inputs, column = {param.name for param in definition.inputs}, given.column
    arguments = [made.argument(given.tensors[param.name], param, column) for param in definition.inputs]
    arguments += [made.attribute(attr.default if given.attrs[attr.name] is None else given.attrs[attr.name], attr.type, attr.name) for attr in definition.attrs]
    return arguments + [made.argument(value, param, column) for param, value in zip(definition.outputs, given.outputs, strict=True) if param.name not in inputs]


def _symbol(library: Any, name: str) -> Any:
    try:
        function = getattr(library, name)
    except AttributeError as error:
        raise ToolchainError(f"the installed package has no {name}", where=str(library._name), help="build it again: ascendops build --backend cann") from error
    function.restype = c.c_int
    return function


def _back(acl: Acl, buffers: Iterable[_Buffer]) -> Iterator[Overrun]:
    """Copies every buffer back; names those whose guards have changed."""
    for buffer in buffers:
        padded = -(-buffer.size // GUARD) * GUARD
        whole = (c.c_uint8 * (padded + 2 * GUARD))()
        acl.to_host(c.addressof(whole), buffer.base, len(whole))
        if buffer.size:
            c.memmove(buffer.host.data_ptr(), c.addressof(whole) + GUARD, buffer.size)
        end = GUARD + buffer.size
        rounded = GUARD + -(-buffer.size // _BLOCK) * _BLOCK
        for place, part in (("before", whole[:GUARD]), ("in the padding of", whole[end:rounded]), ("behind", whole[rounded:])):
            changed = sum(byte != _PATTERN for byte in part)
            if changed:
                yield Overrun(buffer.name, place, changed)
