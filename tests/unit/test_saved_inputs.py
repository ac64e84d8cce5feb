"""`made_by`: test inputs that belong to the others, and attention's gradients with them and without."""

from __future__ import annotations

import math

import pytest
import torch

from ascendops.errors import BadValue, GoldenError
from ascendops.parity import inputs
from ascendops.parity.golden import evaluate
from ascendops.render import new_project
from ascendops.spec import load
from ascendops.testing import shrink
from ascendops.testing.cases import test_cases
from ascendops.testing.reference import choose, golden_of
from ascendops.testing.saved import BITS, rounded

TEXT = """edition = 1
name    = "softmax_grad"
schema  = "softmax_grad(Tensor x, Tensor y, float beta=1.0) -> Tensor z"
units   = ["ascend910b"]

[tensor.x]
dims  = ["*batch", "n"]
dtype = ["float32", "float16"]

[tensor.y]
dims    = ["*batch", "n"]
dtype   = ["float32", "float16"]
made_by = "saved"

[tensor.z]
dims  = "same(x)"
dtype = ["float32", "float16"]

[[case]]
name   = "turned"
shapes = { x = [3, 34], y = [3, 34] }
attrs  = { beta = 0.5 }
layout = "transposed"
"""
GOLDEN = """import torch


def golden(x, y, beta):
    return y * x * beta


def saved(x, y, beta):
    assert y is None and x.dtype == torch.float64
    return (x * beta).softmax(-1)
"""


def declared(tmp_path, text=TEXT, golden=GOLDEN):
    (tmp_path / "op.toml").write_text(text)
    (tmp_path / "golden.py").write_text(golden)
    return load(tmp_path)


def test_saved_inputs_are_made_from_the_others(tmp_path):
    for case in test_cases(declared(tmp_path)):
        values = case.values(5)
        assert list(values) == ["x", "y", "beta"] and values["y"].dtype == values["x"].dtype
        assert values["y"].stride() == values["x"].stride() and not values["y"].is_contiguous()
        want = (values["x"].double() * 0.5).softmax(-1)
        error = (values["y"].double() - want).abs() / want
        assert 0 < error.max() <= 2.0**-BITS + 2.0**-11 * (values["x"].dtype == torch.float16)


def test_other_last_bits_of_a_machine_make_the_same_inputs():
    made = torch.from_numpy(inputs.uniform(1, 4096, -50, 50))
    assert torch.equal(rounded(made), rounded(made * (1 + 2.0**-50)))
    assert not torch.equal(made, made * (1 + 2.0**-50))
    special = torch.tensor([0.0, torch.inf, -torch.inf, 5e-324, 1.7e308], dtype=torch.float64)
    assert torch.allclose(rounded(special), special, rtol=2.0**-BITS, atol=0) and rounded(torch.tensor([torch.nan])).isnan()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('made_by = "saved"', 'made_by = "a b"', "made_by cannot be 'a b'"),
        ("Tensor y,", "Tensor[] y,", "cannot be made"),
        ('dims  = "same(x)"', 'dims  = "same(x)"\nmade_by = "saved"', "cannot be made"),
        ('made_by = "saved"', 'made_by = "saved"\nrange = [0, "n"]', "only a tensor of whole numbers has a range"),
    ],
)
def test_what_made_by_is_not(tmp_path, old, new, said):
    with pytest.raises(BadValue, match=said):
        declared(tmp_path, TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def saved", "def other", "defines no function `saved`"),
        (".softmax(-1)", ".softmax(-1).sum(-1)", r"'y' is \(3, 34\), but saved makes \(3,\)"),
        (".softmax(-1)", ".softmax(-1), x", "makes 2 tensors, and op.toml names it for 1"),
    ],
)
def test_a_function_that_does_not_make_them(tmp_path, old, new, said):
    case = next(test_cases(declared(tmp_path, golden=GOLDEN.replace(old, new))))
    with pytest.raises(GoldenError, match=said):
        case.values(0)


def test_a_shrunk_case_keeps_inputs_that_fit(tmp_path):
    case = next(test_cases(declared(tmp_path)))
    small = shrink.shrink(case, None, lambda cases, fresh: frozenset({"WRONG"})).cases[-1]
    x, y = (small.values(0)[name] for name in "xy")
    assert x.numel() == 1 and y.item() == 1
    text = shrink.script(shrink.Shrunk((small,), frozenset({"WRONG"}), 1), "twin", "Ascend910B1", 0, "golden")
    assert f'"y": torch.tensor({y.tolist()}, dtype=torch.float32)' in text


@pytest.fixture(scope="module")
def attention(tmp_path_factory):
    return load(new_project("flash_attention_backward", tmp_path_factory.mktemp("attention") / "flash_attention_backward").root)


def small_cases(spec, dtype):
    found = [case for case in test_cases(spec) if case.dtype == dtype and case.elements < 12_000 and case.case.values != "special" and all(map(math.prod, case.case.shapes.values()))]
    assert len(found) >= 8
    return found


def test_weights_of_attention_sum_to_one(attention):
    for case in small_cases(attention, "float32"):
        values = case.values(0)
        q, k, lse = (values[name].double() for name in ("q", "k", "lse"))
        scores = q @ k.repeat_interleave(q.shape[1] // k.shape[1], 1).mT * q.shape[-1] ** -0.5
        if case.case.attrs.get("causal"):
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
        total = torch.exp(scores - lse[..., None]).sum(-1)
        assert (total - 1).abs().max() <= lse.abs().max() * 2.0**-BITS + 1e-6


def test_slopes_beyond_float16_have_gradients_in_the_reference(attention):
    """With an lse that is none of the rows, weights and slopes pass 65504 where gradients do not."""
    reference, seen = choose(attention, "triton"), 0
    try:
        for case in small_cases(attention, "float16"):
            values = case.values(0)
            values["lse"] = values["lse"] - 12
            got = reference(values).outputs
            for out, want in zip(got, evaluate(golden_of(attention), values, torch.float64), strict=True):
                inside = want.abs() < 65000
                beyond = want.abs() > 66000
                seen += int(beyond.sum())
                assert not out.isnan().any() and out[beyond].isinf().all(), case.id
                row = want.abs().amax(-1, keepdim=True).clamp_min(1)  # one slope has a part in all elements of a row
                assert (((out.double() - want).abs() / row)[inside] <= 2.0**-8).all(), case.id
    finally:
        reference.close()
    assert seen > 100
