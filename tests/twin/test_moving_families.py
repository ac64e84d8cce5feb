"""The families that move or scan elements, through the public API: bits, orders and gradients, and no finding without automatic synchronisation."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import ascendops
from ascendops.errors import AscendOpsError
from ascendops.parity.gates import same_bits
from ascendops.render import new_project
from ascendops.spec import load


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("moving")
    built = {}

    def get(name):
        if name not in built:
            new_project(name, root / name)
            built[name] = ascendops.open_project(root / name).build(backend="twin")
        return built[name]

    return get


def values(*shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * 9).to(dtype)


def run(library, project, name, *tensors, **attrs):
    """The output of a run that has no finding, with and without the synchronisation that the compiler adds."""
    op = library(project).ops[name]
    strict = op.run(*tensors, auto_sync=False, **attrs)
    assert not strict.diagnostics
    result = op.run(*tensors, **attrs)
    assert not result.diagnostics
    assert same_bits(result.outputs[0], strict.outputs[0])
    return result.outputs[0]


@pytest.mark.parametrize("index", [torch.int64, torch.int32], ids=str)
@pytest.mark.parametrize(("rows", "n", "count"), [(300, 17, 2100), (7, 5003, 3)], ids=str)
def test_embedding_copies_bits(library, index, rows, n, count):
    weight = values(rows, n, dtype=torch.bfloat16)
    weight[1] = torch.nan
    indices = torch.randint(rows, (count,), generator=torch.Generator().manual_seed(1)).to(index)
    y = run(library, "embedding", "embedding", weight, indices)
    assert same_bits(y, weight[indices])


def test_gradient_of_embedding_adds_equal_indices_in_order(library):
    indices = torch.tensor([5, 2, 5, 5, 2, 0] * 500)
    grad = values(3000, 33)
    got = run(library, "embedding", "embedding_backward", grad, indices, torch.empty(6, 33))
    want = torch.zeros(6, 33)
    for index, row in zip(indices.tolist(), grad, strict=True):
        want[index] += row
    assert torch.equal(got, want)  # float32 additions in this order, nothing else


def test_gradient_of_embedding_leaves_out_indices_outside_the_table(library):
    indices = torch.tensor([-1, 3, 1 << 40, 2, -(1 << 40), 1 << 32])
    got = run(library, "embedding", "embedding_backward", torch.ones(6, 5), indices, torch.empty(3, 5))
    assert got.tolist() == [[0.0] * 5, [0.0] * 5, [1.0] * 5]


def test_embedding_through_autograd(library):
    library("embedding").register()
    weight = values(41, 7).requires_grad_()
    indices = torch.tensor([[1, 40, 1], [0, 1, 3]])
    torch.ops.ascendops.embedding(weight, indices).square().sum().backward()
    other = weight.detach().clone().requires_grad_()
    F.embedding(indices, other).square().sum().backward()
    assert torch.allclose(weight.grad, other.grad, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "dim"),
    [((5, 1), -1), ((301, 17), 1), ((67, 144), 1), ((3, 145), -1), ((2, 20011), -1), ((3, 4099, 5), 1), ((70, 3, 1025), -2), ((), 0)],
    ids=str,
)
def test_cumsum_is_exact_for_small_integers(library, shape, dim):
    x = values(*shape).sign()
    y = run(library, "cumsum", "cumsum", x, dim=dim)
    assert torch.equal(y, torch.cumsum(x, dim))


@pytest.mark.parametrize("width", [67, 20011])
def test_nothing_before_a_nan_becomes_one(library, width):
    x = torch.ones(4, width, dtype=torch.float16) / 1024
    x[1, width // 2], x[2, -1], x[3, 0] = torch.nan, torch.inf, -torch.inf
    y = run(library, "cumsum", "cumsum", x)
    want = torch.cumsum(x.double(), -1).half()
    assert torch.equal(y.nan_to_num(7), want.nan_to_num(7))


def test_cumsum_through_autograd(library):
    library("cumsum").register()
    x = values(3, 50).requires_grad_()
    torch.ops.ascendops.cumsum(x, dim=0).square().sum().backward()
    other = x.detach().clone().requires_grad_()
    torch.cumsum(other, 0).square().sum().backward()
    assert torch.allclose(x.grad, other.grad, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
@pytest.mark.parametrize("shape", [(7, 5), (3, 33, 15), (4099, 3), (2, 4099), (257, 511), (5, 1, 1025), (1025, 1)], ids=str)
def test_transpose_moves_bits(library, dtype, shape):
    x = values(*shape, dtype=dtype)
    if dtype.is_floating_point:
        x.view(-1)[3] = torch.nan
    y = run(library, "transpose", "transpose", x)
    assert same_bits(y, x.transpose(-1, -2).contiguous())


@pytest.mark.parametrize("shape", [(2, 129, 8, 31), (2, 3, 5003), (5, 7, 1)], ids=str)
def test_transpose_of_rows_moves_bits(library, shape):
    x = values(*shape, dtype=torch.float16)
    assert torch.equal(run(library, "transpose_rows", "transpose_rows", x), x.transpose(-2, -3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
@pytest.mark.parametrize(
    ("shape", "dims", "key"),
    [
        ((5, 33, 7, 9), (1, 0, 2, 3), "copy"),
        ((3, 5003, 2), (2, 1, 0), "tiles"),
        ((20, 31, 65), (-1, 0, 1), "tiles"),
        ((4, 3, 37, 5), (0, 2, 3, 1), "gather"),
        ((2, 3, 1, 2, 2, 3, 2, 3), (6, 5, 7, 2, 4, 1, 3, 0), "gather"),
    ],
    ids=str,
)
def test_permute_moves_bits(library, dtype, shape, dims, key):
    x = values(*shape, dtype=dtype)
    if dtype.is_floating_point:
        x.view(-1)[3] = torch.nan
    y = run(library, "permute", "permute", x, dims=dims)
    assert same_bits(y, x.permute(dims).contiguous())
    keys = {one.key: one.name for one in load(library("permute").root).tiling_keys}
    assert keys[library("permute").ops["permute"].run(x, dims=dims).tiling_key] == key


def ordered(*shape, dtype=torch.float32):
    """Values with ties, both zeros, infinities and NaN among them."""
    x = values(*shape).round().to(dtype)
    x.view(-1)[:: max(1, x.numel() // 13)] = torch.nan
    x.view(-1)[3 :: max(1, x.numel() // 7)] = torch.inf
    x.view(-1)[5 :: max(1, x.numel() // 9)] = -torch.inf
    x.view(-1)[4 :: max(1, x.numel() // 11)] = -0.0
    return x


@pytest.mark.parametrize("largest", [True, False], ids=["down", "up"])
@pytest.mark.parametrize(
    ("shape", "dtype", "key"),
    [
        ((97, 31), torch.float32, 1),
        ((50, 3, 129), torch.bfloat16, 1),
        ((3, 800), torch.float16, 2),
        ((2, 6001), torch.float32, 3),
        ((49, 4100), torch.bfloat16, 3),
    ],
    ids=str,
)
def test_sort_and_topk_are_stable_sorts_of_torch(library, shape, dtype, key, largest):
    x = ordered(*shape, dtype=dtype)
    want = torch.sort(x, stable=True, dim=-1, descending=largest)
    for name, k, attrs in [("sort", shape[-1], {"descending": largest}), ("topk", 7, {"k": 7, "largest": largest}), ("topk", 30, {"k": 30, "largest": largest})]:
        result = library(name).ops[name].run(x, auto_sync=False, **attrs)
        assert not result.diagnostics and result.tiling_key == key
        assert torch.equal(result.outputs[1], want.indices[..., :k])
        assert same_bits(result.outputs[0], want.values[..., :k].contiguous())


def test_sort_through_autograd(library):
    library("sort").register()
    library("topk").register()
    x = values(5, 40).requires_grad_()
    weight = values(5, 40, seed=1)
    for ours, theirs, w in [
        (torch.ops.ascendops.sort(x, descending=True), torch.sort(x, dim=-1, descending=True), weight),
        (torch.ops.ascendops.topk(x, 3, largest=False), torch.topk(x, 3, largest=False), weight[:, :3]),
    ]:
        assert torch.equal(ours[1], theirs[1])
        (a,), (b,) = (torch.autograd.grad((one[0] * w).sum(), x) for one in (ours, theirs))
        assert torch.equal(a, b)


def test_topk_refuses_more_than_a_row_has(library):
    with pytest.raises(AscendOpsError):
        library("topk").ops["topk"].run(torch.ones(2, 3), k=4)


@pytest.mark.parametrize("index", [torch.int64, torch.int32], ids=str)
@pytest.mark.parametrize(("rows", "n", "m"), [(97, 33, 17), (3, 5, 2100), (2, 9001, 4500), (50, 4100, 40)], ids=str)
def test_gather_moves_bits_and_scatter_add_adds_in_order(library, rows, n, m, index):
    x = values(rows, n, dtype=torch.bfloat16)
    x[0, n // 2] = torch.nan
    indices = torch.randint(n, (rows, m), generator=torch.Generator().manual_seed(1))
    y = run(library, "gather", "gather", x, indices.to(index))
    assert same_bits(y, x[torch.arange(rows)[:, None], indices])  # torch.gather gives NaN other bits
    x, src = values(rows, n), values(rows, m, seed=2)
    want = x.clone()
    for j in range(m):  # float32 additions in this order, nothing else
        column = indices[:, j : j + 1]
        want.scatter_(1, column, want.gather(1, column) + src[:, j : j + 1])
    assert torch.equal(run(library, "scatter_add", "scatter_add", x, indices.to(index), src), want)


@pytest.mark.parametrize(("rows", "n", "m"), [(3, 40, 70), (2, 20011, 300)])
def test_integers_are_gathered_and_added_as_they_are(library, rows, n, m):
    generator = torch.Generator().manual_seed(1)
    x = torch.randint(-(1 << 31), (1 << 31) - 1, (rows, n), generator=generator).int()  # float32 does not have them all, and sums wrap around
    indices, src = torch.randint(n, (rows, m), generator=generator), x[:, :40].repeat(1, 8)[:, :m].contiguous()
    assert torch.equal(run(library, "gather", "gather", x, indices), torch.gather(x, 1, indices))
    assert torch.equal(run(library, "scatter_add", "scatter_add", x, indices, src), torch.scatter_add(x, 1, indices, src))


def test_scatter_add_leaves_out_indices_outside_the_row(library):
    indices = torch.tensor([[-1, 3, 1 << 40, 2, -(1 << 40), 1 << 32]])
    y = run(library, "scatter_add", "scatter_add", torch.zeros(1, 3), indices, torch.ones(1, 6))
    assert y.tolist() == [[0.0, 0.0, 1.0]]


@pytest.mark.parametrize("index", [torch.int64, torch.int32], ids=str)
def test_gather_and_scatter_add_are_each_other_s_gradient(library, index):
    library("gather").register()
    library("scatter_add").register()
    x, src = values(3, 20).requires_grad_(), values(3, 50, seed=1).requires_grad_()
    indices = torch.randint(20, (3, 50), generator=torch.Generator().manual_seed(1))
    ours = torch.ops.ascendops.scatter_add(x, indices.to(index), src), torch.ops.ascendops.gather(x, indices.to(index))
    theirs = torch.scatter_add(x, -1, indices, src), torch.gather(x, -1, indices)
    for a, b in zip(ours, theirs, strict=True):
        weight = values(*a.shape, seed=2)
        for left, right in zip(*(torch.autograd.grad((one * weight).sum(), (x, src), allow_unused=True) for one in (a, b)), strict=True):
            assert left is right is None or torch.allclose(left, right, rtol=1e-6)


def test_permute_refuses_what_is_no_order_of_dims(library):
    for dims in [(0, 0), (0, 2), (0,)]:
        with pytest.raises(AscendOpsError):
            library("permute").ops["permute"].run(torch.ones(2, 3), dims=dims)


def test_permute_in_a_compiled_graph_with_symbolic_shapes(library):
    library("permute").register()
    step = torch.compile(lambda x: torch.ops.ascendops.permute(x, [2, 0, 1]) * 2, dynamic=True, backend="aot_eager")
    for shape in [(2, 3, 4), (5, 7, 3)]:
        x = values(*shape).requires_grad_()
        y = step(x)
        assert torch.equal(y, x.permute(2, 0, 1) * 2)
        weight = values(*y.shape, seed=1)
        assert torch.equal(torch.autograd.grad(y, x, weight)[0], weight.permute(1, 2, 0) * 2)


def philox(counter, key, offset):
    """Four words of Philox 4x32-10 in Python's integers."""
    c, low = [counter, 0, offset & 0xFFFFFFFF, offset >> 32 & 0xFFFFFFFF], 0xFFFFFFFF
    k = [key & low, key >> 32 & low]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b & low, a >> 32 ^ c[3] ^ k[1], a & low]
        k = [k[0] + 0x9E3779B9 & low, k[1] + 0xBB67AE85 & low]
    return c


def test_philox_of_the_published_vector():
    assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize(("p", "seed", "offset"), [(0.5, 0, 0), (0.1, 0x123456789ABCDEF0, 7), (0.9, -2, 0x123456789ABCDEF)], ids=str)
def test_dropout_drops_what_philox_says(library, p, seed, offset):
    ones = torch.ones(2900)
    y = run(library, "dropout", "dropout", ones, p=p, seed=seed, offset=offset)
    words = {i: philox(i, seed, offset) for i in range(768)}
    kept = [words[i // 1024 * 256 + i % 256][i % 1024 // 256] >> 8 >= round(p * 2**24) for i in range(2900)]
    assert (y != 0).tolist() == kept
    assert torch.equal(y[y != 0].unique(), (ones[:1] / (1 - torch.tensor(p))))


def test_gradient_of_dropout_has_the_same_zeros(library):
    library("dropout").register()
    x = torch.ones(70, 1025, requires_grad=True)
    y = torch.ops.ascendops.dropout(x, p=0.25, seed=3)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
    assert abs((y == 0).double().mean() - 0.25) < 0.01
