"""Declarations in other formats: msopgen's JSON, golden functions, CUDA and Triton kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ascendops.errors import SchemaMisfit, SourceError
from ascendops.interchange import read
from ascendops.render import new_project
from ascendops.spec import load

EVERY = {
    "op": "EveryKind",
    "input_desc": [
        {"name": "x", "param_type": "required", "format": ["ND", "NCHW"], "type": ["DT_BF16", "int8"]},
        {"name": "xs", "param_type": "dynamic", "format": "ND", "type": ["float"]},
        {"name": "w", "param_type": "optional", "format": ["ND"], "type": ["int64"]},
    ],
    "output_desc": [
        {"name": "x", "param_type": "required", "format": ["ND"], "type": ["DT_BF16", "int8"]},
        {"name": "z", "param_type": "required", "format": ["ND"], "type": ["bool"]},
    ],
    "attr": [
        {"name": "eps", "param_type": "optional", "type": "float", "default_value": "1e-5"},
        {"name": "n", "param_type": "required", "type": "int"},
        {"name": "p", "param_type": "optional", "type": "list_int", "default_value": [1, 2]},
        {"name": "s", "param_type": "optional", "type": "string", "default_value": "a b"},
        {"name": "b", "type": "bool", "default_value": True},
        {"name": "k", "param_type": "optional", "type": "int"},
        {"name": "lf", "param_type": "required", "type": "list_float"},
        {"name": "lb", "param_type": "optional", "type": "list_bool", "default_value": "[true, false]"},
    ],
}
EVERY_SCHEMA = (
    "every(Tensor(a!) x, Tensor[] xs, Tensor? w=None, *, float eps=1e-05, int n, int[] p=[1, 2], str s=\"a b\", bool b=True, "
    "int k=0, float[] lf, bool[] lb=[True, False]) -> (Tensor(a!) x, Tensor z)"
)  # fmt: skip


def write(folder: Path, name: str, content) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_parameter_kind_of_the_json_is_kept(tmp_path):
    source = read(write(tmp_path, "ir.json", [EVERY]), "every")
    assert source.schema("every") == EVERY_SCHEMA
    assert [(p.name, p.kind, p.dtypes) for p in (*source.inputs, *source.outputs)] == [
        ("x", "required", ("bfloat16", "int8")), ("xs", "dynamic", ("float32", "float32")), ("w", "optional", ("int64", "int64")),
        ("x", "required", ("bfloat16", "int8")), ("z", "required", ("bool", "bool")),
    ]  # fmt: skip
    assert source.notes == ("formats NCHW were left out: op.toml has one format for each tensor",)
    new_project("every", tmp_path / "every", source=source)
    spec = load(tmp_path / "every")
    assert (spec.schema.text, spec.family) == (EVERY_SCHEMA, "custom")
    assert spec.tensor("x").dtypes == ("bfloat16", "int8")


def test_columns_that_differ_by_format_only_are_one(tmp_path):
    desc = {"param_type": "required", "format": ["NCHW", "NHWC", "NCHW"], "type": ["fp16", "fp16", "float"]}
    entry = {"op": "Pool", "input_desc": [{"name": "x", **desc}], "output_desc": [{"name": "y", **desc}]}
    source = read(write(tmp_path, "ir.json", entry), "pool")
    assert [(p.dtypes, p.format) for p in (*source.inputs, *source.outputs)] == [(("float16", "float32"), "NCHW")] * 2


def broken(**change):
    return {**EVERY, **change}


@pytest.mark.parametrize(
    ("content", "what", "help"),
    [
        ("{", "not a JSON file", None),
        ([], "declares no operator", '"op"'),
        ([{"op": "A"}, {"op": "B"}], "declares 2 operators, none of them 'every'", "use one of: a, b"),
        (broken(output_desc=[]), "no output_desc", None),
        (broken(output_desc=[{"name": "y", "param_type": "dynamic", "type": ["float"]}]), "output 'y' of EveryKind is dynamic", None),
        (broken(input_desc=[{"name": "x", "param_type": "maybe", "type": ["float"]}]), "param_type of 'x' cannot be 'maybe'", "required"),
        (broken(input_desc=[{"name": "x", "type": ["qint8"]}]), "type 'qint8' of 'x' has no PyTorch dtype", "int8"),
        (broken(input_desc=[{"name": "x", "type": ["float", "int8", "bool"]}]), "'x' has 2 types but another tensor 3", "one length"),
        (broken(input_desc=[{"name": "x", "type": ["float", "int8", "bool"], "format": ["ND", "ND"]}]), "3 types and 2 formats", None),
        (broken(input_desc=[{"name": "x", "type": []}]), "'type' of 'x' is not a list of words", None),
        (broken(input_desc="x"), "'input_desc' of EveryKind is not a list", None),
        (broken(attr=[{"name": "a", "type": "list_list_int"}]), "attribute 'a' has the type 'list_list_int'", "list_int"),
        (broken(attr=[{"name": "a", "type": "int", "default_value": 1.5}]), "default of attribute 'a' cannot be 1.5", "int"),
        (broken(attr=[{"name": "a", "type": "list_int", "default_value": 1}]), "default of attribute 'a' cannot be 1", "list_int"),
    ],
)
def test_a_json_that_cannot_be_declared_is_refused(content, what, help, tmp_path):
    with pytest.raises(SourceError) as caught:
        read(write(tmp_path, "ir.json", content), "every")
    assert what in caught.value.what
    assert help is None or help in str(caught.value.help)


def test_a_template_that_fits_the_json_gives_the_kernel(tmp_path):
    def entry(types):
        tensors = [{"name": name, "param_type": "required", "format": ["ND"], "type": types} for name in "abc"]
        return {"op": "AddCustom", "input_desc": tensors[:2], "output_desc": tensors[2:]}

    for types, family, dtypes in (
        (["fp16", "float"], "broadcast", ("float16", "float32")), (["fp16", "int8"], "custom", ("float16", "int8")),
    ):  # fmt: skip
        source = read(write(tmp_path, "ir.json", entry(types)), "add_custom")
        project = new_project("add_custom", tmp_path / family, source=source)
        assert (project.family, project.spec.tensor("b").dtypes) == (family, dtypes)
    with pytest.raises(SchemaMisfit, match="dtypes"):
        new_project("add_custom", tmp_path / "forced", source=source, like="add")
    assert not (tmp_path / "forced").exists()


GOLDEN = '''
import torch
from typing import Optional


def _helper(a):
    return a


def rope(q: torch.Tensor, k, cos: "torch.Tensor", w: Optional[torch.Tensor] = None, *, base: float = 10000, dims: list[int] = [0, 1], mode="x"):
    turned = _helper(q) * cos
    return turned, k
'''


def test_a_golden_function_is_a_declaration(tmp_path):
    source = read(write(tmp_path, "g.py", GOLDEN), "rope")
    assert source.schema("rope") == (
        'rope(Tensor q, Tensor k, Tensor cos, Tensor? w=None, float base=10000.0, int[] dims=[0, 1], str mode="x") -> (Tensor turned, Tensor y1)'
    )
    new_project("rope", tmp_path / "rope", source=source)
    assert (tmp_path / "rope/golden.py").read_text() == GOLDEN.rstrip() + "\n\n\ngolden = rope\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("def a(x): return x\ndef b(x): return x\n", "no function in g.py is the golden of 'rope'"),
        ("def golden(x, *rest): return x\n", "golden takes *args or **kwargs"),
        ("def golden(n: int): return n\n", "golden has no tensor argument"),
        ("def golden(x, how: dict): return x\n", "argument 'how' has the type dict"),
        ("def golden(x, n=len([])): return x\n", "the default of 'n' is not a literal"),
        ("def golden(x:\n", "cannot be parsed"),
    ],
)
def test_a_function_that_is_no_declaration_is_refused(text, what, tmp_path):
    with pytest.raises(SourceError) as caught:
        read(write(tmp_path, "g.py", text), "rope")
    assert what in caught.value.what


CUDA = """
template <typename T>
__global__ void fusedBiasGelu(const T* __restrict__ d_input, const float *bias, T* d_out, float* running, int rows, size_t hidden_size,
                              float scale) {
    __shared__ float tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    running[i] += tile[0];
    d_out[i] = tanhf(d_input[i] + bias[i % hidden_size]) * scale;  // expf is only in a comment
    __syncthreads();
}
"""
TRITON = """
import triton
import triton.language as tl

@triton.autotune(configs=[], key=["n_cols"])
@triton.jit
def add_norm(X, r_ptr, OUT, stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = X + row * stride
    x = tl.load(base + tl.arange(0, BLOCK)) + tl.load(r_ptr + row * stride)
    tl.store(OUT + row * stride + tl.arange(0, BLOCK), x / tl.sqrt(tl.sum(x * x) / n_cols + eps))
"""


@pytest.mark.parametrize(
    ("name", "file", "text", "schema", "first"),
    [
        ("fused_bias_gelu", "k.cu", CUDA,
         "fused_bias_gelu(Tensor input, Tensor bias, Tensor(a!) running, float scale) -> (Tensor out, Tensor(a!) running)", "__shared__"),
        ("add_norm", "k.py", TRITON, "add_norm(Tensor x, Tensor r, float eps) -> Tensor out", "tl.program_id"),
    ],
)  # fmt: skip
def test_a_kernel_is_a_declaration_with_a_table_of_its_constructs(name, file, text, schema, first, tmp_path):
    source = read(write(tmp_path, file, text), name)
    assert source.schema(name) == schema
    words = [written for written, _ in source.constructs]
    assert words[0] == first
    assert "Exp" not in [counterpart for _, counterpart in source.constructs]
    new_project(name, tmp_path / name, source=source)
    kernel = (tmp_path / name / f"op_kernel/{name}.cpp").read_text()
    for written, counterpart in source.constructs:
        assert f"{written} " in kernel
        assert counterpart in kernel
    assert (tmp_path / name / f"reference/{file}").read_text() == text


def test_a_kernel_without_an_output_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no tensor that it writes"):
        read(write(tmp_path, "k.cu", "__global__ void f(const float* x) { float y = x[threadIdx.x]; }"), "f")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(SourceError, match="no source of an operator"):
        read(write(tmp_path, "k.txt", "x"), "f")


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ("f(Tensor[] xs) -> Tensor y", "no input is a plain Tensor"),
        ("f(Tensor? x) -> Tensor y", "no input is a plain Tensor"),
        ("f(float s) -> Tensor y", "no input is a plain Tensor"),
        ("f() -> Tensor y", "no input is a plain Tensor"),
        ("f(Tensor x) -> ()", "nothing is returned"),
        ("f(Tensor(a!) x) -> Tensor(a!) y", "the output 'y' is written in place"),
    ],
)
def test_a_schema_that_custom_cannot_start_from_is_refused(schema, what, tmp_path):
    with pytest.raises(SchemaMisfit, match=what):
        new_project("f", tmp_path / "f", family="custom", schema=schema)
    assert not (tmp_path / "f").exists()
