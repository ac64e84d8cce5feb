"""Compiled CPU kernels (`lib.register(compiled=True)`): the same results, errors and transforms as the Python registration, without Python."""

from __future__ import annotations

import shutil
import threading
import warnings

import pytest
import torch
from torch_projects import edit, in_place, small

import ascendops
from ascendops import torchlib
from ascendops.errors import GradientError, RegistrationError, ShapeMismatch, TwinCheckError
from ascendops.render import new_project
from ascendops.torchlib import native, registry

NAMESPACE = "ascendops_test_native"
KINDS = (
    "kinds(Tensor x, Tensor[] parts, Tensor? bias=None, int n=1, float f=0.5, bool b=True, str s='plain', int[] d=[1], float[] fs=[1.0], "
    "bool[] bs=[True], int? oi=None, float? of=None, int[]? od=None) -> Tensor y"
)

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("native")


@pytest.fixture(scope="module")
def ops(root):
    for name in ("rms_norm", "embedding"):
        found = ascendops.open_project(small(root, name)).build("twin").register(NAMESPACE, compiled=True)
    return found


def plans(name: str) -> int:
    compiled = registry.entry(f"{NAMESPACE}::{name}").native
    assert compiled is not None
    return compiled.plans(f"{NAMESPACE}::{name}")


def test_a_call_like_an_earlier_one_does_without_python(ops, monkeypatch):
    x, weight = torch.randn(3, 37), torch.randn(37)
    first = ops.rms_norm(x, weight, 1e-6)
    known = plans("rms_norm")
    monkeypatch.setattr(registry.entry(f"{NAMESPACE}::rms_norm"), "operator", None)  # Python can do nothing any more
    again = ops.rms_norm(x + 1, weight, 1e-6)
    wanted = torch.nn.functional.rms_norm(x + 1, [37], weight, 1e-6)
    torch.testing.assert_close(again[0], wanted)
    assert len(first) == len(again) == 2 and again[1].shape == first[1].shape and plans("rms_norm") == known
    with pytest.raises(TypeError):
        ops.rms_norm(x, weight, 1e-5)  # another attribute is another call


def test_layouts_and_empty_tensors_are_those_of_the_python_kernel(ops):
    weight = torch.randn(5)
    before = torchlib.copies().get("rms_norm.x", 0)
    for x in (torch.randn(5, 4).t(), torch.randn(8, 5)[::2], torch.randn(1, 5).expand(3, 5), torch.randn(11)[1:].reshape(2, 5)):
        torch.testing.assert_close(ops.rms_norm(x, weight, 1e-6)[0], torch.nn.functional.rms_norm(x, [5], weight, 1e-6))
    assert torchlib.copies()["rms_norm.x"] - before == 3
    assert ops.rms_norm(torch.empty(0, 5), weight, 1e-6)[0].shape == (0, 5)


def test_what_is_wrong_is_the_same_error(ops):
    with pytest.raises(ShapeMismatch):
        ops.rms_norm(torch.randn(2, 5), torch.randn(4), 1e-6)
    table = torch.randn(7, 3)
    ops.embedding(table, torch.tensor([1, 2]))
    assert ops.embedding(table, torch.tensor([6, 0])).equal(table[[6, 0]])
    known = plans("embedding")
    with pytest.raises(TwinCheckError) as caught:  # found by a launch that Python does not make
        ops.embedding(table, torch.tensor([1, 700]))
    assert "GM-BOUNDS" in str(caught.value) and "op_kernel" in (caught.value.where or "") and plans("embedding") == known
    assert ops.embedding(table, torch.tensor([5, 5])).equal(table[[5, 5]])


def test_gradients_transforms_and_graphs(ops):
    x, weight = torch.randn(3, 5, requires_grad=True), torch.randn(5, requires_grad=True)
    torch.library.opcheck(ops.rms_norm.default, (x, weight, 1e-6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.autograd.gradcheck(lambda a, b: ops.rms_norm(a, b, 1e-6)[0], (x, weight), eps=1e-2, atol=2e-2, rtol=2e-2)

    def model(a, b):
        return ops.rms_norm(a * 2, b, 1e-6)[0].square().sum()

    wanted = torch.autograd.grad(model(x, weight), (x, weight))
    for backend in ("aot_eager", "inductor"):
        warnings.simplefilter("ignore")  # inductor imports modules that warn; pytest restores the filters
        torch.testing.assert_close(torch.autograd.grad(torch.compile(model, fullgraph=True, backend=backend)(x, weight), (x, weight)), wanted)
    torch.testing.assert_close(
        torch.vmap(lambda a: ops.rms_norm(a, weight, 1e-6)[0])(x), torch.stack([ops.rms_norm(row, weight, 1e-6)[0] for row in x])
    )
    assert ops.rms_norm(x.detach().to("meta"), weight.detach().to("meta"), 1e-6)[0].device.type == "meta"
    program = torch.export.export(_Model(ops), (x.detach(), weight.detach()), dynamic_shapes=({0: torch.export.Dim("n", min=2)}, None))
    assert [str(node.target) for node in program.graph.nodes if NAMESPACE in str(node.target)] == [f"{NAMESPACE}.rms_norm.default"]
    with torch.no_grad():
        torch.testing.assert_close(program.module()(torch.ones(7, 5), weight), ops.rms_norm(torch.ones(7, 5), weight, 1e-6)[0])


class _Model(torch.nn.Module):
    def __init__(self, ops):
        super().__init__()
        self.ops = ops

    def forward(self, x, weight):
        return self.ops.rms_norm(x, weight, 1e-6)[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of modules that torch.func imports
@pytest.mark.parametrize("compiled", [False, True])
def test_a_forward_gradient_is_refused_and_not_zero(root, compiled):
    """Tangents came out as zeros, because no dispatch key of the operator knows of them."""
    library = ascendops.open_project(small(root, "rms_norm")).build("twin")
    op = library.register(f"{NAMESPACE}_jvp_{compiled}".lower(), compiled=compiled).rms_norm
    x, weight = torch.randn(2, 5), torch.randn(5)
    wanted = op(x, weight, 1e-6)[0]
    with pytest.raises(GradientError, match="no forward-mode gradient"):
        torch.func.jvp(lambda a: op(a, weight, 1e-6)[0], (x,), (x,))
    with torch.autograd.forward_ad.dual_level():
        torch.testing.assert_close(op(x, weight, 1e-6)[0], wanted)
        with pytest.raises(GradientError, match="no forward-mode gradient"):
            op(x, torch.autograd.forward_ad.make_dual(weight, weight), 1e-6)


def test_several_threads(ops):
    table, wrong = torch.randn(50, 3), []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for size in (3, 4, 5, 3):
            indices = torch.randint(50, (size,), generator=generator)
            if not ops.embedding(table, indices).equal(table[indices]):
                wrong.append(indices)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_new_build_replaces_the_kernel(root):
    folder = small(root, "axpy")
    ops = ascendops.open_project(folder).build("twin").register(NAMESPACE, compiled=True)
    x, y = torch.randn(9), torch.randn(9)
    for _ in range(2):
        torch.testing.assert_close(ops.axpy(x, y, 2.0), x + 2 * y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = (x[:3].requires_grad_(), y[:3].requires_grad_())
        assert torch.autograd.gradgradcheck(lambda a, b: ops.axpy(a, b, 2.0) * ops.axpy(a, b, 1.0), tensors, eps=1e-2, atol=2e-2, rtol=2e-2)
    kernel = folder / "op_kernel" / "axpy.cpp"
    text = kernel.read_text()
    assert "Muls(t0, x2, alpha_, n)" in text
    kernel.write_text(text.replace("Muls(t0, x2, alpha_, n)", "Adds(t0, x2, alpha_, n)"))
    ascendops.open_project(folder).build("twin").register(NAMESPACE, compiled=True)
    for _ in range(2):
        torch.testing.assert_close(ops.axpy(x, y, 2.0), x + (2 + y))


def test_an_operator_without_a_gradient_refuses_in_backward(root, ops, monkeypatch):
    monkeypatch.setattr(native, "_compiled", None)  # the library that other operators have serves this one too
    folder = edit(small(root, "plain", family="elementwise", like="abs"), (r"\[autograd\.formula\].*?(?=\[\[tiling)", ""))
    ops = ascendops.open_project(folder).build("twin").register(NAMESPACE, compiled=True)
    result = ops.plain(torch.tensor([-1.0, 2.0], requires_grad=True))
    assert result.tolist() == [1, 2]
    with pytest.raises(GradientError):
        result.sum().backward()


def test_every_kind_of_argument(root):
    new_project("kinds", root / "kinds", family="custom", schema=KINDS)
    library = ascendops.open_project(root / "kinds").build("twin")
    ops = library.register(NAMESPACE, compiled=True)
    x, bias, parts = torch.randn(6), torch.randn(6), [torch.randn(6), torch.randn(6)]
    calls = [
        ((x, []), {}), ((x, parts), {}), ((x, parts, bias), {}), ((x, parts, bias, 3, 0.25, False, "a longer word", [1, 2], [0.5], [True, False]), {}),
        ((x, []), {"oi": 3}), ((x, []), {"of": 2.0}), ((x, []), {"od": [1, 2]}), ((x, []), {"od": [1, 2, 3]}), ((x, []), {"s": "a longer ward"}),
    ]  # fmt: skip
    known = plans("kinds")
    for _ in range(2):
        for args, kwargs in calls:
            torch.testing.assert_close(ops.kinds(*args, **kwargs), library.kinds(*args, **kwargs))
    assert plans("kinds") - known == len(calls)


def test_kinds_says_what_is_compiled_and_why_not(root, ops):
    target = ascendops.open_project(in_place(root)).build("twin").register(NAMESPACE, compiled=True)
    x = torch.ones(4)
    assert target.add_scaled(x, torch.ones(4), 2.0) is not None and x.tolist() == [3, 3, 3, 3]
    found = torchlib.kinds(NAMESPACE)
    assert found["rms_norm"] == "compiled" and found["add_scaled"] == "it writes to an input"
    library = ascendops.open_project(small(root, "rms_norm")).build("twin")
    library.register(f"{NAMESPACE}_python_only")
    assert torchlib.kinds(f"{NAMESPACE}_python_only")["rms_norm"] == "registered without compiled=True"
    with pytest.raises(RegistrationError, match="registered already with its Python kernel"):
        library.register(f"{NAMESPACE}_python_only", compiled=True)
