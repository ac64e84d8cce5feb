"""Tiling functions on the twin: what they see, what they give, template arguments and the helpers of op_host."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from host_support import built, f32, host_ops

from ascendops import resources
from ascendops.errors import InputError, OpHostError
from ascendops.toolchain.compiler import find_compiler
from ascendops.twin.host import HostLibrary, HostTensor

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def lib() -> HostLibrary:
    return host_ops()


def scale_rows(lib: HostLibrary, soc: str, *, bias: HostTensor | None = None, **attrs: float):
    return lib.tiling("ScaleRows", [HostTensor((3, 5, 7), "float16"), bias], [HostTensor((3, 5, 7), "float16")], attrs, soc)


def test_plain_struct_tiling(lib: HostLibrary) -> None:
    tiling = scale_rows(lib, "Ascend910B1")
    assert struct.unpack("<QIfI4x", tiling.data) == (15, 7, 0.5, 196608 - 256)
    assert (tiling.key, tiling.block_dim, tiling.workspaces) == (1, 48, [16 * 1024 * 1024])
    assert scale_rows(lib, "Ascend910B1", bias=f32(7)).key == 2
    assert struct.unpack_from("<f", scale_rows(lib, "Ascend910B1", factor=-2.5).data, 12) == (-2.5,)


@pytest.mark.parametrize(
    ("soc", "cores", "ub", "workspace"),
    [("910B3", 40, 196352, 16 << 20), ("310P3", 8, 262144, 2 << 20), ("310B1", 1, 253952, 2 << 20), ("910A", 32, 262144, 2 << 20), ("ascend950", 64, 253952, 16 << 20)],
)
def test_tiling_sees_the_soc(lib: HostLibrary, soc: str, cores: int, ub: int, workspace: int) -> None:
    tiling = scale_rows(lib, soc)
    assert (tiling.block_dim, struct.unpack_from("<I", tiling.data, 16)[0], tiling.workspaces) == (cores, ub, [workspace])


@pytest.mark.parametrize(("shape", "key"), [((2, 4), 0), ((3, 3), 1)])
def test_macro_tiling_has_the_documented_layout(lib: HostLibrary, shape: tuple[int, ...], key: int) -> None:
    tiling = lib.tiling("MacroLayout", [HostTensor(shape, "int32")], [HostTensor((8,), "int32")])
    total = shape[0] * shape[1]
    inner = struct.pack("<H2x3i", 99, 10, -19, 30)
    expected = struct.pack("<B7xqBxHf5B3x", 0xAB, total, 7, 0x1234, 1.5, 1, 2, 3, 4, 5) + inner + struct.pack("<?7x", True)
    assert tiling.data == expected
    assert (tiling.key, tiling.block_dim) == (key, 11)


def test_the_layout_is_described(lib: HostLibrary) -> None:
    layout = lib.ops["MacroLayout"].tiling_struct
    assert layout is not None
    assert (layout.name, layout.size) == ("MacroLayoutTiling", 56)
    assert [(f.name, f.type, f.offset, f.size, f.length) for f in layout.fields] == [
        ("flag", "uint8_t", 0, 1, None),
        ("total", "int64_t", 8, 8, None),
        ("mode", "uint8_t", 16, 1, None),
        ("width", "uint16_t", 18, 2, None),
        ("scale", "float", 20, 4, None),
        ("bytes", "uint8_t", 24, 5, 5),
        ("inner", "InnerTiling", 32, 16, None),
        ("last", "bool", 48, 1, None),
    ]
    assert layout.fields[6].struct is not None
    assert layout.fields[6].struct.fields[1].length == 3
    assert list(lib.ops["MacroLayout"].keyed_tilings) == ["7"]


def test_the_tiling_header_compiles_and_reads_the_same_values(lib: HostLibrary, tmp_path: Path) -> None:
    text = lib.tiling_header("MacroLayout")
    assert text is not None
    assert lib.tiling_header("ScaleRows") is None
    data = lib.tiling("MacroLayout", [HostTensor((2, 4), "int32")], [HostTensor((8,), "int32")]).data
    array = ", ".join(str(byte) for byte in data)
    source = tmp_path / "read.cpp"
    source.write_text(
        f"#include <cstdio>\n#include <cstring>\n{text}\nint main() {{\n    const unsigned char data[] = {{{array}}};\n"
        "    ascendc_twin_default_tiling t;\n    MacroLayoutSmallTiling other;\n    static_assert(sizeof(t) == sizeof(data), \"\");\n"
        "    std::memcpy(&t, data, sizeof(t));\n"
        '    std::printf("%d %lld %d %g %d %d %d %d", t.flag, (long long)t.total, t.width, t.scale, t.bytes[4], t.inner.steps,\n'
        "                t.inner.strides[1], t.last);\n    return static_cast<int>(other.count + other.softmax.tailM);\n}\n"
    )
    include = f"-I{resources.twin('include')}"
    subprocess.run([find_compiler().path, "-std=c++11", "-Wall", "-Werror", include, str(source), "-o", str(tmp_path / "read")], check=True)
    done = subprocess.run([str(tmp_path / "read")], capture_output=True, text=True, check=True)
    assert done.stdout == "171 8 4660 1.5 5 99 -19 1"


def test_attributes_of_every_type_arrive(lib: HostLibrary) -> None:
    def echo(**attrs: object) -> str:
        return lib.tiling("EchoAttrs", [f32(1)], [f32(1)], attrs).data.decode()

    assert echo(count=-5) == "8;yes;-5;1.000000;none;1,0;-1,2;0.500000,2.000000;1 2 ||3 |null"
    given = echo(flag=False, count=1 << 40, eps=0.25, mode="", flags=[True], dims=[], scales=(3,), rows=[[7], [8, 9]])
    assert given == "8;no;1099511627776;0.250000;;1;;3.000000;7 |8 9 |null"


def test_a_pointer_to_a_missing_attribute_is_noted(lib: HostLibrary) -> None:
    notes = lib.tiling("EchoAttrs", [f32(1)], [f32(1)], {"count": 1}).notes
    assert notes == ("attribute 8 was asked for, the operator has 8: the pointer is null",)


@pytest.mark.parametrize(
    ("attrs", "message"),
    [({}, "attribute 'count' .int. is required"), ({"count": "x"}, "'count' must be int, not 'x'"), ({"cuont": 1}, "no attribute 'cuont'"), ({"count": 1 << 70}, "must be int")],
)
def test_wrong_attributes_are_refused(lib: HostLibrary, attrs: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lib.tiling("EchoAttrs", [f32(1)], [f32(1)], attrs)


def test_declared_inputs_map_to_the_given_ones(lib: HostLibrary) -> None:
    sizes = HostTensor((2,), "int64", data=struct.pack("<2q", 5, 9))
    parts = [HostTensor((4, 6), "float16", "NCHW"), HostTensor((1,), "float16", "NCHW")]
    outputs = [HostTensor((5, 9), "float16"), HostTensor((4, 6), "float16")]
    tiling = lib.tiling("EchoInputs", [None, parts, sizes], outputs)
    assert tiling.data.decode() == "3;none;1@0:4 6 ;1@0:1 ;none;9@2:2 ;1@0:4 6 ;9;EchoInputs;free"
    assert (tiling.workspaces, tiling.schedule_mode, tiling.block_dim) == ([32, 64], 1, 2)
    mask = HostTensor((3,), "bool")
    full = lib.tiling("EchoInputs", [mask, parts[:1], sizes], outputs, deterministic=True).data.decode()
    assert full == "3;12@2:3 ;1@0:4 6 ;none;9@2:2 ;12@2:3 ;9;EchoInputs;fixed"
    unread = lib.tiling("EchoInputs", [mask, [], HostTensor((2,), "int64")], outputs).data.decode()
    assert unread == "2;12@2:3 ;none;9@2:2 ;12@2:3 ;unreadable;EchoInputs;free"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [([], "input 'x' is required"), ([f32(1), None, None], "has 2 inputs, given: 3"), ([[f32(1), f32(1)]], "'x' is one tensor, a list of 2")],
)
def test_wrong_inputs_are_refused(lib: HostLibrary, inputs: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lib.tiling("ScaleRows", inputs, [f32(1)])


def test_template_arguments_are_packed_into_the_key(lib: HostLibrary) -> None:
    keys = {template.key: template.args for template in lib.ops["TiledTemplate"].templates}
    # D_T: 8 bits, its code; TILES: 4 bits, its place in 2 3 4 9 16; SPLIT: 1 bit
    assert keys == {
        1 | 1 << 8: ("half", "3", "0"),
        1 | 1 << 8 | 1 << 12: ("half", "3", "1"),
        1 | 4 << 8: ("half", "16", "0"),
        1 | 4 << 8 | 1 << 12: ("half", "16", "1"),
        0: ("float", "2", "0"),
    }
    assert lib.tiling("TiledTemplate", [HostTensor((3, 97), "float16")], [HostTensor((3, 97), "float16")]).key == 1 | 1 << 8 | 1 << 12
    assert lib.tiling("TiledTemplate", [HostTensor((200,), "float32")], [HostTensor((200,), "float32")]).key == 0
    assert lib.ops["ScaleRows"].templates == ()


def test_temporary_buffer_sizes(lib: HostLibrary) -> None:
    data = lib.tiling("TiledTemplate", [f32(200)], [f32(200)]).data
    assert struct.unpack("<4I", data) == (4 * 300 * 2, 4 * 256, 2 * 256, 2 * 256)


def test_an_undeclared_template_value_is_noted(lib: HostLibrary) -> None:
    tiling = lib.tiling("TiledTemplate", [f32(600)], [f32(600)])
    assert tiling.key == 2**64 - 1
    assert tiling.notes == ("the template argument TILES has no value 6 in ASCENDC_TPL_ARGS_DECL",)


def test_what_op_host_logs_is_part_of_the_error(lib: HostLibrary) -> None:
    with pytest.raises(OpHostError) as caught:
        lib.tiling("TiledTemplate", [f32(1001)], [f32(1001)])
    assert "log: TiledTemplate:TiledTemplate: 1001 elements are too many" in str(caught.value.why)


@pytest.mark.parametrize(
    ("x", "other", "expected"),
    [((3, 1), (4,), (3, 4)), ((), (2, 2), (2, 2)), ((-1, 4), (1, 1), (-1, 4)), ((-1,), (5,), (5,)), ((-2,), (5,), (-2,)), ((0, 3), (1, 3), (0, 3))],
)
def test_broadcast_helper(lib: HostLibrary, x: tuple[int, ...], other: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert lib.infer_shape("TiledTemplate", [HostTensor(x, "float32"), HostTensor(other, "float32")]) == [expected]


def test_broadcast_and_reduce_helpers_refuse(lib: HostLibrary) -> None:
    with pytest.raises(OpHostError) as caught:
        lib.infer_shape("TiledTemplate", [f32(3), f32(4)])
    assert "shapes [[3], [4]] do not broadcast" in str(caught.value.why)
    axes = HostTensor((1,), "int64", data=struct.pack("<q", -1))
    assert lib.infer_shape("TiledTemplate", [f32(3, 4), f32(1), axes]) == [(3, 1)]
    with pytest.raises(OpHostError):
        lib.infer_shape("TiledTemplate", [f32(3, 4), f32(1), HostTensor((1,), "int64", data=struct.pack("<q", 2))])


def test_log_functions_and_checks_of_other_projects(tmp_path: Path) -> None:
    source = tmp_path / "noisy.cpp"
    source.write_text(
        '#include "log/log.h"\n#include "log/ops_log.h"\n#include "register/op_def_registry.h"\nusing namespace AscendC;\n'
        "static ge::graphStatus Tile(gert::TilingContext *context) {\n"
        "    OPS_LOG_E_IF_NULL(context, context, return ge::GRAPH_SUCCESS)\n    const int *none = nullptr;\n"
        "    if (AlogCheckDebugLevel(static_cast<uint32_t>(OP), DLOG_DEBUG) == 1) return ge::GRAPH_SUCCESS;\n"
        '    OpLogSub(OP, DLOG_ERROR, "Noisy", "code %d", 7);\n    REPORT_INNER_ERR_MSG("E89999", "reason %s", "none");\n'
        "    OPS_LOG_E_IF_NULL(context, none, return ge::GRAPH_FAILED)\n    return ge::GRAPH_SUCCESS;\n}\n"
        "namespace ops {\nclass Noisy : public OpDef {\npublic:\n    explicit Noisy(const char *name) : OpDef(name)\n    {\n"
        '        this->Output("y").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});\n'
        '        this->AICore().SetTiling(Tile).AddConfig("ascend910b");\n    }\n};\nOP_ADD(Noisy);\n}\n'
    )
    with pytest.raises(OpHostError) as caught:
        built([source]).tiling("Noisy", [], [f32(1)])
    for text in ("Noisy: code 7", "reason none", "none is null"):
        assert text in str(caught.value.why)
