"""Kernel direct launch, without a compiler: what a kernel must be like, the macros of a column, the parameters, and the golden's arrays."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from ascendops import resources
from ascendops.cli import main
from ascendops.errors import DirectLaunchRefused
from ascendops.interchange.direct import _Writer
from ascendops.interchange.direct_kernel import macros, read_kernel
from ascendops.interchange.expected import FINITE, MINUS, NAN, PLUS, _arrays
from ascendops.parity.truth import Truth
from ascendops.render import FileSet, env, families, new_project

KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR space, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(ScaleTiling);
    GET_TILING_DATA(data, tiling);
    GM_ADDR user = GetUserWorkspace(space);
    // ORIG_DTYPE_Y is only named in a comment
#if ORIG_DTYPE_X == DT_FLOAT16
    DTYPE_X value;
#endif
}
"""


def param(name: str, *dtypes: str, **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(name=name, dtypes=dtypes, formats=("ND",) * len(dtypes), **{"param_type": "required", "shape_depends_on_compute": False, "init_value": (), **fields})


def definition(**fields: Any) -> Any:
    known = {"op_type": "Scale", "inputs": (param("x", "float16", "float32"),), "outputs": (param("y", "float16", "float32"),), "templates": (), "tiling_struct": None}
    return SimpleNamespace(**{**known, **fields})


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "op_kernel").mkdir()
    path = tmp_path / "op_kernel" / "scale.cpp"
    path.write_text(KERNEL)
    return path


def test_a_kernel_is_read_with_its_workspace_parameter_and_the_macros_it_uses(kernel: Path) -> None:
    found = read_kernel(kernel.parent.parent, kernel, "scale", definition())
    assert (found.source, found.entry, found.workspace) == ("scale.cpp", "scale", "space")
    assert macros(found, definition(), 0) == (("DT_FLOAT16", "1"), ("DTYPE_X", "half"), ("ORIG_DTYPE_X", "DT_FLOAT16"))
    assert dict(macros(found, definition(), 1)) == {"DT_FLOAT": "0", "DT_FLOAT16": "1", "DTYPE_X": "float", "ORIG_DTYPE_X": "DT_FLOAT"}


@pytest.mark.parametrize(
    ("fields", "old", "new", "reason"),
    [
        ({"inputs": (param("x", "float16", param_type="dynamic"),)}, "", "", "lists of tensors"),
        ({"outputs": (param("y", "float16", shape_depends_on_compute=True),)}, "", "", "computes the shape of an output"),
        ({"templates": ("a",)}, "", "", "template of the tiling key"),
        ({"tiling_struct": "a"}, "", "", "BEGIN_TILING_DATA_DEF"),
        ({}, "GET_TILING", "REGISTER_TILING_FOR_TILINGKEY(1, T); GET_TILING", "depends on the key"),
        ({}, "REGISTER_TILING_DEFAULT(ScaleTiling);", "", "GET_TILING_DATA without REGISTER_TILING_DEFAULT"),
        ({}, "REGISTER_TILING_DEFAULT(ScaleTiling);\n    GET_TILING_DATA(data, tiling);", "", "needs the system workspace"),
        ({}, '#include "kernel_operator.h"', '#include "../shared.h"', r"outside of op_kernel/: \.\./shared\.h"),
        ({}, "GM_ADDR x, ", "GM_ADDR x, float s, ", "other parameters"),
        ({}, "void scale(", "void scaled(", "other parameters"),
    ],
)
def test_what_cannot_be_launched_so_is_refused_with_the_reason(kernel: Path, fields: dict[str, Any], old: str, new: str, reason: str) -> None:
    kernel.write_text(KERNEL.replace(old, new))
    (kernel.parent.parent / "shared.h").write_text("")
    with pytest.raises(DirectLaunchRefused, match=reason) as caught:
        read_kernel(kernel.parent.parent, kernel, "scale", definition(**fields))
    assert (caught.value.id, caught.value.exit_code) == ("ASC210", 2)


def test_each_kind_of_parameter_has_its_line(tmp_path: Path) -> None:
    inputs = (param("x", "float32"), param("w", "float32"), param("state", "float32"))
    outputs = (param("state", "float32"), param("y", "float16"), param("sum", "float32", init_value=(3.0,)))
    x, state, start = torch.arange(3.0), torch.ones(2), torch.full((4,), 3.0)
    call: Any = SimpleNamespace(tensors={"x": x, "w": None, "state": state}, outputs=[state, torch.empty(5, dtype=torch.float16), start])
    operator: Any = SimpleNamespace(definition=definition(inputs=inputs, outputs=outputs))
    nothing: Any = SimpleNamespace(name="op")
    lines = _Writer(operator, nothing, nothing, nothing, tmp_path)._parameters(call, tmp_path)
    assert lines == ["in input_0.bin 12", "null", "init input_2.bin output_0.bin 8", "same 2", "out output_1.bin 10", "init start_2.bin output_2.bin 16"]
    assert (tmp_path / "input_0.bin").read_bytes() == x.numpy().tobytes()
    assert (tmp_path / "start_2.bin").read_bytes() == start.numpy().tobytes()


def test_the_golden_says_which_class_each_element_may_have() -> None:
    want = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 65504.0, -65520.0, 1e9], dtype=torch.float64)
    found = _arrays(Truth(want, torch.float16, torch.zeros_like(want)), torch.float16)
    assert found["kinds"].tolist() == [FINITE, NAN, PLUS, MINUS, FINITE | PLUS, FINITE | MINUS, PLUS]
    assert found["allowed"][0] == 2 * 2.0**-10
    exact = _arrays(Truth(want[:1], torch.float16, torch.ones(1, dtype=torch.float64), exact=True), torch.float16)
    assert exact["allowed"].tolist() == [0.0] and "signed" in exact
    assert "signed" not in _arrays(Truth(want, torch.float16, torch.zeros_like(want), names=("exp",)), torch.float16)
    whole = _arrays(Truth(torch.tensor([300, 2]), None, None), torch.uint8)
    assert whole["want"].dtype == np.uint8 and whole["want"].tolist() == [44, 2] and "allowed" not in whole
    rounded = _arrays(Truth(torch.tensor([2.5], dtype=torch.float64), None, None), torch.int8)
    assert 0.5 < rounded["allowed"][0] < 0.51


def test_templates_put_every_kernel_into_both_front_ends(tmp_path: Path) -> None:
    kernels = [SimpleNamespace(name=f"scale_{name}_key1", key=1, dtypes=f"x: {name}", macros=(("DTYPE_X", cpp),), cases=2) for name, cpp in (("float16", "half"), ("float32", "float"))]
    op = {"name": "scale", "entry": "scale", "source": "scale.cpp", "workspace": "space", "places": range(4)}
    files = FileSet()
    for entry in families.direct_files():
        for kernel in kernels if entry.per == "kernel" else [None]:
            context = {"op": op, "soc": SimpleNamespace(name="Ascend310P3", npu_arch=2002), "kernels": kernels, "kernel": kernel, "header": "h"}
            files.add(env.render_text(entry.target, context, where="t"), env.render(entry.template, context))
    assert "#define DTYPE_X half\n#define DIRECT_TILING_KEY 1\n#define DIRECT_WORKSPACE space\n" in files["kernels/scale_float16_key1.cpp"]
    for kernel in kernels:
        assert f"${{DIRECT}}/kernels/{kernel.name}.cpp" in files["cann8/CMakeLists.txt"] and f"{kernel.name}.asc" in files["cann9/CMakeLists.txt"]
        compile(files["scale_direct.py"], "scale_direct.py", "exec")
        assert f"ACLRT_LAUNCH_KERNEL({kernel.name})(" in files["cann8/launch.cpp"]
        assert f"{kernel.name}<<<blocks, nullptr, stream>>>(" in files[f"cann9/{kernel.name}.asc"]
    assert 'set(CMAKE_ASC_ARCHITECTURES "dav-2002"' in files["cann9/CMakeLists.txt"] and 'set(SOC_VERSION "Ascend310P3"' in files["cann8/CMakeLists.txt"]
    files.write(tmp_path)
    (tmp_path / ".clang-format").write_bytes((resources.op_templates() / "_shared" / "clang-format").read_bytes())
    sources = [str(path) for path in tmp_path.rglob("*") if path.suffix in (".cpp", ".h")]
    done = subprocess.run(["clang-format", "--dry-run", "--Werror", "--style=file", *sources], capture_output=True, text=True, check=False)
    assert len(sources) == 6 and done.returncode == 0, done.stderr


def test_projects_that_have_no_direct_launch_are_refused_before_anything_is_compiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "foreign" / "op_host").mkdir(parents=True)
    (tmp_path / "foreign" / "op_kernel").mkdir()
    new_project("relu", tmp_path / "tbe", dialect="tbe")
    new_project("relu", tmp_path / "relu", units=["ascend910b"])
    out = tmp_path / "out"
    for folder, args, message in (
        ("relu", [], "--format direct writes a folder: give --out DIR"),
        ("foreign", ["--out", str(out)], "foreign has no op.toml"),
        ("tbe", ["--out", str(out)], "relu is written in TBE, which compiles at run time"),
        ("relu", ["--out", str(out), "--soc", "310P3"], "relu is not declared for Ascend310P3"),
    ):
        assert main(["export", str(tmp_path / folder), "--format", "direct", *args]) == 2
        assert message in capsys.readouterr().err
    assert not out.exists()
