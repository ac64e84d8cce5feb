"""The file that `ascendops estimate` writes."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from ascendops.perf.estimate import PIPES, Estimate

COLUMNS = ("row_id", "predicted_us", "bound", *PIPES, "soc", "basis", "note")


def write(path: Path, estimates: Iterable[Estimate]) -> None:
    """Writes one row per estimate; a row without a number has empty cells and a note that starts with `error:`.

    Raises:
        OSError: The file cannot be written.
    """
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in estimates:
            time = "" if row.predicted_us is None else row.predicted_us
            pipes = [row.pipes_us.get(name, "") for name in PIPES]
            writer.writerow([row.row_id, time, row.bound, *pipes, row.soc, row.basis, "; ".join(row.notes)])
