"""The generated torch_npu extension: its C++ against the real headers of torch_npu, its aclnn call against the OpDef, its GE converters."""

from __future__ import annotations

import shutil
import sys
import types
from pathlib import Path

import pytest
import torch
from torch_npu_headers import flags, headers, type_check
from torch_projects import in_place, small

import ascendops
from ascendops.render import gen
from ascendops.spec import load
from ascendops.torchlib import aclnn

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]
EVERY_KIND = Path(__file__).parents[1] / "golden" / "every_kind.toml"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("extension")
    gen(load(EVERY_KIND)).write(root)
    return root


def errors(said: str) -> set[str]:
    """What the compiler calls errors: of a planted mistake there is one, of everything else in the file none."""
    return {line.partition("error: ")[2].replace("‘", "'").replace("’", "'") for line in said.splitlines() if " error: " in line}


def test_the_binding_fits_the_headers_of_torch_npu_and_a_mistake_does_not(project):
    version = ".".join(torch.__version__.split("+")[0].split(".")[:2]) + ".0"
    npu = headers(version)
    if isinstance(npu, str):
        pytest.skip(npu)
    binding = project / "gen/torch/every_kind_binding.cpp"
    text = binding.read_text()
    assert "c10::OptionalDeviceGuard guard(at::device_of(theCall.first))" in text
    binding.write_text(text.replace("at::device_of(theCall.first)", "at::device_off(theCall.first)"))
    assert errors(type_check(binding, flags(npu, project))) == {"'device_off' is not a member of 'at'; did you mean 'device_of'?"}


def test_the_binding_of_a_tbe_operator_fits_opcommand_and_a_wrong_attribute_does_not(tmp_path):
    version = ".".join(torch.__version__.split("+")[0].split(".")[:2]) + ".0"
    npu = headers(version)
    if isinstance(npu, str):
        pytest.skip(npu)
    (tmp_path / "op.toml").write_text('dialect = "tbe"\n' + EVERY_KIND.read_text())
    gen(load(tmp_path)).write(tmp_path)
    binding = tmp_path / "gen/torch/every_kind_binding.cpp"
    text = binding.read_text()
    assert "ASCENDOPS_ACLNN" not in text
    inputs = [line.strip() for line in text.splitlines() if "theCommand.Input" in line or "theCommand.Output" in line]
    assert [line.split("(", 1)[1].rstrip(");") for line in inputs if line.startswith("theCommand")] == ["x", "rest", "acc", "out_y", "out_idx", "acc", "out_z"]
    binding.write_text(text.replace('Attr("k", k)', 'Attr("k", bs)'))
    (error,) = errors(type_check(binding, flags(npu, tmp_path)))
    assert error.startswith("no matching function for call to") and "std::string&, c10::List<bool>&)" in error


def test_the_aclnn_call_is_that_of_the_op_def(tmp_path):
    for folder in (small(tmp_path, "axpy"), small(tmp_path, "sum"), in_place(tmp_path)):
        library = ascendops.open_project(folder).build("twin")
        (operator,) = library.ops.values()
        binding = (folder / "gen/torch" / f"{operator.name}_binding.cpp").read_text()
        assert aclnn.problems(binding, operator.definition) == []
        name, names = aclnn.called(binding)
        for changed, what in (
            (binding.replace(f"({name}, ", f"({name}V2, "), f"it calls {name}V2"),
            (binding.replace(f"({name}, {names[0]}, ", f"({name}, "), f"it passes {len(names) - 1} arguments"),
            (binding.replace(f"({name}, {names[0]}, {names[1]}", f"({name}, {names[1]}, {names[0]}"), f"argument 1 is {names[1]}"),
            (binding.replace("ASCENDOPS_ACLNN(", "OTHER("), "calls no aclnn function"),
        ):
            assert changed != binding and what in aclnn.problems(changed, operator.definition)[0]


class Recorder(types.ModuleType):
    """Stands for torchair: records what a converter asks of it."""

    def __init__(self):
        super().__init__("torchair")
        self.converters, self.made = {}, []
        self.ge = types.ModuleType("torchair.ge")
        self.ge.attr = types.SimpleNamespace(**{name: (lambda value, kind=name: (kind, value)) for name in ("Int", "Float", "Bool", "Str", "ListInt", "ListFloat", "ListBool")})
        self.ge.custom_op = lambda op_type, inputs, outputs, attrs: self.made.append((op_type, inputs, attrs, outputs))

    def register_fx_node_ge_converter(self, target):
        return lambda function: self.converters.setdefault(str(target), function)


def test_the_converters_name_inputs_attributes_and_outputs(tmp_path, monkeypatch):
    folder = small(tmp_path, "sum")
    ascendops.open_project(folder).build("twin").register()
    recorder = Recorder()
    for name, module in (("torchair", recorder), ("torchair.ge", recorder.ge), ("torch_npu", types.ModuleType("torch_npu"))):
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile((folder / "gen/torch/ge_converter.py").read_text(), "ge_converter.py", "exec"), {})
    recorder.converters["ascendops.sum.default"]("X", keepdim=True, meta_outputs=None)
    assert recorder.made == [("Sum", {"x": "X"}, {"dim": ("Int", -1), "keepdim": ("Bool", True)}, ["y"])]
