"""What ATC needs to take a kit operator from ONNX: a model, the parser plug-in, and the command line."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import OnnxRefused
from ascendops.render.fileset import staged

if TYPE_CHECKING:
    import torch

    from ascendops.build.project import Project
    from ascendops.spec.model import OpSpec


PLUGIN = Path("framework", "onnx_plugin")


@dataclass(frozen=True)
class AtcExport:
    """What `export` wrote for one operator: the model, the plug-in's files, and ATC's command line."""

    operator: str
    model: Path
    plugin: tuple[Path, ...]
    command: str


def export(project: Project, target: Path, soc: str, *, force: bool = False) -> list[AtcExport]:
    """Writes `target/OP.onnx` with one node for each operator of a project, and the plug-in's sources to `target/framework/onnx_plugin`.

    All of it or nothing; with `force` files that differ are replaced, and kept as NAME.orig.

    Raises:
        FileExistsRefused: Files in `target` differ, and `force` is off.
        OnnxRefused: An operator has no case whose shapes could be used, or golden.py cannot be exported.
    """
    if project.spec is None:
        raise OnnxRefused(f"{project.name} has no op.toml", help="the ONNX form is made from the declaration and golden.py")
    library = project.build("twin", soc)
    library.register()
    with staged(target, overwrite=force) as stage:
        examples = [(spec, *_example(spec)) for spec in project.specs]
        for spec, tensors, attrs in examples:
            _save(spec, tensors, attrs, stage / f"{spec.name}.onnx", library)
        shutil.copytree(project.root / "gen" / "onnx", stage / PLUGIN)
    files = sorted((target / PLUGIN).iterdir())
    found = []
    for spec, tensors, _ in examples:
        model = target / f"{spec.name}.onnx"
        shapes = ";".join(f"{name}:{','.join(map(str, tensor.shape))}" for name, tensor in tensors.items())
        command = ["atc", f"--model={model.name}", "--framework=5", f"--output={spec.name}", f"--soc_version={library.soc}", f"--input_shape={shapes}"]
        plugin = tuple(file for file in files if file.name in (f"{spec.name}_plugin.cc", "attributes.h"))
        found.append(AtcExport(spec.name, model, plugin, shlex.join(command)))
    return found


def _example(spec: OpSpec) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Inputs of the largest declared case without an empty tensor; in its first dtype column."""
    import math

    import torch

    from ascendops.spec.attrs import complete

    cases = [case for case in spec.cases if all(math.prod(shape) for shape in case.shapes.values())]
    if not cases or any(tensor.variadic for tensor in spec.inputs):
        raise OnnxRefused(f"{spec.name} declares no [[case]] that could be an example", where=str(spec.path), help="add a case with tensors that are not empty")
    case = max((case for case in cases if _small(case.shapes)), key=lambda case: sum(map(math.prod, case.shapes.values())), default=cases[0])
    dtypes = {tensor.name: getattr(torch, tensor.dtypes[0]) for tensor in spec.inputs}
    return {name: torch.ones(shape, dtype=dtypes[name]) for name, shape in case.shapes.items()}, dict(complete(spec.attrs, case.attrs))


def _small(shapes: Mapping[str, tuple[int, ...]]) -> bool:
    import math

    return all(math.prod(shape) <= 1 << 16 for shape in shapes.values())


def _save(spec: OpSpec, tensors: Mapping[str, Any], attrs: Mapping[str, Any], path: Path, library: Any) -> None:
    import torch

    from ascendops.torchlib import onnx

    call = getattr(torch.ops.ascendops, spec.name)

    class Model(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            values = {**attrs, **dict(zip(tensors, given, strict=True))}
            positional = [values.get(arg.name) for arg in spec.schema.arguments if not arg.kwarg_only]
            return call(*positional, **{arg.name: values.get(arg.name) for arg in spec.schema.arguments if arg.kwarg_only})

    onnx.export(Model().eval(), tuple(tensors.values()), path, [library], input_names=list(tensors))
