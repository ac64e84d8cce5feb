"""Reports made from one result model: text, JSON, JUnit, HTML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ascendops import report
from ascendops.errors import ReportError
from ascendops.report import svg, text
from ascendops.report.model import CaseReport, OpReport, RunReport

ENVIRONMENT = {
    "backend": "twin", "device": "CPU twin", "soc": "Ascend910B1", "reference": "auto", "level": "L0", "rules": "ascendops-parity/1",
    "seed": 7, "machine": "Linux x86_64", "started": "2026-01-01T00:00:00+0000", "versions": {"python": "3.11.7", "torch": "2.13.0"},
}  # fmt: skip


def failing() -> CaseReport:
    return CaseReport(
        id="softmax[float16-tail-1x4096-split]", op="softmax", case="tail", dtype="float16", status="fail",
        labels=["TAIL", "FINDING"], what="softmax differs from its golden in 37 of 4096 elements",
        story=["worst at [0, 2048]: got 0.00031 want 0.00024 (587 ulp; allowed 2.9)", "37 of 4096 elements fail (0.9 %): columns 2048..2084"],
        inputs="x float16[1, 4096]", layout="contiguous", values="random", seed=7, tiling_key=2, tiling_name="split", block_dim=1,
        elements=4096, failing=37, where="columns 2048..2084", worst={"index": [0, 2048], "got": 0.00031, "want": 0.00024, "ulp": 587.0, "allowed": 2.9},
        histogram={"0": 4000, "<1/8": 59, ">64": 37}, gates=[{"gate": "G2", "name": "elementwise", "status": "fail", "detail": "37"}],
        reference={"kind": "triton", "status": "agrees", "detail": "", "how": "Triton interpreter on the CPU"},
        findings=[{"id": "UB-BOUNDS", "severity": "error", "message": "<past> the end & more", "file": "softmax.cpp", "line": 42, "block": 3,
                   "source": "Add(y, x, <b>, n);"}],
        repro="ascendops test softmax -k 'softmax[float16-tail-1x4096-split]' --seed 7", help="ascendops explain TAIL", exit_code=1, seconds=0.25,
    )  # fmt: skip


def run_report() -> RunReport:
    good = CaseReport(
        "softmax[float32-tail-1x4096-split]", "softmax", "tail", "float32", status="pass", tiling_key=2, block_dim=8,
        reference={"kind": "triton", "status": "skipped", "detail": "triton is not installed"},
        wrong=[{"name": "all zeros", "rejected": True, "equivalent": False}, {"name": "shifted by one", "rejected": False, "equivalent": True}],
    )  # fmt: skip
    check = CaseReport(
        "softmax[all cases]", "softmax", kind="check", status="fail", labels=["UNREACHED"], what="the cases leave branches untested",
        story=["no case reaches tiling key 1"], exit_code=1,
    )  # fmt: skip
    keys = [
        {"key": 1, "name": "full_load", "why": "a row fits", "cases": []},
        {"key": 2, "name": "split", "why": "", "cases": ["a"]},
    ]
    op = OpReport("softmax", "/home/me/softmax", "y = softmax(x)", ["float32", "float16"], keys)
    return RunReport(dict(ENVIRONMENT), [op], [good, failing(), check], [], 1, 1.5)


def test_text_tells_the_story() -> None:
    out = report.render(run_report(), "text")
    assert out.startswith(
        "  test    softmax   twin   2 cases   1 of 2 tiling keys reached   1 of 1 wrong candidates rejected\n"
    )
    story = "\n".join(text.failure(failing()))
    assert story == (
        "error[ASC304]: softmax differs from its golden in 37 of 4096 elements  [TAIL FINDING]\n"
        "  --> softmax[float16-tail-1x4096-split]  tiling key 2 (split), 1 block, seed 7\n"
        "   = worst at [0, 2048]: got 0.00031 want 0.00024 (587 ulp; allowed 2.9)\n"
        "   = 37 of 4096 elements fail (0.9 %): columns 2048..2084\n"
        "   = help: ascendops explain TAIL\n"
        "   = rerun: ascendops test softmax -k 'softmax[float16-tail-1x4096-split]' --seed 7"
    )
    assert story in out
    assert "2 failed, 1 passed in 1.5 s" in out
    assert "reference    Triton interpreter on the CPU: 1 case\n" in out
    assert "skipped in 1 case: triton is not installed" in out
    assert "modelling Ascend910B1; its times are not those of a device" in out


def test_warnings_of_the_twin_are_in_the_summary() -> None:
    run = run_report()
    leak = {"id": "QUEUE-LEAK", "severity": "warning", "message": "", "file": "softmax.cpp", "line": 55}
    run.cases[0].findings = [leak]
    run.cases[1].findings.append(dict(leak))
    out = report.render(run, "text")
    assert "  warning      QUEUE-LEAK at softmax.cpp:55 in 2 cases: ascendops explain QUEUE-LEAK\n" in out
    assert "  warning" not in report.render(run_report(), "text")


def test_json_comes_back_as_it_was(tmp_path: Path) -> None:
    run = run_report()
    report.save(run, tmp_path / "deep" / "run.json")
    assert report.load(tmp_path / "deep" / "run.json") == run
    (tmp_path / "old.json").write_text('{"schema_version": 99, "cases": []}')
    with pytest.raises(ReportError, match="schema version 99"):
        report.load(tmp_path / "old.json")
    (tmp_path / "bad.json").write_text("[1, 2")
    with pytest.raises(ReportError, match="not a readable result"):
        report.load(tmp_path / "bad.json")


def test_junit_counts_and_messages() -> None:
    run = run_report()
    run.cases.append(
        CaseReport("softmax[x]", "softmax", status="crash", what="crashes \x1b[0m", story=["\x00"], labels=["CRASH"])
    )
    suite = ET.fromstring(report.render(run, "junit"))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "1")
    message = suite.find("testcase/failure")
    assert (
        message is not None
        and "differs from its golden" in str(message.get("message"))
        and message.get("type") == "TAIL FINDING"
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        self.links += [str(found[name]) for name in ("href", "src") if found.get(name)]
        if tag not in ("meta", "input", "br", "rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "input", "br", "rect", "line"):
            assert self.open.pop() == tag


def test_html_is_one_well_formed_offline_file() -> None:
    html = report.render(run_report(), "html")
    page = _Page()
    page.feed(html)
    assert not page.open, "every element is closed"
    assert len(page.ids) == len(set(page.ids))
    assert page.links and all(link[0] == "#" and link[1:] in page.ids for link in page.links), (
        "links lead into the page only"
    )
    assert not re.search(r"https?://|@import|url\(", html)
    for part in ("2 of 3 checks fail", "UB-BOUNDS", "&lt;past&gt; the end &amp; more", "Add(y, x, &lt;b&gt;, n);", "587", "UNREACHED",
                 "prefers-color-scheme: dark", "no NPU took part", "triton is not installed"):  # fmt: skip
        assert part in html, part
    assert html.count('class="bar bad"') >= 2


def test_html_shows_made_cases_by_axis_and_planted_faults() -> None:
    run = run_report()
    run.cases += [CaseReport(f"softmax[{name}]", "softmax", name, "float16", status="pass", made=True) for name in ("tail_7_00ff", "tail_9_10ff")]
    faults = [{"name": "tail_zero", "status": "killed", "kills": 7, "reason": ""}, {"name": "sign_lost", "status": "alive", "kills": 0, "reason": ""}]
    run.cases.append(CaseReport("softmax[mutate]", "softmax", kind="check", status="fail", mutants=faults))
    html = report.render(run, "html")
    assert html.count("made: tail") == 1 and html.count('title="softmax[tail_') == 2
    assert "<b>1 / 2</b>" in html and "tail zero ×7" in html and "sign lost not noticed" in html
    assert "no wrong results were tried" in report.render(RunReport(run.environment, run.ops, []), "html")


def test_html_of_a_thousand_cases_stays_small() -> None:
    run = run_report()
    for i in range(1500):
        case = failing()
        case.id, case.case, case.status, case.findings = f"softmax[float16-c{i}]", f"c{i}", "pass", []
        run.cases.append(case)
    assert len(report.render(run, "html").encode()) < 1_000_000


def test_histogram_scales_and_marks_the_limit() -> None:
    assert svg.histogram({}) == ""
    picture = svg.histogram({"0": 10, ">64": 1_500_000})
    assert picture.count("<rect") == 2 and "1.5M" in picture and 'class="limit"' in picture
    assert "nan" not in picture and "nan" in svg.histogram({"nan/inf": 1})


def test_markdown_for_a_pull_request() -> None:
    run = run_report()
    run.cases[0].standards = {"cann-eco-2026": "pass"}
    run.cases.append(CaseReport("softmax[all]", "softmax", kind="check", status="pass", mutants=[{"name": "doubled", "status": "alive"}]))
    page = report.render(run, "markdown")
    assert "**2 of 4 checks fail**" in page and page.count("<details>") == page.count("</details>") == 2
    assert "| softmax |" in page and "Faults planted: softmax: 0 of 1 noticed; not doubled." in page
    assert len(report.render(run, "jsonl").splitlines()) == len(run.cases)


def test_what_standards_say_is_explained() -> None:
    run = run_report()
    assert not [line for line in text.summary(run) if "standards" in line]
    run.cases[0].standards = {"cann-eco-2026": "fail", "torch-default": "pass"}
    run.cases[1].standards = {"cann-eco-2026": "fail", "torch-default": "pass"}
    said = [line for line in text.summary(run) if "standard" in line]
    assert said[0] == "  standards    cann-eco-2026 would reject 1 case that passes here"
    assert said[1] == "  standards    torch-default would accept 1 case that fails here"
    assert "the verdict is by our rules" in said[2] and "docs/parity.md" in said[2]
    assert text.STANDARDS_NOTE in report.render(run, "markdown") and report.render(run, "html").count("docs/parity.md") == 1


def test_two_runs_are_compared() -> None:
    from ascendops.report.compare import compare

    before, after = run_report(), run_report()
    assert compare(before, after).text() == "  the runs agree in every case\n"
    broken = next(case for case in after.cases if case.passed)
    broken.status, broken.labels = "fail", ["TAIL"]
    mended = next(case for case in after.cases if case.kind == "case" and not case.passed and case is not broken)
    mended.status = "pass"
    after.cases.append(CaseReport("softmax[new]", "softmax"))
    after.environment["soc"] = "Ascend910B3"
    found = compare(before, after)
    assert [change.id for change in found.broken] == [broken.id] and [change.id for change in found.mended] == [mended.id]
    assert found.added == ["softmax[new]"] and "soc:" in found.conditions[0]
    less = run_report()
    for run, ulp in ((before, 2.0), (less, 7.0)):
        run.cases[0].worst = {"ulp": ulp}
    assert [change.after for change in compare(before, less).less_exact] == ["7 ulp"]


def test_maps_show_where_elements_fail() -> None:
    import torch

    from ascendops.parity.locality import density

    failing = torch.zeros(100, 1000, dtype=torch.bool)
    failing[:, -10:] = True
    rows = density(failing)
    assert len(rows) == 24 and len(rows[0]) == 48 and all(row[-1] > 30 and not any(row[:-1]) for row in rows)
    assert density(torch.ones(7, dtype=torch.bool)) == [[100] * 7] and density(torch.zeros(0, dtype=torch.bool)) == []
    picture = svg.heat(rows)
    assert picture.count("<rect") == 25 and "24 by 48 parts" in picture and svg.heat([]) == ""
