"""Integer division by zero in a kernel: found, and gone on with as a scalar unit that does not trap."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from core_kernels import FOLDER, compiled, expectations

from ascendops.errors import KernelCrash

pytestmark = pytest.mark.twin

FILE = "divisions.cpp"
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FORMS = 13
BYTES = {9, 10}  # quotient and remainder share one register
X86 = pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="Arm divides by zero without a trap")


def run(name: str, *args: object, **options: object) -> tuple[list[int], list[str]]:
    y = np.zeros(8, np.int64)
    result = compiled(FILE).launch(name, args=[y, *args], block_dim=1, **options)
    return y[:3].tolist(), [d.id for d in result.diagnostics]


@pytest.mark.parametrize("checks", ["error", "off"])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_quotient_by_zero_is_zero_and_the_remainder_the_dividend(dtype: str, checks: str) -> None:
    info = np.iinfo(dtype)
    for a in (100, info.max // 2 - 7, info.min, 0):
        got, _ = run("by_type", a, 0, TYPES.index(dtype), checks=checks)
        assert got == [0, a, 77]


@pytest.mark.parametrize("dtype", TYPES[::2])
def test_the_smallest_integer_by_minus_one_wraps(dtype: str) -> None:
    smallest = np.iinfo(dtype).min
    got, _ = run("by_type", smallest, -1, TYPES.index(dtype))
    assert got == [smallest, 0, 77]


@pytest.mark.parametrize("dtype", TYPES)
def test_other_divisions_are_left_alone(dtype: str) -> None:
    assert run("by_type", 100, 7, TYPES.index(dtype)) == ([14, 2, 77], [])


@X86
@pytest.mark.parametrize("dtype", TYPES)
def test_a_division_by_zero_is_found_once_for_each_line_and_off_without_checks(dtype: str) -> None:
    _, found = run("by_type", 100, 0, TYPES.index(dtype))
    assert set(found) == {"SCALAR-DIVISION"}
    assert run("by_type", 100, 0, TYPES.index(dtype), checks="off")[1] == []


def test_a_divisor_that_the_compiler_knows_to_be_zero() -> None:
    assert run("known_zero", 9, 1) == ([1, 4, 77], [])
    assert run("known_zero", 9, 0)[0] == [0, 9, 77]


@X86
def test_many_divisions_of_one_line_are_one_finding_with_its_count() -> None:
    y = np.zeros(8, np.int64)
    result = compiled(FILE).launch("many", args=[y, 1000, 0], block_dim=1)
    (found,) = result.diagnostics
    line = dict(expectations(FILE)["many"])["SCALAR-DIVISION"]
    assert (found.file, found.line, found.count, found.severity) == (str(FOLDER / FILE), line, 1000, "warning")
    assert found.message.startswith("the scalar unit divides 0 by 0; the twin goes on with quotient 0 and remainder 0")
    assert y[0] == sum(range(1000))


@X86
@pytest.mark.parametrize("form", range(FORMS))
def test_every_encoding_of_the_operand(form: int) -> None:
    got, found = run("encoded", form)
    want = [(1000 & 0xFF) << 8, 0, 77] if form in BYTES else [0, 1000, 77]
    assert (got, found) == (want, ["SCALAR-DIVISION"])


@X86
def test_a_quotient_that_is_too_wide_stays_a_crash() -> None:
    with pytest.raises(KernelCrash, match="SIGFPE"):
        run("too_wide")
