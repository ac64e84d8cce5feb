"""Operator names: the conversion to op types and back, and what is refused with which suggestion."""

from __future__ import annotations

import pytest

from ascendops.errors import BadOpName, SpecError
from ascendops.spec import names


@pytest.mark.parametrize(
    ("op_type", "name"),
    [
        ("AddCustom", "add_custom"),
        ("Conv2DCustom", "conv2_d_custom"),
        ("GRUCell", "gru_cell"),
        ("GatherV2", "gather_v2"),
        ("LayerNormV3", "layer_norm_v3"),
        ("Softmax", "softmax"),
        ("ABC", "abc"),
        ("MatMulABt", "mat_mul_a_bt"),
        ("Relu6", "relu6"),
        ("X2y", "x2y"),
    ],
)
def test_snake_follows_cann(op_type, name):
    assert names.snake(op_type) == name


@pytest.mark.parametrize("name", ["softmax", "add_layer_norm_v2", "conv2d", "relu6", "gather_v2", "rope", "conv2_d_custom", "sum", "add", "mul"])
def test_names_that_convert_back(name):
    assert names.check_op_name(name) == name
    assert names.snake(names.pascal(name)) == name


@pytest.mark.parametrize(
    ("name", "why", "suggestion"),
    [
        ("class", "C++ keyword", "class_custom"),
        ("lambda", "Python keyword", "lambda_custom"),
        ("exp", "C library", "exp_custom"),
        ("sqrt", "C library", "sqrt_custom"),
        ("max", "Ascend C", "max_custom"),
        ("half", "Ascend C", "half_custom"),
        ("std", "namespace", "std_custom"),
        ("Softmax", "lower-case", "softmax"),
        ("soft-max", "lower-case", "soft_max"),
        ("SoftMaxV2", "lower-case", "soft_max_v2"),
        ("2d_pool", "lower-case", "d_pool"),
        ("my__op", "lower-case", "my_op"),
        ("_op", "lower-case", "op"),
        ("", "lower-case", "my_op"),
        ("x_2d", "converts back to 'x2d'", "x2d"),
        ("a_b_c", "converts back to 'abc'", "abc"),
        ("naïve", "lower-case", "na_ve"),
    ],
)
def test_names_that_are_refused(name, why, suggestion):
    with pytest.raises(BadOpName) as caught:
        names.check_op_name(name)
    assert why in (caught.value.why or "")
    assert caught.value.help == f"use for example '{suggestion}'"
    assert names.check_op_name(names.suggestion(name)) == suggestion


@pytest.mark.parametrize("name", ["int", "workspace", "tiling", "with", "a__b", "_x", "template"])
def test_argument_names_that_are_refused(name):
    with pytest.raises(SpecError, match=f"cannot be called '{name}'"):
        names.check_argument(name, "a tensor")


def test_every_name_of_the_c_library_that_python_knows_is_listed():
    import math

    libm = {name for name in dir(math) if not name.startswith("_") and name.islower() and callable(getattr(math, name))}
    python_only = {
        "comb", "degrees", "dist", "factorial", "fsum", "gcd", "isclose", "isfinite", "isqrt", "lcm", "perm", "prod", "radians", "sumprod", "ulp",
    }  # fmt: skip
    assert libm - python_only <= names.C_LIBRARY_NAMES | names.CPP_KEYWORDS
