"""Errors of the parity harness (ASC3xx)."""

from __future__ import annotations

from typing import Any

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = [
    "CasesUnreadable",
    "GoldenError",
    "Mismatch",
    "ParityError",
    "ReportError",
    "TritonUnsupported",
    "UnknownReference",
    "UnknownTier",
    "WorkerError",
]


class ParityError(AscendOpsError):
    """The parity harness could not run a case.

    The candidate, the cases or an option of `ascendops.parity.verify` are not of a form that the harness can use; the message
    says which, and what is allowed.
    """

    id = "ASC301"
    exit_code = ExitCode.USAGE


class WorkerError(AscendOpsError):
    """A function that ran in a worker process raised an exception.

    The message has the exception as the worker saw it; `traceback` holds its full text. The worker is still usable.
    """

    id = "ASC302"
    exit_code = ExitCode.MISMATCH

    def __init__(self, what: str, *, type_name: str = "", traceback: str = "", **fields: Any) -> None:
        super().__init__(what, **fields)
        self.type_name = type_name
        self.traceback = traceback


class GoldenError(AscendOpsError):
    """The golden function (golden.py) failed or returned something unusable.

    `golden(...)` receives the tensors in schema order (floating ones as float64) and the attributes as keywords, and returns one
    tensor, or a tuple with one tensor per output. Nothing can be compared before it works.
    """

    id = "ASC303"
    exit_code = ExitCode.MISMATCH


class Mismatch(AscendOpsError):
    """An operator differs from its golden, or the CPU twin found a fault in its kernel.

    The message names the worst failing element, both values, its error in ulps and what would pass, how many elements of which output fail
    and where they lie, and which tiling key ran. Labels such as TAIL name the class of bug: `ascendops explain TAIL`. The last line reruns this case only.
    """

    id = "ASC304"
    exit_code = ExitCode.MISMATCH


class ReportError(AscendOpsError):
    """A file is not the result of a test run, or one of another version.

    `ascendops report` reads what `ascendops test --out FILE` wrote (JSON with a schema_version).
    """

    id = "ASC305"


class UnknownReference(AscendOpsError):
    """The reference that --reference names is not known.

    `auto` and `triton` run the Triton function that op.toml declares, `torch` runs golden.py in the inputs' own dtypes, `none`
    compares with the fp64 golden alone.
    """

    id = "ASC306"


class TritonUnsupported(AscendOpsError):
    """Triton references cannot run in this environment.

    On a machine without a GPU they run in Triton's interpreter (triton 3.7 or later, Linux), which ascendops repairs for bfloat16.
    The process must turn the interpreter on before triton is imported.
    """

    id = "ASC307"
    exit_code = ExitCode.TOOLCHAIN


class UnknownTier(AscendOpsError):
    """The tier that --tier names is not known.

    `smoke` runs a dozen small cases, `declared` those of op.toml, `default` about 120 (the declared ones and made ones), `full` about
    1500, `certify` as many as the commercial standard asks for.
    """

    id = "ASC318"


class CasesUnreadable(AscendOpsError):
    """The file or folder that --cases names holds no cases that can be read.

    `--cases` takes the CSV of CANN's operator test kit (`ttk kernel -i FILE`: op_name, input_shapes, input_dtypes, attributes, ranges, files),
    a dump of msprobe with task `tensor` (dump.json and its .pt or .npy files), or a TritonBench export (`--export both`: x_*-input.pkl).
    Pickles are read as tensors only; one that names anything else is refused. Entries that do not fit the operator are listed, not dropped in silence.
    """

    id = "ASC319"
