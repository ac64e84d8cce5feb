"""Errors of latency estimates (ASC33x)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError

__all__ = ["ConfigColumns", "ConfigTable"]


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
