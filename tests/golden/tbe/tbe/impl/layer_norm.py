"""layer_norm for shapes that are known when it is compiled: y[i, j] = (x[i, j] - mean[i]) / sqrt(variance of row i + eps) * weight[j] + bias[j]."""

import tbe.dsl as tbe
from tbe import tvm
from tbe.common.register import register_op_compute
from tbe.common.utils import para_check

DTYPES = ("float32", "float16", "bfloat16")


@register_op_compute("LayerNorm", op_mode="static")
def layer_norm_compute(x, weight, bias, axes, eps):
    """The result, in the dtype of its input."""
    dtype, shape = x.dtype, x.shape
    x, weight, bias = widen(x), tbe.broadcast(widen(weight), shape), tbe.broadcast(widen(bias), shape)
    centered = tbe.vsub(x, tbe.broadcast(tbe.reduce_mean(x, axis=axes, keepdims=True), shape))
    variance = tbe.reduce_mean(tbe.vmul(centered, centered), axis=axes, keepdims=True)
    variance = tbe.vadds(variance, tvm.const(eps, "float32"))
    res = tbe.vdiv(centered, tbe.broadcast(tbe.vsqrt(variance), shape))
    res = tbe.vadd(tbe.vmul(res, weight), bias)
    return narrow(res, dtype)


def widen(value):
    """The tensor in float32, in which everything is computed."""
    return value if value.dtype == "float32" else tbe.cast_to(value, "float32")


def narrow(value, dtype):
    """The float32 result rounded once to the operator's dtype."""
    if dtype == "float32":
        return value
    return tbe.round(value, dtype) if dtype == "bfloat16" else tbe.cast_to(value, dtype)


@para_check.check_op_params(
    para_check.REQUIRED_INPUT,
    para_check.REQUIRED_INPUT,
    para_check.REQUIRED_INPUT,
    para_check.REQUIRED_OUTPUT,
    para_check.OPTION_ATTR_FLOAT,
    para_check.KERNEL_NAME,
)
def layer_norm(x, weight, bias, y, eps=1e-05, kernel_name="layer_norm"):
    """y[i, j] = (x[i, j] - mean[i]) / sqrt(variance of row i + eps) * weight[j] + bias[j].

    x, weight, bias, y: dicts of shape, dtype and format; eps: attributes.
    """
    dtype = x.get("dtype").lower()
    para_check.check_dtype(dtype, DTYPES, param_name="x")
    shape = x.get("shape")
    row = [1] * (len(shape) - 1) + list(weight.get("shape"))
    x = tvm.placeholder(shape, name="data_x", dtype=dtype)
    weight = tvm.placeholder(row, name="data_weight", dtype=dtype)
    bias = tvm.placeholder(row, name="data_bias", dtype=dtype)
    res = layer_norm_compute(x, weight, bias, [len(shape) - 1], eps)
    with tvm.target.cce():
        schedule = tbe.auto_schedule(res)
    tbe.build(schedule, {"name": kernel_name, "tensor_list": [x, weight, bias, res]})
