"""Kernel direct launch: an operator as a program that launches its kernels without an operator package.

The operator's tiling function runs here, for the shapes of the cases and one SoC; its bytes are written as data. One kernel is exported for
each dtype column and tiling key that a case needs, because an operator build sets both when it compiles (docs/adr/0009).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.build.operator import Operator
from ascendops.build.tensors import dtype_name, nbytes, raw_bytes
from ascendops.errors import DirectLaunchRefused
from ascendops.interchange.direct_kernel import KernelFile, macros, read_kernel

if TYPE_CHECKING:
    from ascendops.build.call import Call
    from ascendops.build.project import Project
    from ascendops.spec.model import OpSpec
    from ascendops.spec.socs import Soc
    from ascendops.testing.cases import TestCase

DATA = "data"


@dataclass
class DirectKernel:
    """One kernel of the project, and how many cases launch it. Templates read it as `kernel`."""

    name: str
    key: int
    dtypes: str
    macros: tuple[tuple[str, str], ...]
    cases: int = 0


@dataclass
class DirectProject:
    """What was written for one operator: folder, kernels by dtype column and tiling key, number of cases, and cases left out by name with the reason."""

    operator: str
    folder: Path
    kernels: dict[tuple[int, int], DirectKernel] = field(default_factory=dict)
    cases: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def write(project: Project, folder: Path, soc: str, tier: str = "declared", seed: int = 0, *, force: bool = False) -> list[DirectProject]:
    """Writes a direct launch project for each operator: in `folder`, or in a folder of the operator's name where there are several.

    All of it or nothing; with `force` files that differ are replaced, and kept as NAME.orig.

    Raises:
        DirectLaunchRefused: An operator cannot be launched so, or none of its cases can.
        FileExistsRefused: Files in `folder` differ, and `force` is off.
        OpHostError: The tiling function refuses a case.
    """
    from ascendops.build.twin import host_library, kernel_of, schema_signature
    from ascendops.render.fileset import staged
    from ascendops.spec import socs

    if project.spec is None or project.spec.dialect != "ascendc":
        what = f"{project.name} has no op.toml" if project.spec is None else f"{project.name} is written in TBE, which compiles at run time"
        raise DirectLaunchRefused(what, where=str(project.root), help="a direct launch is made from an Ascend C operator with cases in op.toml")
    target = socs.resolve(soc)
    project.check_unit(target)
    host, _ = host_library(project, target)
    made = []
    with staged(folder, overwrite=force) as stage:
        for spec in project.specs:
            definition = host.ops[spec.op_type].for_unit(target.unit)
            path, entry = kernel_of(project.root, definition, target)
            operator = Operator(spec.name, definition, schema_signature(spec.name, spec), target, host, (), entry, spec)
            inside = Path() if len(project.specs) == 1 else Path(spec.name)
            one = _Writer(operator, spec, read_kernel(project.root, path, entry, definition), target, stage / inside).write(tier, seed)
            made.append(replace(one, folder=folder / inside))
    return made


class _Writer:
    """Writes the project of one operator into an empty folder."""

    def __init__(self, operator: Operator, spec: OpSpec, kernel: KernelFile, soc: Soc, folder: Path) -> None:
        self.operator, self.spec, self.kernel, self.soc, self.folder = operator, spec, kernel, soc, folder
        self.made = DirectProject(spec.name, folder)

    def write(self, tier: str, seed: int) -> DirectProject:
        from ascendops.testing import matrix

        lines: list[str] = []
        rows: list[dict[str, Any]] = []
        for case in matrix.cases(self.spec, tier, seed):
            reason = self._case(case, seed, lines, rows)
            if reason:
                self.made.left_out[case.id] = reason
        if not rows:
            why = "\n".join(dict.fromkeys(self.made.left_out.values())) or "op.toml declares no [[case]]"
            raise DirectLaunchRefused(f"{self.spec.name} has no case that can be launched so", where=str(self.spec.path), why=why, help="add a [[case]]")
        self.made.cases = len(rows)
        data = self.folder / DATA
        (data / "cases.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        defaults = {attr.name: attr.default for attr in self.spec.attrs if not attr.required}
        manifest = {"operator": self.spec.name, "soc": self.soc.name, "tier": tier, "seed": seed, "defaults": defaults, "cases": rows}
        (data / "cases.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        shutil.copytree(self.spec.root / "op_kernel", self.folder / "op_kernel")
        self._render()
        return self.made

    def _case(self, case: TestCase, seed: int, lines: list[str], rows: list[dict[str, Any]]) -> str:
        """Writes one case, or says why it is left out."""
        from ascendops.interchange.expected import expected

        if case.case.layout != "contiguous":
            return f"the program has no views, and the case's inputs are {case.case.layout}"
        values = case.values(seed)
        call = self.operator.prepare(**values)
        if call.tiling is None:
            return "every output is empty, so nothing is launched"
        wanted = expected(case, values, seed)
        kernel = self._kernel_of(case, call)
        name = _folder_name(case.id, [row["folder"] for row in rows])
        folder = self.folder / DATA / name
        folder.mkdir(parents=True)
        (folder / "tiling.bin").write_bytes(_words(call.tiling.data))
        outputs = []
        for i, (param, out, truth) in enumerate(zip(self.operator.outputs, call.outputs, wanted, strict=True)):
            if truth is not None:
                _save_arrays(folder / f"golden_{i}.npz", truth)
                outputs.append({"name": param, "file": f"output_{i}.bin", "dtype": dtype_name(out), "golden": f"golden_{i}.npz"})
        workspace, parameters = sum(call.tiling.workspaces), self._parameters(call, folder)
        lines.append(f"case {name} {kernel.name} {call.tiling.block_dim} {workspace}")
        lines += [f"  {line}" for line in parameters]
        rows.append({
            "folder": name, "id": case.id, "digest": case.digest(seed), "kernel": kernel.name, "blocks": call.tiling.block_dim, "workspace": workspace,
            "inputs": [_described(call.tensors[name]) for name in self.operator.inputs], "attrs": case.attrs, "parameters": parameters,
            "outputs_made": [_described(out) for out in call.outputs], "outputs": outputs,
        })  # fmt: skip
        kernel.cases += 1
        return ""

    def _parameters(self, call: Call, folder: Path) -> list[str]:
        """One line for each kernel parameter before workspace and tiling; the files that they name are written."""
        definition, lines = self.operator.definition, []
        outputs = {param.name: i for i, param in enumerate(definition.outputs)}
        for i, param in enumerate(definition.inputs):
            tensor = call.tensors[param.name]
            if tensor is None:
                lines.append("null")
                continue
            (folder / f"input_{i}.bin").write_bytes(raw_bytes(tensor))
            written = f"output_{outputs[param.name]}.bin " if param.name in outputs else ""
            lines.append(f"{'init' if written else 'in'} input_{i}.bin {written}{nbytes(tensor)}")
        names = [param.name for param in definition.inputs]
        for i, (param, out) in enumerate(zip(definition.outputs, call.outputs, strict=True)):
            if call.tensors.get(param.name) is not None:
                lines.append(f"same {names.index(param.name)}")
            elif param.init_value:
                (folder / f"start_{i}.bin").write_bytes(raw_bytes(out))
                lines.append(f"init start_{i}.bin output_{i}.bin {nbytes(out)}")
            else:
                lines.append(f"out output_{i}.bin {nbytes(out)}")
        return lines

    def _kernel_of(self, case: TestCase, call: Call) -> DirectKernel:
        assert call.tiling is not None
        definition, column, key = self.operator.definition, call.column, call.tiling.key
        params = (*definition.inputs, *definition.outputs)
        if (column, key) not in self.made.kernels:
            name = f"{self.kernel.entry}_{case.dtype.replace('+', '_')}_key{key}"
            if name in {kernel.name for kernel in self.made.kernels.values()}:  # the same dtypes, in another order
                name = f"{name}_column{column}"
            dtypes = ", ".join(f"{param.name}: {param.dtypes[column]}" for param in params)
            self.made.kernels[column, key] = DirectKernel(name, key, dtypes, macros(self.kernel, definition, column))
        return self.made.kernels[column, key]

    def _render(self) -> None:
        from ascendops.render import FileSet, env, families

        kernels = sorted(self.made.kernels.values(), key=lambda kernel: kernel.name)
        parameters = len(self.operator.inputs) + len(self.operator.outputs) + 2
        op = {
            "name": self.spec.name, "entry": self.kernel.entry, "source": self.kernel.source, "workspace": self.kernel.workspace, "places": range(parameters),
        }  # fmt: skip
        files = FileSet()
        for entry in families.direct_files():
            for kernel in kernels if entry.per == "kernel" else [None]:
                header = f"{self.spec.name}: kernel direct launch, exported by ascendops for {self.soc.name} (template {entry.template})"
                context = {"op": op, "soc": self.soc, "kernels": kernels, "kernel": kernel, "header": header}
                target = env.render_text(entry.target, context, where=entry.template)
                files.add(target, env.render(entry.template, context), executable=entry.executable)
        files.write(self.folder)


def _described(tensor: Any) -> list[Any] | None:
    return None if tensor is None else [dtype_name(tensor), list(tensor.shape)]


def _words(tiling: bytes) -> bytes:
    """Tiling data in whole words, as the kernel copies them."""
    return tiling + bytes(-len(tiling) % 4)


def _folder_name(case: str, taken: Sequence[str]) -> str:
    import itertools

    from ascendops.interchange.ttk import case_folder

    names = itertools.chain([case_folder(case)], (f"{case_folder(case)}_{n}" for n in itertools.count(2)))
    return next(name for name in names if name not in taken)


def _save_arrays(path: Path, arrays: Any) -> None:
    import numpy as np

    np.savez_compressed(path, **arrays)
