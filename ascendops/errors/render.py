"""Errors of rendering and scaffolding (ASC2xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError

__all__ = [
    "FamilyError",
    "DirectLaunchRefused",
    "FileExistsRefused",
    "NotWritable",
    "RenderError",
    "SchemaMisfit",
    "SourceError",
    "TemplateError",
    "UnknownFamily",
    "UnknownPreset",
]


class RenderError(AscendOpsError):
    """A template could not be rendered."""

    id = "ASC201"


class TemplateError(RenderError):
    """A template has a fault: an undefined name, a syntax error, or C++ braces that Jinja reads as an expression.

    Templates are strict: a misspelt name is an error, not an empty string. C++ that needs nested braces is written `{ {`, because
    `{{ ... }}` is Jinja's. This is a fault of ascendops or of a template that you changed.
    """

    id = "ASC202"


class FamilyError(RenderError):
    """A template family's family.toml is not valid."""

    id = "ASC203"


class UnknownFamily(RenderError):
    """There is no template family of that name."""

    id = "ASC204"


class UnknownPreset(RenderError):
    """No template family has that operator.

    `ascendops new op NAME` takes the template from the name: `softmax`, `exp_custom` and so on. For a name of your own, say which
    operator to start from (`--like gelu`) or which family (`--family elementwise`).
    """

    id = "ASC205"


class FileExistsRefused(RenderError):
    """Files of yours would be overwritten, so nothing was written.

    `--force` replaces them and keeps each old content beside it as NAME.orig. `--dry-run` shows the tree and `--diff` the changes.
    """

    id = "ASC206"


class DirectLaunchRefused(RenderError):
    """An operator cannot be exported as a kernel direct launch project.

    `ascendops export --format direct` writes the kernel's parameters, tiling data and outputs as files. That needs an op.toml with cases, a
    kernel of plain GM pointers, workspace and tiling, and one tiling structure that the kernel names (REGISTER_TILING_DEFAULT, or
    GET_TILING_DATA_WITH_STRUCT). Tensor lists, kernels that are templates of their tiling key, and outputs whose shape the kernel computes
    do not fit.
    """

    id = "ASC210"


class NotWritable(RenderError):
    """The folder cannot be written: it is read-only, on a full disk, or a file is in the way. Nothing was left half-written."""

    id = "ASC207"


class SchemaMisfit(RenderError):
    """The schema given with --schema does not fit the template family.

    A family's kernel is written for a certain number of input and output tensors and for the attributes of its preset.
    """

    id = "ASC208"


class SourceError(RenderError):
    """The file given with --from does not declare an operator that the kit can make a project of.

    It may be msopgen's JSON (`op`, `input_desc`, `output_desc`, `attr`), a Python file whose function is the golden, or a CUDA or Triton
    file with a kernel. The file is parsed, never executed.
    """

    id = "ASC209"
