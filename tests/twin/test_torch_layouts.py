"""How kit operators take their arguments under PyTorch: layouts, empty tensors, out= and in-place variants, autocast."""

from __future__ import annotations

import shutil

import pytest
import torch
from torch_projects import edit, register, small

from ascendops import torchlib
from ascendops.errors import BackendMissing, BadValue, InputError, LayoutRefused
from ascendops.spec import load
from ascendops.torchlib.casting import targets
from ascendops.torchlib.kernels import triton_reference

NAMESPACE = "ascendops_test_layouts"

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory):
    return tmp_path_factory.mktemp("layouts")


@pytest.fixture(scope="module")
def ops(root):
    variants = '[torch]\nvariants = ["out", "inplace"]\n\n[[tiling_key]]'
    register(edit(small(root, "square", "float32 float16"), (r"\[\[tiling_key\]\]", variants)), NAMESPACE)
    strict = '[torch]\ncontiguous = "required"\nvariants = ["inplace"]\n\n[[tiling_key]]'
    register(edit(small(root, "neg"), (r"\[\[tiling_key\]\]", strict)), NAMESPACE)
    return register(small(root, "mul"), NAMESPACE)


def layouts():
    x = torch.randn(2, 3, 4, 5)
    yield "channels_last", x.to(memory_format=torch.channels_last)
    yield "transposed", x.transpose(0, 3)
    yield "sliced", x[..., ::2]
    yield "offset", x.reshape(-1)[7:].reshape(113)
    yield "expanded", x[:1, :, :, :1].expand(4, 3, 4, 6)
    yield "expanded scalar", torch.tensor(2.0).expand(3)
    yield "scalar", torch.tensor(3.0)
    yield "empty", torch.empty(0, 3)
    yield "flipped", x.flip(0)
    yield "conjugate view", torch.view_as_real(torch.randn(3, dtype=torch.complex64))[:, 1]


@pytest.mark.parametrize(("name", "x"), list(layouts()), ids=[name for name, _ in layouts()])
def test_every_layout_gives_the_same_values(ops, name, x):
    before = torchlib.copies().get("square.x", 0)
    torch.testing.assert_close(ops.square(x), x * x)
    assert torchlib.copies().get("square.x", 0) - before == int(not x.is_contiguous())
    fake = ops.square(x.to("meta"))
    assert (fake.shape, fake.stride()) == (ops.square(x).shape, ops.square(x).stride())


@pytest.mark.filterwarnings("ignore:.*Profiler clears events")  # torch 2.11
def test_copies_show_in_a_profile(ops):
    x = torch.randn(4, 6)
    with torch.profiler.profile() as profile:
        ops.mul(x.t(), x.t())
        ops.mul(x, x)
    counts = {event.key: event.count for event in profile.key_averages()}
    assert (counts["ascendops::copy::mul.x1"], counts["ascendops::copy::mul.x2"]) == (1, 1)


def test_required_contiguity_refuses_by_name(ops):
    x = torch.randn(3, 4)
    torch.testing.assert_close(ops.neg(x), -x)
    with pytest.raises(LayoutRefused, match="'x' of neg is not contiguous") as caught:
        ops.neg(x.t())
    assert "strides (1, 4)" in (caught.value.why or "")


def test_out_and_in_place_variants(ops):
    x, out = torch.randn(3, 4), torch.empty(4, 3).t()
    assert ops.square.out(x, out=out) is out
    torch.testing.assert_close(out, x * x)
    assert ops.square.out(x, out=torch.empty(0)).shape == x.shape
    with pytest.raises(InputError, match="does not fit"):
        ops.square.out(x, out=torch.empty(3, 5))
    with pytest.raises(InputError, match="does not fit"):
        ops.square.out(x, out=torch.empty(3, 4, dtype=torch.float16))
    y = x.clone()
    assert ops.square_(y) is y and torch.allclose(y, x * x)
    leaf = x.clone().requires_grad_()
    grown = leaf * 1
    ops.square_(grown)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):  # as for torch's own square_: the gradient reads x
        grown.sum().backward()
    grown = leaf * 1
    ops.neg_(grown)
    grown.sum().backward()  # this one reads no element of x
    assert leaf.grad.unique().tolist() == [-1]
    torch.testing.assert_close(torch.compile(lambda t: ops.square_(t * 2), fullgraph=True, backend="aot_eager")(x), 4 * x * x)


def test_variants_that_do_not_fit_are_refused_with_their_line(root):
    folder = small(root, "sum")
    text = (folder / "op.toml").read_text()
    line = text[: text.index("[[tiling_key]]")].count("\n") + 2
    for table, what in (
        ('variants = ["view"]', "'variants' has 'view'"),
        ("autocast = { y = \"lower\" }", "'y' in autocast is not an input"),
        ("autocast = { x = \"bfloat16\" }", "'x' cannot be 'bfloat16'"),
        ('contiguous = "maybe"', "'contiguous' cannot be 'maybe'"),
    ):
        (folder / "op.toml").write_text(text.replace("[[tiling_key]]", f"[torch]\n{table}\n\n[[tiling_key]]", 1))
        with pytest.raises(BadValue, match=what) as caught:
            load(folder)
        assert caught.value.where == f"{folder / 'op.toml'}:{line}"
    (folder / "op.toml").write_text(text)


def test_autocast_casts_what_no_column_takes(ops, root):
    x = torch.randn(3)
    with torch.autocast("cpu", dtype=torch.float16):
        assert ops.square(x).dtype == torch.float32 and ops.square(x.half()).dtype == torch.float16
        assert ops.square(x.bfloat16()).dtype == torch.float32
        mixed = ops.mul(x.half(), x)
        assert mixed.dtype == torch.float32
        torch.testing.assert_close(mixed, x.half().float() * x)
    with pytest.raises(InputError, match="has no kernel for x1: float16, x2: float32"):
        ops.mul(x.half(), x)
    text = (small(root, "axpy", "float32 float16") / "op.toml").read_text()
    (root / "axpy" / "op.toml").write_text(text.replace("[[tiling_key]]", '[torch.autocast]\nx1 = "lower"\nx2 = "lower"\n\n[[tiling_key]]', 1))
    spec = load(root / "axpy")
    assert targets(spec, {"x1": x, "x2": x}, torch.float16) == {"x1": torch.float16, "x2": torch.float16}
    assert targets(spec, {"x1": x.half(), "x2": x}, torch.float16) == {"x2": torch.float16}


def test_a_gpu_call_needs_a_triton_reference(root):
    import ascendops

    library = ascendops.open_project(edit(small(root, "abs_plain", family="elementwise", like="abs"), (r"\[reference\].*", ""))).build("twin")
    with pytest.raises(BackendMissing, match="declares no"):
        triton_reference(library.abs_plain)
    assert callable(triton_reference(ascendops.open_project(small(root, "gelu")).build("twin").gelu))
