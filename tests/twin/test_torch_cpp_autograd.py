"""The C++ gradients of the generated extension, compiled for the CPU: against torch's own, with the kernels and shapes of the Python side."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
import torch
from torch_projects import small

import ascendops
from ascendops.errors import RegistrationError
from ascendops.render import gradcpp
from ascendops.spec import formula
from ascendops.toolchain import cache, compiler
from ascendops.torchlib import registry

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]
NAMES = {"mean": "ascendops_cpp_mean", "sub": "ascendops_cpp_sub", "layer_norm": "ascendops_cpp_norm", "conv2d": "ascendops_cpp_conv"}


def extension(projects: dict[str, Path]) -> Path:
    """One library with the Autograd kernels of all projects, as setup.py compiles them, in one namespace of torch.ops for each."""
    root = Path(torch.__file__).parent
    parts = ["#include <torch/csrc/autograd/custom_function.h>", "#include <torch/library.h>", f'#include "{next(iter(projects.values()))}/gen/torch/autograd.h"']
    for name, folder in projects.items():
        text = (folder / "gen" / "torch" / f"{name}_autograd.cpp").read_text()
        text = text.replace('"ascendops::', f'"{NAMES[name]}::').replace("TORCH_LIBRARY_IMPL(ascendops,", f"TORCH_LIBRARY_IMPL({NAMES[name]},")
        parts.append(f"namespace {name} {{\n{text}\n}}")
    source = "\n".join(parts)
    flags = ["-std=c++20", "-O1", "-fPIC", "-shared", "-w", f"-I{root}/include", f"-I{root}/include/torch/csrc/api/include", f"-L{root}/lib", "-lc10", "-ltorch_cpu"]
    flags += [f"-I{next(iter(projects.values()))}/gen/torch"]

    def make(stage: Path) -> list[Path]:
        (stage / "all.cpp").write_text(source)
        done = subprocess.run([compiler.find_compiler().path, str(stage / "all.cpp"), "-o", str(stage / "all.so"), *flags], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return []

    return cache.publish("test-autograd", cache.digest(source, torch.__version__, str(root)), make).path / "all.so"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    root = tmp_path_factory.mktemp("cpp_autograd")
    projects = {name: small(root, name) for name in NAMES}
    libraries = {name: ascendops.open_project(folder).build("twin") for name, folder in projects.items()}
    torch.ops.load_library(str(extension(projects)))
    for name, library in libraries.items():
        library.register(NAMES[name])
        assert registry.has_kernel(f"{NAMES[name]}::{name}", "Autograd")
    return libraries


@pytest.fixture
def ops(libraries):
    return {name: getattr(getattr(torch.ops, namespace), name) for name, namespace in NAMES.items()}


def both(ours, theirs, *tensors):
    """Gradients of both for the same weights."""
    found = []
    for function in (ours, theirs):
        given = [tensor.clone().requires_grad_() for tensor in tensors]
        y = function(*given)
        (y * torch.linspace(-1, 1, y.numel()).reshape(y.shape)).sum().backward()
        found.append([tensor.grad for tensor in given])
    torch.testing.assert_close(*found, atol=1e-5, rtol=1e-5)


def test_the_gradients_are_torchs(ops):
    x, y, w, b = torch.randn(3, 1, 5), torch.randn(4, 5), torch.randn(5), torch.randn(5)
    for dim, keepdim in ((1, False), (-1, True), (0, False)):
        both(lambda t, dim=dim, keep=keepdim: ops["mean"](t, dim, keep), lambda t, dim=dim, keep=keepdim: t.mean(dim, keep), x.expand(3, 4, 5))
    both(ops["sub"], torch.sub, x, y)
    both(lambda *t: ops["layer_norm"](*t, 1e-5)[0], lambda t, w, b: torch.nn.functional.layer_norm(t, [5], w, b), x, w, b)
    image, window, bias = torch.randn(2, 4, 6, 5), torch.randn(6, 2, 3, 2), torch.randn(6)
    ways = ([2, 1], [1, 0], [1, 2], 2)
    both(lambda *t: ops["conv2d"](*t, *ways), lambda *t: torch.conv2d(*t, *ways), image, window, bias)
    both(lambda *t: ops["conv2d"](*t, None, *ways), lambda *t: torch.conv2d(*t, None, *ways), image, window)  # an optional input that is not there
    assert not ops["layer_norm"](x.requires_grad_(), w, b, 1e-5)[1].requires_grad  # an output whose gradient is not read


def test_opcheck_and_both_gradchecks(ops):
    x = torch.rand(2, 3, requires_grad=True)
    torch.library.opcheck(ops["mean"].default, (x, 0, True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch asks for float64, which these kernels do not have
        function = lambda t: ops["mean"](ops["sub"](t, t[:1] * t), 1, False)  # noqa: E731
        assert torch.autograd.gradcheck(function, [x], eps=1e-2, atol=2e-2, rtol=2e-2)
        assert torch.autograd.gradgradcheck(function, [x], eps=1e-2, atol=2e-2, rtol=2e-2)
    with torch.no_grad():
        assert not ops["mean"](x, 0).requires_grad


def test_what_an_extension_registered_must_fit(libraries):
    torch.library.define("ascendops_cpp_other::sub", "(Tensor x1) -> Tensor")
    torch.library.define("ascendops_cpp_same::sub", "(Tensor x1, Tensor x2) -> Tensor y")  # as binding.cpp defines it, with names of results
    library = libraries["sub"]
    assert library.register("ascendops_cpp_same").sub(torch.ones(2), torch.ones(2)).tolist() == [0, 0]
    with pytest.raises(RegistrationError, match="an installed extension registers it"):
        library.register("ascendops_cpp_other")


def test_every_function_of_the_language_is_cpp():
    """One formula of each form, as the template writes it."""
    kinds = {"x": "tensor", "g": "tensor", "n": "number", "dims": "list", "keep": "number"}
    for text, said in {
        "g * 2 / n": "((g * 2) / n)", "1 / 2 * x": "((static_cast<double>(1) / 2) * x)", "x ** 2": "at::pow(x, 2)", "n ** 2": "std::pow(n, 2)",
        "where(x > 0, g, 0)": "at::where(at::gt(x, 0), g, at::Scalar(0))", "0 < x": "at::lt(at::full_like(x, 0), x)",
        "sum(x, dims, True)": "at::sum(x, EveryDim(x, dims), true)", "amax(x)": "at::amax(x, EveryDim(x, {}), false)",
        "unreduce(g, x, n, keep)": "Unreduce(g, x, {n}, keep)", "flip(x, 1)": "at::flip(x, {1})", "clamp(x, n, 2)": "at::clamp(x, at::Scalar(n), at::Scalar(2))",
        "g if keep else 0": "(keep ? g : at::scalar_tensor(0))", "cumsum(x, n)": "at::cumsum(x, n)", "expand_as(g, x)": "g.expand_as(x)",
        "unpermute(g, dims)": "Unpermute(g, dims)", "scatter(x, -1, g, x)": "at::scatter(x, -1, g.to(at::kLong), x)", "gather(x, 0, g)": "at::gather(x, 0, g.to(at::kLong))",
        "conv2d_grad_weight(g, x, x, dims, dims, [1, 2], n)": "std::get<1>(at::convolution_backward(g, x, x, at::OptionalIntArrayRef(), dims, dims, {1, 2}, false, {0, 0}, n, {false, true, false}))",
        "cast_as(g, x) * size(x, 0)": "(CastAs(g, x) * x.size(0))", "-x * (not keep)": "(-x * !(keep))",
    }.items():  # fmt: skip
        assert gradcpp.cpp(formula.parse(text), kinds) == said
