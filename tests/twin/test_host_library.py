"""op_host sources on the twin: definitions, InferShape, InferDataType, and the headers that they include."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from host_support import FOLDERS, PROJECT, built, f32, host_ops

from ascendops import resources
from ascendops.errors import InputError, OpHostError
from ascendops.spec import socs
from ascendops.toolchain.compiler import find_compiler
from ascendops.twin.host import HostLibrary, HostTensor

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def lib() -> HostLibrary:
    return host_ops()


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
