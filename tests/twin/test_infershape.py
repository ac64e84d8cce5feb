"""The C++ InferShape and InferDataType of gen/, compiled with g++, against the Python inference of the same declaration."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from ascendops.errors import ShapeMismatch
from ascendops.render import gen
from ascendops.spec import parse
from ascendops.spec.attrs import op_def_value
from tests.unit.test_expr import random_expression

pytestmark = pytest.mark.twin


def operator(name: str, schema: str, **dims: object):
    tables = "\n".join(f"[tensor.{key}]\ndims = {one if isinstance(one, list) else repr(one)}\ndtype = ['float32']" for key, one in dims.items())
    text = f'edition = 1\nname = "{name}"\nschema = """{name}{schema}"""\nunits = ["ascend910b"]\n{tables}\n'
    return parse(text, Path(f"{name}/op.toml"))


def random_dims(name: str, seed: int, *, clamp: bool):
    rng = random.Random(seed)
    wrap = "max({}, 0)" if clamp else "{}"
    return operator(name, "(Tensor x, int k=3) -> Tensor y", x=["n", "m"], y=[wrap.format(random_expression(rng)) for _ in range(20 if clamp else 2)])


OPERATORS = [
    operator("op_same", "(Tensor x) -> Tensor y", x=["*batch", "n"], y="same(x)"),
    operator("op_cast", "(Tensor a, Tensor b) -> Tensor y", a=["*s"], b=["*t"], y="broadcast(a, b)"),
    operator("op_three", "(Tensor a, Tensor b, Tensor c) -> Tensor y", a=["*s"], b=["*t"], c=["*u"], y="broadcast(a, b, c)"),
    operator("op_sum", "(Tensor x, int[]? dim=None, bool keepdim=False) -> Tensor y", x=["*s"], y="reduce(x, dim=dim, keepdim=keepdim)"),
    operator("op_max", "(Tensor x, int dim=-1, bool keepdim=True) -> (Tensor y, Tensor i)", x=["*s"], y="reduce(x, dim=dim, keepdim=keepdim)", i="same(y)"),
    operator("op_norm", "(Tensor x, Tensor g) -> Tensor y", x=["*s"], g="reduce(x, dim=[0, -1], keepdim=true)", y="same(x)"),
    operator("op_permute", "(Tensor x, int[] dims) -> Tensor y", x=["*s"], y="permute(x, dims=dims)"),
    operator("op_turn", "(Tensor x) -> Tensor y", x=["n", "m", "k"], y="permute(x, dims=[2, 0, -2])"),
    operator("op_mm", "(Tensor a, Tensor b, bool ta=False, bool tb=False) -> Tensor y", a=["*s"], b=["*t"], y="matmul(a, b, transpose_a=ta, transpose_b=tb)"),
    operator("op_batch", "(Tensor a, Tensor b, Tensor? w=None) -> (Tensor y, Tensor z)", a=["*batch", "n"], b=["*batch", "k"], w=["k", "2 * n"], y=["*batch", "n + k"], z=["n", 3, "prod(batch)"]),
    operator("op_list", "(Tensor x, Tensor[] xs) -> Tensor y", x=["n", "*rest"], xs=["n", "q", "*rest"], y=["*rest", "numel(x) // 2"]),
    operator("op_attr", "(Tensor x, int k=2, int[2] pad=0, bool keep=True) -> Tensor y", x=["n"], y=["ceil_div(n, k)", "align(n, 16) + pad[-1]", "n if keep else 1"]),
    random_dims("op_clamped", 1, clamp=True),
    random_dims("op_plain", 2, clamp=False),
]  # fmt: skip
BY_NAME = {spec.name: spec for spec in OPERATORS}

DRIVER = """
#include <iostream>
#include "register/op_def_registry.h"
namespace ops {
DECLARATIONS
using Infer = ge::graphStatus (*)(gert::InferShapeContext *);
static const Infer TABLE[] = { NAMES };
}
static std::vector<int64_t> List()
{
    size_t count;
    std::cin >> count;
    std::vector<int64_t> items(count);
    for (auto &item : items) { std::cin >> item; }
    return items;
}
int main()
{
    using namespace ascendops_shim::gert;
    size_t op, inputs, attrs, outputs;
    while (std::cin >> op >> inputs >> attrs >> outputs) {
        std::vector<std::vector<Shape>> shapes(inputs);
        for (auto &input : shapes) {
            size_t tensors;
            std::cin >> tensors;
            for (size_t i = 0; i < tensors; ++i) { input.push_back(Shape(List())); }
        }
        std::vector<Attr> values;
        for (size_t i = 0; i < attrs; ++i) {
            char kind;
            std::cin >> kind;
            const std::vector<int64_t> items = List();
            values.push_back(kind == 'i' ? Attr(items[0]) : kind == 'b' ? Attr(items[0] != 0) : Attr(items));
        }
        InferShapeContext context(shapes, values, outputs);
        if (ops::TABLE[op](&context) != 0) { std::cout << "failed\\n"; continue; }
        for (size_t i = 0; i < outputs; ++i) {
            const Shape &out = *context.GetOutputShape(i);
            for (size_t dim = 0; dim < out.GetDimNum(); ++dim) { std::cout << out.GetDim(dim) << ' '; }
            std::cout << (i + 1 < outputs ? "; " : "\\n");
        }
    }
}
"""


@pytest.fixture(scope="module")
def run_cpp(tmp_path_factory):
    """Compiles every operator's InferShape into one program; returns a function from calls to results."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    root = tmp_path_factory.mktemp("infer")
    sources = []
    for spec in OPERATORS:
        gen(spec).write(root / spec.name)
        sources.append(f"{spec.name}/gen/op_host/{spec.name}_infershape.cpp")
    types = [f"{spec.op_type}InferShape" for spec in OPERATORS]
    driver = DRIVER.replace("DECLARATIONS", "\n".join(f"ge::graphStatus {t}(gert::InferShapeContext *);" for t in types)).replace("NAMES", ", ".join(types))
    (root / "driver.cpp").write_text(driver)
    shim = f"{OPERATORS[0].name}/gen/torch/shim"
    command = [compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover", f"-I{shim}", "driver.cpp", *sources, "-o", "driver"]
    built = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    def run(calls):
        done = subprocess.run([root / "driver"], input="\n".join(encode(*call) for call in calls), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [decode(line) for line in done.stdout.splitlines()]

    return run


def encode(spec, shapes, attrs):
    words = [OPERATORS.index(spec), len(spec.inputs), len(spec.attrs), len(spec.outputs)]

    def put(items):
        words.extend([len(items), *(int(item) for item in items)])

    for tensor in spec.inputs:
        value = shapes.get(tensor.name)
        many = [] if value is None else value if tensor.variadic else [value]
        words.append(len(many))
        for shape in many:
            put(shape)
    for attr in spec.attrs:
        value = op_def_value(attr, attrs.get(attr.name, attr.default))
        words.append("b" if isinstance(value, bool) else "i" if isinstance(value, int) else "l")
        put(value if isinstance(value, tuple | list) else [value])
    return " ".join(map(str, words))


def decode(line):
    return None if line == "failed" else [tuple(int(word) for word in part.split()) for part in line.split(";")]


def python(spec, shapes, attrs):
    try:
        return spec.output_shapes(shapes, attrs)
    except ShapeMismatch:
        return None


def random_shape(rng, low=0, high=4):
    return tuple(rng.choice([0, 1, 1, 2, 3, 5]) for _ in range(rng.randint(low, high)))


def random_call(spec, rng):
    """Shapes and attributes of one call; about half of them fit the declaration."""
    base = random_shape(rng)
    n, k = rng.randint(0, 5), rng.randint(1, 5)

    def pick(*options):
        return rng.choice([*options * 4, random_shape(rng)])

    thinned = tuple(size if rng.random() < 0.7 else 1 for size in base)
    shapes = {
        "op_same": lambda: {"x": pick((*base, n))},
        "op_cast": lambda: {"a": pick(base), "b": pick(thinned, base[1:])},
        "op_three": lambda: {"a": base, "b": pick(thinned), "c": pick(base[1:], ())},
        "op_norm": lambda: {"x": base, "g": pick(tuple(1 if i in (0, len(base) - 1) else size for i, size in enumerate(base)))},
        "op_turn": lambda: {"x": pick((n, k, 2))},
        "op_mm": lambda: {"a": pick((*base, n, k), (k,)), "b": pick((*thinned, k, n), (k,), (n, k), (k, k))},
        "op_batch": lambda: {"a": pick((*base, n)), "b": pick((*base, k)), "w": rng.choice([None, (k, 2 * n), (k, n)])},
        "op_list": lambda: {"x": pick((n, *base)), "xs": [pick((n, rng.randint(0, 3), *base)) for _ in range(rng.randint(0, 3))]},
        "op_attr": lambda: {"x": pick((n,))},
        "op_clamped": lambda: {"x": (n, k)},
        "op_plain": lambda: {"x": (n, k)},
    }.get(spec.name, lambda: {"x": base})()
    attrs = {
        "op_sum": lambda: {"dim": rng.choice([None, (), (0,), (-1,), (0, -1), (1, 1), (5,)]), "keepdim": rng.random() < 0.5},
        "op_max": lambda: {"dim": rng.randint(-3, 3), "keepdim": rng.random() < 0.5},
        "op_permute": lambda: {"dims": rng.sample([d - rng.choice([0, len(base)]) for d in range(len(base))], len(base)) + [0] * (rng.random() < 0.2)},
        "op_mm": lambda: {"ta": rng.random() < 0.3, "tb": rng.random() < 0.3},
        "op_attr": lambda: {"k": rng.randint(1, 4), "pad": (0, rng.randint(-3, 3)), "keep": rng.random() < 0.5},
        "op_clamped": lambda: {"k": rng.randint(-40, 40)},
        "op_plain": lambda: {"k": rng.randint(-5, 40)},
    }.get(spec.name, dict)()
    return spec, shapes, attrs


@pytest.mark.parametrize("name", BY_NAME)
def test_known_shapes_give_what_python_gives(run_cpp, name):
    rng = random.Random(11)
    calls = [random_call(BY_NAME[name], rng) for _ in range(300)]
    wanted = [python(*call) for call in calls]
    for call, want, got in zip(calls, wanted, run_cpp(calls), strict=True):
        assert got == want, call[1:]
    fits = sum(want is not None for want in wanted)
    assert fits >= 60, "the generator makes too few calls that fit"


def hide(shapes, rng):
    """The same shapes with some sizes (-1) or whole ranks (-2) unknown."""

    def one(shape):
        if rng.random() < 0.15:
            return (-2,)
        return tuple(-1 if rng.random() < 0.4 else size for size in shape)

    return {name: None if value is None else [one(item) for item in value] if isinstance(value, list) else one(value) for name, value in shapes.items()}


def consistent(got, want):
    return got == (-2,) or (len(got) == len(want) and all(mine in (-1, size) for mine, size in zip(got, want, strict=True)))


@pytest.mark.parametrize("name", BY_NAME)
def test_unknown_shapes_never_contradict_the_known_ones(run_cpp, name):
    rng = random.Random(13)
    calls = []
    for _ in range(400):
        call = random_call(BY_NAME[name], rng)
        want = python(*call)
        if want is not None:
            calls.append((call, want, hide(call[1], rng)))
    assert len(calls) >= 60
    results = run_cpp([(call[0], hidden, call[2]) for call, _, hidden in calls])
    for (call, want, hidden), got in zip(calls, results, strict=True):
        assert got is not None, (hidden, call[1])
        assert all(consistent(mine, full) for mine, full in zip(got, want, strict=True)), (hidden, got, want)


@pytest.mark.parametrize(
    ("name", "shapes", "attrs", "want"),
    [
        ("op_same", {"x": (-1, 4)}, {}, [(-1, 4)]),
        ("op_same", {"x": (-2,)}, {}, [(-2,)]),
        ("op_cast", {"a": (-1, 3), "b": (1,)}, {}, [(-1, 3)]),
        ("op_cast", {"a": (-1, 3), "b": (7, 3)}, {}, [(7, 3)]),
        ("op_cast", {"a": (-1,), "b": (-1,)}, {}, [(-1,)]),
        ("op_cast", {"a": (-2,), "b": (7, 3)}, {}, [(-2,)]),
        ("op_sum", {"x": (-2,)}, {}, [()]),
        ("op_sum", {"x": (-2,)}, {"dim": (0,)}, [(-2,)]),
        ("op_sum", {"x": (-1, -1, 4)}, {"dim": (1,), "keepdim": True}, [(-1, 1, 4)]),
        ("op_permute", {"x": (-1, 4, 5)}, {"dims": (2, 0, 1)}, [(5, -1, 4)]),
        ("op_permute", {"x": (-2,)}, {"dims": (1, 0)}, [(-1, -1)]),
        ("op_permute", {"x": (-2,)}, {"dims": (1, 1)}, None),
        ("op_permute", {"x": (2, 3)}, {"dims": (0, 1, 2)}, None),
        ("op_mm", {"a": (-1, 8), "b": (8, -1)}, {}, [(-1, -1)]),
        ("op_mm", {"a": (-1, -1, 8), "b": (5, 9, 4)}, {}, None),
        ("op_batch", {"a": (-1, 3), "b": (2, -1)}, {}, [(2, -1), (3, 3, 2)]),
        ("op_batch", {"a": (-2,), "b": (2, 5)}, {}, [(2, -1), (-1, 3, 2)]),
        ("op_batch", {"a": (-2,), "b": (2, 5), "w": (5, 8)}, {}, [(2, -1), (-1, 3, 2)]),
        ("op_batch", {"a": (2, 3), "b": (2, 5), "w": (5, 7)}, {}, None),
        ("op_attr", {"x": (-1,)}, {"keep": False}, [(-1, -1, 1)]),
    ],
)
def test_what_is_known_of_unknown_shapes(run_cpp, name, shapes, attrs, want):
    assert run_cpp([(BY_NAME[name], shapes, attrs)]) == [want]
