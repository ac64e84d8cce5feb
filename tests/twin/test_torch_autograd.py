"""Kit operators in training: opcheck, gradcheck, gradgradcheck, vmap, autocast, torch.compile, torch.export."""

from __future__ import annotations

import shutil
import warnings

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch_projects import edit, in_place, register, small
from two_operators import make

from ascendops.errors import GradientError, RegistrationError

NAMESPACE = "ascendops_test_autograd"
TOLERANCE = {"eps": 1e-2, "atol": 2e-2, "rtol": 2e-2}  # the kernels compute in float32

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory):
    return tmp_path_factory.mktemp("autograd")


@pytest.fixture(scope="module")
def ops(root):
    for name in ("softmax", "sum", "add", "gelu"):
        register(small(root, name), NAMESPACE)
    register(in_place(root), NAMESPACE)
    return register(make(root), NAMESPACE)


def test_opcheck_and_both_gradchecks_of_a_project_with_its_own_backward(ops):
    """The gallery operators are in test_torch_gallery.py."""
    x = torch.rand(2, 3, requires_grad=True)
    torch.library.opcheck(ops.exp_custom.default, (x,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch asks for float64, which these kernels do not have
        assert torch.autograd.gradcheck(ops.exp_custom, [x], **TOLERANCE)
        assert torch.autograd.gradgradcheck(ops.exp_custom, [x], **TOLERANCE)


def test_the_gradient_is_computed_by_the_backward_operator(ops):
    x = torch.randn(3, 5, requires_grad=True)
    graph = make_fx(lambda t: torch.autograd.grad(ops.exp_custom(t).sum(), t))(x)
    assert f"{NAMESPACE}.exp_custom_backward.default" in [str(node.target) for node in graph.graph.nodes]
    weight = torch.randn(5, 3).t()
    (ours,) = torch.autograd.grad((ops.exp_custom(x) * weight).sum(), x)
    torch.testing.assert_close(ours, x.exp() * weight)


def test_a_gradient_that_nothing_declares_is_refused(root):
    folder = edit(small(root, "no_gradient", family="elementwise", like="square"), (r"\[autograd\.formula\].*?(?=\[\[tiling)", ""))
    ops = register(folder, f"{NAMESPACE}_none")
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        assert ops.no_gradient(x).sum() == 3
    with pytest.raises(GradientError, match="no_gradient has no gradient"):
        ops.no_gradient(x).sum().backward()
    edit(folder, (r"\[\[tiling_key\]\]", '[autograd.formula]\nx = "2 * x * grad_y"\n\n[[tiling_key]]'))
    with pytest.raises(RegistrationError, match="another schema"):
        register(folder, f"{NAMESPACE}_none")


def test_only_what_is_declared_has_a_gradient(root):
    folder = edit(small(root, "half_declared", family="elementwise", like="axpy"), (r'\nx2 = "grad_y \* alpha"', ""))
    ops = register(folder, f"{NAMESPACE}_half")
    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    ops.half_declared(x, y.detach(), 2.0).sum().backward()
    assert x.grad is not None and x.grad.equal(torch.ones(3))
    with pytest.raises(GradientError, match="no gradient for 'x2'"):
        ops.half_declared(x, y).sum().backward()


def test_vmap(ops):
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(torch.vmap(ops.softmax, in_dims=1)(x), x.movedim(1, 0).softmax(-1))
    torch.testing.assert_close(torch.vmap(ops.add, in_dims=(0, None))(x, x[0]), x + x[0])
    torch.testing.assert_close(torch.vmap(lambda t: ops.sum(t, 0))(x), x.sum(1))
    torch.testing.assert_close(torch.vmap(torch.vmap(ops.gelu))(x), torch.nn.functional.gelu(x), atol=1e-5, rtol=1e-4)
    grown = x.clone().requires_grad_()
    torch.vmap(ops.exp_custom)(grown).sum().backward()
    torch.testing.assert_close(grown.grad, x.exp())


def test_operators_that_write_to_an_input(ops):
    x, y = torch.randn(3, 5), torch.randn(5, 3).t()
    torch.library.opcheck(ops.add_scaled.mutate, (x, y.contiguous()))
    wanted = y + 2 * x
    assert ops.add_scaled(y, x, alpha=2.0) is y
    torch.testing.assert_close(y, wanted)  # through a copy, because y is not contiguous
    assert ops.add_scaled(x.to("meta"), x.to("meta")).shape == x.shape

    def step(t):
        z = t * 2
        ops.add_scaled(z, t)
        return z + 1

    torch.testing.assert_close(torch.compile(step, fullgraph=True, backend="aot_eager")(x), 3 * x + 1)


class Model(torch.nn.Module):
    """Stock and kit operators mixed."""

    def __init__(self, ops):
        super().__init__()
        self.ops, self.linear = ops, torch.nn.Linear(5, 4)

    def forward(self, x):
        return self.ops.softmax(self.ops.gelu(self.linear(x))) + self.ops.exp_custom(self.linear(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_training(ops, backend):
    torch.manual_seed(0)
    model, x = Model(ops), torch.randn(3, 5)
    model(x).square().sum().backward()
    wanted = model.linear.weight.grad.clone()
    model.zero_grad()
    torch._dynamo.reset()
    torch.compile(model, fullgraph=True, backend=backend)(x).square().sum().backward()
    torch.testing.assert_close(model.linear.weight.grad, wanted)


def test_export_with_a_dynamic_dim_keeps_the_operators(ops):
    model = Model(ops)
    program = torch.export.export(model, (torch.randn(3, 5),), dynamic_shapes={"x": {0: torch.export.Dim("b", min=2, max=100)}})
    targets = [str(node.target) for node in program.graph.nodes]
    assert {f"{NAMESPACE}.{name}.default" for name in ("softmax", "gelu", "exp_custom")} <= set(targets)
    x = torch.randn(7, 5)
    torch.testing.assert_close(program.module()(x), model(x))
