"""op_host sources on the twin: definitions, InferShape, InferDataType, tiling, and containment of faults."""

from __future__ import annotations

import platform
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ascendops import resources
from ascendops.errors import InputError, KernelCrash, KernelHang, OpHostError
from ascendops.spec import socs
from ascendops.toolchain.compiler import find_compiler
from ascendops.twin import compilation
from ascendops.twin.host import HostLibrary, HostTensor

PROJECT = Path(__file__).parents[1] / "projects" / "host_ops"
FOLDERS = (PROJECT / "op_host", PROJECT / "op_kernel")

pytestmark = pytest.mark.twin


def built(sources: list[Path]) -> HostLibrary:
    return HostLibrary(compilation.compile_host(sources, FOLDERS, "host_ops").path / "host.so")


@pytest.fixture(scope="module")
def lib() -> HostLibrary:
    return built(sorted((PROJECT / "op_host").glob("*.cpp")))


def f32(*shape: int) -> HostTensor:
    return HostTensor(shape, "float32")


# --- definitions


def test_all_operators_of_the_library_are_found(lib: HostLibrary) -> None:
    expected = {"ScaleRows", "MacroLayout", "EchoAttrs", "EchoInputs", "EchoTilingDepend", "Lists", "PerUnit", "SumAxis", "Faulty", "TiledTemplate"}
    assert set(lib.ops) == expected
    with pytest.raises(InputError, match="no operator 'ScaleRow'") as caught:
        lib.infer_shape("ScaleRow", [])
    assert "did you mean 'ScaleRows'" in str(caught.value.help)


def test_a_definition_has_names_kinds_columns_and_units(lib: HostLibrary) -> None:
    op = lib.ops["ScaleRows"]
    assert [(p.name, p.param_type) for p in op.inputs] == [("x", "required"), ("bias", "optional")]
    assert op.inputs[0].dtypes == op.outputs[0].dtypes == ("float32", "float16", "bfloat16")
    assert op.inputs[1].formats == ("ND", "ND", "ND")
    assert op.units == ("ascend910_93", "ascend910b")
    assert (op.has_infershape, op.has_inferdtype, op.has_tiling) == (True, True, True)
    assert op.tiling_struct is None
    assert op.columns == 3


def test_attributes_have_types_and_defaults(lib: HostLibrary) -> None:
    attrs = {attr.name: (attr.type, attr.required, attr.default) for attr in lib.ops["EchoAttrs"].attrs}
    assert attrs == {
        "flag": ("bool", False, True),
        "count": ("int", True, None),
        "eps": ("float", False, 1.0),
        "mode": ("str", False, "none"),
        "flags": ("bool[]", False, (True, False)),
        "dims": ("int[]", False, (-1, 2)),
        "scales": ("float[]", False, (0.5, 2.0)),
        "rows": ("int[][]", False, ((1, 2), (), (3,))),
    }
    assert isinstance(attrs["eps"][2], float)
    assert lib.ops["SumAxis"].attrs[1].default == 1e-5, "the declared number, not its nearest float32"
    assert list(attrs) == ["flag", "count", "eps", "mode", "flags", "dims", "scales", "rows"]


def test_lists_are_combined_with_every_column_and_follow_copies(lib: HostLibrary) -> None:
    op = lib.ops["Lists"]
    x, w = op.inputs
    y, s = op.outputs
    rows = list(zip(x.dtypes, w.dtypes, w.formats, y.dtypes, s.dtypes, strict=True))
    assert rows == [
        ("float32", "int8", "ND", "float32", "float32"),
        ("float32", "int8", "FRACTAL_NZ", "float32", "float32"),
        ("float16", "int8", "ND", "float16", "float32"),
        ("float16", "int8", "FRACTAL_NZ", "float16", "float32"),
        ("float32", "int32", "ND", "float32", "float32"),
        ("float32", "int32", "FRACTAL_NZ", "float32", "float32"),
        ("float16", "int32", "ND", "float16", "float32"),
        ("float16", "int32", "FRACTAL_NZ", "float16", "float32"),
    ]
    assert (y.shape_like, y.dtype_like, s.shape_like, s.dtype_like) == ("x", "x", "w", "")
    assert x.formats == ("ND",) * 8


def test_one_unit_may_have_its_own_columns(lib: HostLibrary) -> None:
    op = lib.ops["PerUnit"]
    assert op.inputs[0].dtypes == ("float32", "bfloat16")
    assert op.for_unit("ascend910b") is op
    old = op.for_unit("ascend310p")
    assert (old.inputs[0].dtypes, old.outputs[0].dtypes) == (("float16",), ("float16",))
    assert old.inputs[0].auto_contiguous
    assert old.outputs[0].init_value == (0.0,)


def test_misaligned_columns_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "bad.cpp"
    source.write_text(
        '#include "register/op_def_registry.h"\nnamespace ops {\nclass Bad : public OpDef {\npublic:\n'
        "    explicit Bad(const char *name) : OpDef(name)\n    {\n"
        '        this->Input("x").DataType({ge::DT_FLOAT, ge::DT_INT8}).Format({ge::FORMAT_ND});\n'
        '        this->AICore().AddConfig("ascend910b");\n    }\n};\nOP_ADD(Bad);\n}\n'
    )
    with pytest.raises(OpHostError, match="Bad: the DataType and Format lists have different lengths.*x 2 dtypes and 1 formats"):
        built([source])


# --- InferShape and InferDataType


@pytest.mark.parametrize(
    ("shape", "axis", "expected"),
    [((3, 4, 5), 1, (3, 5)), ((7,), 0, ()), ((-1, 4), 1, (-1,)), ((-1, -1), 0, (-1,)), ((-2,), 0, (-2,)), ((0, 2), 1, (0,))],
)
def test_infer_shape_with_known_and_unknown_dims(lib: HostLibrary, shape: tuple[int, ...], axis: int, expected: tuple[int, ...]) -> None:
    assert lib.infer_shape("SumAxis", [HostTensor(shape, "int32")], {"axis": axis}) == [expected]


@pytest.mark.parametrize(("given", "inferred"), [("float16", "float32"), ("bfloat16", "float32"), ("int32", "int32")])
def test_infer_dtype(lib: HostLibrary, given: str, inferred: str) -> None:
    assert lib.infer_dtype("SumAxis", [HostTensor((2, 2), given)], {"axis": 0}) == [inferred]


def test_followed_shapes_need_no_function(lib: HostLibrary) -> None:
    inputs = [HostTensor((2, 3), "float32"), HostTensor((4,), "int8")]
    assert not lib.ops["Lists"].has_infershape
    assert lib.infer_shape("Lists", inputs) == [(2, 3), (4,)]


def test_infer_functions_registered_apart_from_the_definition(lib: HostLibrary) -> None:
    assert lib.infer_shape("MacroLayout", [HostTensor((2, 3), "int32")]) == [(6,)]
    assert lib.infer_dtype("MacroLayout", [HostTensor((2, 3), "int32")]) == ["int32"]


def test_elements_reach_only_value_depend_inputs(lib: HostLibrary) -> None:
    sizes = HostTensor((2,), "int64", data=struct.pack("<2q", 5, 9))
    parts = [HostTensor((4, 6), "float16"), HostTensor((1,), "float16")]
    assert lib.infer_shape("EchoInputs", [None, parts, sizes]) == [(5, 9), (4, 6)]
    assert lib.infer_shape("EchoTilingDepend", [None, [], sizes]) == [(), ()], "declared for tiling only"


def test_a_refusal_names_the_function_and_the_inputs(lib: HostLibrary) -> None:
    with pytest.raises(OpHostError, match=r"InferShape of SumAxis returned a failure \(50331649\)") as caught:
        lib.infer_shape("SumAxis", [HostTensor((3, 4), "int32")], {"axis": 2})
    assert "x: int32[3, 4], axis=2, eps=1e-05" in str(caught.value.why)
    assert str(caught.value.where).endswith("shapes.cpp:6")


def test_a_function_that_is_not_registered(lib: HostLibrary) -> None:
    with pytest.raises(OpHostError, match="InferShape of PerUnit is not registered"):
        lib.infer_shape("PerUnit", [f32(1)])


# --- tiling


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
    [([], "input 'x' is required"), ([f32(1), None, None], "has 2 inputs, 3 were given"), ([[f32(1), f32(1)]], "'x' is one tensor, a list of 2")],
)
def test_wrong_inputs_are_refused(lib: HostLibrary, inputs: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lib.tiling("ScaleRows", inputs, [f32(1)])


# --- template arguments and utility headers


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


# --- faults of user code


def faulty(lib: HostLibrary, how: int, timeout_s: float = 10.0):
    return lib.tiling("Faulty", [f32(0, 3)], [f32(0, 3)], {"how": how}, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        (1, OpHostError, "the tiling function of Faulty returned a failure"),
        (2, KernelCrash, "crashed: Segmentation fault"),
        (4, OpHostError, "threw: vector::_M_range_check"),
        (5, OpHostError, "threw: an exception that is not a std::exception"),
        (6, KernelCrash, "crashed: Aborted"),
        (8, KernelCrash, "crashed: Segmentation fault"),
        (9, OpHostError, "set block dim 0"),
        (10, KernelCrash, "crashed: Segmentation fault"),
        (11, OpHostError, "wrote beyond the end of the tiling buffer"),
        (12, OpHostError, "set a data size of 65537 bytes"),
    ],
)
def test_a_fault_becomes_an_error(lib: HostLibrary, how: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        faulty(lib, how)
    assert f"x: float32[0, 3], how={how}" in str(caught.value)
    assert faulty(lib, 0).block_dim == 1, "the library still works"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="an integer division by zero traps on x86-64 only")
def test_a_division_by_zero_is_a_crash(lib: HostLibrary) -> None:
    with pytest.raises(KernelCrash, match="crashed: Floating point exception"):
        faulty(lib, 3)


def test_faults_on_other_threads_stay_there(lib: HostLibrary) -> None:
    def call(how: int) -> object:
        try:
            return faulty(lib, how).block_dim
        except (KernelCrash, OpHostError) as error:
            return type(error)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(call, [0, 2, 8, 5] * 10))
    assert results == [1, KernelCrash, KernelCrash, OpHostError] * 10


def test_a_crash_names_its_line(lib: HostLibrary) -> None:
    with pytest.raises(KernelCrash) as caught:
        faulty(lib, 2)
    lines = (PROJECT / "op_host" / "faults.cpp").read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "GetInputShape(5)" in text)
    assert str(caught.value.where).endswith(f"op_host/faults.cpp:{line}")
    assert "FaultTiling" in str(caught.value.why)


def test_a_structure_too_large_for_the_buffer_is_explained(lib: HostLibrary) -> None:
    with pytest.raises(KernelCrash, match="Segmentation fault") as caught:
        faulty(lib, 10)
    assert "the tiling structure has 1048576 bytes, the tiling buffer 65536" in str(caught.value.why)


def test_an_endless_loop_ends(lib: HostLibrary) -> None:
    with pytest.raises(KernelHang, match="did not return in time"):
        faulty(lib, 7, timeout_s=0.3)
    assert faulty(lib, 0).block_dim == 1


def test_an_attribute_read_with_the_wrong_type_is_noted(lib: HostLibrary) -> None:
    assert faulty(lib, 13).notes == ("attribute 0 is declared Int and was read as Float",)


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "host.so"
    path.write_text("no library")
    with pytest.raises(OpHostError, match="cannot be loaded"):
        HostLibrary(path, compilation.host_runtime_library())


# --- headers


def test_headers_and_sources_are_clean_in_cpp11(tmp_path: Path) -> None:
    include = resources.twin("include") / "host"
    headers = [str(header.relative_to(include)) for header in sorted(include.rglob("*.h"), reverse=True)]
    lines = [f'#include "{name}"' for name in (*headers, *sorted(path.name for path in (PROJECT / "op_host").glob("*.cpp")))]
    source = tmp_path / "all.cpp"
    source.write_text("\n".join(lines) + "\n")
    flags = ["-std=c++11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{include}", *[f"-I{folder}" for folder in FOLDERS]]
    done = subprocess.run([find_compiler().path, *flags, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_soc_table_reaches_the_platform_queries(tmp_path: Path) -> None:
    source = tmp_path / "platform.cpp"
    source.write_text(
        '#include "platform/platform_info.h"\n#include "register/op_def_registry.h"\n#include "tiling/platform/platform_ascendc.h"\n'
        "static ge::graphStatus Tile(gert::TilingContext *context) {\n"
        "    using namespace platform_ascendc;\n    PlatformAscendC p(context->GetPlatformInfo());\n    uint64_t out[12] = {0};\n"
        "    out[0] = p.GetCoreNumAic();\n    out[1] = p.GetCoreNumAiv();\n    out[2] = p.GetCoreNumVector();\n"
        "    out[3] = static_cast<uint64_t>(p.GetSocVersion());\n    p.GetCoreMemSize(CoreMemType::L1, out[4]);\n"
        "    p.GetCoreMemSize(CoreMemType::L2, out[5]);\n    p.GetCoreMemSize(CoreMemType::L0_C, out[6]);\n"
        "    p.GetCoreMemBw(CoreMemType::L2, out[7]);\n    out[8] = static_cast<uint64_t>(p.GetCurNpuArch());\n"
        "    out[9] = p.CalcTschBlockDim(5, 2, 4);\n    out[10] = PlatformAscendCManager::GetInstance()->GetCoreNumAic();\n"
        "    fe::PlatFormInfos infos;\n    fe::OptionalInfos options;\n"
        '    (void)fe::PlatformInfoManager::Instance().GetPlatformInfos("Ascend910B1", infos, options);\n'
        "    out[11] = infos.GetCoreNumByType(\"CubeCore\");\n"
        "    (void)context->GetRawTilingData()->Append(out, 12);\n    return context->SetBlockDim(1);\n}\n"
        "namespace ops {\nclass Ask : public OpDef {\npublic:\n    explicit Ask(const char *name) : OpDef(name)\n    {\n"
        '        this->Output("y").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});\n'
        '        this->AICore().SetTiling(Tile).AddConfig("ascend310p");\n    }\n};\nOP_ADD(Ask);\n}\n'
    )
    ask = built([source])

    def values(name: str) -> tuple[int, ...]:
        return struct.unpack("<12Q", ask.tiling("Ask", [], [f32(1)], soc=socs.resolve(name)).data)

    assert values("910B3") == (20, 40, 0, 1, 524288 - 256, 201326592, 131072, 110, 2201, 0, 20, 24)
    assert values("910_9391")[:4] == (24, 48, 0, 1)
    assert values("310P3") == (8, 8, 7, 2, 1048576, 16777216, 262144, 114, 2002, 0, 8, 24)
    assert values("ascend950")[3] == 4
