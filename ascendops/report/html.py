"""placeholder"""

from ascendops.report.model import RunReport


def render(run: RunReport) -> str:
    return ""
