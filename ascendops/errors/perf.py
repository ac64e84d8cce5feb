"""Errors of latency estimates, benches and tuning (ASC33x)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError

__all__ = ["BenchBaselineError", "BenchError", "ConfigColumns", "ConfigTable", "TuneError"]


class ConfigColumns(AscendOpsError):
    """A table of configurations lacks columns.

    `ascendops estimate` needs row_id, op, input_shapes, input_dtypes, output_shapes and output_dtypes, and a chip from the column `chip`
    or from `--soc`. Shapes are JSON lists of lists, dtypes are separated by semicolons. All other columns are optional.
    """

    id = "ASC330"


class ConfigTable(AscendOpsError):
    """A table of configurations cannot be read.

    It is a CSV file in UTF-8 with a header and at least one row; each row_id occurs once, so that a prediction can be told from the next.
    """

    id = "ASC331"


class BenchError(AscendOpsError):
    """An operator cannot be timed here.

    On the twin, `ascendops bench` reads the cycle model of Ascend C kernels; TBE operators have none, because CANN's DSL makes their schedule.
    On an Ascend host it times the installed operator on device 0.
    """

    id = "ASC332"


class BenchBaselineError(AscendOpsError):
    """A baseline of `ascendops bench` cannot be used.

    `ascendops bench --save FILE` writes one, `--against FILE` compares with it. Times of another backend (the twin's cycle model, a device) or
    of another SoC are never compared, and a run in which an operator is wrong makes no baseline.
    """

    id = "ASC333"


class TuneError(AscendOpsError):
    """An operator declares nothing that `ascendops tune` could change.

    A tunable is a macro that op_host or op_kernel define unless the build did:

        #ifndef MIN_CORE_BYTES
        #define MIN_CORE_BYTES 4096
        #endif

    and a table [tune.MIN_CORE_BYTES] with `values` in op.toml. The values are tried on the twin or on the device; `--apply` writes the best ones
    into op.toml as `best`, and every build, also that for CANN, then sets them.
    """

    id = "ASC334"
