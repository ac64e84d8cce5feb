"""Arguments of a kernel launch: buffers of global memory, and values packed with the parameter's own type."""

from __future__ import annotations

import builtins
import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ascendops.errors import InputError
from ascendops.words import plural

_INT = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOAT = {2: "e", 4: "f", 8: "d"}


@dataclass(frozen=True)
class GmBuffer:
    """A buffer of global memory: host memory that a kernel may read and write.

    Attributes:
        address: Host address.
        bytes: Its size.
        name: How findings call it.
        shape: Shape of the tensor, where a tensor list needs it.
        members: Buffers that this one points to (a tensor list).
        undefined: Whether it holds nothing when the kernel starts, so that reading it before writing is a fault.
        blank: The workspace, which has no contents to copy.
        padded: Tiling data, whose struct may end in padding that op_host did not write.
        keep: Whatever must live as long as the buffer.
    """

    address: int
    bytes: int
    name: str
    shape: tuple[int, ...] | None = None
    members: tuple[GmBuffer, ...] = ()
    undefined: bool = False
    blank: bool = False
    padded: bool = False
    keep: Any = field(default=None, repr=False, compare=False)

    @property
    def flags(self) -> int:
        """TwinBufferFlag of ascendc_twin/launch.h."""
        return int(self.undefined) | int(self.blank) << 2 | int(self.padded) << 3

    @classmethod
    def of_bytes(cls, data: builtins.bytes, name: str, align: int = 64, *, padded: bool = False) -> GmBuffer:
        """A buffer with a copy of `data`, at an address that is a multiple of `align`."""
        memory = ctypes.create_string_buffer(len(data) + align)
        address = (ctypes.addressof(memory) + align - 1) // align * align
        ctypes.memmove(address, data, len(data))
        return cls(address, len(data), name, padded=padded, keep=memory)

    @classmethod
    def tensor_list(cls, items: Sequence[GmBuffer], name: str) -> GmBuffer:
        """The descriptor that a kernel gets for a list of tensors (read by ListTensorDesc): shapes, then addresses."""
        shapes = [item.shape or (item.bytes,) for item in items]
        words = [word for index, shape in enumerate(shapes) for word in (index << 32 | len(shape), *shape)]
        data = struct.pack(
            f"<{1 + len(words) + len(items)}Q", 8 * (1 + len(words)), *words, *[item.address for item in items]
        )
        buffer = cls.of_bytes(data, name)
        return cls(buffer.address, buffer.bytes, name, members=tuple(items), keep=buffer.keep)


class BufferRow(ctypes.Structure):
    """TwinBuffer of ascendc_twin/launch.h."""

    _fields_ = [
        ("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("name", ctypes.c_char_p), ("flags", ctypes.c_uint64), ("holder", ctypes.c_void_p),
    ]  # fmt: skip


def _pack(value: Any, kind: str, index: int, entry: str) -> bytes:
    """The bytes of one by-value argument."""
    letter, size = kind[0], int(kind[1:])
    given_bytes = isinstance(value, (bytes, ctypes.Structure))
    if given_bytes != (letter == "s"):
        help_text = "give a struct as its bytes (struct.pack), as a ctypes.Structure or as an element of a structured NumPy array"
        raise InputError(f"argument {index} of {entry} is {value!r}", why=f"the parameter is {_described(kind)}", help=help_text if letter == "s" else None)
    if letter == "s":
        raw = bytes(value)
        if len(raw) != size:
            raise InputError(f"argument {index} of {entry} is a struct of {size} bytes; {len(raw)} were given")
        return raw
    try:
        if letter == "n":  # bfloat16: the upper half of the float, rounded to even
            (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
            return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF)
        if letter == "f":
            return struct.pack(f"<{_FLOAT[size]}", float(value))
        if isinstance(value, float) and not value.is_integer():
            raise ValueError("the parameter is an integer")
        code = _INT[size] if letter in "ib" else _INT[size].upper()
        return struct.pack(f"<{code}", int(value))
    except (struct.error, TypeError, ValueError) as error:
        raise InputError(f"argument {index} of {entry} is {value!r}: {error}", why=f"the parameter is {_described(kind)}") from None


def _described(kind: str) -> str:
    words = {"i": "int{}_t", "u": "uint{}_t", "f": "a {}-bit float", "n": "bfloat16_t", "b": "bool", "s": "a struct", "p": "a pointer"}
    return words[kind[0]].format(8 * int(kind[1:]))


class Arguments:
    """The argument array of a launch, and every buffer it reaches."""

    def __init__(self, kinds: Sequence[str], values: Sequence[Any], entry: str) -> None:
        if len(kinds) != len(values):
            raise InputError(f"{entry} has {plural(len(kinds), 'parameter')}, given: {plural(len(values), 'argument')}")
        self._rows: list[tuple[GmBuffer, int | None]] = []  # and where the kernel finds its address
        self._keep = [
            self._one(kind, value, index, entry) for index, (kind, value) in enumerate(zip(kinds, values, strict=True))
        ]
        self.array = (ctypes.c_void_p * max(1, len(self._keep)))(*[ctypes.addressof(item) for item in self._keep])

    def _one(self, kind: str, value: Any, index: int, entry: str) -> Any:
        if kind[0] != "p":
            if isinstance(value, GmBuffer) or value is None:
                raise InputError(f"argument {index} of {entry} is passed by value ({_described(kind)}); a buffer was given")
            return ctypes.create_string_buffer(_pack(value, kind, index, entry), int(kind[1:]))
        if value is None:
            return ctypes.c_uint64(0)
        if not isinstance(value, GmBuffer):
            raise InputError(
                f"argument {index} of {entry} is a pointer; {type(value).__name__} was given",
                help="pass an array; workspace and tiling are the kernel's last parameters and are not in args",
            )
        cell = ctypes.c_uint64(value.address)
        self._register(value, ctypes.addressof(cell))
        return cell

    def _register(self, buffer: GmBuffer, holder: int) -> None:
        """A tensor list stays where it is; the addresses of its tensors are its last words."""
        self._rows.append((buffer, None if buffer.members else holder))
        words = buffer.address + buffer.bytes - 8 * len(buffer.members)
        for index, member in enumerate(buffer.members):
            self._register(member, words + 8 * index)

    def table(self) -> Any:
        """The buffers as the runtime reads them."""
        return (BufferRow * max(1, len(self._rows)))(*(BufferRow(b.address, b.bytes, b.name.encode(), b.flags, holder) for b, holder in self._rows))

    def __len__(self) -> int:
        """How many buffers there are."""
        return len(self._rows)
