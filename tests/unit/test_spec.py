"""Reading op.toml: what a good one means, and that each mistake is refused with its line and a way out."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ascendops import errors
from ascendops.build import open_project
from ascendops.cli import main
from ascendops.spec import load, parse
from ascendops.spec.digest import interface_digest
from ascendops.spec.lines import Lines

GOOD = """\
edition = 1
name    = "softmax"
family  = "softmax"
schema  = "softmax(Tensor x, int dim=-1, bool keep=False) -> Tensor y"
doc     = "y = e^x / sum e^x"
units   = ["ascend910b", "ascend910_93"]

[tensor.x]
dims  = ["*batch", "n"]
dtype = ["float32", "float16"]

[tensor.y]
dims  = "same(x)"
dtype = ["float32", "float16"]

[cost]
flops = "5 * numel(x)"

[[tiling_key]]
key  = 1
name = "full_load"
why  = "a row fits"

[[tiling_key]]
key  = 2
name = "split"

[[case]]
name = "tail"
shapes = { x = [3, 1023] }
tiling_key = "full_load"
attrs = { dim = 1 }
layout = "sliced"
values = "wide"
dtype = ["float16"]

[[case]]
name = "empty"
shapes = { x = [0, 8] }

[reference]
triton = "reference/triton_softmax.py:softmax"
"""


def read(changes: dict[str, str] | None = None):
    text = GOOD
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    return parse(text, Path("op.toml"))


def test_everything_that_is_declared_is_there():
    spec = read()
    assert (spec.edition, spec.name, spec.op_type, spec.family) == (1, "softmax", "Softmax", "softmax")
    assert spec.units == ("ascend910b", "ascend910_93")
    assert [t.name for t in spec.inputs] == ["x"]
    assert [t.name for t in spec.outputs] == ["y"]
    assert [(a.name, a.type, a.required, a.default) for a in spec.attrs] == [("dim", "int", False, -1), ("keep", "bool", False, False)]
    assert spec.columns == 2
    assert [(k.key, k.name, k.why) for k in spec.tiling_keys] == [(1, "full_load", "a row fits"), (2, "split", "")]
    tail, empty = spec.cases
    assert (tail.name, tail.shapes, tail.attrs, tail.dtypes) == ("tail", {"x": (3, 1023)}, {"dim": 1}, ("float16",))
    assert (tail.tiling_key, tail.layout, tail.values) == ("full_load", "sliced", "wide")
    assert (empty.dtypes, empty.tiling_key, empty.layout, empty.values) == (None, None, "contiguous", "random")
    assert spec.reference == {"triton": "reference/triton_softmax.py:softmax"}
    assert spec.output_shapes({"x": (2, 5)}, {}) == [(2, 5)]
    assert spec.cost({"x": (2, 5)}, {}, 0) == (50, 80)
    assert spec.cost({"x": (2, 5)}, {}, 1) == (50, 40)


def test_load_takes_the_file_or_its_folder(tmp_path):
    (tmp_path / "op.toml").write_text(GOOD)
    assert load(tmp_path).root == tmp_path
    assert load(tmp_path / "op.toml") == load(str(tmp_path))


MISTAKES = [
    ("edition = 1\n", "", errors.EditionError, 1, "has no edition"),
    ("edition = 1", "edition = 2", errors.EditionError, 1, "edition 2 is not known"),
    ("edition = 1", "edition = true", errors.EditionError, 1, "edition True"),
    ("family ", "famly ", errors.UnknownKey, 3, "unknown key 'famly'"),
    ('doc     = "y', 'doc     = 3 #', errors.BadValue, 5, "'doc' cannot be 3"),
    ('dims  = ["*batch", "n"]', 'dimz  = ["n"]', errors.UnknownKey, 9, "unknown key 'dimz' in [tensor.x]"),
    ("flops", "flop", errors.UnknownKey, 17, "unknown key 'flop' in [cost]"),
    ("why  =", "when =", errors.UnknownKey, 22, "unknown key 'when' in [tiling_key]"),
    ("layout =", "lay_out =", errors.UnknownKey, 33, "unknown key 'lay_out' in [case]"),
    ("triton =", "trition =", errors.UnknownKey, 42, "unknown key 'trition'"),
    ('name    = "softmax"', "", errors.MissingKey, 1, "lacks the key 'name'"),
    ('dims  = "same(x)"', "", errors.MissingKey, 12, "[tensor.y] lacks the key 'dims'"),
    ('name    = "softmax"', 'name    = "Softmax"', errors.BadOpName, 2, "cannot be called 'Softmax'"),
    ('name    = "softmax"', 'name    = "exp"', errors.BadOpName, 2, "cannot be called 'exp'"),
    ('"softmax(Tensor', '"soft_max(Tensor', errors.SchemaError, 4, "called 'soft_max' but the operator 'softmax'"),
    ("-> Tensor y", "-> Tensor", errors.SchemaError, 4, "output 1 of the schema has no name"),
    ("int dim=-1", "int dim=x", errors.SchemaError, 4, "'x' is not a value of 'int'"),
    ("int dim=-1", "int class=-1", errors.SpecError, 4, "an attribute cannot be called 'class'"),
    ("Tensor x, int", "Tensor tiling, int", errors.SpecError, 4, "a tensor cannot be called 'tiling'"),
    ("Tensor x, int", "Tensor x, Tensor X, int", errors.SchemaError, 4, "two tensors are called 'x'"),
    ("Tensor x, int", "Tensor x, Tensor w, int", errors.TensorTableError, 4, "tensor 'w' of the schema has no table"),
    ("[tensor.y]", "[tensor.z]", errors.TensorTableError, 12, "[tensor.z] is not a tensor of the schema"),
    ("ascend910_93", "ascend910_94", errors.UnitError, 6, "'ascend910_94' is not a compute unit"),
    ('["ascend910b", "ascend910_93"]', "[]", errors.UnitError, 6, "units cannot be []"),
    ('["*batch", "n"]', '["*batch", "*n"]', errors.DimsError, 9, "two variadic axes"),
    ('["*batch", "n"]', '["*batch", "n +"]', errors.ExprError, 9, "'n +' is not an expression"),
    ('["*batch", "n"]', '["*batch", "dim"]', errors.DimsError, 9, "'dim' is an axis of 'x' and an attribute"),
    ('["*batch", "n"]', "3", errors.BadValue, 9, "'dims' cannot be 3"),
    ('["*batch", "n"]', "[1.5]", errors.DimsError, 9, "1.5 is not an axis"),
    ('"same(x)"', '"like(x)"', errors.DimsError, 13, "there is no rule 'like'"),
    ('"same(x)"', '"same(w)"', errors.DimsError, 13, "names 'w', which is not an earlier tensor"),
    ('"same(x)"', '"reduce(x, dims=dim)"', errors.DimsError, 13, "has no option 'dims'"),
    ('"same(x)"', '"reduce(x, dim=keep)"', errors.DimsError, 13, "attribute 'keep' is bool, but dim needs int"),
    ('"same(x)"', '"reduce(x, dim=axis)"', errors.DimsError, 13, "names 'axis', which is not an attribute"),
    ('"same(x)"', '"reduce(x, keepdim=3)"', errors.DimsError, 13, "the option keepdim"),
    ('"same(x)"', '"permute(x)"', errors.DimsError, 13, "does not say which dims"),
    ('"same(x)"', '"permute(x, dims=axis)"', errors.DimsError, 13, "names 'axis', which is not an attribute"),
    ('"same(x)"', '"permute(x, dims=keep)"', errors.DimsError, 13, "attribute 'keep' is bool, but dims needs int[]"),
    ('"same(x)"', '"permute(x, dims=3)"', errors.DimsError, 13, "the option dims"),
    ('"same(x)"', '"broadcast(x)"', errors.DimsError, 13, "does not name the tensors"),
    ('"same(x)"', '"x"', errors.DimsError, 13, "'x' is not a rule"),
    ('"same(x)"', '["*batch", "k"]', errors.ExprError, 13, "'k' in 'k' is neither an axis nor an int"),
    ('"same(x)"', '["*rows", "n"]', errors.ExprError, 13, "'rows' in 'rows'"),
    ('"same(x)"', '["batch", "n"]', errors.DimsError, 13, "'batch' is one axis in 'y' and any number of axes in 'x'"),
    ('"same(x)"', '["nbytes(x)"]', errors.ExprError, 13, "nbytes has no meaning"),
    ('"5 * numel(x)"', '"5 * numel(w)"', errors.ExprError, 17, "'w' in '5 * numel(w)' is not a tensor"),
    ('"5 * numel(x)"', '"5 / numel(x)"', errors.ExprError, 17, "`/` is not allowed"),
    ('"5 * numel(x)"', '"5 * batch"', errors.CaseError, 30, "has no value here"),
    ("key  = 2", "key  = 1", errors.TilingKeyError, 25, "two tiling keys have the key 1"),
    ('name = "split"', 'name = "full_load"', errors.TilingKeyError, 25, "the name 'full_load'"),
    ("key  = 2", "key  = -2", errors.TilingKeyError, 25, "cannot be -2"),
    ("key  = 2", 'key  = "2"', errors.BadValue, 25, "'key' cannot be '2'"),
    ('name = "empty"', 'name = "tail"', errors.CaseError, 38, "two cases are called 'tail'"),
    ('name = "empty"', 'name = "a b"', errors.CaseError, 38, "cannot be called 'a b'"),
    ("{ x = [0, 8] }", "{ x = [] }", errors.CaseError, 39, "case 'empty': x has 0 dims"),
    ("{ x = [0, 8] }", "{ x = [-1, 8] }", errors.CaseError, 39, "x cannot have the shape [-1, 8]"),
    ("{ x = [0, 8] }", "{ w = [0, 8] }", errors.CaseError, 39, "shapes has 'w', which is not an input"),
    ("{ x = [0, 8] }", "{ }", errors.CaseError, 39, "input 'x' has no shape"),
    ('tiling_key = "full_load"', 'tiling_key = "full"', errors.CaseError, 31, "there is no tiling key 'full'"),
    ("attrs = { dim = 1 }", "attrs = { dims = 1 }", errors.CaseError, 30, "there is no attribute 'dims'"),
    ("attrs = { dim = 1 }", "attrs = { dim = 1.5 }", errors.CaseError, 30, "attribute 'dim' cannot be 1.5"),
    ('layout = "sliced"', 'layout = "slice"', errors.BadValue, 33, "'layout' cannot be 'slice'"),
    ('values = "wide"', 'values = "huge"', errors.BadValue, 34, "'values' cannot be 'huge'"),
    ('dtype = ["float16"]\n\n[[case]]', 'dtype = ["int8"]\n\n[[case]]', errors.CaseError, 35, "dtype 'int8' is not a column"),
    ("[[tiling_key]]\nkey  = 1", "[tiling_key]\nkey  = 1", errors.TomlError, None, "not valid TOML"),
    ("edition = 1", "edition = ", errors.TomlError, 1, "not valid TOML"),
    ('family  = "softmax"', 'family  = "softmax', errors.TomlError, 3, "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "error", "line", "what"), MISTAKES, ids=[f"{m[2].__name__}-{i}" for i, m in enumerate(MISTAKES)])
def test_a_mistake_is_refused_with_its_line(old, new, error, line, what):
    assert old in GOOD
    with pytest.raises(error) as caught:
        parse(GOOD.replace(old, new, 1), Path("op.toml"))
    assert type(caught.value) is error
    assert what in caught.value.what
    if line is not None:
        assert caught.value.where == f"op.toml:{line}"
    assert caught.value.exit_code == errors.ExitCode.USAGE


def test_dtype_mistakes():
    with pytest.raises(errors.UnknownDtype) as caught:
        read({'"float32", "float16"]\n\n[tensor.y]': '"float32",\n  "fp16"]\n\n[tensor.y]'})
    assert caught.value.where == "op.toml:11"
    assert caught.value.help == "use 'float16'"
    with pytest.raises(errors.DtypeColumnsError, match="'y' has 1 dtypes but 'x' has 2"):
        read({'dtype = ["float32", "float16"]\n\n[cost]': 'dtype = ["float32"]\n\n[cost]'})
    with pytest.raises(errors.DtypeColumnsError, match="columns 0 and 1 have the same inputs"):
        read({'["float32", "float16"]\n\n[tensor.y]': '["float32", "float32"]\n\n[tensor.y]'})


def test_a_misspelt_key_gets_a_suggestion():
    with pytest.raises(errors.UnknownKey) as caught:
        read({"family": "famliy"})
    assert caught.value.help is not None
    assert caught.value.help.startswith("did you mean 'family'? use one of: autograd, axes, bench, case, compute, cost,")


def test_a_reference_that_is_not_there_is_refused_with_its_line(tmp_path):
    assert main(["new", "op", "softmax", "--out", str(tmp_path / "softmax"), "-q"]) == 0
    file = tmp_path / "softmax" / "op.toml"
    lines = file.read_text().replace("reference/triton_softmax.py", "reference/nope.py")
    file.write_text(lines)
    line = next(i for i, text in enumerate(lines.splitlines(), 1) if "nope.py" in text)
    with pytest.raises(errors.BadValue, match="reference/nope.py does not exist") as caught:
        open_project(file.parent)
    assert caught.value.where == f"{file}:{line}"


def test_a_missing_file_and_binary_junk(tmp_path):
    with pytest.raises(errors.SpecNotFound, match="No such file"):
        load(tmp_path / "op.toml")
    (tmp_path / "op.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(errors.TomlError, match="not UTF-8"):
        load(tmp_path)


def test_in_place_operators():
    text = GOOD.replace("softmax(Tensor x, int dim=-1, bool keep=False) -> Tensor y", "softmax(Tensor(a!) x, int dim=-1) -> Tensor(a!) x")
    text = text.replace('[tensor.y]\ndims  = "same(x)"\ndtype = ["float32", "float16"]\n', "")
    spec = parse(text, Path("op.toml"))
    assert spec.outputs == spec.inputs
    assert spec.outputs[0].mutated
    assert spec.output_shapes({"x": (2, 5)}, {}) == [(2, 5)]
    nothing = parse(text.replace("-> Tensor(a!) x", "-> ()"), Path("op.toml"))
    assert [t.name for t in nothing.outputs] == ["x"]
    for wrong, what in (("-> Tensor(b!) x", "which no input has"), ("-> Tensor(a!) z", "is the input 'x' written in place"), ("-> Tensor x", "an input and an output")):
        with pytest.raises(errors.SchemaError, match=what):
            parse(text.replace("-> Tensor(a!) x", wrong), Path("op.toml"))


def test_the_digest_ignores_comments_and_spacing_only():
    digest = read().digest
    assert read({"family ": "# a comment\nfamily "}).digest == digest
    assert read({"edition = 1": "edition=1"}).digest == digest
    assert read({"[3, 1023]": "[3, 1024]"}).digest != digest
    assert len(digest) == 64


def test_the_interface_digest_ignores_cases_and_cost():
    digest = interface_digest(read())
    assert interface_digest(read({"[3, 1023]": "[3, 1024]"})) == digest
    assert interface_digest(read({"5 * numel": "6 * numel"})) == digest
    assert interface_digest(read({"ascend910_93": "ascend310p"})) != digest
    assert interface_digest(read({'["float32", "float16"]': '["float32", "bfloat16"]', 'dtype = ["float16"]': ""})) != digest


def test_the_declaration_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        read().name = "other"  # type: ignore[misc]


def test_lines_of_tables_arrays_and_long_values():
    text = 'a = 1\nb = [\n  "x",  # [not.a.table]\n  "y",\n]\n[t]\nc = """\nd = 4\n"""\ne.f = 2\n[[r]]\nk = 1\n[[r]]\nk = { z = 1 }\n[r.sub]\nq = 1\n"quoted key" = 3\n'
    lines = Lines(text, "f")
    found = {
        ("a",): 1, ("b",): 2, ("t",): 6, ("t", "c"): 7, ("t", "e", "f"): 10, ("r", 0): 11, ("r", 0, "k"): 12, ("r", 1): 13, ("r", 1, "k"): 14,
        ("r", 1, "k", "z"): 14, ("r", 1, "sub", "q"): 16, ("r", 1, "sub", "quoted key"): 17, ("t", "d"): 6, ("nothing",): 1,
    }  # fmt: skip
    assert {path: lines.line(*path) for path in found} == found
    assert lines.where("b", text='"y"') == "f:4"
