"""Verdicts on operators with several outputs: each is named and counted by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from ascendops.parity import inputs, verify
from ascendops.parity.verdict import CaseResult, names_of, share
from ascendops.report import html, text
from ascendops.report.model import CaseReport, RunReport
from ascendops.testing.outcome import copy_result, headline

ENVIRONMENT = {
    "backend": "twin", "device": "CPU twin", "soc": "Ascend910B1", "level": "L0", "rules": "ascendops-parity/1", "seed": 7, "machine": "Linux x86_64",
    "started": "2026-01-01", "versions": {},
}  # fmt: skip
X = inputs.values((8, 64), torch.float32, "random", inputs.key(7, "x"))


class Declared:
    """A case whose declaration names its outputs."""

    def __init__(self, *names: str, dtypes: tuple[torch.dtype | None, ...]) -> None:
        self.names, self.dtypes = names, dtypes

    def values(self, seed: int) -> dict[str, Any]:
        return {"x": X}

    def output_dtypes(self) -> list[torch.dtype | None]:
        return list(self.dtypes)

    def output_names(self) -> list[str]:
        return list(self.names)


def largest(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    found = x.max(-1)
    return found.values, found.indices


def moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return x * 2, x.mean(-1), x.square().mean(-1)


def judged(candidate: Any, golden: Any, *names: str, dtypes: tuple[torch.dtype | None, ...]) -> CaseResult:
    return verify(candidate, golden, [Declared(*names, dtypes=dtypes)], repeats=1).cases[0]


def wrong_index(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = largest(x)
    indices[3] = (indices[3] + 1) % 64
    indices[5] = (indices[5] + 9) % 64
    return values, indices


def test_the_worst_element_is_a_failing_one_of_the_failing_output() -> None:
    found = judged(wrong_index, largest, "values", "indices", dtypes=(torch.float32, torch.int64))
    assert found.worst is not None and (found.worst.output, found.worst.name) == (1, "indices")
    assert found.worst.index in ((3,), (5,)) and found.worst.got != found.worst.want
    assert [(out.name, out.elements, out.failing) for out in found.outputs] == [("values", 8, 0), ("indices", 8, 2)]
    story = found.story()
    assert story[0].startswith(f"worst at [{found.worst.index[0]}] of output indices: got {found.worst.got} want {found.worst.want}")
    assert story[1].startswith("2 of 8 elements of output indices fail (25 %): ") and story[2] == "no element of output values fails"


def test_an_integer_that_is_further_off_is_worse() -> None:
    found = judged(lambda x: x.argsort(-1)[:, :1] * 0 + torch.tensor([0, 7]), lambda x: torch.zeros(8, 2, dtype=torch.int64) + torch.tensor([0, 2]), "k", dtypes=(torch.int64,))
    assert found.worst is not None and found.worst.index[1] == 1 and (found.worst.got, found.worst.want) == (7, 2)


def test_each_failing_output_has_its_count_and_place() -> None:
    def wrong(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y, mean, square = (out.float() for out in moments(x.double()))
        y[:, 60:] += 1e-4
        square[:7] += 50
        return y, mean, square

    found = judged(wrong, moments, "y", "mean", "square", dtypes=(torch.float32,) * 3)
    assert found.worst is not None and found.worst.name == "square", "an error of 50 is more bounds than one of 1e-4"
    assert [(out.name, out.failing) for out in found.outputs] == [("y", 32), ("mean", 0), ("square", 7)]
    story = "\n".join(found.story())
    assert "32 of 512 elements of output y fail (6.2 %): all are in columns 60..63" in story
    assert "7 of 8 elements of output square fail (88 %): too many to lie in one place" in story
    assert "no element of output mean fails" in story
    assert next(gate for gate in found.gates if gate.gate == "G2").detail.startswith("39 elements beyond the allowed error (32 of output y, 7 of output square)")

    report = CaseReport("moments[a]", "moments", "a")
    copy_result(report, found)
    headline(report, found)
    assert report.what == "moments differs from its golden in 32 of 512 elements of output y and 7 of 8 elements of output square"
    assert text.counts(report)[0].startswith("32 of 512 elements of output y fail")
    page = html.render(RunReport(ENVIRONMENT, cases=[report]))
    assert "of output square got" in page and "Where elements fail in output y" in page and "7 of 8 elements of output square fail" in page


@pytest.mark.parametrize("spoil", ["shape", "dtype", "special", "unwritten", "alias"])
def test_gates_name_the_output(spoil: str) -> None:
    def wrong(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y, mean, square = (out.float() for out in moments(x.double()))
        if spoil == "shape":
            mean = mean[:-1]
        elif spoil == "dtype":
            mean = mean.half()
        elif spoil == "special":
            mean[2] = float("nan")
        elif spoil == "unwritten":
            kept, mean = mean, torch.empty_like(mean)
            mean[1:] = kept[1:]
        else:
            mean = x[:, 0]
        return y, mean, square

    found = judged(wrong, moments, "y", "mean", "square", dtypes=(torch.float32,) * 3)
    said = " ".join(gate.detail for gate in found.gates if gate.failed)
    assert found.status == "fail" and "output mean" in said and "output 1" not in said, said


def test_names_come_from_the_candidate_or_are_numbers() -> None:
    class Operator(SimpleNamespace):
        def run(self, x: torch.Tensor, out: list[torch.Tensor]) -> Any:
            for buffer, made in zip(out, wrong_index(x), strict=True):
                buffer.copy_(made)
            return SimpleNamespace(outputs=out)

    op: Any = Operator(name="largest", definition=None, outputs=("values", "indices"))
    assert "2 of 8 elements of output indices fail" in str(verify(op, largest, [{"x": X}], repeats=1))
    assert "2 of 8 elements of output 1 fail" in str(verify(wrong_index, largest, [{"x": X}], repeats=1))


def test_the_tensors_of_a_list_are_numbered() -> None:
    halves = lambda x: [part.contiguous() for part in x.chunk(2, -1)]  # noqa: E731
    found = judged(lambda x: [halves(x)[0], halves(x)[1] + 1], halves, "ys", dtypes=(torch.float32,))
    assert [(out.name, out.failing) for out in found.outputs] == [("ys[0]", 0), ("ys[1]", 256)]
    assert names_of(["a", "b"], 3) == () and names_of([], 2) == () and names_of(["a", "b"], 2) == ("a", "b")


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(1, 1, "100 %"), (4, 5, "80 %"), (4095, 4096, "over 99.9 %"), (9999, 10050, "99.5 %"), (1, 4096, "under 0.1 %"), (37, 4096, "0.9 %")],
)
def test_shares_are_all_or_not(part: int, whole: int, said: str) -> None:
    assert share(part, whole) == said
