"""A fault in a shared helper is told with the line that called into it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from core_kernels import FOLDER, compiled

from ascendops.report import html, text
from ascendops.report.model import CaseReport, RunReport
from ascendops.testing.outcome import finding, judge_findings
from ascendops.twin.diagnostics import Diagnostic, Frame, callers_of, found_text

pytestmark = pytest.mark.twin
ENVIRONMENT = {
    "backend": "twin", "device": "CPU twin", "soc": "Ascend910B1", "level": "L0", "rules": "ascendops-parity/1", "seed": 7, "machine": "Linux x86_64",
    "started": "2026-01-01", "versions": {},
}  # fmt: skip
FILE = "helped/helped.cpp"


def found(name: str) -> list[Diagnostic]:
    result = compiled(FILE).launch(name, block_dim=2, args=[np.zeros(256, np.float32)], checks="warn")
    return [diagnostic for diagnostic in result.diagnostics if diagnostic.severity == "error"]


def line_of(kernel: str, words: str, file: str = FILE) -> int:
    lines = (FOLDER / file).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if kernel in line)
    return next(i + 1 for i, line in enumerate(lines) if i >= start and words in line)


def test_good_helpers_are_silent() -> None:
    assert found("good_helped") == []


@pytest.mark.parametrize(("kernel", "helper"), [("bad_fill", "Duplicate"), ("bad_copy", "DataCopy")])
def test_the_caller_is_named(kernel: str, helper: str) -> None:
    """Fill is a function of its own, CopyOut is inlined: both have a caller."""
    first = found(kernel)[0]
    call = line_of(f"void {kernel}(", "// the call")
    assert (first.file, first.line) == (str(FOLDER / "helped/common/copy.h"), line_of("", helper, "helped/common/copy.h"))
    middle = line_of("", f"{'Fill' if kernel == 'bad_fill' else 'CopyOut'}(", "helped/kernel.h")
    between = [(str(FOLDER / "helped/kernel.h"), middle)] if kernel == "bad_fill" else []
    assert [(frame.file, frame.line) for frame in first.callers] == [*between, (str(FOLDER / FILE), call)]
    chain = f"{f'kernel.h:{middle}, ' if between else ''}helped.cpp:{call}"
    assert f"copy.h:{first.line}, called from {chain} (block 0, " in str(first) and "   in " not in str(first)
    assert f"{call} |     " in first.text() and "// the call" in first.text()
    assert first.blocks == (0, 1), "blocks that fail at the same line are one finding"
    files = [frame.file for frame in first.stack]
    assert files[0].endswith("copy.h") and files[-1].endswith("helped.cpp")
    assert first.to_dict()["callers"][-1]["line"] == call


def test_the_report_names_both_lines() -> None:
    first = found("bad_fill")[0]
    call = line_of("void bad_fill(", "// the call")
    entry = finding(first.to_dict())
    middle = line_of("", "Fill(", "helped/kernel.h")
    assert entry["callers"] == [[f"{FOLDER}/helped/kernel.h:{middle}", "Fill(local, filled);"], [f"{FOLDER / FILE}:{call}", "op.Process(320, 256);  // the call"]]
    assert found_text(asdict(first)).startswith(f"UB-BOUNDS at {first.file}:{first.line}, called from kernel.h:{middle}, helped.cpp:{call}: Duplicate writes")
    case = CaseReport("helped[a]", "helped", "a", status="pass", findings=[entry])
    judge_findings(case)
    assert f"    called from {FOLDER / FILE}:{call}: op.Process(320, 256);  // the call" in case.story
    shown = html.render(RunReport(ENVIRONMENT, cases=[case]))
    assert f"called from {FOLDER}/helped/kernel.h:{middle}</span><pre>Fill(local, filled);</pre>" in shown
    case.findings = [{**entry, "severity": "warning"}]
    assert f"copy.h:{first.line}, called from kernel.h:{middle}, helped.cpp:{call}, in 1 case" in text.warning_lines(RunReport(cases=[case]))[0]


def test_a_line_of_the_kernel_itself_has_no_caller() -> None:
    first = found("bad_own")[0]
    assert first.callers == () and "called from" not in str(first)
    assert first.line == line_of("void bad_own(", "// the call") and [frame.line for frame in first.stack] == [first.line]


def test_callers_are_a_line_of_each_file_up_to_the_source() -> None:
    helper, header, source = Frame("f", "/p/copy.h", 12), Frame("g", "/p/kernel.h", 40), Frame("h", "/p/softmax.cpp", 88)
    assert callers_of([helper, helper, header, Frame("g", "/p/kernel.h", 50), source, Frame("i", "/p/main.cpp", 1)]) == (header, source)
    assert callers_of([helper, header]) == (header,)
    assert callers_of([helper]) == callers_of([source, header]) == callers_of([]) == ()
