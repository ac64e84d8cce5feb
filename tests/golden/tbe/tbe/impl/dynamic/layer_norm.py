"""layer_norm for shapes that are known at run time only: y[i, j] = (x[i, j] - mean[i]) / sqrt(variance of row i + eps) * weight[j] + bias[j]."""

from impl.util.platform_adapter import OpPatternMode, classify, para_check, register_operator, shape_util, tbe, tvm

DTYPES = ("float32", "float16", "bfloat16")


def layer_norm_compute(x, weight, bias, axes, eps):
    """The result of one variant, in the dtype of its input."""
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


@register_operator("LayerNorm")
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
    x["input_type"], weight["input_type"], bias["input_type"] = 0, 1, 1
    axis = [len(x.get("shape")) - 1]
    schedules, tensors = [], []
    for *variants, axes in classify([x, weight, bias, axis], OpPatternMode.NORM):
        with tbe.compute():
            shapes = shape_util.variable_shape(variants, op_mode="norm")
            names = ("data_x", "data_weight", "data_bias")
            data = [tvm.placeholder(shape, name=name, dtype=dtype) for shape, name in zip(shapes, names)]
            res = layer_norm_compute(*data, axes, eps)
            tensors.append([*data, res])
        with tvm.target.cce():
            schedules.append(tbe.auto_schedule(res))
    tbe.build(schedules, {"name": kernel_name, "tensor_list": tensors})
