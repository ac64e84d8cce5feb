"""Errors of golden bundles and verdict files (ASC31x)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = [
    "BundleCorrupt",
    "BundleInputs",
    "BundleMissing",
    "BundleOperator",
    "BundleStale",
    "BundleTruncated",
    "BundleVersion",
    "NotAVerdict",
    "VerdictDisagrees",
]


class BundleMissing(AscendOpsError):
    """A golden bundle is not there, or the folder is none.

    A bundle is a folder with `bundle.json` and `data.safetensors`, written by `ascendops test --record FOLDER`; a folder that holds one
    such folder per operator is accepted as well.
    """

    id = "ASC310"


class BundleCorrupt(AscendOpsError):
    """A golden bundle has other content than was recorded.

    Every tensor, the data file and the manifest carry sha256 sums; one of them does not fit, so the bundle has been changed or damaged
    after the recording. Nothing is compared with it. Copy it again, or record it again on the GPU host.
    """

    id = "ASC311"


class BundleTruncated(AscendOpsError):
    """The data file of a golden bundle is shorter than its manifest says.

    Usual cause: a copy that was interrupted, or a Git LFS pointer in its place. Copy it again.
    """

    id = "ASC312"


class BundleOperator(AscendOpsError):
    """A golden bundle belongs to another operator.

    The manifest names the operator and its schema; both must be those of the operator under test.
    """

    id = "ASC313"


class BundleVersion(AscendOpsError):
    """A golden bundle has a format or an input generator of another version.

    Bundles say which format they have and which generator made their inputs. Neither is guessed at: record again with this version.
    """

    id = "ASC314"


class BundleStale(AscendOpsError):
    """A golden bundle was recorded from another reference or another declaration.

    It holds the sha256 of the reference's source and of the operator's schema and tensors. Since then one of them has changed, so that
    its outputs say nothing about the present one: STALE, never a pass. Record again: `ascendops test --record FOLDER`.
    """

    id = "ASC315"
    exit_code = ExitCode.MISMATCH


class BundleInputs(AscendOpsError):
    """The inputs of a case are not those of the recording.

    Inputs are made again from their recipe, and their sha256 is compared with the recorded one before anything runs. They differ, so the
    recorded outputs belong to other inputs. The recipe or the generator was changed without a new version.
    """

    id = "ASC316"
    exit_code = ExitCode.MISMATCH


class NotAVerdict(AscendOpsError):
    """`ascendops verify` was given something that is no verdict.

    A verdict is a folder with `verdict.json` and `outputs.safetensors`, written by `ascendops test --verdict DIR`. The result of `ascendops test --out`, or
    `bundle.json` of a golden bundle, is something else.
    """

    id = "ASC323"
    exit_code = ExitCode.USAGE


class VerdictDisagrees(AscendOpsError):
    """A verdict file does not stand up to being verified again.

    `ascendops verify` makes the inputs again, computes the golden again and judges the outputs that the file holds. A sum that does not
    fit means that the file was changed; another verdict means that the file claims what its outputs do not show.
    """

    id = "ASC317"
    exit_code = ExitCode.MISMATCH
