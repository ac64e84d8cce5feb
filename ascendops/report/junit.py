"""A test run as JUnit XML, one suite per operator."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ascendops.report.model import CaseReport, RunReport
from ascendops.report.text import failure, reference_lines


def render(run: RunReport) -> str:
    """The run as JUnit XML text."""
    root = ET.Element("testsuites", name="ascendops", time=f"{run.seconds:.3f}")
    for name in dict.fromkeys(case.op for case in run.cases):
        cases = [case for case in run.cases if case.op == name]
        broken = sum(not case.passed and case.status not in ("crash", "error") for case in cases)
        suite = ET.SubElement(
            root, "testsuite", name=name, tests=str(len(cases)), failures=str(broken),
            errors=str(sum(case.status in ("crash", "error") for case in cases)), time=f"{sum(case.seconds for case in cases):.3f}",
        )  # fmt: skip
        properties = ET.SubElement(suite, "properties")
        for key in ("backend", "device", "soc", "rules", "level", "seed"):
            ET.SubElement(properties, "property", name=key, value=str(run.environment.get(key, "")))
        for line in reference_lines(run):
            ET.SubElement(properties, "property", name="reference", value=line)
        for case in cases:
            _case(suite, case)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, case: CaseReport) -> None:
    element = ET.SubElement(suite, "testcase", classname=case.op, name=case.id, time=f"{case.seconds:.3f}")
    if not case.passed:
        tag = "error" if case.status in ("crash", "error") else "failure"
        problem = ET.SubElement(element, tag, message=_legal(case.what), type=" ".join(case.labels) or case.status)
        problem.text = _legal("\n".join(failure(case)))


def _legal(text: str) -> str:
    """The text without characters that XML 1.0 cannot hold."""
    return "".join(c for c in text if c in "\t\n" or ord(c) >= 32)
