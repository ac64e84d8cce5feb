"""Record golden bundles of every operator in cuda_reference/ on a GPU, and compare torch's own CUDA kernels with fp64.

    python -m tools.record_bundles --out DIR [--only softmax ...] [--jobs 12] [--seconds 540]

Needs torch, triton, numpy and jinja2; nothing is installed. Writes DIR/bundles/OP/ (copy to cuda_reference/OP/golden/), DIR/torch/OP/
(copy to cuda_reference/torch/OP/), DIR/calibration.json and DIR/summary.json. Exits with 1 if an operator could not be recorded.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ascendops.errors import AscendOpsError  # noqa: E402  the path comes first

LARGEST = 2048  # elements of an output that is stored whole
BUDGET = 64 << 10  # bytes of outputs per operator


def operators() -> list[str]:
    """Names with a Triton reference in cuda_reference/."""
    return sorted(path.parent.name for path in (ROOT / "cuda_reference").glob("*/triton_*.py"))


def record_one(name: str, projects: Path, out: Path) -> dict[str, Any]:
    """Renders the operator's project, records its bundle, and says what came of it."""
    from ascendops import spec
    from ascendops.render import new_project
    from ascendops.testing.record import record

    start = time.monotonic()
    try:
        folder = projects / name
        try:
            new_project(name, folder)
        except AscendOpsError:  # a name that clashes with a C function
            new_project(f"{name}_custom", folder)
        made = record(spec.load(folder / "op.toml"), out / "bundles" / name, "triton", 0, LARGEST, BUDGET)
        result = {
            "op": name,
            "id": made.id,
            "cases": made.cases,
            "bytes": made.bytes,
            "how": made.how,
            "left_out": made.left_out,
        }
    except AscendOpsError as error:
        result = {"op": name, "error": str(error)}
    except Exception as error:  # noqa: BLE001  the others go on; the summary says which failed and how
        result = {"op": name, "error": f"{type(error).__name__}: {error}"}
    result["seconds"] = round(time.monotonic() - start, 1)
    print(
        f"{name}: {result.get('cases', 0)} cases, {result['seconds']} s {str(result.get('error', ''))[:300]}",
        file=sys.stderr,
        flush=True,
    )
    return result


def record_all(names: Sequence[str], out: Path, jobs: int, deadline: float) -> list[dict[str, Any]]:
    """Every operator, `jobs` at a time; none is started after the deadline."""

    def one(name: str) -> dict[str, Any]:
        if time.monotonic() > deadline:
            return {"op": name, "error": "not started: the time was up"}
        return record_one(name, Path(projects), out)

    with tempfile.TemporaryDirectory() as projects, ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, names))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; see the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--only", nargs="*", default=[], metavar="OP")
    parser.add_argument("--jobs", type=int, default=12, help="operators at a time [12]")
    parser.add_argument("--seconds", type=float, default=540, help="start no further operator after this time [540]")
    parser.add_argument("--no-calibration", action="store_true", help="bundles of the Triton references only")
    options = parser.parse_args(argv)
    import torch

    start = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.no_calibration:
        from tools.calibrate import calibrate

        calibration = calibrate(options.out, options.only, start + options.seconds / 2)
        (options.out / "calibration.json").write_text(json.dumps(calibration, indent=1) + "\n")
        print(
            f"calibration: {len(calibration['rows'])} rows, {time.monotonic() - start:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    results = record_all(options.only or operators(), options.out, options.jobs, start + options.seconds)
    from ascendops.testing.record import provenance

    summary = {"provenance": provenance(), "seconds": round(time.monotonic() - start, 1), "operators": results}
    (options.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    failed = [result["op"] for result in results if "error" in result]
    size = sum(result.get("bytes", 0) for result in results)
    print(
        f"{len(results) - len(failed)} of {len(results)} operators, {size >> 10} KiB, CUDA {torch.cuda.is_available()}; failed: {failed}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
