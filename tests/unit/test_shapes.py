"""Shapes over named axes: binding, inference by rules compared with PyTorch, and errors that name tensor, axis and sizes."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from ascendops.errors import AttrError, ShapeMismatch
from ascendops.spec import parse, rules


def operator(schema: str, **dims: object):
    """An OpSpec of one float32 column; `dims` gives each tensor's shape."""
    tables = "\n".join(f"[tensor.{name}]\ndims = {one if isinstance(one, list) else repr(one)}\ndtype = ['float32']" for name, one in dims.items())
    text = f'edition = 1\nname = "op_x"\nschema = "{schema}"\nunits = ["ascend910b"]\n{tables}\n'
    return parse(text, Path("op.toml"))


def shapes(spec, inputs, **attrs):
    return spec.output_shapes(inputs, attrs)


def test_arithmetic_and_variadic_axes():
    spec = operator(
        "op_x(Tensor x, Tensor w, int k=2) -> (Tensor y, Tensor z)",
        x=["*batch", "m", "n"],
        w=["n", "2 * m"],
        y=["*batch", "ceil_div(n, k)", "align(m, 16)"],
        z=["n // 2", "numel(x)", 3, "prod(batch)"],
    )
    assert shapes(spec, {"x": (4, 6, 5, 7), "w": (7, 10)}) == [(4, 6, 4, 16), (3, 840, 3, 24)]
    assert shapes(spec, {"x": (5, 7), "w": (7, 10)}, k=3) == [(3, 16), (3, 35, 3, 1)]
    assert shapes(spec, {"x": (0, 5, 7), "w": (7, 10)}) == [(0, 4, 16), (3, 0, 3, 0)]


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ({"x": (4, 5, 7), "w": (8, 10)}, "axis 'n' is 7 in x but 8 in w"),
        ({"x": (4, 5, 7), "w": (7, 11)}, "w has 11 where 2 * m is 10"),
        ({"x": (7,), "w": (7, 10)}, "op_x: x has 1 dim, but [*batch, m, n] needs at least 2"),
        ({"x": (4, 5, 7), "w": (7,)}, "w has 1 dim, but [n, 2 * m] needs 2"),
        ({"x": (4, 5, 7)}, "input 'w' has no shape"),
        ({"x": (4, 5, 7), "w": (7, 10), "q": (1,)}, "there is no input 'q'"),
    ],
)
def test_misfits_name_tensor_axis_and_sizes(inputs, what):
    spec = operator("op_x(Tensor x, Tensor w) -> Tensor y", x=["*batch", "m", "n"], w=["n", "2 * m"], y="same(x)")
    with pytest.raises(ShapeMismatch) as caught:
        shapes(spec, inputs)
    assert what in caught.value.what


def test_every_misfit_names_the_operator():
    spec = operator("op_x(Tensor x, Tensor w) -> Tensor y", x=["*batch", "m", "n"], w=["n", "2 * m"], y="same(x)")
    for inputs in ({"x": (7,), "w": (7, 10)}, {"x": (2, 3)}, {"x": (2, 3), "w": (4, 4)}, {"z": (1,)}):
        with pytest.raises(ShapeMismatch) as caught:
            shapes(spec, inputs)
        assert caught.value.what.startswith("op_x: ") and caught.value.what.count("op_x") == 1 and caught.value.where == spec.schema.text
    with pytest.raises(AttrError, match="op_x: there is no attribute 'dim'"):
        spec.output_shapes({"x": (2, 3), "w": (3, 4)}, {"dim": 1})
    small = operator("op_x(Tensor x) -> Tensor y", x=["n"], y=["n - 4"])
    with pytest.raises(ShapeMismatch, match="op_x: y would have a negative size"):
        shapes(small, {"x": (3,)})


def test_a_variadic_axis_is_one_thing_in_all_tensors():
    spec = operator("op_x(Tensor a, Tensor b) -> Tensor y", a=["*batch", "n"], b=["*batch", "k"], y=["*batch", "n * k"])
    assert shapes(spec, {"a": (2, 3, 4), "b": (2, 3, 5)}) == [(2, 3, 20)]
    with pytest.raises(ShapeMismatch, match=r"axis 'batch' is \(2, 3\) in a but \(2,\) in b"):
        shapes(spec, {"a": (2, 3, 4), "b": (2, 5)})


def test_constants_and_negative_sizes():
    spec = operator("op_x(Tensor x) -> Tensor y", x=[3, "n"], y=["n - 4"])
    assert shapes(spec, {"x": (3, 4)}) == [(0,)]
    with pytest.raises(ShapeMismatch, match="x has 2 where"):
        shapes(spec, {"x": (2, 4)})
    with pytest.raises(ShapeMismatch, match="y would have a negative size: 'n - 4' is -1"):
        shapes(spec, {"x": (3, 3)})


def test_optional_tensors():
    spec = operator("op_x(Tensor x, Tensor? w=None) -> (Tensor y, Tensor z)", x=["n"], w=["n", "k"], y="same(x)", z=["n"])
    assert shapes(spec, {"x": (3,)}) == [(3,), (3,)]
    assert shapes(spec, {"x": (3,), "w": None}) == [(3,), (3,)]
    with pytest.raises(ShapeMismatch, match="axis 'n' is 3 in x but 4 in w"):
        shapes(spec, {"x": (3,), "w": (4, 2)})
    needs = operator("op_x(Tensor x, Tensor? w=None) -> Tensor y", x=["n"], w=["k"], y=["n", "k"])
    assert shapes(needs, {"x": (3,), "w": (2,)}) == [(3, 2)]
    with pytest.raises(ShapeMismatch, match="'k' has no value"):
        shapes(needs, {"x": (3,)})
    like = operator("op_x(Tensor x, Tensor? w=None) -> Tensor y", x=["n"], w=["k"], y="same(w)")
    with pytest.raises(ShapeMismatch, match="'w' is absent"):
        shapes(like, {"x": (3,)})


def test_lists_of_tensors_share_common_axes_only():
    spec = operator("op_x(Tensor x, Tensor[] xs) -> Tensor y", x=["n"], xs=["n", "k"], y=["n"])
    assert shapes(spec, {"x": (3,), "xs": [(3, 1), (3, 5)]}) == [(3,)]
    assert shapes(spec, {"x": (3,), "xs": []}) == [(3,)]
    with pytest.raises(ShapeMismatch, match=r"axis 'n' is 3 in x but 4 in xs\[1\]"):
        shapes(spec, {"x": (3,), "xs": [(3, 1), (4, 5)]})


def test_the_cost_of_lists_counts_every_tensor():
    text = """edition = 1
name = "op_x"
schema = "op_x(Tensor x, Tensor[] xs, Tensor? w=None) -> Tensor y"
units = ["ascend910b"]
cost = { flops = "numel(xs) + numel(w)" }
tensor.x = { dims = ["n"], dtype = ["float32", "float16"] }
tensor.xs = { dims = ["n", "k"], dtype = ["float32", "float16"] }
tensor.w = { dims = ["n"], dtype = ["int8", "int8"] }
tensor.y = { dims = ["n"], dtype = ["float32", "float16"] }
"""
    spec = parse(text, Path("op.toml"))
    assert spec.cost({"x": (3,), "xs": [(3, 1), (3, 5)]}, {}, 0) == (18, 4 * (3 + 18 + 3))
    assert spec.cost({"x": (3,), "xs": [], "w": (3,)}, {}, 1) == (3, 2 * (3 + 0 + 3) + 3)


def test_attributes_are_checked():
    spec = operator("op_x(Tensor x, int k, float s=1.0, int[2] pad=0, int? d=None) -> Tensor y", x=["n"], y=["n + k + pad[1]"])
    assert shapes(spec, {"x": (3,)}, k=1) == [(4,)]
    assert shapes(spec, {"x": (3,)}, k=1, pad=2, s=3, d=4) == [(6,)]
    wrong = [({}, "'k' is missing"), ({"k": True}, "'k' cannot be True"), ({"k": 1, "pad": [1]}, "'pad' cannot be"), ({"k": 1, "q": 1}, "no attribute 'q'")]
    for attrs, what in (*wrong, ({"k": None}, "'k' cannot be None"), ({"k": 1, "s": "1"}, "'s' cannot be")):
        with pytest.raises(AttrError, match=what):
            shapes(spec, {"x": (3,)}, **attrs)


def torch_shape(function):
    try:
        return tuple(function().shape)
    except (RuntimeError, IndexError):
        return None


def our_shape(function):
    try:
        return function()
    except ValueError:
        return None


def test_broadcast_agrees_with_torch():
    torch = pytest.importorskip("torch")
    rng = random.Random(3)
    for _ in range(300):
        a, b = ([rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 4))] for _ in range(2))
        assert our_shape(lambda a=a, b=b: rules.broadcast(tuple(a), tuple(b))) == torch_shape(
            lambda a=a, b=b: torch.broadcast_tensors(torch.empty(a), torch.empty(b))[0]
        ), (a, b)


def test_reduce_agrees_with_torch():
    torch = pytest.importorskip("torch")
    dims = [None, [], *range(-4, 4), [0, 1], [-1, 0], [0, 0], [1, -1], [-2, -1], [0, 2]]
    for shape, dim, keepdim in itertools.product([(), (3,), (2, 3), (2, 1, 4)], dims, [False, True]):
        want = torch_shape(lambda s=shape, d=dim, k=keepdim: torch.sum(torch.empty(s), dim=d, keepdim=k))
        assert our_shape(lambda s=shape, d=dim, k=keepdim: rules.reduce(s, d, k)) == want, (shape, dim, keepdim)


def test_matmul_agrees_with_torch():
    torch = pytest.importorskip("torch")
    kinds = [(), (3,), (2,), (2, 3), (3, 2), (4, 2, 3), (1, 3, 2), (4, 3, 2), (5, 1, 3, 2), (5, 4, 2, 3)]
    for a, b in itertools.product(kinds, kinds):
        want = torch_shape(lambda a=a, b=b: torch.matmul(torch.empty(a), torch.empty(b)))
        assert our_shape(lambda a=a, b=b: rules.matmul(a, b)) == want, (a, b)
    assert rules.matmul((5, 3, 2), (4, 3), transpose_a=True, transpose_b=True) == (5, 2, 4)


def test_rules_through_a_declaration():
    spec = operator("op_x(Tensor x, int[]? dim=None, bool keepdim=False) -> Tensor y", x=["*s"], y="reduce(x, dim=dim, keepdim=keepdim)")
    assert shapes(spec, {"x": (2, 3, 4)}) == [()]
    assert shapes(spec, {"x": (2, 3, 4)}, dim=[-1], keepdim=True) == [(2, 3, 1)]
    with pytest.raises(ShapeMismatch, match=r"does not allow x \(2, 3, 4\): dim 5 is not in -3 to 2"):
        shapes(spec, {"x": (2, 3, 4)}, dim=[5])
    two = operator("op_x(Tensor a, Tensor b) -> (Tensor y, Tensor z)", a=["*s"], b=["*t"], y="broadcast(a, b)", z="same(y)")
    assert shapes(two, {"a": (2, 1), "b": (3,)}) == [(2, 3), (2, 3)]
    with pytest.raises(ShapeMismatch, match="sizes 2 and 3 at dim -1 are neither equal nor 1"):
        shapes(two, {"a": (2,), "b": (3,)})
    literal = operator("op_x(Tensor x) -> Tensor y", x=["*s"], y="reduce(x, dim=[0, -1], keepdim=true)")
    assert shapes(literal, {"x": (2, 3, 4)}) == [(1, 3, 1)]


def test_permute_is_that_of_torch():
    torch = pytest.importorskip("torch")
    spec = operator("op_x(Tensor x, int[] dims) -> Tensor y", x=["*s"], y="permute(x, dims=dims)")
    for rank in range(5):
        x = tuple(range(2, 2 + rank))
        for dims in itertools.permutations(range(rank)):
            mixed = tuple(dim - rank if i % 2 else dim for i, dim in enumerate(dims))
            assert shapes(spec, {"x": x}, dims=list(mixed)) == [tuple(torch.empty(x).permute(mixed).shape)]
    for dims, what in [((0, 0), "dim 0 appears twice"), ((0, 2), "dim 2 is not in -2 to 1"), ((0,), "1 dims are given for 2")]:
        with pytest.raises(ShapeMismatch, match=what):
            shapes(spec, {"x": (2, 3)}, dims=dims)


def test_a_rule_can_constrain_an_input():
    spec = operator("op_x(Tensor x, Tensor g) -> Tensor y", x=["*s"], g="reduce(x, dim=-1)", y="same(x)")
    assert shapes(spec, {"x": (2, 3), "g": (2,)}) == [(2, 3)]
    with pytest.raises(ShapeMismatch, match=r"g has the shape \(3,\), but reduce\(x, dim=-1\) is \(2,\)"):
        shapes(spec, {"x": (2, 3), "g": (3,)})


def test_symbolic_sizes_flow_through():
    torch = pytest.importorskip("torch")
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

    env = ShapeEnv()
    symbol = env.create_symbol(7, ConstantSource("n"), dynamic_dim=DimDynamic.DYNAMIC)
    size = env.create_symintnode(symbol, hint=7)
    spec = operator("op_x(Tensor x) -> (Tensor y, Tensor z)", x=["*batch", "n"], y=["*batch", "ceil_div(n, 2)"], z="same(x)")
    (y, z) = shapes(spec, {"x": (3, size)})
    assert isinstance(y[1], torch.SymInt)
    assert z[1] is size
    assert not env.guards


@pytest.mark.parametrize("k", [5, -1])
def test_a_negative_size_says_what_it_was_made_of(k):
    spec = operator("op_x(Tensor x, int k) -> Tensor y", x=["*batch", "n"], y=["*batch", "k if k <= n else n - k"])
    with pytest.raises(ShapeMismatch) as caught:
        shapes(spec, {"x": (2, 4)}, k=k)
    assert "y would have a negative size: 'k if k <= n else n - k' is -1" in str(caught.value) and f"k = {k}, n = 4 of x" in str(caught.value)
