"""Integer outputs of a real-valued golden that is nan or infinite in places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ascendops.parity.execute import local_runner
from ascendops.parity.judge import Judge
from ascendops.parity.wrong import wrong_candidates


def test_an_integer_has_no_right_value_where_the_golden_is_nan_or_infinite() -> None:
    def golden(x: torch.Tensor) -> torch.Tensor:
        return x * 10

    x = torch.linspace(-9, 9, 64)
    x[3], x[40] = float("nan"), float("inf")

    def judged(change: Callable[[torch.Tensor], None], values: torch.Tensor) -> Any:
        def kernel(x: torch.Tensor) -> torch.Tensor:
            out = (x * 10).round().nan_to_num(0, 0, 0).to(torch.int8)
            change(out)
            return out

        return Judge(golden)("case", {"x": values}, local_runner(kernel), (), [torch.int8], lambda: (None, ""))

    def other(out: torch.Tensor) -> None:
        out[3], out[40] = 77, -128

    def wrong(out: torch.Tensor) -> None:
        out[4] += 1

    assert judged(lambda out: None, x).result.passed and judged(other, x).result.passed
    assert judged(wrong, x).result.failing == 1
    fine = judged(other, x)
    assert all(tried.rejected and not tried.equivalent for tried in wrong_candidates(fine.run.outputs, fine.truths))
    nowhere = judged(lambda out: None, torch.full((64,), float("nan")))
    assert nowhere.result.passed and all(tried.equivalent for tried in wrong_candidates(nowhere.run.outputs, nowhere.truths))
