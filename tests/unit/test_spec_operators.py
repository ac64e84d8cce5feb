"""Several operators in one op.toml and their [autograd]: what is read, and each mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops import errors
from ascendops.render import gen
from ascendops.spec import formula, parse
from ascendops.spec.autograd import backward_sources
from ascendops.spec.digest import interface_digest, project_digest

GOOD = """\
edition = 1
name    = "layer_norm"
schema  = "layer_norm(Tensor x, Tensor? weight=None, float eps=1e-5) -> (Tensor y, Tensor rstd)"
units   = ["ascend910b"]

[tensor.x]
dims  = ["*batch", "n"]
dtype = ["float32", "float16"]

[tensor.weight]
dims  = ["n"]
dtype = ["float32", "float16"]

[tensor.y]
dims  = "same(x)"
dtype = ["float32", "float16"]

[tensor.rstd]
dims  = ["*batch"]
dtype = ["float32", "float32"]

[autograd]
backward = "layer_norm_backward"
grads    = { x = "grad_x", weight = "grad_weight" }

[operators.layer_norm_backward]
schema = "layer_norm_backward(Tensor grad_y, Tensor x, Tensor rstd, Tensor? weight=None, float eps=1e-5) -> (Tensor grad_x, Tensor grad_weight)"
doc    = "the gradient"

[operators.layer_norm_backward.tensor]
grad_y      = { dims = ["*batch", "n"], dtype = ["float32", "float16"] }
x           = { dims = ["*batch", "n"], dtype = ["float32", "float16"] }
rstd        = { dims = ["*batch"], dtype = ["float32", "float32"] }
weight      = { dims = ["n"], dtype = ["float32", "float16"] }
grad_x      = { dims = "same(x)", dtype = ["float32", "float16"] }
grad_weight = { dims = ["n"], dtype = ["float32", "float32"] }

[[operators.layer_norm_backward.case]]
name   = "tail"
shapes = { grad_y = [3, 7], x = [3, 7], rstd = [3] }
"""


def read(old: str = "", new: str = ""):
    assert old in GOOD
    return parse(GOOD.replace(old, new, 1) if old else GOOD, Path("op.toml"))


def test_every_operator_is_read():
    spec = read()
    assert [op.name for op in spec.operators] == ["layer_norm", "layer_norm_backward"]
    backward = spec.sibling("layer_norm_backward")
    assert (backward.op_type, backward.project, backward.units, backward.doc) == ("LayerNormBackward", "layer_norm", spec.units, "the gradient")
    assert [case.name for case in backward.cases] == ["tail"] and not spec.cases
    assert spec.autograd is not None and spec.autograd.inputs == ("x", "weight")
    assert backward_sources(spec, backward) == {"grad_y": "grad_y", "x": "x", "rstd": "rstd", "weight": "weight", "eps": "eps"}
    assert backward.output_shapes({"grad_y": (2, 5), "x": (2, 5), "rstd": (2,)}, {}) == [(2, 5), (5,)]
    with pytest.raises(KeyError):
        spec.sibling("other")
    assert backward.sibling("layer_norm") is spec


def test_a_formula_instead_of_an_operator():
    spec = parse(GOOD[: GOOD.index("[autograd]")] + '[autograd]\nformula = { x = "grad_y * rstd + sum(y, -1, True) * eps" }\n', Path("op.toml"))
    assert spec.autograd is not None and spec.autograd.backward is None
    assert spec.autograd.formula["x"].names == {"grad_y", "rstd", "y", "eps"}
    assert spec.operators == (spec,)


AUTOGRAD = 'backward = "layer_norm_backward"\ngrads    = { x = "grad_x", weight = "grad_weight" }'
MISTAKES = [
    ("[operators.layer_norm_backward]", "[operators.exp]", errors.BadOpName, 26, "cannot be called 'exp'"),
    ("[operators.layer_norm_backward]\n", "[operators.layer_norm_backward]\nunits = []\n", errors.UnknownKey, 27, "unknown key 'units' in [operators.layer_norm_backward]"),
    ("doc    =", "docs   =", errors.UnknownKey, 28, "unknown key 'docs' in [operators.layer_norm_backward]"),
    ('schema = "layer_norm_backward(', 'schema = "layer_norm(', errors.SchemaError, 27, "called 'layer_norm' but the operator 'layer_norm_backward'"),
    ("rstd        = {", "rst         = {", errors.TensorTableError, 33, "[operators.layer_norm_backward.tensor.rst] is not a tensor"),
    ('"same(x)", dtype = ["float32", "float16"] }\ngrad_weight', '"same(z)", dtype = ["float32", "float16"] }\ngrad_weight', errors.DimsError, 35, "'z'"),
    ("rstd = [3]", "rstd = [4]", errors.CaseError, 40, "axis 'batch'"),
    ("backward = ", "backwards = ", errors.UnknownKey, 23, "unknown key 'backwards' in [autograd]"),
    (AUTOGRAD, "", errors.AutogradError, 22, "exactly one of backward and formula"),
    (AUTOGRAD, AUTOGRAD + '\nformula = { x = "grad_y" }', errors.AutogradError, 22, "exactly one of backward and formula"),
    (AUTOGRAD, 'grads = {}\nformula = { x = "grad_y" }', errors.AutogradError, 23, "grads belongs to backward"),
    ('grads    = { x = "grad_x", weight = "grad_weight" }', "", errors.AutogradError, 23, "has no grads"),
    ('backward = "layer_norm_backward"', 'backward = "layer_norm_grad"', errors.AutogradError, 22, "no other operator 'layer_norm_grad'"),
    ('{ x = "grad_x"', '{ z = "grad_x"', errors.AutogradError, 22, "'z' is not an input of layer_norm"),
    ('{ x = "grad_x"', '{ x = "grad_z"', errors.AutogradError, 22, "'grad_z' (for x) is not an output of layer_norm_backward"),
    ('{ x = "grad_x"', "{ x = 3", errors.BadValue, 24, "'x' cannot be 3"),
    (AUTOGRAD, 'formula = { x = "grad_z * 2" }', errors.AutogradError, 23, "'grad_z' in 'grad_z * 2' is not known"),
    (AUTOGRAD, 'formula = { x = "x.t()" }', errors.AutogradError, 23, "`x.t()` is not allowed here"),
    (AUTOGRAD, 'formula = { x = "__import__(1)" }', errors.AutogradError, 23, "'__import__' is not a function of formulas"),
    (AUTOGRAD, 'formula = { x = "exp(x, x)" }', errors.AutogradError, 23, "exp takes 1 argument(s), not 2"),
    (AUTOGRAD, 'formula = { x = "x +" }', errors.AutogradError, 23, "is not an expression"),
    (AUTOGRAD, 'formula = { x = "[y for y in x]" }', errors.AutogradError, 23, "is not allowed here"),
]


@pytest.mark.parametrize(("old", "new", "error", "line", "what"), MISTAKES, ids=[f"{m[2].__name__}-{i}" for i, m in enumerate(MISTAKES)])
def test_a_mistake_is_refused_with_its_line(old, new, error, line, what):
    with pytest.raises(error) as caught:
        read(old, new)
    assert type(caught.value) is error
    assert what in caught.value.what
    assert caught.value.where == f"op.toml:{line}"


def test_arguments_of_the_backward_operator_need_a_source():
    renamed = GOOD.replace("Tensor rstd, Tensor? weight", "Tensor scale, Tensor? weight").replace("rstd        = {", "scale       = {")
    with pytest.raises(errors.AutogradError, match="'scale' of layer_norm_backward has no source") as caught:
        parse(renamed.replace("rstd = [3]", "scale = [3]"), Path("op.toml"))
    assert "grad_y, grad_rstd, x, weight, y, rstd" in (caught.value.why or "")
    with pytest.raises(errors.AutogradError, match="attribute 'eps' is float in layer_norm but int in layer_norm_backward"):
        read("weight=None, float eps=1e-5) -> (Tensor grad_x", "weight=None, int eps=1) -> (Tensor grad_x")
    with pytest.raises(errors.AutogradError, match="attribute 'k' of layer_norm_backward has no source"):
        parse(GOOD.replace("float eps=1e-5) -> (Tensor grad_x", "*, int k) -> (Tensor grad_x").replace("rstd = [3] }", "rstd = [3] }\nattrs = { k = 1 }"), Path("op.toml"))
    renamed = renamed.replace("rstd = [3]", "scale = [3]")
    optional = parse(renamed.replace("Tensor scale, Tensor? weight=None", "Tensor? scale=None, Tensor? weight=None"), Path("op.toml"))
    assert backward_sources(optional, optional.operators[1])["scale"] is None


def test_gen_has_files_for_each_and_digests_of_their_own():
    spec, files = read(), gen(read())
    for op in spec.operators:
        assert interface_digest(op)[:12] in files[f"gen/op_host/{op.name}_def.cpp"].splitlines()[0]
    assert project_digest(spec)[:12] in files["gen/cann9/CMakeLists.txt"].splitlines()[0]
    assert files["gen/torch/layer_norm_backward_binding.cpp"].count("PyInit_") == 0
    assert files["gen/torch/layer_norm_binding.cpp"].count("PyInit_") == 1
    assert "../op_host/layer_norm_backward_infershape.cpp" in files["gen/torch/setup.py"]
    changed = read("Tensor? weight=None, float eps=1e-5) -> (Tensor grad_x", "Tensor? weight=None, float eps=1e-6) -> (Tensor grad_x")
    assert interface_digest(changed) == interface_digest(spec) and project_digest(changed) != project_digest(spec)


def test_a_formula_is_never_evaluated_by_python():
    for text in ("(lambda: 1)()", "x[0]", "x if", "f'{x}'", "x @ y", "exp", "1j", "'x'", "x and y", "a" * 2001):
        with pytest.raises(errors.AutogradError):
            formula.parse(text)
    assert formula.parse("where(x > 0, grad_y, 0.5 ** -k)").names == {"x", "grad_y", "k"}
