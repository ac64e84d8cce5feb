"""What the template of the extension's autograd reads as `op.torch.autograd`: the C++ of saving, restoring and computing gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendops.render import gradcpp
from ascendops.render.gradcpp import LIST, NUMBER, TENSOR
from ascendops.spec.autograd import PREFIX, backward_sources

if TYPE_CHECKING:
    from ascendops.spec.autograd import Autograd
    from ascendops.spec.model import AttrSpec, OpSpec, TensorSpec

# attribute type -> (how it is put into saved_data, how it is taken out, the C++ type of the restored value)
_SAVED = {
    "int": ("{}", "toInt()", "int64_t"), "float": ("{}", "toDouble()", "double"), "bool": ("{}", "toBool()", "bool"),
    "str": ("{}", "toStringRef()", "std::string"), "int[]": ("{}.vec()", "toIntVector()", "std::vector<int64_t>"),
    "float[]": ("{}.vec()", "toDoubleVector()", "std::vector<double>"), "bool[]": ("{}", "toBoolList()", "c10::List<bool>"),
}  # fmt: skip


@dataclass(frozen=True)
class AutogradView:
    """The extension's Autograd kernel of one operator.

    Attributes:
        kind: `none`: no kernel; `refused`: an error in backward(); `formula` or `operator`: how gradients are computed.
        requires: Whether an input requires a gradient, as a C++ expression.
        results: The outputs by name from the result of the call, as C++ statements.
        save: Statements at the end of forward.
        load: Statements at the beginning of backward.
        gradients: The gradient of each argument of the schema, as C++ expressions.
        outputs: Names of the outputs.
        call: For `operator`: name, result type and parameters of the backward operator, and the values that it is called with.
        backward_arguments: Its parameters as arguments.
    """

    kind: str
    requires: str = ""
    results: tuple[str, ...] = ()
    save: tuple[str, ...] = ()
    load: tuple[str, ...] = ()
    gradients: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    call: tuple[str, str, str, str] = ("", "", "", "")
    backward_arguments: str = ""

    @property
    def returned(self) -> str:
        """The returned expression of the kernel."""
        every = ", ".join(f"theOutputs[{i}]" for i in range(len(self.outputs)))
        return every if len(self.outputs) == 1 else f"{{{every}}}"


def view(spec: OpSpec, result: Any) -> AutogradView:
    """The view; `result` gives the C++ result type and parameters of a declaration."""
    if any(tensor.mutated for tensor in spec.inputs) or not spec.schema.returns:
        return AutogradView("none")
    autograd = spec.autograd
    if autograd is None or any(tensor.variadic for tensor in spec.inputs) or any(arg.kwarg_only and arg.is_tensor for arg in spec.schema.arguments):
        return AutogradView("refused")
    attrs = {attr.name: attr for attr in spec.attrs}
    needed = _needed(spec, autograd)
    tensors = [tensor.name for tensor in (*spec.inputs, *spec.outputs) if tensor.name in needed]
    kept = [name for name in attrs if name in needed]
    if any(attrs[name].type not in _SAVED for name in kept) or (autograd.backward is not None and any(tensor.optional for tensor in spec.inputs)):
        return AutogradView("refused")
    absent = {tensor.name for tensor in spec.inputs if tensor.optional}
    outputs = [tensor.name for tensor in spec.outputs]
    wide = autograd.backward is None
    unused = [name for name in outputs if PREFIX + name not in needed]
    return AutogradView(
        kind="formula" if wide else "operator",
        requires=" || ".join(_requires(tensor) for tensor in spec.inputs),
        results=tuple(f"const at::Tensor {name} = {'theResult' if len(outputs) == 1 else f'std::get<{i}>(theResult)'};" for i, name in enumerate(outputs)),
        save=(
            f"ctx->save_for_backward({{{', '.join(f'{name}.value_or(at::Tensor())' if name in absent else name for name in tensors)}}});",
            *(f'ctx->saved_data["{name}"] = {_SAVED[attrs[name].type][0].format(name)};' for name in kept),
            *(f'ctx->saved_data["theNeed.{tensor.name}"] = {_requires(tensor)};' for tensor in spec.inputs),
            *([f"ctx->mark_non_differentiable({{{', '.join(unused)}}});"] if unused else []),
        ),
        load=tuple(_load(spec, tensors, [attrs[name] for name in kept], needed, wide)),
        gradients=tuple(_gradient(spec, autograd, arg.name) for arg in spec.schema.arguments),
        outputs=tuple(outputs),
        call=("", "", "", "") if wide else _backward(spec, autograd, result),
        backward_arguments="" if autograd.backward is None else ", ".join(arg.name for arg in spec.sibling(autograd.backward).schema.arguments),
    )


def _requires(tensor: TensorSpec) -> str:
    return f"({tensor.name}.has_value() && {tensor.name}->requires_grad())" if tensor.optional else f"{tensor.name}.requires_grad()"


def _needed(spec: OpSpec, autograd: Autograd) -> set[str]:
    if autograd.backward is not None:
        return {source for source in backward_sources(spec, spec.sibling(autograd.backward)).values() if source is not None}
    return {name for formula in autograd.formula.values() for name in formula.names} | set(autograd.formula)


def _load(spec: OpSpec, tensors: list[str], kept: list[AttrSpec], needed: set[str], wide: bool) -> list[str]:
    lines = ["const torch::autograd::variable_list theSaved = ctx->get_saved_variables();"] if tensors else []
    form = "Wide({})" if wide else "{}"
    lines += [f"const at::Tensor {name} = {form.format(f'theSaved[{i}]')};" for i, name in enumerate(tensors)]
    lines += [f'const {_SAVED[a.type][2]} {a.name} = ctx->saved_data["{a.name}"].{_SAVED[a.type][1]};' for a in kept]
    grads = [(PREFIX + tensor.name, i) for i, tensor in enumerate(spec.outputs)]
    lines += [f"const at::Tensor {name} = {form.format(f'theGrads[{i}]')};" for name, i in grads if name in needed]
    return lines


def _gradient(spec: OpSpec, autograd: Autograd, name: str) -> str:
    tensor = next((one for one in spec.inputs if one.name == name), None)
    if tensor is None:
        return "at::Tensor()"
    need = f'ctx->saved_data["theNeed.{name}"].toBool()'
    if autograd.backward is not None:
        if name not in autograd.grads:
            return f'Undeclared({need}, "{spec.name}", "{name}")'
        produced = [one.name for one in spec.sibling(autograd.backward).outputs]
        place = produced.index(autograd.grads[name])
        return f"{need} ? {'theResult' if len(produced) == 1 else f'std::get<{place}>(theResult)'} : at::Tensor()"
    if name not in autograd.formula:
        return f'Undeclared({need}, "{spec.name}", "{name}")'
    kinds = {**{attr.name: LIST if attr.type.endswith("]") else NUMBER for attr in spec.attrs}}
    kinds |= {one.name: TENSOR for one in (*spec.inputs, *spec.outputs)} | {PREFIX + one.name: TENSOR for one in spec.outputs}
    saved = [one.name for one in (*spec.inputs, *spec.outputs) if one.name in _needed(spec, autograd)]
    return f"{need} ? Fit({gradcpp.cpp(autograd.formula[name], kinds)}, theSaved[{saved.index(name)}]) : at::Tensor()"


def _backward(spec: OpSpec, autograd: Autograd, result: Any) -> tuple[str, str, str, str]:
    from ascendops.render.opview import cpp_value

    assert autograd.backward is not None
    other = spec.sibling(autograd.backward)
    sources = backward_sources(spec, other)
    defaults = {attr.name: attr.default for attr in other.attrs}
    given = []
    for arg in other.schema.arguments:
        source = sources[arg.name]
        given.append(source if source is not None else cpp_value(defaults[arg.name]).removesuffix("f") if defaults.get(arg.name) is not None else "{}")
    kind, parameters = result(other)
    return other.name, kind, parameters, ", ".join(given)
