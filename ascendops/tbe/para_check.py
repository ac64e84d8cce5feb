"""tbe.common.utils.para_check: the checks of an operator's parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ascendops.errors import TbeParameterError
from ascendops.tbe.graph import caller, concrete

REQUIRED_INPUT, OPTION_INPUT, DYNAMIC_INPUT = "required_input", "option_input", "dynamic_input"
REQUIRED_OUTPUT, OPTION_OUTPUT, DYNAMIC_OUTPUT = "required_output", "option_output", "dynamic_output"
KERNEL_NAME = "kernel_name"
REQUIRED_ATTR_INT, REQUIRED_ATTR_FLOAT, REQUIRED_ATTR_BOOL = "REQUIRED_ATTR_INT", "REQUIRED_ATTR_FLOAT", "REQUIRED_ATTR_BOOL"
REQUIRED_ATTR_STR, REQUIRED_ATTR_LIST_INT, REQUIRED_ATTR_LIST_FLOAT = "REQUIRED_ATTR_STR", "REQUIRED_ATTR_LIST_INT", "REQUIRED_ATTR_LIST_FLOAT"
REQUIRED_ATTR_LIST_BOOL, REQUIRED_ATTR_TYPE, REQUIRED_ATTR_LIST_LIST_INT = "REQUIRED_ATTR_LIST_BOOL", "REQUIRED_ATTR_TYPE", "REQUIRED_ATTR_LIST_LIST_INT"
OPTION_ATTR_INT, OPTION_ATTR_FLOAT, OPTION_ATTR_BOOL = "OPTION_ATTR_INT", "OPTION_ATTR_FLOAT", "OPTION_ATTR_BOOL"
OPTION_ATTR_STR, OPTION_ATTR_LIST_INT, OPTION_ATTR_LIST_FLOAT = "OPTION_ATTR_STR", "OPTION_ATTR_LIST_INT", "OPTION_ATTR_LIST_FLOAT"
OPTION_ATTR_LIST_BOOL, OPTION_ATTR_TYPE, OPTION_ATTR_LIST_LIST_INT = "OPTION_ATTR_LIST_BOOL", "OPTION_ATTR_TYPE", "OPTION_ATTR_LIST_LIST_INT"
RANK_ZERO, RANK_LIMIT, DIM_LIMIT, SHAPE_SIZE_LIMIT = 0, 8, 2**31 - 1, 2**31 - 1
NONE_TYPE = type(None)
_ATTR_TYPES: dict[str, Any] = {"INT": int, "FLOAT": (int, float), "BOOL": bool, "STR": str, "LIST": (list, tuple), "TYPE": (str, int)}
_MAX_NAME = 200


def _fail(what: str, help: str | None = None) -> None:
    raise TbeParameterError(what, where=caller(), help=help)


def check_op_params(*kinds: str, **named: str) -> Callable[..., Any]:
    """Checks the parameters of an entry function by their kinds, in order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            for name, kind in {**dict(zip(names, kinds, strict=False)), **named}.items():
                _parameter(function.__name__, name, kind, given.get(name))
            return function(*args, **kwargs)

        return checked

    return decorate


def _parameter(op: str, name: str, kind: Any, value: Any) -> None:
    if isinstance(kind, list | tuple):
        _any_of(op, name, kind, value)
    elif kind == KERNEL_NAME:
        check_kernel_name(value if value is not None else op)
    elif kind in (REQUIRED_INPUT, REQUIRED_OUTPUT):
        _tensor(op, name, value)
    elif kind in (OPTION_INPUT, OPTION_OUTPUT):
        if value is not None:
            _tensor(op, name, value)
    elif kind in (DYNAMIC_INPUT, DYNAMIC_OUTPUT):
        if not isinstance(value, list | tuple) or not value:
            _fail(f"parameter '{name}' of {op} must be a list of tensors, not {value!r}")
        for one in value:
            _tensor(op, name, one)
    else:
        _attr(op, name, kind, value)


def _any_of(op: str, name: str, kinds: Sequence[str], value: Any) -> None:
    problems = []
    for kind in kinds:
        try:
            return _parameter(op, name, kind, value)
        except TbeParameterError as error:
            problems.append(error)
    raise problems[-1]


def _tensor(op: str, name: str, value: Any) -> None:
    if not isinstance(value, dict) or "shape" not in value or "dtype" not in value:
        _fail(f"parameter '{name}' of {op} must be a tensor's dict with shape and dtype, not {value!r}")


def _attr(op: str, name: str, kind: str, value: Any) -> None:
    presence, _, word = kind.partition("_ATTR_")
    if value is None:
        if presence == "REQUIRED":
            _fail(f"attribute '{name}' of {op} is missing")
        return
    wanted = _ATTR_TYPES[word.partition("_")[0]]
    if not isinstance(value, wanted) or (word == "INT" and isinstance(value, bool)):
        _fail(f"attribute '{name}' of {op} cannot be {value!r}", f"its kind is {kind}")


def check_dtype(dtype: Any, check_list: Sequence[str] = (), param_name: str = "") -> None:
    """Refuses a dtype that is not in the list."""
    allowed = [check_list] if isinstance(check_list, str) else list(check_list)
    if not isinstance(dtype, str) or (allowed and not any(dtype.lower() in one.lower().replace(",", " ").split() for one in allowed)):
        _fail(f"dtype of '{param_name}' cannot be {dtype}", f"the operator allows {', '.join(allowed)}")


def check_dtype_rule(dtype: Any, check_list: Sequence[str], param_name: str = "default") -> None:
    """Like check_dtype."""
    check_dtype(dtype, check_list, param_name)


def check_format(data_format: Any, check_list: Sequence[str] | None = None, param_name: str = "") -> None:
    """Refuses a format that is not in the list."""
    if check_list and str(data_format).upper() not in [one.upper() for one in check_list]:
        _fail(f"format of '{param_name}' cannot be {data_format}", f"the operator allows {', '.join(check_list)}")


def check_shape(
    shape: Any, min_dim: int = 0, max_dim: int = DIM_LIMIT, min_rank: int = 0, max_rank: int = RANK_LIMIT, min_size: int = 0,
    max_size: int = SHAPE_SIZE_LIMIT, param_name: str = "",
) -> None:  # fmt: skip
    """Refuses a shape with a rank, a size or a number of elements out of range; sizes that are not known pass."""
    if not isinstance(shape, list | tuple):
        _fail(f"shape of '{param_name}' must be a list, not {shape!r}")
    if not min_rank <= len(shape) <= max_rank:
        _fail(f"'{param_name}' has {len(shape)} dims", f"the operator allows {min_rank} to {max_rank}")
    total = 1
    for size in map(concrete, shape):
        if size >= 0 and not min_dim <= size <= max_dim:
            _fail(f"a dim of '{param_name}' is {size}", f"the operator allows {min_dim} to {max_dim}")
        total *= max(size, 1) if size < 0 else size
    if not min_size <= total <= max_size:
        _fail(f"'{param_name}' has {total} elements", f"the operator allows {min_size} to {max_size}")


def check_shape_rule(shape: Any, min_dim: int | None = None, max_dim: int | None = None, max_shape_num: int | None = None) -> None:
    """The older form of check_shape: `min_dim` and `max_dim` are ranks."""
    check_shape(shape, min_rank=min_dim or 0, max_rank=max_dim or RANK_LIMIT, max_dim=max_shape_num or DIM_LIMIT)


def check_shape_size(shape: Any, limit: int = SHAPE_SIZE_LIMIT) -> None:
    """Refuses too many elements."""
    check_shape(shape, max_size=limit)


check_tensor_shape_size = check_shape_size


def check_kernel_name(kernel_name: Any) -> None:
    """Refuses a kernel name that is no C identifier."""
    if not isinstance(kernel_name, str) or not kernel_name.isidentifier() or len(kernel_name) > _MAX_NAME:
        _fail(f"the kernel name cannot be {kernel_name!r}", "letters, digits and underscores")


def check_input_type(*_types: Any, **_named: Any) -> Callable[..., Any]:
    """The oldest decorator: types of parameters; parameters are checked where they are used."""
    return lambda function: function


def check_elewise_shape_range(inputs: Sequence[Any], support_broadcast: bool = False) -> None:
    """Refuses inputs of different ranks where broadcasting is not supported."""
    ranks = {len(one["shape"]) for one in inputs}
    if len(ranks) > 1 and not support_broadcast:
        _fail(f"the inputs have {' and '.join(map(str, sorted(ranks)))} dims")


def check_reduce_shape_rule(shape: Any) -> None:
    """Refuses a shape with an empty axis."""
    if any(concrete(size) == 0 for size in shape):
        _fail(f"a reduced shape cannot be {list(shape)}")


def is_scalar(shape: Any) -> bool:
    """Whether a shape has one element."""
    return len(shape) == 0 or (len(shape) == 1 and concrete(shape[0]) == 1)
