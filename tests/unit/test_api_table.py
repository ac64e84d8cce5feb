"""docs/ascendc-apis.md is read from the headers, and the headers have the element types of the public documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops.toolchain import ascendc_docs
from tools import api_table

HEADERS = Path(__file__).parents[2] / "ascendops/twin/include/ascendc_twin"
PAGE = Path(__file__).parents[2] / "docs/ascendc-apis.md"

# Types that a page names for a mask, an index or a second form, and what the 8.1 headers have beyond the pages of 9.x.
OTHERS = {
    "CastDequant": {"int32_t", "half"},
    "Compare": {"int8_t", "uint8_t"},
    "Compares": {"uint8_t"},
    "Gatherb": {"half", "bfloat16_t", "int16_t", "float", "int32_t"},
    "Scatter": {"int16_t", "int32_t"},
    "Select": {"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
    "Sort32": {"uint32_t"},
    "Transpose": {"int8_t", "uint8_t", "int32_t", "uint32_t", "float"},
    "Duplicate": {"bfloat16_t"},
}


def _apis() -> dict[str, api_table.Api]:
    found: dict[str, api_table.Api] = {}
    for header in api_table.headers(HEADERS):
        if header.name.startswith(("vec_", "copy", "sys", "sync")):
            found.update(header.apis)
    return found


@pytest.mark.parametrize("soc", ["910b", "310p"])
def test_element_types_are_those_of_the_documents(soc: str) -> None:
    different = {}
    compared = 0
    for name, api in _apis().items():
        documented = ascendc_docs.lookup(name)
        types = api.a2 if soc == "910b" else api.types_310p
        if documented is None or not types or soc not in documented.types:
            continue
        compared += 1
        rest = (types ^ set(documented.types[soc])) - OTHERS.get(name, set())
        if rest:
            different[name] = sorted(rest)
    assert not different
    assert compared > 30


def test_functions_that_310p_lacks_are_refused() -> None:
    apis = _apis()
    lacking = {
        name for name, api in apis.items()
        if (documented := ascendc_docs.lookup(name)) and "Ascend 310P" not in documented.socs and api.on_310p
    }  # fmt: skip
    # The identity of a sub-block and the clock have values there too; Scatter is documented for other products.
    assert lacking <= {"GetSubBlockIdx", "GetSubBlockNum", "GetSystemCycle", "SetSaturationFlag"}, lacking


def test_rows_of_the_page() -> None:
    lines = PAGE.read_text().splitlines()
    assert "| `ShiftLeft` | int16_t, uint16_t, int32_t, uint32_t | not supported | not supported |" in lines
    assert "| `SetAtomicAdd` | half, bfloat16_t, float, int8_t, int16_t, int32_t | half, float, int16_t | not supported |" in lines
    assert "| `Compares` | half, float, int32_t | half, float | not supported |" in lines


def test_documented_names() -> None:
    clamp = ascendc_docs.lookup("Clamp")
    assert clamp is not None and clamp.socs == ("Ascend 950",)
    assert ascendc_docs.lookup("Clampx") is None
    assert {"Add", "DataCopyPad", "SoftMax"} <= set(ascendc_docs.names())
