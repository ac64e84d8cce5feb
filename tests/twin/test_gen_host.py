"""The generated op_host sources, compiled against the twin's host headers and executed: registration, shapes and dtypes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascendops.errors import OpHostError
from ascendops.render import gen
from ascendops.spec import load
from ascendops.spec.attrs import op_def_type, op_def_value

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]

SPEC = load(Path(__file__).parents[1] / "golden" / "every_kind.toml")
TILING = """#include "register/op_def_registry.h"
namespace optiling {
ge::graphStatus EveryKindTiling(gert::TilingContext *context)
{
    context->SetBlockDim(static_cast<uint32_t>(context->GetAttrs()->GetListInt(8)->GetSize()) + 1);
    return ge::GRAPH_SUCCESS;
}
}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    from ascendops.twin import compilation
    from ascendops.twin.host import HostLibrary

    root = tmp_path_factory.mktemp("every_kind")
    gen(SPEC).write(root)
    (root / "tiling.cpp").write_text(TILING)
    entry = compilation.compile_host([*sorted((root / "gen/op_host").glob("*.cpp")), root / "tiling.cpp"], [root], "every_kind")
    return HostLibrary(entry.path / "host.so")


def tensor(*shape, dtype="float32"):
    from ascendops.twin.host import HostTensor

    return HostTensor(shape, dtype)


def inputs(column=0, **changes):
    half = ("float32", "float16")[column]
    found = {"x": tensor(4, 5, 6, dtype=half), "rest": [tensor(5, 9, dtype=half), tensor(5, 1, dtype=half)], "w": None, "acc": tensor(12, 3)}
    return list({**found, **changes}.values())


def test_the_registration_says_what_op_toml_says(host):
    op = host.ops["EveryKind"]
    kinds = {"rest": "dynamic", "w": "optional"}
    assert [(p.name, p.param_type, tuple(p.dtypes)) for p in op.inputs] == [(t.name, kinds.get(t.name, "required"), t.dtypes) for t in SPEC.inputs]
    assert [(p.name, tuple(p.dtypes)) for p in op.outputs] == [(t.name, t.dtypes) for t in SPEC.outputs]
    assert [attr.name for attr in op.attrs] == [attr.name for attr in SPEC.attrs]
    for found, attr in zip(op.attrs, SPEC.attrs, strict=True):
        assert found.required == attr.required
        if not attr.required:
            want = op_def_value(attr, attr.default)
            have = tuple(found.default) if isinstance(found.default, list) else found.default
            assert have == pytest.approx(want) if "Float" in op_def_type(attr) else have == want, attr.name
    assert sorted(op.units) == sorted(SPEC.units)
    assert op.has_infershape
    assert op.has_inferdtype
    assert op.has_tiling


def test_shapes_and_dtypes(host):
    attrs = {"dims": (0,), "pad": (1, 1), "scale": 2.0, "k": 2}
    shapes = {"x": (4, 5, 6), "rest": [(5, 9), (5, 1)], "acc": (12, 3)}
    assert host.infer_shape("EveryKind", inputs(), attrs) == SPEC.output_shapes(shapes, attrs) == [(1, 5, 6), (4, 3, 16, 4), (12, 3), (120, 5, 1)]
    assert host.infer_dtype("EveryKind", inputs(), attrs) == ["float32", "int32", "float32", "float16"]
    assert host.infer_dtype("EveryKind", inputs(1), attrs) == ["float16", "int32", "float32", "float32"]


def test_misfits_fail(host):
    for wrong in ({"w": tensor(7)}, {"acc": tensor(11, 3)}, {"rest": [tensor(5, 9), tensor(4, 1)]}, {"x": tensor(6)}):
        with pytest.raises(OpHostError, match="InferShape"):
            host.infer_shape("EveryKind", inputs(**wrong), {"scale": 1.0})


def test_unknown_shapes(host):
    attrs = {"scale": 1.0}
    unknown = inputs(x=tensor(-2), rest=[tensor(-1, 3)])
    assert host.infer_shape("EveryKind", unknown, attrs) == [(-2,), (-2,), (12, 3), (-1, -1, 0)]
    some = inputs(x=tensor(-1, 5, -1), w=tensor(6))
    assert host.infer_shape("EveryKind", some, {**attrs, "keep": False, "dims": (1,)}) == [(-1, -1), (-1, 3, 16, 4), (12, 3), (-1, 1, 1)]


def test_an_optional_number_is_a_list_of_no_or_one_item(host):
    from ascendops.spec.socs import resolve

    outputs = [tensor(1, 5, 6), tensor(4, 3, 16, 4, dtype="int32"), tensor(12, 3), tensor(120, 5, 1, dtype="float16")]
    for value, want in ((None, 1), (7, 2), ((7,), 2)):
        attrs = {"scale": 1.0, "dims": (0,), "oi": value}
        assert host.tiling("EveryKind", inputs(), outputs, attrs, resolve("Ascend910B1")).block_dim == want
