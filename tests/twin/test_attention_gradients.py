"""The backward operator of attention, through the public API: gradients against autograd in float64, with no finding, and with faults that are found."""

from __future__ import annotations

import pytest
import torch

import ascendops
from ascendops.parity import ulp
from ascendops.render import new_project

pytestmark = pytest.mark.twin
DTYPES = (torch.float32, torch.float16)


def project(root, columns=2):
    new_project("flash_attention", root)
    text = (root / "op.toml").read_text()
    for old in ('["float32", "float16", "bfloat16"]', '["float32", "float32", "float32"]'):
        text = text.replace(old, "[" + ", ".join(old.strip("[]").split(", ")[:columns]) + "]")
    (root / "op.toml").write_text(text)  # fewer kernels to compile
    return root


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    built = ascendops.open_project(project(tmp_path_factory.mktemp("gradients") / "flash_attention")).build(backend="twin")
    built.register()
    return built


def heads(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def inputs(b, hq, hkv, sq, skv, d, dtype):
    return heads(b, hq, sq, d, dtype=dtype), heads(b, hkv, skv, d, dtype=dtype, seed=1), heads(b, hkv, skv, d, dtype=dtype, seed=2)


def attention(q, k, v, scale, causal):
    group = q.shape[1] // k.shape[1]
    scores = q @ k.repeat_interleave(group, 1).mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    return scores.softmax(-1) @ v.repeat_interleave(group, 1), scores.logsumexp(-1)


def wanted(tensors, grad, grad_lse, scale=0.0, causal=False):
    """((out, lse), gradients of q, k and v) in float64."""
    leaves = [t.double().requires_grad_() for t in tensors]
    made = attention(*leaves, scale, causal)
    return [each.detach() for each in made], torch.autograd.grad(made, leaves, [grad.double(), grad_lse.double()])


def run(library, *tensors, **attrs):
    """The outputs and the tiling key of a run that has no finding, with and without the synchronisation that the compiler adds."""
    op = library.ops["flash_attention_backward"]
    strict, result = (op.run(*tensors, auto_sync=auto, **attrs) for auto in (False, True))
    assert not strict.diagnostics and not result.diagnostics
    assert all(torch.equal(a, b) for a, b in zip(strict.outputs, result.outputs, strict=True))
    return result.outputs, result.tiling_key


TILES, NO_PAIRS, HEADS = 1, 2, 3
SHAPES = (
    ((2, 4, 2, 33, 17, 80), True, TILES),
    ((1, 2, 1, 100, 512, 64), False, TILES),
    ((1, 5, 1, 3, 300, 20), True, TILES),  # a block has the queries of five heads, and most keys are seen by none
    ((1, 2, 2, 300, 700, 40), True, TILES),
    ((1, 1, 1, 5, 70, 259), False, TILES),
    ((1, 26, 26, 2, 33, 8), False, TILES),
    ((4, 24, 12, 70, 150, 20), True, HEADS),
    ((1, 48, 48, 70, 300, 16), False, HEADS),
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "causal", "number"), SHAPES, ids=str)
def test_gradients_of_every_kind_of_shape(library, shape, causal, number, dtype):
    tensors = inputs(*shape, dtype)
    grad, grad_lse = heads(*tensors[0].shape, dtype=dtype, seed=3), heads(*tensors[0].shape[:3], seed=4)
    (out, lse), want = wanted(tensors, grad, grad_lse, causal=causal)
    got, key = run(library, grad, grad_lse, *tensors, out.to(dtype), lse.float(), causal=causal)
    assert key == number
    for mine, theirs in zip(got, want, strict=True):
        scale = theirs.abs().amax()
        assert mine.dtype == dtype and (mine.double() - theirs).abs().max() <= 3 * ulp.ulp(scale, dtype) + 4e-6 * scale


def test_autograd_calls_it_for_both_outputs(library):
    leaves = [t.requires_grad_() for t in inputs(1, 4, 2, 9, 20, 16, torch.float32)]
    grad, grad_lse = heads(1, 4, 9, 16, seed=3), heads(1, 4, 9, seed=4)
    _, want = wanted(leaves, grad, grad_lse, 0.3, True)
    made = torch.ops.ascendops.flash_attention(*leaves, 0.3, True)
    both = torch.autograd.grad(made, leaves, [grad, grad_lse], retain_graph=True)
    assert all((mine - theirs).abs().max() < 2e-5 for mine, theirs in zip(both, want, strict=True))
    _, want = wanted(leaves, grad, torch.zeros_like(grad_lse), 0.3, True)
    alone = torch.autograd.grad(made[0], leaves, grad)
    assert all((mine - theirs).abs().max() < 2e-5 for mine, theirs in zip(alone, want, strict=True))


@pytest.mark.parametrize(("queries", "keys"), [(0, 5), (7, 0)])
def test_without_pairs_gradients_are_zero(library, queries, keys):
    q, k, v = inputs(2, 4, 2, queries, keys, 20, torch.float16)
    got, key = run(library, torch.ones_like(q), torch.ones(2, 4, queries), q, k, v, q, torch.full((2, 4, queries), -torch.inf))
    assert key == NO_PAIRS and [g.shape for g in got] == [q.shape, k.shape, v.shape] and not any(g.any() for g in got)


def test_a_missing_barrier_is_found(tmp_path):
    root = project(tmp_path / "flash_attention", 1)
    source, old = root / "op_kernel" / "flash_attention_backward.cpp", "        SyncAll();\n"
    assert source.read_text().count(old) == 1
    source.write_text(source.read_text().replace(old, ""))
    op = ascendops.open_project(root).build(backend="twin").ops["flash_attention_backward"]
    q, k, v = inputs(1, 2, 2, 70, 80, 16, torch.float32)
    lse = heads(1, 2, 70, seed=4)
    result = op.run(heads(*q.shape, seed=3), lse, q, k, v, q, lse + 3, checks="warn")
    # what one core reads, another one has begun to write or has not: that is a matter of time
    assert {"GM-RACE", "GM-UNINIT"} & {d.id for d in result.diagnostics if d.severity == "error"}
