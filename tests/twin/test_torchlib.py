"""Kit operators under torch.ops: CPU and Meta kernels from one schema, opcheck, symbolic shapes."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import ascendops
from ascendops.errors import AscendOpsError
from ascendops.render import new_project

NAMESPACE = "ascendops_test_torchlib"

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("torchlib")
    for name in ("softmax", "sum", "add"):
        new_project(name, root / name)
        registered = ascendops.open_project(root / name).build(backend="twin").register(NAMESPACE)
    return registered


def test_schemas_are_pytorchs(ops) -> None:
    assert str(ops.softmax.default._schema) == f"{NAMESPACE}::softmax(Tensor x) -> Tensor"
    assert [argument.name for argument in ops.sum.default._schema.arguments][1:] == ["dim", "keepdim"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_opcheck(ops, dtype: torch.dtype) -> None:
    x = torch.linspace(-3, 3, 5 * 33).reshape(5, 33).to(dtype)
    torch.library.opcheck(ops.softmax.default, (x,))
    torch.library.opcheck(ops.sum.default, (x,), {"dim": 0, "keepdim": True})
    torch.library.opcheck(ops.add.default, (x, x[:1]))


def test_meta_agrees_with_cpu(ops) -> None:
    x, y = torch.randn(4, 1, 6), torch.randn(5, 1)
    for real, fake in (
        (ops.add(x, y), ops.add(x.to("meta"), y.to("meta"))),
        (ops.sum(x, dim=1), ops.sum(x.to("meta"), dim=1)),
        (ops.sum(x, dim=-1, keepdim=True), ops.sum(x.to("meta"), dim=-1, keepdim=True)),
    ):
        assert fake.device.type == "meta" and (fake.shape, fake.dtype) == (real.shape, real.dtype)


def test_values_through_the_dispatcher(ops) -> None:
    x = torch.randn(7, 130)
    assert torch.allclose(ops.softmax(x.t()), torch.softmax(x.t(), -1), atol=1e-6)
    assert ops.softmax(torch.empty(0, 4)).shape == (0, 4)


def test_symbolic_shapes_stay_symbolic(ops) -> None:
    graph = make_fx(lambda t: ops.softmax(ops.add(t, t)), tracing_mode="symbolic")(torch.randn(3, 5))
    assert [str(node.target) for node in graph.graph.nodes if node.op == "call_function"] == [
        f"{NAMESPACE}.add.default", f"{NAMESPACE}.softmax.default",
    ]  # fmt: skip
    assert torch.allclose(graph(torch.ones(2, 9)), torch.full((2, 9), 1 / 9))


def test_a_wrong_call_names_the_tensor(ops) -> None:
    with pytest.raises(AscendOpsError, match="float64"):
        ops.softmax(torch.randn(2, 2, dtype=torch.float64))
    with pytest.raises(AscendOpsError):
        ops.add(torch.randn(2, 3), torch.randn(4))


def test_the_way_without_gradients_of_older_pytorch_sees_what_needs_one():
    from ascendops.torchlib.gradients import _any_requires_grad

    x, y = torch.ones(1), torch.ones(1, requires_grad=True)
    for args in ((x,), (None, 2.0, [x, x]), ()):
        assert not _any_requires_grad(*args)
    for args in ((y,), (x, [x, y]), (None, y, 1)):
        assert _any_requires_grad(*args)
