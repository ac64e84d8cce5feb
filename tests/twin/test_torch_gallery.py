"""Every gallery operator under torch.ops on the twin: opcheck, gradcheck, gradgradcheck, and torch's own sample inputs for the same math.

One operator of each family runs by default; `--every-operator` runs all (about ten minutes on two cores). New families join by themselves.
"""

from __future__ import annotations

import shutil
import sys
import warnings

import pytest
import torch
from torch_gallery import OPINFOS, PRESETS, Subject, run_samples

TOLERANCE = {"eps": 1e-2, "atol": 2e-2, "rtol": 2e-2}  # the kernels compute in float32
DEFAULT = {"maximum", "gelu", "amax", "log_softmax", "layer_norm", "swiglu", "cross_entropy", "cumsum"}

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = metafunc.config.getoption("--every-operator")
    chosen = [(family, preset) for family, preset in PRESETS if every or preset in DEFAULT]
    metafunc.parametrize(("family", "preset"), chosen, ids=[preset for _, preset in chosen])


def test_gallery_operator(family, preset, tmp_path, record_property):
    subject = Subject(family, preset, tmp_path)
    values = subject.inputs()
    for name in subject.differentiable:
        values[name] = values[name].requires_grad_()
    torch.library.opcheck(subject.op.default, *subject.arguments(values))
    if subject.differentiable:
        tensors = [values[name] for name in subject.differentiable]

        def function(*given):
            outputs = subject.call({**values, **dict(zip(subject.differentiable, given, strict=True))})
            return tuple(out for out in outputs if out.requires_grad)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch asks for float64, which these kernels do not have
            assert torch.autograd.gradcheck(function, tensors, **TOLERANCE)
            if subject.twice:
                assert torch.autograd.gradgradcheck(function, tensors, **TOLERANCE)
    samples = run_samples(subject)
    if preset in OPINFOS:
        assert samples is not None and samples.ran > 0, samples
    done = [
        "opcheck", "gradcheck" if subject.differentiable else "no gradient declared",
        *(["gradgradcheck" if subject.twice else "its backward has no gradient"] if subject.differentiable else []),
        "no ATen operator" if samples is None else f"{samples.ran} samples of OpInfo, skipped: {dict(samples.skipped)}",
    ]  # fmt: skip
    record_property("done", "; ".join(done))
    sys.stdout.write(f"{preset}: {'; '.join(done)}\n")
