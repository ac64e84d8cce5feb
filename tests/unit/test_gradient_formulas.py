"""The gradient formula of every template preset, against autograd of its golden in float64; and the language, against torch."""

from __future__ import annotations

import pytest
import torch

from ascendops.render import all_families, new_project
from ascendops.spec import formula
from ascendops.testing.reference import golden_of
from ascendops.torchlib.formula import evaluate, fit, unreduce

PRESETS = [(family.name, name) for family in all_families() for name, values in family.presets.items() if "gradient" in values]


class Formula(torch.autograd.Function):
    """The golden with the declared gradients."""

    @staticmethod
    def forward(ctx, spec, golden, attrs, *tensors):
        outputs = golden(*tensors, *attrs.values())
        ctx.spec, ctx.attrs = spec, attrs
        many = outputs if isinstance(outputs, tuple) else (outputs,)
        ctx.save_for_backward(*tensors, *many)
        ctx.mark_non_differentiable(*(one for one in many if not one.is_floating_point()))
        return outputs

    @staticmethod
    def backward(ctx, grad, *_):
        spec = ctx.spec
        names = [tensor.name for tensor in (*spec.inputs, *spec.outputs)]
        values = {**dict(zip(names, ctx.saved_tensors, strict=True)), **ctx.attrs, f"grad_{spec.outputs[0].name}": grad}
        formulas = spec.autograd.formula
        found = [fit(evaluate(formulas[one.name], values), values[one.name]) if one.name in formulas else None for one in spec.inputs]
        return (None, None, None, *found)


def _shapes(family, preset, inputs):
    if family == "broadcast":
        return [(3, 4), (1, 4)]
    if family == "matmul":
        return [(2, 3, 4), (2, 5, 4) if preset == "matmul_nt" else (2, 4, 5)]
    if family == "conv2d":
        return [(2, 3, 4, 5), (4, 3, 2, 2), (4,)]
    if family == "matmul_epilogue":
        return [(2, 3, 4), (5, 4), (5,)]
    return [(2, 3, 4) if family in ("transpose", "permute") else (3, 4)] * inputs


@pytest.mark.parametrize(("family", "preset"), PRESETS, ids=[preset for _, preset in PRESETS])
def test_first_and_second_derivatives_of_every_preset(family, preset, tmp_path):
    new_project("some_op", tmp_path, family=family, like=preset)
    from ascendops.spec import load

    spec = load(tmp_path)
    golden = golden_of(spec)
    attrs = {attr.name: {"dim": 0, "min": -0.7, "max": 0.9, "alpha": 1.7, "dims": [-1, 0, 1], "k": 2}.get(attr.name, attr.default) for attr in spec.attrs}
    generator = torch.Generator().manual_seed(3)
    shapes = _shapes(family, preset, len(spec.inputs))
    made = lambda like: [torch.tensor([[0, 2, 2, 1]] * 3) if one.range else like(shape).requires_grad_() for one, shape in zip(spec.inputs, shapes, strict=True)]  # noqa: E731
    tensors = made(lambda shape: torch.rand(shape, generator=generator, dtype=torch.float64) + 0.3)
    first = lambda made: made[0] if isinstance(made, tuple) else made  # noqa: E731
    call = lambda *xs: first(Formula.apply(spec, golden, attrs, *xs))  # noqa: E731
    assert torch.autograd.gradcheck(call, tensors)
    assert torch.autograd.gradgradcheck(call, tensors)
    mixed = made(lambda shape: torch.randn(shape, generator=generator, dtype=torch.float64))
    if preset not in ("log", "sqrt", "rsqrt", "reciprocal", "div"):
        ours, theirs = call(*mixed), first(golden(*mixed, *attrs.values()))
        weight = torch.randn(ours.shape, generator=generator, dtype=torch.float64)
        leaves = [one for one in mixed if one.requires_grad]
        for a, b in zip(torch.autograd.grad((ours * weight).sum(), leaves), torch.autograd.grad((theirs * weight).sum(), leaves), strict=True):
            torch.testing.assert_close(a, b)


def test_a_wrong_formula_is_caught(tmp_path):
    new_project("some_op", tmp_path, family="elementwise", like="sigmoid")
    from ascendops.spec import load

    (tmp_path / "op.toml").write_text((tmp_path / "op.toml").read_text().replace("y * (1 - y)", "y * (1 + y)"))
    spec = load(tmp_path)
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda t: Formula.apply(spec, golden_of(spec), {}, t), [x])


def test_formulas_are_torch_expressions():
    x, y = torch.rand(2, 3) + 0.1, torch.rand(2, 3) + 0.1
    values = {"x": x, "y": y, "k": 2}
    for text, wanted in [
        ("-x ** k / 3 + 1", -(x**2) / 3 + 1),
        ("where(x >= y, x, y)", torch.maximum(x, y)),
        ("sum(x, -1, True)", x.sum(-1, keepdim=True)),
        ("sum(x)", x.sum()),
        ("mean(x, [0, 1])", x.mean()),
        ("matmul(x, transpose(y, 0, 1))", x @ y.t()),
        ("flip(cumsum(x, 1), 1)", x.cumsum(1).flip(1)),
        ("softmax(x, -1) * numel(x) + size(x, 1)", x.softmax(-1) * 6 + 3),
        ("x if k == 2 else y", x),
        ("unsqueeze(x, 0) + reshape_as(y, x) + expand_as(x, y)", (x + y + x).unsqueeze(0)),
        ("unpermute(x, [-1, 0])", x.t()),
        ("scatter(zeros_like(x), 1, where(x > 0, 1, 1), y)", torch.zeros(2, 3).scatter(1, torch.ones(2, 3, dtype=torch.int64), y)),
        ("gather(x, 1, where(x > 0, 2, 2)) + scatter_add(zeros_like(x), 0, where(x > 0, 1, 1), y)", x[:, 2:] + torch.stack([0 * y[0], y.sum(0)])),
        ("silu(x) + softplus(y) + clamp(x, 0.2, 0.3)", torch.nn.functional.silu(x) + torch.nn.functional.softplus(y) + x.clamp(0.2, 0.3)),
    ]:
        torch.testing.assert_close(evaluate(formula.parse(text), values), wanted)
    for name in formula.FUNCTIONS:
        assert hasattr(torch, name) or name in {"numel", "size", "cast_as", "expand_as", "reshape_as", "unreduce", "unpermute", "silu", "softplus", "relu", "rows",
                                         "silu_backward", "gelu_backward", "conv2d_grad_x", "conv2d_grad_weight"}, name  # fmt: skip


def test_what_formulas_have_in_common_is_computed_once(monkeypatch):
    calls = []
    product = torch.matmul
    monkeypatch.setattr(torch, "matmul", lambda a, b: calls.append(1) or product(a, b))
    x, found = torch.rand(2, 3, 4), {}
    values = {"x": x, "g": torch.ones(2, 3, 4)}
    shared = "matmul(rows(x), transpose(rows(x), 0, 1))"
    first = evaluate(formula.parse(f"{shared} + {shared}"), values, found)
    second = evaluate(formula.parse(f"exp({shared})"), values, found)
    assert len(calls) == 1 and first.equal(2 * product(x.view(6, 4), x.view(6, 4).T)) and second.equal(torch.exp(first / 2))
    for name in ("silu", "gelu"):
        leaf = x.clone().requires_grad_()
        getattr(torch.nn.functional, name)(leaf).sum().backward()
        torch.testing.assert_close(evaluate(formula.parse(f"{name}_backward(g, x)"), values), leaf.grad)


def test_gradients_are_fitted_to_their_input():
    assert fit(torch.ones(4, 2, 3), torch.empty(1, 3)).equal(torch.full((1, 3), 8.0))
    assert fit(2.0, torch.empty(2)).equal(torch.full((2,), 2.0))
    assert fit(torch.ones(()), torch.empty(2, dtype=torch.float16)).dtype == torch.float16
    x = torch.empty(2, 3, 4)
    for dim in (None, [], 1, -1, [0, 2]):
        for keepdim in (False, True):
            reduced = x.sum(dim=list(range(3)) if dim in (None, []) else dim, keepdim=keepdim)
            assert unreduce(reduced, x, dim, keepdim).shape == x.shape
