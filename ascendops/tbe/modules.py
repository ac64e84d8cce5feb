"""The modules that an operator's source imports: tbe, te, topi and impl.util.platform_adapter, there only while one is evaluated."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from ascendops.errors import TbeParameterError, TbeUnsupported
from ascendops.tbe import classify as shapes, para_check, platform, session, shape_util
from ascendops.tbe.functions import casts, elementwise, elementwise_values, move, reductions, select  # noqa: F401  they register themselves
from ascendops.tbe.functions.base import FUNCTIONS
from ascendops.tbe.graph import Const, Dim, Tensor, caller, concrete

ROOTS = ("tbe", "te", "topi", "impl")

REFUSED = (
    "conv", "conv2d_backprop_filter", "conv2d_backprop_input", "conv3d", "conv3d_backprop_filter", "conv3d_backprop_input", "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input", "dilation", "gemm", "matmul", "pooling2d", "pooling3d",
    "max_pooling3d_grad_grad", "reduce_window", "transdata", "scatter", "scatter_nd", "segment", "sort", "topk", "complex", "real", "var", "var_attr",
)  # fmt: skip
"""Functions of tbe.dsl that the twin does not evaluate."""


class Refused:
    """Something that the twin does not have: it may be imported, and says so when it is used."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _fail(self) -> NoReturn:
        raise TbeUnsupported(f"the TBE twin does not evaluate {self._name}", where=caller(), help="ascendops explain ASC514; docs/tbe.md lists what it evaluates")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Refused(f"{self._name}.{name}")

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        self._fail()

    def __enter__(self) -> NoReturn:
        self._fail()

    def __exit__(self, *_: object) -> None:
        return None


class Module(ModuleType):
    """A module whose missing names can be imported and are refused when they are used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Refused(f"{self.__name__}.{name}")


def _error_manager(name: str) -> Any:
    def fail(*args: Any, **kwargs: Any) -> NoReturn:
        words = ", ".join(map(str, (*args, *(f"{k}={v}" for k, v in kwargs.items()))))
        raise TbeParameterError(f"the operator refuses its parameters: {words} ({name})", where=caller())

    return fail


class ErrorManager(Module):
    """error_manager_vector and error_manager_cube: every raise_* function raises what it is given."""

    def __getattr__(self, name: str) -> Any:
        return _error_manager(name) if name.startswith("raise_") else super().__getattr__(name)


class OpPatternMode:
    """The patterns of classify."""

    NONE, ELEWISE, ELEWISE_WITH_BROADCAST, REDUCE, NORM, TUPLE_REDUCE = "", "elewise", "broadcast", "reduce", "norm", "tuple_reduce"
    GATHER, TRANSDATA, POOLING, SEGMENT, SPARSE_APPLY, SORT = "gather", "transdata", "pooling", "segment", "sparse_apply", "sort"


class OpImplMode:
    """Modes of implementation."""

    HIGH_PERFORMANCE, HIGH_PRECISION, SUPER_PERFORMANCE = "high_performance", "high_precision", "super_performance"


class OpTbeImplMode:
    """Modes of implementation of single functions."""

    TBE_HIGH_PRECISION = "high_precision"


def const(value: Any, dtype: str = "float32") -> Const:
    """tvm.const."""
    return Const(value.value if isinstance(value, Const | Dim) else value, dtype)


def _tvm() -> dict[str, Any]:
    """Attributes of tvm that DSL operators use; the rest of it is refused."""
    return {
        "placeholder": shapes.placeholder, "const": const, "Tensor": Tensor, "Var": Dim, "target": SimpleNamespace(cce=session.target),
        "tensor": SimpleNamespace(Tensor=Tensor), "all": _all_of, "any": _any_of, "expr": SimpleNamespace(Var=Dim),
        "max": lambda *v: max(v, key=concrete), "min": lambda *v: min(v, key=concrete),
    }  # fmt: skip


def _all_of(*conditions: Any) -> Any:
    found = conditions[0]
    for condition in conditions[1:]:
        found = found & condition
    return found


def _any_of(*conditions: Any) -> Any:
    found = conditions[0]
    for condition in conditions[1:]:
        found = found | condition
    return found


def _dsl() -> dict[str, Any]:
    return {
        **FUNCTIONS, **{name: Refused(f"tbe.dsl.{name}") for name in REFUSED}, "auto_schedule": session.auto_schedule, "build": session.build,
        "classify": shapes.classify, "compute": session.compute, "schedule": session.compute, "placeholder": shapes.placeholder,
        "add_build_arg": session.add_compile_info,
        "add_exclude_bound_var": lambda _var: None,
    }  # fmt: skip


def _cce() -> dict[str, Any]:
    """te.lang.cce: the older names of the same functions."""
    older = {"sum": FUNCTIONS["reduce_sum"], "cce_build_code": session.build, "dsl_check_support": platform.api_check_support}
    return {**_dsl(), **older}


def _public(source: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(source).items() if not name.startswith("_")}


def _table() -> Mapping[str, Mapping[str, Any]]:
    """Attributes of every module by its name."""
    tvm, dsl, checks, sizes, soc = _tvm(), _dsl(), _public(para_check), _public(shape_util), _public(platform)
    register = {"register_operator": session.register_operator, "register_op_compute": session.register_compute, "register_operator_compute": session.register_compute}
    register |= {"register_param_generalization": session.register_compute, "set_fusion_buildcfg": lambda *_args, **_kwargs: None}
    operation = {"add_compile_info": session.add_compile_info, "get_context": session.get_context, "var": dsl["var"], "get_op_context": session.get_context}
    return {
        "tbe": {"__version__": "twin"}, "tbe.dsl": dsl, "tbe.dsl.api": dsl, "tbe.dsl.base": {}, "tbe.dsl.base.operation": operation, "tbe.tvm": tvm,
        "tbe.common": {}, "tbe.common.utils": {}, "tbe.common.utils.para_check": checks, "tbe.common.utils.shape_util": sizes,
        "tbe.common.utils.errormgr": {}, "tbe.common.register": register, "tbe.common.platform": soc, "tbe.common.platform.platform_info": soc,
        "tbe.common.context": {"get_context": session.get_context}, "tbe.common.context.op_context": {"get_context": session.get_context},
        "te": {}, "te.lang": {}, "te.lang.cce": _cce(), "te.lang.dynamic": _cce(), "te.lang.cce.te_compute": _cce(),
        **{f"te.lang.cce.te_compute.{name}": _cce() for name in ("elewise_compute", "broadcast_compute", "cast_compute", "reduction_compute")},
        "te.tvm": tvm, "te.utils": {}, "te.utils.op_utils": checks | sizes,
        "te.utils.para_check": checks, "te.utils.shape_util": sizes, "te.platform": soc, "te.platform.cce_conf": soc,
        "topi": {}, "topi.generic": {"auto_schedule": session.auto_schedule}, "topi.cce": {}, "topi.cce.util": checks | sizes,
        "impl": {}, "impl.util": {}, "impl.dynamic": {},
        "impl.util.platform_adapter": {
            **register, "OpPatternMode": OpPatternMode, "OpImplMode": OpImplMode, "OpTbeImplMode": OpTbeImplMode, "classify": shapes.classify,
            "in_record": lambda: False, "check_support_block_size_16": lambda: False,
        },
    }  # fmt: skip


_ERROR_MODULES = ("tbe.common.utils.errormgr.error_manager_vector", "tbe.common.utils.errormgr.error_manager_cube")


def make(folders: Sequence[Path] = ()) -> dict[str, ModuleType]:
    """The modules by name; `folders` are where impl's own modules are looked for (an operator project's tbe/impl)."""
    made: dict[str, ModuleType] = {}
    for name, attributes in _table().items():
        module = made[name] = (ModuleType if name in ("impl", "impl.util", "impl.dynamic") else Module)(name)
        vars(module).update(attributes)
        module.__path__ = []
    for name in _ERROR_MODULES:
        made[name] = ErrorManager(name)
    adapter = vars(made["impl.util.platform_adapter"])
    adapter |= {
        "tbe": made["tbe.dsl"], "tvm": made["tbe.tvm"], "para_check": made["tbe.common.utils.para_check"], "shape_util": made["tbe.common.utils.shape_util"],
        "tbe_platform": made["tbe.common.platform"], "tbe_context": made["tbe.common.context.op_context"], "operation": made["tbe.dsl.base.operation"],
        "error_manager_vector": made[_ERROR_MODULES[0]], "error_manager_cube": made[_ERROR_MODULES[1]], "tbe_register": made["tbe.common.register"],
    }  # fmt: skip
    made["impl"].__path__ = [str(folder) for folder in folders]
    for name in ("util", "dynamic"):
        made[f"impl.{name}"].__path__ = [str(folder / name) for folder in folders]
    for name, module in made.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(made[parent], child, module)
    return made


class Finder(MetaPathFinder, Loader):
    """Answers the import of any other submodule of tbe, te and topi with a module whose contents are refused when they are used."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002  the protocol's names
        """A spec for names below tbe, te and topi; None for others."""
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] in ("tbe", "te", "topi") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module without contents."""
        return Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


@contextlib.contextmanager
def installed(folders: Sequence[Path] = ()) -> Iterator[None]:
    """Makes the modules importable; afterwards sys.modules is as it was, so a real tbe package is not hidden for longer."""
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ROOTS}
    for name in before:
        del sys.modules[name]
    sys.modules.update(make(folders))
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] in ROOTS]:
            del sys.modules[name]
        sys.modules.update(before)
