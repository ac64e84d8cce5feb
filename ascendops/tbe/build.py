"""The twin backend of TBE projects: nothing is compiled; the sources are loaded and described once per dtype column."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.build.library import Library
from ascendops.build.twin import render_gen, schema_signature
from ascendops.errors import TbeError
from ascendops.tbe.operator import TbeOperator
from ascendops.tbe.session import DYNAMIC, STATIC
from ascendops.tbe.source import Source, load
from ascendops.twin.opdef import OpAttr, OpDef, OpParam

if TYPE_CHECKING:
    import torch

    from ascendops.build.project import Project
    from ascendops.spec.model import OpSpec, TensorSpec
    from ascendops.spec.socs import Soc

IMPL = Path("tbe") / "impl"


def build(project: Project, soc: Soc) -> tuple[Library, int]:
    """The operators of a TBE project; each implementation is called once for every dtype column with the shapes of a case.

    Raises:
        TbeError: An implementation is missing, or fails for a declared dtype.
    """
    render_gen(project)
    ops = {spec.name: _operator(project.root, spec, soc) for spec in project.specs}
    for op in ops.values():
        _try_columns(op)
    return Library(ops, project.root, soc.name, "twin"), 0


def _operator(root: Path, spec: OpSpec, soc: Soc) -> TbeOperator:
    sources = tuple(_sources(root, spec))
    if not sources:
        raise TbeError(f"{spec.name} has no implementation", where=str(root / IMPL), help=f"write {IMPL}/dynamic/{spec.name}.py, {IMPL}/{spec.name}.py or both")
    kernels: Any = [root] * spec.columns
    host: Any = None
    return TbeOperator(spec.name, definition(spec), schema_signature(spec.name, spec), soc, host, kernels, spec.name, spec, sources)


def _sources(root: Path, spec: OpSpec) -> list[Source]:
    found = []
    for mode, path in ((DYNAMIC, root / IMPL / "dynamic" / f"{spec.name}.py"), (STATIC, root / IMPL / f"{spec.name}.py")):
        if path.is_file():
            found.append(load(path, spec.op_type, spec.name, mode, root / IMPL))
    return found


def definition(spec: OpSpec) -> OpDef:
    """The declaration in the form that a compiled OpDef has."""
    attrs = tuple(OpAttr(attr.name, attr.type, attr.required, attr.default) for attr in spec.attrs)
    return OpDef(
        spec.op_type, tuple(map(_param, spec.inputs)), tuple(map(_param, spec.outputs)), attrs, spec.units,
        has_infershape=False, has_inferdtype=False, has_tiling=False, tiling_struct=None, keyed_tilings={}, unit_columns={},
    )  # fmt: skip


def _param(tensor: TensorSpec) -> OpParam:
    kind = "dynamic" if tensor.variadic else "optional" if tensor.optional else "required"
    return OpParam(tensor.name, kind, tensor.dtypes, (tensor.format,) * len(tensor.dtypes))


def _try_columns(op: TbeOperator) -> None:
    """Call the operator once per dtype column with ones, so that what fails for every value fails at build time."""
    import torch

    spec = op.spec
    assert spec is not None
    filled = [case for case in spec.cases if all(_full(shape) for shape in case.shapes.values())]
    case = max(filled, key=lambda one: sum(map(_size, one.shapes.values())), default=None)
    for column in range(spec.columns) if case else ():
        assert case is not None
        given = {tensor.name: _ones(case.shapes.get(tensor.name), getattr(torch, tensor.dtypes[column])) for tensor in spec.inputs}
        attrs = {attr.name: case.attrs.get(attr.name, attr.default) for attr in spec.attrs}
        arguments: dict[str, Any] = {**given, **attrs}
        op.run(**arguments)


def _full(shape: Any) -> bool:
    return all(_full(one) if isinstance(one, tuple) else one > 0 for one in shape)


def _size(shape: Any) -> int:
    return sum(map(_size, shape)) if shape and isinstance(shape[0], tuple) else math.prod(shape)


def _ones(shape: Any, dtype: torch.dtype) -> Any:
    import torch

    if shape is None:
        return None
    return [torch.ones(one, dtype=dtype) for one in shape] if shape and isinstance(shape[0], tuple) else torch.ones(shape, dtype=dtype)
