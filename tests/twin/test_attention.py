"""The attention family on cube and vector cores, through the public API: against float64, with no finding, and with faults that are found."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import ascendops
from ascendops.errors import ShapeMismatch
from ascendops.parity import ulp
from ascendops.render import new_project

pytestmark = pytest.mark.twin
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("attention") / "flash_attention"
    new_project("flash_attention", root)
    return ascendops.open_project(root).build(backend="twin")


def heads(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def inputs(b, hq, hkv, sq, skv, d, dtype):
    return heads(b, hq, sq, d, dtype=dtype), heads(b, hkv, skv, d, dtype=dtype, seed=1), heads(b, hkv, skv, d, dtype=dtype, seed=2)


def golden(q, k, v, scale=0.0, causal=False):
    """(out, lse, a bound of the errors of out) in float64: the bound is what rounding weights and values to the dtype can do."""
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    weights = scores.softmax(-1)
    return weights @ v, scores.logsumexp(-1), weights @ v.abs()


def run(library, *tensors, **attrs):
    """(out, lse, tiling key) of a run that has no finding, with and without the synchronisation that the compiler adds."""
    op = library.ops["flash_attention"]
    strict, result = (op.run(*tensors, auto_sync=auto, **attrs) for auto in (False, True))
    assert not strict.diagnostics and not result.diagnostics
    assert all(torch.equal(a.nan_to_num(7), b.nan_to_num(7)) for a, b in zip(strict.outputs, result.outputs, strict=True))
    return (*result.outputs, result.tiling_key)


WHOLE, BLOCKS, SPLIT, NO_KEYS = 1, 2, 3, 4
SHAPES = (
    ((2, 4, 2, 33, 17, 80), True, WHOLE),
    ((1, 2, 1, 100, 512, 64), False, WHOLE),
    ((2, 8, 2, 1, 1030, 64), False, SPLIT),
    ((1, 5, 1, 3, 700, 20), True, BLOCKS),  # a tile has five heads, and sees only three keys
    ((1, 2, 2, 300, 700, 40), True, BLOCKS),
    ((1, 1, 1, 5, 530, 259), False, SPLIT),
    ((1, 48, 48, 2, 530, 8), False, BLOCKS),
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "causal", "key"), SHAPES, ids=str)
def test_attention_of_every_kind_of_shape(library, shape, causal, key, dtype):
    q, k, v = inputs(*shape, dtype)
    out, lse, reached = run(library, q, k, v, causal=causal)
    assert reached == key
    want, want_lse, size = golden(q, k, v, causal=causal)
    assert ((out.double() - want).abs() <= ulp.ulp(want.abs(), dtype) + 2 * ulp.ulp(size, dtype) + 1e-6).all()
    assert (lse.double() - want_lse).abs().max() <= 4e-6


def test_causal_is_aligned_as_in_torch(library):
    for sq, skv in ((40, 23), (23, 40)):
        q, k, v = inputs(1, 2, 2, sq, skv, 16, torch.float32)
        out, _, _ = run(library, q, k, v, causal=True, scale=0.3)
        want = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True, scale=0.3)
        assert (out - want).abs().max() < 2e-6


def test_grouped_heads_are_heads_with_repeated_keys(library):
    q, k, v = inputs(1, 6, 2, 7, 300, 32, torch.float16)
    out, lse, _ = run(library, q, k, v)
    again, lse_again, _ = run(library, q, k.repeat_interleave(3, 1), v.repeat_interleave(3, 1))
    assert torch.equal(out, again) and torch.equal(lse, lse_again)


def test_nothing_to_see_is_zero(library):
    q, k, v = inputs(2, 4, 2, 33, 0, 20, torch.bfloat16)
    out, lse, key = run(library, q, k, v)
    assert key == NO_KEYS and not out.any() and out.shape == q.shape
    assert torch.equal(lse, torch.full((2, 4, 33), -torch.inf))


def test_infinite_scores_are_what_softmax_says(library):
    q, k, v = inputs(1, 1, 1, 5, 530, 16, torch.float32)
    q[0, 0, 1:] = 1.0
    k[0, 0, 0] = -torch.inf  # a key that no query but the first may see
    q[0, 0, 0], q[0, 0, 2, 0] = 0.0, torch.nan
    out, lse, key = run(library, q, k, v)
    assert key == SPLIT
    scores = torch.where(torch.arange(530) == 0, -torch.inf, (q[0, 0] @ k[0, 0].nan_to_num(neginf=0).mT) / 4)
    assert out[0, 0, 0].isnan().all() and out[0, 0, 2].isnan().all()  # 0 * inf, and NaN
    assert (out[0, 0, 3] - scores[3].softmax(-1) @ v[0, 0]).abs().max() < 2e-6
    assert abs(lse[0, 0, 3] - scores[3].logsumexp(-1)) < 2e-6


def test_heads_that_do_not_fit_are_refused(library):
    with pytest.raises(ShapeMismatch, match="a multiple of hkv"):
        library.flash_attention(*inputs(1, 5, 2, 3, 4, 8, torch.float16))
    with pytest.raises(ShapeMismatch, match="512 or less"):
        library.flash_attention(*inputs(1, 1, 1, 3, 4, 513, torch.float16))


@pytest.mark.parametrize(
    ("file", "old", "shape", "causal"),
    [
        ("flash_attention_blocks.h", "block_.slot = 1 - block_.slot;", (1, 1, 1, 600, 600, 16), True),  # scores that the vector core still reads
        ("flash_attention.cpp", "            SyncAll();\n", (1, 1, 1, 40, 1100, 16), False),
    ],
    ids=["one_slot", "no_barrier"],
)
def test_what_cores_share_is_checked(file, old, shape, causal, tmp_path):
    new_project("flash_attention", tmp_path / "flash_attention")
    source = tmp_path / "flash_attention" / "op_kernel" / file
    assert source.read_text().count(old) == 1
    source.write_text(source.read_text().replace(old, ""))
    declaration = tmp_path / "flash_attention" / "op.toml"
    one = declaration.read_text().replace('["float32", "float16", "bfloat16"]', '["float16"]').replace('["float32", "float32", "float32"]', '["float32"]')
    declaration.write_text(one)
    op = ascendops.open_project(tmp_path / "flash_attention").build(backend="twin").ops["flash_attention"]
    result = op.run(*inputs(*shape, torch.float16), causal=causal, checks="warn")
    assert "GM-RACE" in {d.id for d in result.diagnostics}
