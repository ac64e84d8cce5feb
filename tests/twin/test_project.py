"""A foreign project (macro tiling, no op.toml) through open_project, build, call, run and registration."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy
import pytest
import torch

import ascendops
from ascendops.errors import CompileError, InputError, RegistrationError

PROJECT = Path(__file__).parents[1] / "projects" / "add_macro"

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def lib():
    return ascendops.open_project(PROJECT).build(backend="twin", soc="Ascend910B1")


def test_what_the_library_says_of_its_operators(lib) -> None:
    assert list(lib.ops) == ["add_macro"]
    op = lib.ops["add_macro"]
    assert (op.inputs, op.outputs, op.attrs) == (("x", "y"), ("z",), ("alpha",))
    assert op.dtypes["x"] == ("float32", "int32")
    assert op.formats["z"] == ("ND", "ND")
    assert lib.add_macro is op
    with pytest.raises(AttributeError, match="did you mean 'add_macro'"):
        _ = lib.add_marco


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1023), (128, 1025)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_values(lib, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = (torch.arange(torch.Size(shape).numel()) % 101 - 50).reshape(shape).to(dtype)
    y = (torch.arange(torch.Size(shape).numel()) % 37).reshape(shape).to(dtype)
    assert torch.equal(lib.add_macro(x, y), x + y)
    assert torch.equal(lib.add_macro(x, y, alpha=2.0), x + 2 * y)
    assert torch.equal(lib.add_macro(x, y, 3.0), x + 3 * y)


def test_run_says_what_ran(lib) -> None:
    x = torch.ones(100)
    result = lib.add_macro.run(x, x, trace=True)
    assert torch.equal(result.outputs[0], x + x)
    assert (result.block_dim, result.tiling_key, result.workspace_bytes) == (2, 0, 0)
    assert numpy.frombuffer(result.tiling[:8], "uint32").tolist() == [100, 196352 // 16 // 32 * 32 // 4]  # 256 of the 192 KB are reserved
    assert numpy.frombuffer(result.tiling[8:12], "float32")[0] == 1.0
    assert (result.backend, result.soc, result.diagnostics) == ("twin", "Ascend910B1", ())
    assert result.timeline is not None


def test_numpy_and_non_contiguous_inputs_and_out(lib) -> None:
    array = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    strided = torch.from_numpy(array).t()
    out = torch.empty(4, 3)
    result = lib.add_macro.run(array.T, strided, out=out)
    assert torch.equal(out, 2 * strided)
    assert result.outputs[0].data_ptr() == out.data_ptr()
    transposed_out = torch.empty(3, 4).t()
    lib.add_macro.run(strided, strided, out=transposed_out)
    assert torch.equal(transposed_out, 2 * strided)


def test_empty_tensors_launch_nothing(lib) -> None:
    result = lib.add_macro.run(torch.empty(0, 5), torch.empty(0, 5))
    assert result.outputs[0].shape == (0, 5) and result.block_dim == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((torch.ones(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)), "no kernel for x: float64, y: float64"),
        ((torch.ones(3), torch.ones(3, dtype=torch.int32)), "use one of: x: float32, y: float32 | x: int32, y: int32"),
        ((torch.ones(3),), "needs y"),
        (("x", torch.ones(3)), "'x' must be a tensor, not str"),
        ((torch.ones(3, device="meta"), torch.ones(3)), "'x' lies on meta"),
        ((torch.ones(3, dtype=torch.float8_e5m2), torch.ones(3)), "float8_e5m2"),
    ],
)
def test_wrong_arguments_are_explained(lib, args: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError) as error:
        lib.add_macro(*args)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": 3}, "AddMacro: out= must hold tensors, not int"),
        ({"out": [torch.ones(3), torch.ones(3)]}, "AddMacro has 1 output (z), out= has 2"),
        ({"checks": "maybe"}, "checks cannot be 'maybe'"),
        ({"timeout_s": "a"}, "timeout_s must be a number of seconds, not str 'a'"),
    ],
)
def test_wrong_options_are_explained(lib, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as error:
        lib.add_macro(torch.ones(3), torch.ones(3), **options)
    assert message in str(error.value)


def test_second_build_compiles_nothing() -> None:
    project = ascendops.open_project(PROJECT)
    project.build(backend="twin")
    again = project.build_result(backend="twin")
    assert again.compiled == 0


def test_an_edited_header_is_compiled_again_and_a_broken_kernel_is_a_compile_error(tmp_path: Path) -> None:
    root = tmp_path / "add_macro"
    shutil.copytree(PROJECT, root)
    kernel = root / "op_kernel" / "add_macro.cpp"
    good = kernel.read_text()
    kernel.write_text(good.replace("Add(z, x, y, ", "Sub(z, x, y, "))
    x = torch.full((40,), 5.0)
    assert torch.equal(ascendops.open_project(root).build("twin").add_macro(x, x), torch.zeros(40))
    line = next(i for i, text in enumerate(good.splitlines(), 1) if "Add(z, x, y, " in text)
    kernel.write_text(good.replace("Add(z, x, y, ", "Addd(z, x, y, "))
    with pytest.raises(CompileError) as error:
        ascendops.open_project(root).build("twin")
    assert error.value.where == f"{kernel}:{line}"
    assert "Addd" in str(error.value) and error.value.exit_code == 4


def test_dispatcher(lib) -> None:
    ops = lib.register("ascendops_test_project")
    x, y = torch.randn(5, 7), torch.randn(5, 7)
    assert torch.equal(ops.add_macro(x, y, alpha=2.0), x + 2 * y)
    assert ops.add_macro(x.to("meta"), y.to("meta")).shape == (5, 7)
    torch.library.opcheck(ops.add_macro.default, (x, y), {"alpha": 0.5})
    assert lib.register("ascendops_test_project") is not None  # the same build again


def test_a_name_cannot_get_another_schema(lib) -> None:
    import dataclasses

    from ascendops.build.library import Library
    from ascendops.build.signature import Signature

    lib.register("ascendops_test_schema")
    other = dataclasses.replace(lib.add_macro, signature=Signature("add_macro", lib.add_macro.signature.parameters[:2]))
    with pytest.raises(RegistrationError, match="another schema"):
        Library({"add_macro": other}, lib.root, lib.soc, "twin").register("ascendops_test_schema")


def test_a_call_like_an_earlier_one_asks_op_host_nothing(lib, monkeypatch) -> None:
    op = lib.ops["add_macro"]
    x, y, out = torch.randn(33), torch.randn(33), torch.empty(33)
    op(x, y)
    op(x, y, out=out)
    monkeypatch.setattr(op, "host", None)
    torch.testing.assert_close(op(x + 1, y), x + 1 + y)
    op(x * 2, y, out=out)
    torch.testing.assert_close(out, x * 2 + y)
    for other in (torch.randn(34), torch.randn(33).int()):  # another shape, and another dtype, of what is given
        with pytest.raises((AttributeError, InputError)):
            op(x, y, out=other)
    with pytest.raises(AttributeError):
        op.run(x, y)
