"""Models with kit operators as ONNX, in both forms, run by onnxruntime; the parser plug-in for ATC; `ascendops export --onnx`."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
import torch
from torch_projects import small

import ascendops
from ascendops.cli import main
from ascendops.errors import OnnxRefused
from ascendops.render import gen
from ascendops.spec import load

NAMESPACE = "ascendops_test_onnx"
pytest.importorskip("onnxscript")
ort = pytest.importorskip("onnxruntime")

pytestmark = [
    pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]  # fmt: skip


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("onnx")
    made = [ascendops.open_project(small(root, name)).build("twin") for name in ("softmax", "sum", "gelu")]
    for library in made:
        library.register(NAMESPACE)
    return made


class Model(torch.nn.Module):
    """Three kit operators, one with attributes."""

    def __init__(self, twice: bool = False):
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.twice = torch.nn.Linear(5, 4), twice

    def forward(self, x):
        ops = getattr(torch.ops, NAMESPACE)
        x = ops.sum(ops.softmax(ops.gelu(self.linear(x))), 0, True)
        return ops.sum(x, 1, False) if self.twice else x


@pytest.mark.parametrize("form", ["decomposed", "node"])
def test_onnxruntime_agrees(libraries, form, tmp_path):
    import onnx

    from ascendops.torchlib.onnx import export

    model, path = Model().eval(), tmp_path / "model.onnx"
    shapes = {"x": {0: torch.export.Dim("b", min=2, max=99)}}
    export(model, (torch.randn(3, 5),), path, libraries, form=form, namespace=NAMESPACE, dynamic_shapes=shapes)
    proto = onnx.load(path)
    onnx.checker.check_model(proto)
    kit = [node.op_type for node in proto.graph.node if node.domain == "ascendops"]
    assert kit == ([] if form == "decomposed" else ["Gelu", "Softmax", "Sum"])
    assert sorted(function.name for function in proto.functions) == sorted(kit)
    if kit:
        attributes = {attribute.name: attribute.i for node in proto.graph.node if node.op_type == "Sum" for attribute in node.attribute}
        assert attributes == {"dim": 0, "keepdim": 1}
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for batch in (3, 8):
        x = torch.randn(batch, 5)
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        torch.testing.assert_close(torch.from_numpy(found), model(x))


def test_what_cannot_be_exported_is_refused(libraries, tmp_path):
    from ascendops.torchlib.onnx import export

    with pytest.raises(Exception) as caught:  # torch wraps what a translation raises
        export(Model(twice=True), (torch.randn(3, 5),), tmp_path / "m.onnx", libraries, namespace=NAMESPACE)
    causes, error = [], caught.value
    while error is not None:
        causes.append(error)
        error = error.__cause__
    assert any(isinstance(cause, OnnxRefused) and "sum in two different ways" in cause.what for cause in causes)
    with pytest.raises(OnnxRefused, match="form 'nodes' is not known"):
        export(Model(), (torch.randn(3, 5),), tmp_path / "m.onnx", libraries, form="nodes")


REGISTER = """
#pragma once
#include <cstdio>
#include <string>
#include <vector>
namespace ge {
struct AscendString { std::string s; AscendString(const char *t = "") : s(t) {} const char *GetString() const { return s.c_str(); } };
constexpr int GRAPH_SUCCESS = 0;
struct Operator {
    std::string json;
    int GetAttr(const char *, AscendString &out) const { out.s = json; return json.empty() ? 1 : 0; }
    void SetAttr(const char *n, int64_t v) { std::printf("%s=%ld\\n", n, (long)v); }
    void SetAttr(const char *n, float v) { std::printf("%s=%gf\\n", n, v); }
    void SetAttr(const char *n, bool v) { std::printf("%s=%s\\n", n, v ? "true" : "false"); }
    void SetAttr(const char *n, const AscendString &v) { std::printf("%s=%s\\n", n, v.GetString()); }
    template <typename T> void SetAttr(const char *n, const std::vector<T> &v) { std::printf("%s=[", n); for (T x : v) std::printf("%g,", (double)x); std::printf("]\\n"); }
};
}
namespace domi {
using Status = int; constexpr Status SUCCESS = 0, FAILED = 1; enum Framework { ONNX }; enum class ImplyType { TVM };
using Parse = Status (*)(const ge::Operator &, ge::Operator &);
extern Parse parse; extern std::string origin;
struct Registration {
    Registration(const char *) {}
    Registration &FrameworkType(Framework) { return *this; }
    Registration &OriginOpType(const std::vector<ge::AscendString> &v) { origin = v[0].s; return *this; }
    Registration &ParseParamsByOperatorFn(Parse p) { parse = p; return *this; }
    Registration &ImplyType(ImplyType) { return *this; }
};
}
#define REGISTER_CUSTOM_OP(name) static domi::Registration registration = domi::Registration(name)
"""
MAIN = """
#include "register/register.h"
#include <iostream>
#include <iterator>
namespace domi { Parse parse; std::string origin; }
#include "every_kind_plugin.cc"
int main() {
    ge::Operator source, target;
    source.json.assign(std::istreambuf_iterator<char>(std::cin), {});
    std::printf("%s\\n", domi::origin.c_str());
    return domi::parse(source, target);
}
"""


def test_the_plug_in_reads_the_attributes(tmp_path):
    from pathlib import Path

    gen(load(Path(__file__).parents[1] / "golden" / "every_kind.toml")).write(tmp_path)
    (tmp_path / "register").mkdir()
    (tmp_path / "register" / "register.h").write_text(REGISTER)
    (tmp_path / "main.cpp").write_text(MAIN)
    command = ["g++", "-std=c++11", f"-I{tmp_path}", f"-I{tmp_path}/gen/onnx", str(tmp_path / "main.cpp"), "-o", str(tmp_path / "main")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    def run(text):
        done = subprocess.run([str(tmp_path / "main")], input=text, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    attributes = [
        {"name": "k", "type": 2, "i": 7}, {"name": "eps", "type": 1, "f": 2.5e-3}, {"name": "keep", "type": 2, "i": 0}, {"name": "mode", "s": 'x"y\\z'},
        {"name": "dims", "ints": [0, -1]}, {"name": "fs", "floats": []}, {"name": "bs", "ints": [1, 0]}, {"name": "oi", "i": "12"}, {"name": "other", "i": 1},
    ]  # fmt: skip
    code, lines = run(json.dumps({"attribute": attributes}))
    assert (code, lines[0]) == (0, "ascendops::1::EveryKind")
    assert lines[1:] == ["k=7", "eps=0.0025f", "keep=false", 'mode=x"y\\z', "dims=[0,-1,]", "fs=[]", "bs=[1,0,]", "oi=[12,]"]
    assert run("")[0] == 0 and run('{"attribute":[]}') == (0, lines[:1])
    for broken in ('{"attribute":[}', '{"attribute":', "{" * 100, '{"a" 1}', '{"a":"b'):
        assert run(broken)[0] == 1, broken


def test_the_command_writes_model_plug_in_and_command_line(tmp_path, capsys):
    from torch_projects import edit

    folder = edit(small(tmp_path, "mean"), (r"\[reference\]", '[[case]]\nname = "some"\nshapes = { x = [4, 6] }\nattrs = { dim = 0 }\n\n[reference]'))
    assert main(["export", str(folder), "--onnx", str(tmp_path / "out"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["operators"]
    assert row["command"] == "atc --model=mean.onnx --framework=5 --output=mean --soc_version=Ascend910B1 --input_shape=x:4,6"
    assert sorted(path.name for path in (tmp_path / "out/framework/onnx_plugin").iterdir()) == ["attributes.h", "mean_plugin.cc"]
    session = ort.InferenceSession(row["model"], providers=["CPUExecutionProvider"])
    x = torch.randn(4, 6)
    torch.testing.assert_close(torch.from_numpy(session.run(None, {"x": x.numpy()})[0]), x.mean(0))


def test_goldens_with_halves_and_groups_are_exported_for_sizes_that_are_not_known(tmp_path):
    """chunk of an unknown size, which onnxscript cannot fold; num_groups, which needs the number of channels."""
    from ascendops.torchlib.onnx import export

    made = [ascendops.open_project(small(tmp_path, name)).build("twin") for name in ("swiglu", "group_norm")]
    for library in made:
        library.register(NAMESPACE)
    ops = getattr(torch.ops, NAMESPACE)

    class Gate(torch.nn.Module):
        def forward(self, x, y):
            return ops.swiglu(x), ops.swiglu(y)

    class Groups(torch.nn.Module):
        def __init__(self, twice=False):
            super().__init__()
            self.twice = twice

        def forward(self, x):
            y = ops.group_norm(x, x.new_ones(6), x.new_zeros(6), 3)[0]
            return ops.group_norm(y[:, :3], x.new_ones(3), x.new_zeros(3), 3)[0] if self.twice else y

    x, y, z = torch.randn(3, 8), torch.randn(5, 6), torch.randn(2, 6, 5)
    any_size, any_batch = dict.fromkeys(range(2), torch.export.Dim.DYNAMIC), {0: torch.export.Dim.DYNAMIC}
    for model, args, shapes, other in (
        (Gate(), (x, y), {"x": any_size, "y": any_size}, (torch.randn(4, 2), torch.randn(2, 10))),
        (Groups(), (z,), {"x": any_batch}, (torch.randn(3, 6, 5),)),
    ):
        for form in ("node", "decomposed"):
            path = tmp_path / f"{type(model).__name__}_{form}.onnx"
            export(model.eval(), args, path, made, form=form, namespace=NAMESPACE, dynamic_shapes=shapes)
            session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            for values in (args, other):
                found = session.run(None, {slot.name: value.numpy() for slot, value in zip(session.get_inputs(), values, strict=True)})
                wanted = model(*values)
                for one, want in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
                    torch.testing.assert_close(torch.from_numpy(one), want, atol=1e-5, rtol=1e-5)
    with pytest.raises(OnnxRefused, match="group_norm cannot be exported to ONNX for the different sizes"):
        export(Groups(twice=True).eval(), (z,), tmp_path / "twice.onnx", made, namespace=NAMESPACE)


def test_an_export_that_fails_says_why_and_leaves_nothing(tmp_path, capsys):
    folder = small(tmp_path, "exp_thing", family="elementwise", like="square")
    golden = folder / "golden.py"
    golden.write_text(golden.read_text().replace("    return ", "    x = x * float(x.sum())\n    return "))
    from torch_projects import edit

    edit(folder, (r"\[reference\]", '[[case]]\nname = "some"\nshapes = { x = [4, 6] }\n\n[reference]'))
    assert main(["export", str(folder), "--onnx", str(tmp_path / "out")]) == 2
    text = capsys.readouterr().err
    assert "golden.py of exp_thing cannot be exported to ONNX\n" in text and " = help: write it with operations that torch.onnx exports" in text
    assert not (tmp_path / "out").exists()
