"""The expression language: what it accepts, what it means, and that Python source and evaluation agree."""

from __future__ import annotations

import random

import pytest

from ascendops.errors import ExprError
from ascendops.spec.evaluate import Env
from ascendops.spec.expr import parse


def value(text, **values):
    return parse(text).evaluate(Env(values))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("n // 2", 3),
        ("-n // 2", -4),
        ("n % 4", 3),
        ("-n % 4", 1),
        ("ceil_div(n, 2)", 4),
        ("ceil_div(8, 4)", 2),
        ("align(n, 16)", 16),
        ("align(32, 16)", 32),
        ("min(n, 3)", 3),
        ("max(n, 3, 9)", 9),
        ("2 * n - 1", 13),
        ("n if n > 3 else 0", 7),
        ("n if keep else 1", 1),
        ("n == 7", True),
        ("not keep", True),
        ("prod(batch)", 6),
        ("prod(empty)", 1),
        ("batch[-1] + batch[0]", 5),
    ],
)
def test_values(text, want):
    assert value(text, n=7, keep=False, batch=(2, 3), empty=()) == want


def test_numel_and_nbytes_of_tensors_lists_and_absent_ones():
    env = Env({}, {"x": (2, 3), "xs": [(2,), (4, 5)], "w": None, "s": ()}, {"x": 2, "xs": 4, "w": 4, "s": 4})
    found = [parse(text).evaluate(env) for text in ("numel(x)", "nbytes(x)", "numel(xs)", "nbytes(xs)", "numel(w)", "numel(s)")]
    assert found == [6, 12, 22, 88, 0, 1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("n / 2", "`/` is not allowed"),
        ("n ** 2", "`n ** 2` is not allowed"),
        ("__import__('os')", "'__import__' is not a function"),
        ("x.shape", "`x.shape` is not allowed"),
        ("(lambda: 1)()", "is not allowed"),
        ("[n]", "`[n]` is not allowed"),
        ("n if", "is not an expression"),
        ("1.5 * n", "1.5 is not a whole number"),
        ("'n'", "'n' is not a whole number"),
        ("ceil_div(n)", "ceil_div takes 2 argument(s), not 1"),
        ("align(n, 2, 3)", "align takes 2 argument(s), not 3"),
        ("numel(n + 1)", "numel takes the name of a tensor"),
        ("prod(3)", "prod takes the name of a list"),
        ("min + 1", "'min' is a function"),
        ("batch[n]", "an index must be a number"),
        ("1 < n < 3", "is not allowed"),
        ("ceil_div(a=n, b=2)", "'ceil_div' is not a function"),
        ("n := 3", "is not an expression"),
        (str(2**63), "does not fit 64 bits"),
        ("+".join(["n"] * 300), "longer than 500"),
        ("(" * 300 + "n" + ")" * 300, ""),
    ],
)
def test_refused(text, why):
    with pytest.raises(ExprError) as caught:
        parse(text, where="op.toml:3")
    assert why in caught.value.what
    assert caught.value.where == "op.toml:3"


def test_caret_points_at_the_fault():
    with pytest.raises(ExprError) as caught:
        parse("n + m / 2")
    assert caught.value.why == "n + m / 2\n    ^"


@pytest.mark.parametrize(
    ("text", "why"),
    [("n // z", "division by zero"), ("n + q", "'q' has no value"), ("batch + 1", "not a whole number"), ("batch[5]", "out of range")],
)
def test_faults_of_a_call(text, why):
    with pytest.raises(ExprError) as caught:
        value(text, n=7, z=0, batch=(2, 3))
    assert why in caught.value.what


def test_names_and_tensors():
    expr = parse("numel(x) + n * prod(batch) + ceil_div(m, 2)")
    assert expr.names == {"n", "batch", "m"}
    assert expr.tensors == {"x"}
    assert parse("n").axis == "n"
    assert parse("n + 1").axis is None
    assert parse("16").constant == 16
    assert parse("True").constant is None


def test_cpp():
    assert parse("ceil_div(n, 2) * 3").cpp() == "Mul(CeilDiv(axis_n, Num(2)), Num(3))"
    assert parse("max(a, b, 1)").cpp() == "Max(Max(axis_a, axis_b), Num(1))"
    assert parse("m if k == 1 else -m").cpp() == "Select(Eq(axis_k, Num(1)), axis_m, Sub(Num(0), axis_m))"
    assert parse("numel(x) % pad[1]").cpp(tensor="shape_{}".format) == "FloorMod(Numel(shape_x), Item(axis_pad, 1))"


def random_expression(rng, depth=3):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["n", "m", "k", str(rng.randint(0, 40))])
    a, b = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    kind = rng.randrange(9)
    if kind < 3:
        return f"({a} {rng.choice('+-*')} {b})"
    if kind < 5:
        return f"({a} {rng.choice(['//', '%'])} {rng.randint(1, 9)})"
    if kind == 5:
        return f"{rng.choice(['ceil_div', 'align'])}({a}, {rng.randint(1, 9)})"
    if kind == 6:
        return f"{rng.choice(['min', 'max'])}({a}, {b})"
    if kind == 7:
        return f"({a} if {b} {rng.choice(['<', '<=', '==', '!=', '>', '>='])} {a} else {b})"
    return f"(-{a})"


def test_python_source_means_the_same_as_evaluation():
    rng = random.Random(7)
    for _ in range(300):
        expr = parse(random_expression(rng))
        values = {name: rng.randint(-50, 50) for name in "nmk"}
        assert eval(expr.python(), {"min": min, "max": max}, values) == expr.evaluate(Env(values)), expr.text


def test_symint_like_sizes_are_not_branched_on():
    torch = pytest.importorskip("torch")
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    symbol = ShapeEnv().create_unbacked_symint()
    size = parse("align(min(n, 64), 16) + ceil_div(n, 2)").evaluate(Env({"n": symbol}))
    assert isinstance(size, torch.SymInt)
