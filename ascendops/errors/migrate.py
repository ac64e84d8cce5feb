"""Errors of the migration checklist (ASC6xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["ApplyConflict", "BadTrace", "BaselineError", "ExtraMissing", "MigrateError", "ModelError"]


class MigrateError(AscendOpsError):
    """The paths or options of `ascendops migrate` cannot be used.

    The message names the path or option. `migrate` reads folders, source files, notebooks and .onnx models; it never runs them.
    """

    id = "ASC601"
    exit_code = ExitCode.USAGE


class ExtraMissing(AscendOpsError):
    """A package that reads this kind of file is not installed.

    Reading ONNX models needs the `onnx` package: pip install 'ascendops[migrate]'.
    """

    id = "ASC602"
    exit_code = ExitCode.TOOLCHAIN


class BaselineError(AscendOpsError):
    """The baseline of a checklist cannot be read.

    A baseline is the JSON report of an earlier run: ascendops migrate PATH --format json --out baseline.json
    """

    id = "ASC603"
    exit_code = ExitCode.USAGE


class BadTrace(AscendOpsError):
    """The profile is not a trace of torch.profiler.

    `--profile` reads the Chrome trace that `torch.profiler.profile(...).export_chrome_trace("trace.json")` writes (also .json.gz),
    recorded with CUDA activities.
    """

    id = "ASC604"
    exit_code = ExitCode.USAGE


class ModelError(AscendOpsError):
    """The operators of a model could not be captured.

    `--model module:factory` imports the user's code in a worker process and calls `factory()`, which returns a module. `--inputs`
    names a second factory, `module:function`, that returns the tuple of its example inputs. The message has the exception.
    """

    id = "ASC605"
    exit_code = ExitCode.MISMATCH


class ApplyConflict(AscendOpsError):
    """A file changed between the scan and the edit.

    Nothing was written: run the command again.
    """

    id = "ASC606"
    exit_code = ExitCode.MISMATCH
