"""Tiling functions of the high-level vector API: their structures have one layout on host and kernel, and add up."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from ascendops import resources
from ascendops.toolchain.compiler import find_compiler
from ascendops.twin import compilation, tiling_header
from ascendops.twin.host import HostLibrary, HostTensor
from ascendops.twin.opdef import TilingStruct

FOLDER = Path(__file__).parents[1] / "projects" / "host_api" / "op_host"
X = [HostTensor((1,), "float32")]

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def lib() -> HostLibrary:
    built = compilation.compile_host(sorted(FOLDER.glob("*.cpp")), (FOLDER,), "host_api")
    return HostLibrary(built.path / "host.so")


def values(struct_: TilingStruct, data: bytes) -> dict[str, float]:
    """Fields of plain numbers by name."""
    codes = {"uint32_t": "I", "int32_t": "i", "uint16_t": "H", "float": "f", "bool": "?"}
    return {
        f.name: struct.unpack_from("<" + codes[f.type], data, f.offset)[0] for f in struct_.fields if f.struct is None
    }


@pytest.fixture(scope="module")
def tilings(lib: HostLibrary) -> dict[str, dict[str, float]]:
    data = lib.tiling("ApiTilings", X, X).data
    outer = lib.ops["ApiTilings"].tiling_struct
    assert outer is not None
    assert (values(outer, data)["first"], values(outer, data)["last"]) == (1, 1)
    return {f.name: values(f.struct, data[f.offset :]) for f in outer.fields if f.struct is not None}


def test_structures_have_the_layout_of_kernels(lib: HostLibrary, tmp_path: Path) -> None:
    op = lib.ops["ApiTilings"]
    text = tiling_header.header(op)
    assert text is not None
    assert op.tiling_struct is not None
    for field in op.tiling_struct.fields:
        if field.struct is not None:
            text += f"static_assert(sizeof({field.struct.name}) == {field.struct.size});\n"
            text += "".join(
                f"static_assert(offsetof({field.struct.name}, {f.name}) == {f.offset});\n" for f in field.struct.fields
            )
    source = tmp_path / "layout.cpp"
    source.write_text(text)
    command = [
        str(find_compiler().path),
        "-std=c++17",
        "-fsyntax-only",
        "-I",
        str(resources.twin("include")),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["layerNorm", "deepNorm", "separate", "groupNorm"])
def test_rounds_cover_the_input(tilings: dict[str, dict[str, float]], name: str) -> None:
    t = tilings[name]
    assert t["loopRound"] * t["inputRoundSize"] + t["inputTailSize"] == t["inputXSize"]
    assert t["inputTailPos"] == t["loopRound"] * t["inputRoundSize"]
    assert t["loopRound"] * t["meanVarRoundSize"] + t["meanVarTailSize"] == t["meanVarSize"]
    assert t["firstTmpStartPos"] + t["numberOfTmpBuf"] * t["oneTmpSize"] <= t["tmpBufSize"]
    assert t["inputRoundSize"] <= t["oneTmpSize"]


def test_shapes_arrive(tilings: dict[str, dict[str, float]]) -> None:
    norm = tilings["layerNorm"]
    assert [norm[k] for k in ("bLength", "sLength", "hLength", "originalHLength")] == [2, 15, 64, 60]
    assert norm["lastDimValueBack"] == pytest.approx(1 / 60)
    rms = tilings["rmsNorm"]
    assert rms["loopRound"] * rms["mainBsLength"] + rms["tailBsLength"] == 30
    group = tilings["groupNorm"]
    assert [group[k] for k in ("n", "c", "hw", "g", "d", "hwAlignSize")] == [2, 6, 15, 3, 2, 16]
    assert (tilings["batchNorm"]["originalBLength"], tilings["batchNorm"]["meanVarSize"]) == (2, 960)
    grad, beta = tilings["grad"], tilings["gradBeta"]
    assert grad["loopNum"] * grad["nohCalSize"] + grad["nohTailSize"] == 30
    assert beta["loopRound"] * beta["bsCurLength"] + beta["bsTailSize"] == 30
    soft = tilings["softMax"]
    assert soft["rangeM"] * soft["splitM"] + soft["tailM"] == soft["srcM"] == 30
    assert (tilings["logSoftMax"]["splitM"], tilings["logSoftMax"]["rangeM"]) == (30, 1), (
        "all at once in a large buffer"
    )
    assert [tilings["pad"][k] for k in ("srcHeight", "srcWidth", "srcOriWidth")] == [32, 15, 15]
    assert [tilings["transpose"][f"param{k}"] for k in range(4)] == [2, 3, 32, 16]
    assert tilings["topK"]["innerDataSize"] == 64


def test_sizes_are_ordered(lib: HostLibrary) -> None:
    data = lib.tiling("ApiSizes", X, X).data
    sizes = struct.unpack(f"<{len(data) // 4}I", data)
    pairs = list(zip(sizes[::2], sizes[1::2], strict=True))
    assert len(pairs) == 31
    assert (1, 1) in pairs, "of the sort that only Ascend 950 has: no space"
    for at, (largest, smallest) in enumerate(pairs):
        assert 0 < smallest <= largest < 192 * 1024, at
