"""What templates read as `op`: the declaration, already spelled in C++ where it is needed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ascendops.render import torchview
from ascendops.render.env import ge_dtype
from ascendops.render.torchview import DtypeView, TorchView
from ascendops.spec.attrs import op_def_type, op_def_value
from ascendops.spec.digest import interface_digest, project_digest
from ascendops.spec.infershape import statements

if TYPE_CHECKING:
    from ascendops.spec.model import AttrSpec, AttrValue, OpSpec, TensorSpec


@dataclass(frozen=True)
class TensorView:
    """An input or output as OpDef declares it; `index` counts inputs and outputs apart."""

    name: str
    index: int
    role: str
    param_type: str
    ge_dtypes: str
    ge_formats: str
    auto_contiguous: bool


@dataclass(frozen=True)
class AttrView:
    """An attribute as OpDef declares it: `method` is Int, ListInt, ...; `cpp_default` is empty when it is required."""

    name: str
    index: int
    type: str
    method: str
    presence: str
    cpp_default: str


@dataclass(frozen=True)
class OpView:
    """The operator for the templates of gen/. `all` has the views of every operator of the project, `dtypes` the dtypes of all of them."""

    spec: OpSpec
    digest: str
    project_digest: str
    tensors: tuple[TensorView, ...]
    attrs: tuple[AttrView, ...]
    infer_shape: tuple[str, ...]
    infer_dtype: tuple[str, ...]
    dtypes: tuple[DtypeView, ...]
    torch: TorchView
    all: tuple[OpView, ...] = ()

    @property
    def vendor(self) -> str:
        """Vendor name of the installed package: one per operator project, so that two can be installed side by side."""
        return f"ascendops_{self.project}"

    @property
    def project(self) -> str:
        """Name of the project: that of its first operator."""
        return self.spec.project

    @property
    def is_first(self) -> bool:
        """Whether it is the operator at the top level of op.toml."""
        return self.spec.name == self.spec.project

    @property
    def namespace(self) -> str:
        """Namespace in torch.ops."""
        return torchview.NAMESPACE

    @property
    def name(self) -> str:
        """The snake_case name."""
        return self.spec.name

    @property
    def op_type(self) -> str:
        """The CamelCase op type."""
        return self.spec.op_type

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(tensor.name for tensor in self.spec.inputs)

    @property
    def schema(self) -> str:
        """The schema string."""
        return self.spec.schema.text

    @property
    def units(self) -> tuple[str, ...]:
        """The compute units."""
        return self.spec.units


def views(spec: OpSpec) -> tuple[OpView, ...]:
    """The views of every operator of a project, the one at the top level first."""
    digest = project_digest(spec)[:12]
    dtypes = torchview.dtypes(*spec.operators)
    found = tuple(_view(op, digest, dtypes) for op in spec.operators)
    return tuple(replace(op, all=found) for op in found)


def _view(spec: OpSpec, digest: str, dtypes: tuple[DtypeView, ...]) -> OpView:
    inputs = [_tensor(tensor, index, "Input") for index, tensor in enumerate(spec.inputs)]
    outputs = [_tensor(tensor, index, "Output") for index, tensor in enumerate(spec.outputs)]
    attrs = tuple(_attr(attr, index) for index, attr in enumerate(spec.attrs))
    return OpView(
        spec=spec,
        digest=interface_digest(spec)[:12],
        project_digest=digest,
        tensors=(*inputs, *outputs),
        attrs=attrs,
        infer_shape=tuple(statements(spec)),
        infer_dtype=tuple(_infer_dtype(spec)),
        dtypes=dtypes,
        torch=torchview.view(spec),
    )


def _tensor(tensor: TensorSpec, index: int, role: str) -> TensorView:
    kind = "DYNAMIC" if tensor.variadic else "OPTIONAL" if tensor.optional else "REQUIRED"
    return TensorView(
        tensor.name,
        index,
        role,
        kind,
        ", ".join(ge_dtype(name) for name in tensor.dtypes),
        ", ".join([f"ge::FORMAT_{tensor.format}"] * len(tensor.dtypes)),
        auto_contiguous=role == "Input" and not tensor.mutated,
    )


def _attr(attr: AttrSpec, index: int) -> AttrView:
    default = "" if attr.required else cpp_value(op_def_value(attr, attr.default))
    presence = "REQUIRED" if attr.required else "OPTIONAL"
    return AttrView(attr.name, index, attr.type, op_def_type(attr), presence, default)


def cpp_value(value: AttrValue) -> str:
    """An attribute value as a C++11 literal: True -> true, 1e-5 -> 1e-05f, (0, 1) -> {0, 1}."""
    if isinstance(value, tuple):
        return "{" + ", ".join(cpp_value(item) for item in value) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}f"
    return json.dumps(value) if isinstance(value, str) else str(value)


def _infer_dtype(spec: OpSpec) -> list[str]:
    """The statements of InferDataType: each output's dtype is an input's, one constant, or found by the columns of the inputs."""
    lines: list[str] = []
    for index, tensor in enumerate(spec.outputs):
        like = next((i for i, source in enumerate(spec.inputs) if source.dtypes == tensor.dtypes and not source.optional), None)
        if like is not None:
            lines.append(f"const ge::DataType out_{tensor.name} = {_dtype_of(spec, like)};")
        elif len(set(tensor.dtypes)) == 1:
            lines.append(f"const ge::DataType out_{tensor.name} = {ge_dtype(tensor.dtypes[0])};")
        else:
            lines.extend(_by_columns(spec, tensor))
        lines.append(f"if (context->SetOutputDataType({index}, out_{tensor.name}) != ge::GRAPH_SUCCESS) {{")
        lines.append("    return ge::GRAPH_FAILED;")
        lines.append("}")
    return [*lines, "return ge::GRAPH_SUCCESS;"]


def _dtype_of(spec: OpSpec, index: int) -> str:
    tensor = spec.inputs[index]
    if tensor.variadic:
        return f"context->GetDynamicInputDataType({index}, 0)"
    return f"context->Get{'Optional' if tensor.optional else 'Required'}InputDataType({index})"


def _by_columns(spec: OpSpec, tensor: TensorSpec) -> list[str]:
    lines = [f"ge::DataType out_{tensor.name} = ge::DT_UNDEFINED;"]
    for column, dtype in enumerate(tensor.dtypes):
        tests = [f"{_dtype_of(spec, i)} == {ge_dtype(t.dtypes[column])}" for i, t in enumerate(spec.inputs) if not t.optional]
        keyword = "if" if column == 0 else "} else if"
        lines.append(f"{keyword} ({' && '.join(tests)}) {{")
        lines.append(f"    out_{tensor.name} = {ge_dtype(dtype)};")
    return [*lines, "} else {", "    return ge::GRAPH_FAILED;", "}"]
