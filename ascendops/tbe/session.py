"""One call of an operator's Python: what it built, and for which SoC and shape mode."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascendops.errors import TbeError
from ascendops.spec.socs import DEFAULT_SOC, Soc, resolve
from ascendops.tbe.graph import Tensor, caller

DYNAMIC, STATIC = "dynamic", "static"


@dataclass
class Session:
    """What one call of an operator does.

    Attributes:
        soc: The SoC it is built for.
        mode: `dynamic` (shapes are not known to the source) or `static`.
        tensors: tensor_list of each build call: placeholders in order, then results.
        compile_info: What add_compile_info was given.
    """

    soc: Soc = field(default_factory=lambda: resolve(DEFAULT_SOC))
    mode: str = DYNAMIC
    tensors: list[list[Any]] = field(default_factory=list)
    compile_info: dict[str, Any] = field(default_factory=dict)


_current: list[Session] = []
operators: dict[str, Callable[..., Any]] = {}
"""Functions that @register_operator marked, by op type, in the session that is open."""


def current() -> Session:
    """The session that is open.

    Raises:
        TbeError: There is none: the operator's module is used outside of a build.
    """
    if not _current:
        raise TbeError("a tbe function was called outside of a build", where=caller(), help="run the operator with ascendops build or test")
    return _current[-1]


@contextlib.contextmanager
def opened(session: Session) -> Iterator[Session]:
    """Makes `session` the current one."""
    _current.append(session)
    try:
        yield session
    finally:
        _current.pop()


@dataclass(frozen=True)
class Schedule:
    """What auto_schedule returns: the twin has no schedule, it evaluates the results."""

    outputs: tuple[Tensor, ...]


def auto_schedule(outs: Any, option: Any = None) -> Schedule:
    """A schedule of one tensor or a list of them.

    Raises:
        TbeError: Something else was given.
    """
    found = tuple(outs) if isinstance(outs, list | tuple) else (outs,)
    if not found or not all(isinstance(one, Tensor) for one in found):
        raise TbeError("auto_schedule was given something that is no tensor", where=caller(), help="give the result of the compute function")
    return Schedule(found)


def build(sch: Any, config_map: Mapping[str, Any] | None = None) -> None:
    """Ends the operator's description: `tensor_list` holds the placeholders in order, then the results.

    Raises:
        TbeError: The list does not fit the schedules.
    """
    config = dict(config_map or {})
    schedules = list(sch) if isinstance(sch, list | tuple) else [sch]
    lists = config.get("tensor_list")
    where = caller()
    if not isinstance(lists, list | tuple) or not lists:
        raise TbeError('tbe.build needs config["tensor_list"]', where=where, help='{"name": kernel_name, "tensor_list": [x, y, result]}')
    if not isinstance(lists[0], list | tuple):
        lists = [lists]
    if len(lists) != len(schedules):
        raise TbeError(f"tbe.build was given {len(schedules)} schedules and {len(lists)} lists of tensors", where=where)
    for schedule, tensors in zip(schedules, lists, strict=True):
        flat = list(_flat(tensors))
        missing = [one.name for one in schedule.outputs if all(one is not other for other in flat)]
        if missing:
            raise TbeError(f"tensor_list of tbe.build lacks the scheduled result {', '.join(missing)}", where=where, help="add it after the placeholders")
        current().tensors.append(flat)


def _flat(tensors: Sequence[Any]) -> Iterator[Tensor]:
    for one in tensors:
        if isinstance(one, list | tuple):
            yield from _flat(one)
        elif isinstance(one, Tensor):
            yield one


def add_compile_info(key: str, value: Any) -> None:
    """Keeps information for the tiling function; the twin only records it."""
    current().compile_info[key] = value


@contextlib.contextmanager
def compute(_operator: Any = None) -> Iterator[None]:
    """`with tbe.compute():` around one compute description."""
    yield


@contextlib.contextmanager
def target(_name: str = "cce") -> Iterator[None]:
    """`with tvm.target.cce():` around the schedule."""
    yield


def register_operator(op_type: str, pattern: str | None = None, **_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Marks the entry function of an op type."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        operators[op_type] = function
        return function

    return mark


def register_compute(op_type: str = "", op_mode: str = "dynamic", support_fusion: Any = True, **_: Any) -> Callable[..., Any]:
    """Marks a compute function; fusion with other operators is the graph compiler's."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    return mark


class Context:
    """What get_context() returns in an operator."""

    def get_op_mode(self) -> str:
        """`dynamic` or `static`."""
        return current().mode

    def add_compile_info(self, key: str, value: Any) -> None:
        """See add_compile_info."""
        add_compile_info(key, value)

    def get_compile_info(self, key: str | None = None) -> Any:
        """What was added."""
        info = current().compile_info
        return info if key is None else info.get(key)

    def add(self, key: str, value: Any) -> None:
        """Keeps a value for the build."""
        current().compile_info[key] = value

    def get(self, key: str) -> Any:
        """A kept value, or None."""
        return current().compile_info.get(key)

    add_addition, get_addition, set_pattern = add, get, lambda _self, _pattern: None
    get_current = property(lambda self: self)


def get_context() -> Context:
    """The operator's context."""
    return Context()
