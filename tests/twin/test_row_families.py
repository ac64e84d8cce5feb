"""The families that work on rows, through the public API: results against torch in float64, gradients, and no finding without automatic synchronisation."""

from __future__ import annotations

import json
import re

import pytest
import torch
import torch.nn.functional as F

import ascendops
from ascendops.parity import ulp
from ascendops.render import new_project

HALF = torch.float16


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("rows")
    built = {}

    def get(name, column=1):
        if (name, column) not in built:
            folder = root / f"{name}{column}"
            new_project(name, folder)
            declared = re.sub(r"^(dtype = )(\[.*\])", lambda found: found[1] + json.dumps([json.loads(found[2])[column]]),
                              (folder / "op.toml").read_text(), flags=re.M)  # fmt: skip
            declared = re.sub(r"^dtype      = .*\n", "", declared, flags=re.M)  # of cases
            (folder / "op.toml").write_text(declared)  # one dtype column: fewer kernels to compile
            built[name, column] = ascendops.open_project(folder).build(backend="twin")
        return built[name, column]

    return get


def values(*shape, dtype=HALF, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def run(library, project, name, *tensors, **attrs):
    """The outputs of a run that has no finding, with and without the synchronisation that the compiler adds."""
    op = library(project).ops[name]
    strict = op.run(*tensors, auto_sync=False, **attrs)
    assert not strict.diagnostics
    result = op.run(*tensors, **attrs)
    assert not result.diagnostics
    assert all(torch.equal(a, b) or a.isnan().any() for a, b in zip(result.outputs, strict.outputs, strict=True))
    return result.outputs


def close(got, want, steps=2.0, slack=0.0):
    """Within some ulp of the output's dtype of a float64 tensor, plus a slack."""
    want = want.reshape(got.shape)
    return bool(((got.double() - want).abs() <= steps * ulp.ulp(want.abs(), got.dtype) + slack).all())


@pytest.mark.parametrize(("rows", "n"), [(5, 1), (301, 17), (3, 1025), (2, 9001), (1, 40003)])
def test_norms(library, rows, n):
    x, weight, bias = values(rows, n), values(n, seed=1), values(n, seed=2)
    wide, w, b = x.double(), weight.double(), bias.double()
    rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
    y, scale = run(library, "rms_norm", "rms_norm", x, weight)
    assert close(y, wide * rstd * w) and close(scale, rstd, 16)
    y, mean, _ = run(library, "layer_norm", "layer_norm", x, weight, bias)
    assert close(y, F.layer_norm(wide, (n,), w, b), slack=1e-6) and close(mean, wide.mean(-1), slack=1e-6)
    y, _, total = run(library, "add_rms_norm", "add_rms_norm", x, x.flip(0), weight)
    both = wide + wide.flip(0)
    assert close(total, both, 1) and close(y, F.rms_norm(both, (n,), w, 1e-6))


@pytest.mark.parametrize("shape", [(2, 8, 7, 9), (2, 4, 30011), (3, 12)], ids=str)
def test_group_norm(library, shape):
    x, weight, bias = values(*shape), values(shape[1], seed=1), values(shape[1], seed=2)
    y, mean, _ = run(library, "group_norm", "group_norm", x, weight, bias, num_groups=2)
    assert close(y, F.group_norm(x.double(), 2, weight.double(), bias.double()), slack=1e-6)
    assert close(mean, x.double().reshape(shape[0], 2, -1).mean(-1), slack=1e-6)


@pytest.mark.parametrize(
    ("name", "shape", "more", "statistics"),
    [
        ("rms_norm", (4, 0), (0,), [float("nan")]), ("layer_norm", (3, 43, 0), (0, 0), [0.0, float("nan")]), ("add_rms_norm", (301, 0), ((301, 0), 0), [float("nan")]),
        ("group_norm", (2, 4, 0), (4, 4), [0.0, float("nan")]), ("group_norm", (5, 0, 3), (0, 0), [0.0, float("nan")]), ("quantize_per_token", (37, 0), (), [0.0]),
    ],
)  # fmt: skip
def test_rows_without_columns_have_statistics(library, name, shape, more, statistics):
    """Every byte of them is written: with 2 different patterns below, the results are the same."""
    op = library(name).ops[name]
    given = values(*shape), *(values(*(size if isinstance(size, tuple) else (size,))) for size in more)
    attrs = {"num_groups": 2} if name == "group_norm" else {}
    kept = [torch.empty_like(out) for out in op.run(*given, **attrs).outputs]
    for fill in (0x5A, 0xFF):
        for out in kept:
            out.untyped_storage().fill_(fill)
        result = op.run(*given, **attrs, out=kept)
        assert not result.diagnostics and result.block_dim >= 1
        found = [out for out in kept if out.numel()]
        assert all(torch.equal(out.nan_to_num(7.0), torch.full_like(out, want).nan_to_num(7.0)) for out, want in zip(found, statistics, strict=True))


@pytest.mark.parametrize("shape", [(2, 8, 7, 9), (2, 4, 30011), (70, 12), (1, 6, 5000)], ids=str)
def test_the_gradient_of_group_norm(library, shape):
    library("group_norm").register()
    given = values(*shape), values(shape[1], seed=1), values(shape[1], seed=2)
    leaves = [t.clone().requires_grad_() for t in given]
    wide = [t.double().requires_grad_() for t in given]
    y, mean, rstd = torch.ops.ascendops.group_norm(*leaves, 2)
    grad = values(*y.shape, seed=3)
    y.backward(grad)
    F.group_norm(wide[0], 2, wide[1], wide[2]).backward(grad.double())
    assert all(close(leaf.grad, want.grad, slack=2e-5) for leaf, want in zip(leaves, wide, strict=True))
    first, again = (run(library, "group_norm", "group_norm_backward", grad, *given[:2], mean, rstd) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_gradients_of_layer_norm_are_those_of_torch(library):
    library("layer_norm", 0).register()
    leaves = [values(*shape, dtype=torch.float32, seed=i).requires_grad_() for i, shape in enumerate([(37, 65), (65,), (65,)])]
    torch.ops.ascendops.layer_norm(*leaves)[0].square().sum().backward()
    wide = [leaf.detach().double().requires_grad_() for leaf in leaves]
    F.layer_norm(wide[0], (65,), wide[1], wide[2]).square().sum().backward()
    for mine, theirs in zip(leaves, wide, strict=True):
        assert torch.allclose(mine.grad.double(), theirs.grad, rtol=1e-4, atol=1e-4)


def test_sums_over_rows_are_the_same_in_every_run(library):
    x, grad, weight = values(2100, 67), values(2100, 67, seed=1), values(67, seed=2)
    rstd = torch.ones(2100, 1)
    first = run(library, "rms_norm", "rms_norm_backward", grad, x, weight, rstd)
    again = run(library, "rms_norm", "rms_norm_backward", grad, x, weight, rstd)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert close(first[1], (grad.double() * x.double()).sum(0), slack=1e-4)


@pytest.mark.parametrize("name", ["swiglu", "geglu"])
@pytest.mark.parametrize("shape", [(301, 34), (2, 8194)], ids=str)
def test_gates_and_their_gradients(library, name, shape):
    x, grad = values(*shape), values(shape[0], shape[1] // 2, seed=1)
    leaf = x.double().requires_grad_()
    a, b = leaf.chunk(2, -1)
    want = (F.silu(a) if name == "swiglu" else F.gelu(a)) * b
    want.backward(grad.double())
    (y,) = run(library, name, name, x)
    assert close(y, want.detach(), slack=1e-7)
    (grad_x,) = run(library, name, f"{name}_backward", grad, x)
    assert close(grad_x, leaf.grad, slack=1e-6)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("shape", [(2, 33, 1, 30), (2, 3, 131, 128)], ids=str)
def test_rope_turns_and_turns_back(library, interleaved, shape):
    x = values(*shape)
    pairs = torch.linspace(0, 3, shape[1] * shape[3] // 2).reshape(shape[1], -1)
    angle = pairs.repeat_interleave(2, -1) if interleaved else pairs.repeat(1, 2)
    cos, sin = angle.cos().to(HALF), angle.sin().to(HALF)
    (y,) = run(library, "rope", "rope", x, cos, sin, interleaved=interleaved)
    complex_x = torch.view_as_complex(
        x.double().reshape(*shape[:-1], -1, 2) if interleaved else torch.stack(x.double().chunk(2, -1), -1)
    )
    turned = torch.view_as_real(complex_x * torch.polar(torch.ones_like(pairs), pairs)[:, None].to(torch.complex128))
    want = turned.flatten(-2) if interleaved else torch.cat(turned.unbind(-1), -1)
    assert (y.double() - want).abs().max() < 8e-3  # cos and sin are rounded to half
    (back,) = run(library, "rope", "rope_backward", y, cos, sin, interleaved=interleaved)
    assert (back.double() - x.double()).abs().max() < 1.6e-2


def test_int8_there_and_back(library):
    x = torch.cat([values(7, 1001), torch.zeros(1, 1001, dtype=HALF)])
    y, scale = run(library, "quantize_per_token", "quantize_per_token", x)
    assert y.dtype == torch.int8 and y.abs().amax(-1).tolist() == [127] * 7 + [0]
    (back,) = run(library, "dequantize_per_token", "dequantize_per_token", y, scale.to(HALF))
    assert ((back.float() - x.float()).abs() <= 0.51 * scale + 2e-3 * x.float().abs()).all()  # scale is rounded to half
    halves = torch.arange(-300, 300) / 2
    (y,) = run(library, "quantize", "quantize", halves.to(HALF), torch.ones(1), zero_point=1)
    assert torch.equal(y, (halves.round() + 1).clamp(-128, 127).to(torch.int8))  # ties to even
    (back,) = run(library, "dequantize", "dequantize", y, torch.tensor([0.5], dtype=HALF), zero_point=1)
    assert torch.equal(back.float(), (y.float() - 1) * 0.5)


@pytest.mark.parametrize(("rows", "classes"), [(300, 17), (3, 50257)])
def test_cross_entropy_and_its_gradient(library, rows, classes):
    x = values(rows, classes) * 3
    target = torch.arange(rows) * 7919 % classes
    target[1] = -100
    leaf = x.double().requires_grad_()
    want = F.cross_entropy(leaf, target, reduction="none")
    want.sum().backward()
    loss, lse = run(library, "cross_entropy", "cross_entropy", x, target)
    assert close(loss, want.detach(), 8, slack=1e-6) and close(lse, x.double().logsumexp(-1), 8)
    (grad_x,) = run(library, "cross_entropy", "cross_entropy_backward", torch.ones(rows), x, target, lse)
    assert close(grad_x, leaf.grad, slack=1e-6)


@pytest.mark.parametrize("n", [67, 40009])
def test_softmax_backwards(library, n):
    grad, y = values(9, n), torch.softmax(values(9, n, seed=1).float(), -1).to(HALF)
    g, p = grad.double(), y.double()
    (grad_x,) = run(library, "softmax_backward", "softmax_backward", grad, y)
    assert close(grad_x, p * (g - (g * p).sum(-1, keepdim=True)), slack=1e-6)
