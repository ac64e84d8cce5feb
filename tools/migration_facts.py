"""Checks and extends the fact tables of migrate: `python -m tools.migration_facts [check | compare | unknown REPORT.json]`.

check    (default) every table has its provenance, known statuses, no name twice, and patterns that compile
compare  the names of the installed torch (and torch_npu, where it is) against the tables: what a new version added or dropped
unknown  the unknown names of a JSON report, as rows to complete and add to cuda_patterns.json
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "ascendops" / "data" / "migration"
STATUSES = {"works_as_is", "rename", "restricted", "custom_op", "no_equivalent", "ascend_only"}
CLASSES = {"native", "composite", "cpu_fallback", "no_dense_kernel", "not_in_torch_2.13"}


def tables() -> dict[str, dict[str, Any]]:
    """Every table by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))}


def check() -> Iterator[str]:
    """One line for each fault."""
    for name, table in tables().items():
        meta = table.get("_meta", {})
        if not meta.get("what") or not any(key in str(meta) + str(table)[:200000] for key in ("source", "sources")):
            yield f"{name}: _meta does not say what the table holds and where it comes from"
        for section, rows in table.items():
            if isinstance(rows, list) and rows and isinstance(rows[0], dict):
                yield from _rows(f"{name}.{section}", rows)


def _rows(where: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows):
        key = str(next((row[word] for word in ("cuda", "pattern", "feature", "op", "api", "npu", "packages") if word in row), ""))
        place = f"{where}[{number}] {key[:50]}"
        seen[key] += 1
        for field in ("status", "status_2201", "status_3510"):
            if field in row and row[field] not in STATUSES:
                yield f"{place}: status '{row[field]}' is not known"
        if "class" in row and row["class"] not in CLASSES:
            yield f"{place}: class '{row['class']}' is not known"
        if "pattern" in row:
            try:
                re.compile(row["pattern"])
            except re.error as error:
                yield f"{place}: the pattern does not compile: {error}"
            if "cuda_patterns" in where and not row.get("source"):
                yield f"{place}: no source"
    if not where.endswith((".api", ".rules")):
        yield from (f"{where}: '{key}' stands {count} times" for key, count in seen.items() if key and count > 1)


def compare() -> Iterator[str]:
    """What the installed torch and torch_npu have that the table of torch.cuda lacks, and the other way round."""
    import torch

    known = {row["cuda"].removeprefix("torch.cuda.") for row in tables()["cuda_api_map"]["torch_cuda"]}
    public = {name for name in getattr(torch.cuda, "__all__", dir(torch.cuda)) if not name.startswith("_")}
    yield f"torch {torch.__version__}: {len(public)} public names of torch.cuda"
    yield from (f"not in the table: torch.cuda.{name}" for name in sorted(public - {name.split(".")[0] for name in known}))
    if importlib.util.find_spec("torch_npu") is None:
        yield "torch_npu is not installed here: its names were not compared"
        return
    import torch_npu

    names = set(dir(torch_npu.npu))
    for row in tables()["cuda_api_map"]["torch_cuda"]:
        name = row["cuda"].removeprefix("torch.cuda.")
        if "." not in name and (name in names) != bool(row.get("npu")):
            yield f"torch.npu.{name}: {'exists now' if name in names else 'is gone'}, the table says {row['status']}"


def unknown(report: Path) -> Iterator[str]:
    """Rows to complete for the names that a report could not classify."""
    names = Counter(entry["name"] for entry in json.loads(report.read_text(encoding="utf-8"))["unknown"])
    for name, count in names.most_common():
        row = {"pattern": re.escape(name), "family": name, "target": "", "status": "", "note": f"{count} places", "source": ""}
        yield json.dumps(row)


def main() -> int:
    """Prints what the chosen command found; returns 1 if `check` found faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["check", "compare", "unknown"], default="check")
    parser.add_argument("report", nargs="?", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "unknown":
        if arguments.report is None:
            parser.error("unknown needs a report: ascendops migrate PATH --format json --out REPORT.json")
        found = list(unknown(arguments.report))
    else:
        found = list(check() if arguments.command == "check" else compare())
    print("\n".join(found))
    return 1 if found and arguments.command == "check" else 0


if __name__ == "__main__":
    sys.exit(main())
