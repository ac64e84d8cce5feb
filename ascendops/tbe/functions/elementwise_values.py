"""How arithmetic on whole tensors, and on a tensor and a number, is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ascendops.tbe.functions.base import evaluates
from ascendops.tbe.graph import Tensor

if TYPE_CHECKING:
    import torch


@evaluates("vadd", "vsub", "vmul", "vdiv", "vmod", "vmax", "vmin", "vand", "vor", "vgcd", "vaddrelu", "vsubrelu")
def _binary_value(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    a, b = data
    if node.kind == "vmod":
        return a - torch.floor(a / b) * b
    if node.kind in ("vaddrelu", "vsubrelu"):
        return torch.relu(a + b if node.kind == "vaddrelu" else a - b)
    functions: dict[str, Any] = {
        "vadd": torch.add, "vsub": torch.sub, "vmul": torch.mul, "vdiv": torch.div, "vmax": torch.maximum, "vmin": torch.minimum,
        "vand": torch.bitwise_and, "vor": torch.bitwise_or, "vgcd": torch.gcd,
    }  # fmt: skip
    found: torch.Tensor = functions[node.kind](a, b)
    return found


@evaluates("vadds", "vmuls", "vmaxs", "vmins", "vlrelu", "powi", "clip")
def _number_value(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    (x,) = data
    if node.kind == "clip":
        return torch.minimum(torch.maximum(x, x.new_tensor(node.attrs["low"])), x.new_tensor(node.attrs["high"]))
    value = x.new_tensor(node.attrs["scalar"])
    if node.kind == "vlrelu":
        return torch.where(x > 0, x, x * value)
    if node.kind == "powi":
        return torch.pow(x, int(node.attrs["scalar"]))
    functions: dict[str, Any] = {"vadds": torch.add, "vmuls": torch.mul, "vmaxs": torch.maximum, "vmins": torch.minimum}
    found: torch.Tensor = functions[node.kind](x, value)
    return found


@evaluates("vexp", "vabs", "vnot", "vrelu", "vtanh", "vsigmoid", "vsignbit", "vrec", "vlog", "vsqrt", "vrsqrt")
def _unary_value(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    (x,) = data
    if node.kind == "vsignbit":
        return torch.signbit(x).to(x.dtype)
    functions: dict[str, Any] = {
        "vexp": torch.exp, "vabs": torch.abs, "vnot": torch.bitwise_not, "vrelu": torch.relu, "vtanh": torch.tanh, "vsigmoid": torch.sigmoid,
        "vrec": torch.reciprocal, "vlog": torch.log, "vsqrt": torch.sqrt, "vrsqrt": torch.rsqrt,
    }  # fmt: skip
    found: torch.Tensor = functions[node.kind](x)
    return found


@evaluates("vaxpy", "vmla", "vmadd", "vmaddrelu")
def _fused_value(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    wide = [one.to(torch.float64) for one in data]
    if node.kind == "vaxpy":
        factor = data[0].new_tensor(node.attrs["scalar"]).to(torch.float64)
        total = factor * wide[0] + wide[1]
    else:
        total = wide[0] * wide[1] + wide[2] if node.kind == "vmla" else wide[0] * wide[2] + wide[1]
    rounded = total.to(data[0].dtype)
    return torch.relu(rounded) if node.kind == "vmaddrelu" else rounded
