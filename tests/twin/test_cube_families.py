"""The families on the cube cores beside single products, through the public API: results against torch in float64, and no finding."""

from __future__ import annotations

import json
import re

import pytest
import torch

import ascendops
from ascendops.parity import ulp
from ascendops.render import new_project

HALF = torch.float16


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("cubes")
    built = {}

    def get(name, column=1):
        if (name, column) not in built:
            folder = root / f"{name}{column}"
            new_project(name, folder)
            declared = re.sub(r"^(dtype +=) (\[.*\])", lambda found: f"{found[1]} {json.dumps([json.loads(found[2])[column]])}",
                              re.sub(r"^dtype      = .*\n", "", (folder / "op.toml").read_text(), flags=re.M), flags=re.M)  # fmt: skip
            (folder / "op.toml").write_text(declared)  # one dtype column: fewer kernels to compile
            built[name, column] = ascendops.open_project(folder).build(backend="twin")
        return built[name, column]

    return get


def values(*shape, dtype=HALF, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def run(library, name, *tensors, column=1, **attrs):
    """(output, number of the tiling key) of a run without any finding."""
    result = library(name, column).ops[name].run(*tensors, **attrs)
    assert not result.diagnostics
    return result.outputs[0], result.tiling_key


def assert_product(got, want, size):
    """Sums in float32, rounded once: an error is small against the sum of the magnitudes."""
    allowed = ulp.ulp(want.abs(), got.dtype) + 16 * ulp.ulp(size, torch.float32)
    assert got.shape == want.shape and ((got.double() - want).abs() <= allowed).all()


def in_groups(x, weight, ends):
    y, start = torch.zeros(x.shape[0], weight.shape[2], dtype=x.dtype), 0
    for matrix, end in zip(weight, ends, strict=True):
        y[start:end] = x[start:end] @ matrix
        start = max(start, end)
    return y


@pytest.mark.parametrize("ends", [[0, 3, 3, 260], [299, 299, 299, 299], [150, 20, 9999, -5], [0, 0, 0, 0]], ids=str)
def test_groups_of_rows(library, ends):
    x, weight = values(300, 70), values(4, 70, 270, seed=1)
    y, key = run(library, "grouped_matmul", x, weight, torch.tensor(ends))
    clamped = [min(max([0, *ends[: i + 1]]), 300) for i in range(4)]
    assert key == 1
    assert_product(y, in_groups(x.double(), weight.double(), clamped), in_groups(x.double().abs(), weight.double().abs(), clamped))


def test_small_groups_go_to_different_cores(library):
    op = library("grouped_matmul").ops["grouped_matmul"]
    result = op.run(values(24, 32), values(24, 32, 64), torch.arange(1, 25), trace=True)
    assert {event.block for event in result.timeline.events if event.pipe == "FIX"} == set(range(24))
