"""The kernels of the template families on the twin, through the public API: every width, every tiling key, no finding."""

from __future__ import annotations

import pytest
import torch

import ascendops
from ascendops.parity import ulp
from ascendops.render import new_project

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
WIDTHS = (1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 1023, 1025, 1984, 1985, 4097, 100003)
ALLOWED_ULP = {torch.float32: 16.0, torch.float16: 1.0, torch.bfloat16: 1.0}


@pytest.fixture(scope="module")
def operator(tmp_path_factory):
    root = tmp_path_factory.mktemp("families")
    built = {}

    def get(name):
        if name not in built:
            new_project(name, root / name)
            project = ascendops.open_project(root / name)
            keys = {key.key: key.name for key in project.spec.tiling_keys}
            built[name] = project.build(backend="twin").ops[name], keys
        return built[name]

    return get


def run(operator, name, *tensors, **attrs):
    """(output, name of the tiling key) of a run without any finding."""
    op, keys = operator(name)
    result = op.run(*tensors, **attrs)
    assert not result.diagnostics
    return result.outputs[0], keys[result.tiling_key]


def assert_close(got, want, factor=1.0):
    """Within ALLOWED_ULP of a float64 tensor; nan and inf at the same places."""
    rounded = want.to(got.dtype)
    assert torch.equal(got.isnan(), rounded.isnan())
    assert torch.equal(got.isinf(), rounded.isinf())
    finite = rounded.isfinite()
    step = ulp.ulp(want[finite].abs(), got.dtype)
    worst = ((got.double() - want)[finite].abs() / step).max().item() if finite.any() else 0.0
    assert worst <= ALLOWED_ULP[got.dtype] * factor


def normal(*shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_softmax_of_every_width(operator, dtype):
    keys = {}
    for width in WIDTHS:
        x = normal(2, width, dtype=dtype, seed=width)
        y, keys[width] = run(operator, "softmax", x)
        assert_close(y, torch.softmax(x.double(), -1))
    assert keys[4097] == "full_load"
    assert keys[100003] == "split"


@pytest.mark.parametrize("width", [5, 67, 2001, 20011])
def test_softmax_of_infinities_and_nan(operator, width):
    x = normal(6, width)
    x[0] = -torch.inf
    x[1, -1] = torch.nan
    x[2, width // 2] = torch.inf
    x[3, 1:] = -torch.inf
    x[4, ::2] = -torch.inf
    x[5] = torch.finfo(torch.float32).max
    y, _ = run(operator, "softmax", x)
    assert_close(y, torch.softmax(x.double(), -1))


def test_softmax_rows_do_not_depend_on_their_number(operator):
    x = normal(300, 129)
    y, _ = run(operator, "softmax", x)
    alone, _ = run(operator, "softmax", x[217:218])
    assert torch.equal(y[217:218], alone)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gelu_everywhere(operator, dtype):
    x = torch.cat([torch.linspace(-12.5, 14, 20001), torch.linspace(-0.8, -0.7, 4097), normal(1000) * 1e-3]).to(dtype)
    y, _ = run(operator, "gelu", x)
    wide = x.double()
    want = wide * torch.special.erfc(-wide * 0.5**0.5) / 2
    slope = torch.special.erfc(-wide * 0.5**0.5) / 2 + wide * torch.exp(-wide * wide / 2) / (2 * torch.pi) ** 0.5
    allowed = 2 * ulp.ulp(want.abs(), dtype) + 8 * slope.abs() * ulp.ulp(wide.abs(), torch.float32)
    assert ((y.double() - want).abs() / allowed).max() <= 1


def test_gelu_of_infinities_and_nan(operator):
    y, _ = run(operator, "gelu", torch.tensor([torch.inf, -torch.inf, torch.nan, 0.0, -0.0, 3.4e38, -3.4e38]))
    assert y[:4].tolist()[0] == torch.inf
    assert y[1:3].isnan().all()  # -inf * 0, as in torch
    assert y[3:].tolist() == pytest.approx([0.0, 0.0, 3.4e38, 0.0])


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int32], ids=str)
@pytest.mark.parametrize(
    ("left", "right", "key"),
    [
        ((1023,), (1023,), "flat"),
        ((33, 31), (1,), "flat"),
        ((), (7,), "flat"),
        ((17, 129), (129,), "general"),
        ((17, 1), (17, 129), "general"),
        ((2100, 1), (1, 3), "general"),
        ((2, 6001), (2, 1), "general"),
        ((2, 1, 3, 1, 2, 1, 3, 1), (1, 3, 1, 2, 1, 2, 1, 5), "general"),
    ],
    ids=str,
)
def test_add_broadcasts(operator, dtype, left, right, key):
    a, b = (normal(*left, seed=1) * 9).to(dtype), (normal(*right, seed=2) * 9).to(dtype)
    y, reached = run(operator, "add", a, b)
    assert reached == key
    assert y.shape == torch.broadcast_shapes(left, right)
    want = a.to(torch.float32) + b.to(torch.float32) if dtype.is_floating_point else a + b
    assert torch.equal(y, want.to(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "dim", "key"),
    [
        ((5, 15), -1, "rows"),
        ((301, 65), 1, "rows"),
        ((3, 4097), -1, "rows"),
        ((2, 100003), -1, "split"),
        ((5, 17, 31), 1, "columns"),
        ((3, 4097, 5), 1, "columns"),
        ((2, 3, 4099), 1, "columns"),
    ],
    ids=str,
)
def test_sum_is_exact_for_small_integers(operator, dtype, shape, dim, key):
    x = (normal(*shape) > 0).to(dtype) - (normal(*shape, seed=3) > 0).to(dtype)
    y, reached = run(operator, "sum", x, dim=dim, keepdim=True)
    assert reached == key
    assert torch.equal(y, x.double().sum(dim, keepdim=True).to(dtype))


def test_sum_of_nothing_is_zero(operator):
    y, _ = run(operator, "sum", torch.ones(3, 0, 5), dim=1)
    assert y.tolist() == [[0.0] * 5] * 3


@pytest.mark.parametrize(("shape", "dim"), [((8, 67), -1), ((67, 8), 0), ((2, 60001), 1)])
def test_amax_propagates_nan(operator, shape, dim):
    x = normal(*shape) - 5  # all negative: padding with 0 would show
    x.view(-1)[3] = torch.nan
    y, _ = run(operator, "amax", x, dim=dim)
    assert_close(y, torch.amax(x.double(), dim))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("batch", "m", "k", "n"), [((), 130, 77, 300), ((2, 3), 17, 40, 5), ((), 6, 3000, 9)], ids=str
)
def test_products_on_the_cube(operator, batch, m, k, n, dtype):
    a, b = normal(*batch, m, k, dtype=dtype), normal(*batch, k, n, dtype=dtype, seed=1)
    y, key = run(operator, "batched_matmul", a, b)
    assert key == "product"
    assert_product(y, a.double() @ b.double(), a.double().abs() @ b.double().abs())
    if dtype == torch.float16:
        z, _ = run(operator, "matmul_nt", a, b.mT.contiguous())
        assert torch.equal(y, z)


def test_a_product_over_nothing_is_zero(operator):
    y, key = run(operator, "batched_matmul", torch.ones(3, 7, 0), torch.ones(3, 0, 1023))
    assert key == "zeros" and y.shape == (3, 7, 1023) and not y.any()


@pytest.mark.parametrize(
    ("name", "after", "dtype"),
    [("linear", lambda z: z, torch.bfloat16), ("linear_relu", torch.relu, torch.float32), ("linear_relu", torch.relu, torch.float16)],
)
def test_linear_layers_on_both_kinds_of_cores(operator, name, after, dtype):
    for m, k, n in [(70, 33, 300), (513, 20, 31), (5, 0, 40)]:
        x, weight, bias = normal(m, k, dtype=dtype), normal(n, k, dtype=dtype, seed=1), normal(n, dtype=dtype, seed=2)
        y, _ = run(operator, name, x, weight, bias)
        wide = x.double(), weight.double().mT
        assert_product(y, after(wide[0] @ wide[1] + bias.double()), wide[0].abs() @ wide[1].abs() + bias.double().abs())


def assert_product(got, want, size):
    """Sums in float32, rounded once: an error is small against the sum of the magnitudes."""
    allowed = ulp.ulp(want.abs(), got.dtype) + 16 * ulp.ulp(size, torch.float32)
    assert ((got.double() - want).abs() <= allowed).all()
