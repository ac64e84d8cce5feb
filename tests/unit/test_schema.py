"""The parser of PyTorch schemas, compared with PyTorch's own."""

from __future__ import annotations

import pytest

from ascendops.errors import SchemaError
from ascendops.spec.schema import parse

VALID = [
    "f(Tensor x) -> Tensor y",
    "f() -> Tensor y",
    "f(Tensor x, Tensor[] xs, Tensor? w=None) -> Tensor y",
    "f(Tensor x, *, float eps=1e-5, bool keepdim=False) -> (Tensor y, Tensor rstd)",
    "f(Tensor(a!) x, int n) -> Tensor(a!) x",
    "f(Tensor(a!) x, Tensor(b!) y) -> ()",
    "f(Tensor x, int[] dims=[0, -1], int[2] pad=0, int[2] stride=[1, 2]) -> Tensor y",
    "f(Tensor x, float[] fs=[1.0, 2.5], bool[] bs=[True, False], int[] none=[]) -> Tensor y",
    'f(Tensor x, str mode="none", str other=\'a b\') -> Tensor y',
    "f(Tensor x, int? dim=None, float? scale=None, bool? flag=True, int[]? dims=None, str? s=None) -> Tensor y",
    "f(Tensor x, float a=1, float b=-2.5, float c=1e3, int d=-7) -> Tensor y",
    "  f( Tensor   x ,int n=3 )->Tensor   y  ",
    "f(Tensor x, *, Tensor out) -> (Tensor y)",
]


def torch_value(value):
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("text", VALID)
def test_agrees_with_torch(text):
    torch = pytest.importorskip("torch")
    mine, theirs = parse(text), torch._C.parse_schema(text)
    assert mine.name == theirs.name
    assert [arg.name for arg in mine.arguments] == [arg.name for arg in theirs.arguments]
    for arg, other in zip(mine.arguments, theirs.arguments, strict=True):
        assert arg.kwarg_only == other.kwarg_only
        assert arg.required == (not other.has_default_value())
        if not arg.required:
            assert arg.default == torch_value(other.default_value), arg.name
        assert arg.type.mutated == bool(other.alias_info and other.alias_info.is_write)
        assert arg.type.optional == isinstance(other.type, torch.OptionalType)
        inner = other.type.getElementType() if arg.type.optional else other.type
        assert arg.type.is_list == isinstance(inner, torch.ListType)
        assert arg.type.length == (other.N if arg.type.is_list else None)
        inner = inner.getElementType() if arg.type.is_list else inner
        assert str(inner) == arg.type.base
    assert [ret.name for ret in mine.returns] == [ret.name for ret in theirs.returns]


@pytest.mark.parametrize("text", VALID)
def test_prints_as_it_parses(text):
    again = parse(parse(text).text)
    assert again == parse(text)


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ("f(Tensor x -> Tensor y", "expected ',' or ')' after an argument, found '->'", 11),
        ("f(Tensr x) -> Tensor y", "the type 'Tensr' is not supported", 2),
        ("f(Scalar a) -> Tensor y", "the type 'Scalar' is not supported", 2),
        ("f(str[] a) -> Tensor y", "a list of 'str' is not supported", 2),
        ("f(Tensor) -> Tensor y", "expected a name after the type 'Tensor', found ')'", 8),
        ("f(Tensor x, int x) -> Tensor y", "the argument 'x' appears twice", 16),
        ("f(Tensor x, int n=1, int m) -> Tensor y", "'m' has no default but follows 'n'", 25),
        ("f(Tensor x, int n=1.5) -> Tensor y", "'1.5' is not a value of 'int'", 18),
        ("f(Tensor x, bool b=1) -> Tensor y", "'1' is not a value of 'bool'", 19),
        ("f(Tensor x, int n=None) -> Tensor y", "None is not a value of 'int'", 22),
        ("f(Tensor x, int[] n=3) -> Tensor y", "expected a list", 20),
        ("f(Tensor x, int[2] n=[1]) -> Tensor y", "has 1 items", 24),
        ("f(Tensor x)", "expected '->'", 11),
        ("f(Tensor x) -> int n", "an output must be a Tensor, not 'int'", 15),
        ("f(Tensor x) -> Tensor[] y", "an output must be a Tensor, not 'Tensor[]'", 15),
        ("f(Tensor x) -> (Tensor y, Tensor y)", "two returned tensors have the same name", 35),
        ("f(Tensor x) -> Tensor y z", "unexpected 'z' after", 24),
        ("aten::f(Tensor x) -> Tensor y", "a namespace or an overload name", 4),
        ("f.out(Tensor x) -> Tensor y", "a namespace or an overload name", 1),
        ("f(Tensor x) -> Tensor y;", "unexpected character ';'", 23),
        ("", "expected the operator's name, found the end", 0),
    ],
)
def test_refused_with_a_caret(text, what, column):
    with pytest.raises(SchemaError) as caught:
        parse(text, where="op.toml:4")
    assert what in caught.value.what
    shown, caret = caught.value.why.split("\n")
    assert shown == text
    assert caret.index("^") == column


def test_the_help_names_a_replacement():
    with pytest.raises(SchemaError) as caught:
        parse("f(Tensor x, Scalar alpha=1) -> Tensor y")
    assert caught.value.help == "use float or int"


def test_parsing_needs_no_torch():
    import subprocess
    import sys

    code = "import sys, ascendops.spec as s; s.load; assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
