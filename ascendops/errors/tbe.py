"""Errors of TBE operators on the CPU (ASC51x)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["TbeDtypeError", "TbeError", "TbeParameterError", "TbeShapeError", "TbeUnsupported"]


class TbeError(AscendOpsError, RuntimeError):
    """A TBE operator cannot be evaluated: its Python raised, or it built nothing.

    The twin runs `impl/dynamic/<op>.py` and `impl/<op>.py` as the graph compiler would, with its own tbe modules, and evaluates the graph of
    tbe.dsl calls on the CPU. `where` is the line of the operator's source.
    """

    id = "ASC511"
    exit_code = ExitCode.COMPILE


class TbeDtypeError(TbeError):
    """A tbe.dsl function does not take this dtype, or a result has the wrong one.

    Cast with tbe.cast_to first: the vector unit computes float16 and float32, and int32 for additions, products, minima and maxima.
    bfloat16 is cast to float32 before any arithmetic, and rounded back with tbe.round(x, "bfloat16") at the end.
    """

    id = "ASC512"


class TbeShapeError(TbeError):
    """Shapes of a tbe.dsl call do not fit, or the result has another number of elements than the output.

    tbe.dsl functions never broadcast by themselves: bring both tensors to one shape with tbe.broadcast. In dynamic shape, classify hands
    the operator fused shapes: axes and ranks come from what it returns, not from the operator's own arguments.
    """

    id = "ASC513"


class TbeUnsupported(TbeError):
    """The operator calls something that the TBE twin does not evaluate.

    Every function of tbe.dsl is either evaluated or refused by name; docs/tbe.md lists them. tvm.compute, tik kernels, schedules written by
    hand, convolutions and matrix products are refused.
    """

    id = "ASC514"


class TbeParameterError(TbeError):
    """para_check, or the operator itself, refused a parameter.

    A tensor is missing, a dtype or format is not in the operator's list, a shape is out of range, or an attribute has another type.
    """

    id = "ASC515"
