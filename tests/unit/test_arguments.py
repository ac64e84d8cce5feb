"""Arguments of raw kernels: what is passed by value, and what is refused before anything runs."""

from __future__ import annotations

import struct

import pytest

from ascendops.errors import InputError
from ascendops.twin.arguments import Arguments, GmBuffer, _pack


def test_numbers_become_the_parameters_own_type() -> None:
    assert _pack(7, "u4", 0, "k") == struct.pack("<I", 7)
    assert _pack(7.0, "i8", 0, "k") == struct.pack("<q", 7)
    assert _pack(1.5, "f4", 0, "k") == struct.pack("<f", 1.5)
    assert _pack(1.5, "f2", 0, "k") == struct.pack("<e", 1.5)
    assert _pack(1.00390625, "n2", 0, "k") == struct.pack("<H", 0x3F80)  # a tie goes to even
    assert _pack(True, "b1", 0, "k") == b"\x01"


@pytest.mark.parametrize(("value", "kind"), [(2048.5, "u4"), (2.5, "i4"), (-1, "u4"), (2**32, "u4"), ("x", "i4"), (float("nan"), "i4")])
def test_numbers_that_do_not_fit_are_refused(value: object, kind: str) -> None:
    with pytest.raises(InputError) as error:
        _pack(value, kind, 3, "k")
    assert "argument 3 of k" in str(error.value) and "int32_t" in str(error.value)


def test_pointers_and_numbers_are_told_apart() -> None:
    with pytest.raises(InputError, match="is a pointer; int was given") as error:
        Arguments(["p8"], [1], "k")
    assert "workspace and tiling are the kernel's last parameters" in str(error.value)
    with pytest.raises(InputError, match=r"passed by value \(uint32_t\)"):
        Arguments(["u4"], [GmBuffer(0, 4, "x")], "k")
    with pytest.raises(InputError, match="2 parameters, given: 1 argument"):
        Arguments(["p8", "u4"], [None], "k")
