"""What importing an operator package does: loads its libraries and registers its operators."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendops.build.library import Library
from ascendops.build.operator import Operator
from ascendops.build.twin import signature
from ascendops.errors import PackageUnusable
from ascendops.packages import manifest
from ascendops.packages.manifest import GROUP, Manifest, Part
from ascendops.spec import names, socs
from ascendops.twin import compilation, launch
from ascendops.twin.host import HostLibrary

_owners: dict[str, str] = {}  # qualified operator name to the package that registered it


@dataclass(frozen=True)
class ExtensionOperator:
    """An operator that the package's own extension for torch_npu registered.

    Attributes:
        name: snake_case name.
        vendor: The folder of the CANN package that holds its kernel.
    """

    name: str
    vendor: Path

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        """Calls torch.ops.ascendops.NAME; tensors lie on the NPU."""
        import torch

        return getattr(torch.ops.ascendops, self.name)(*args, **attrs)


def load(folder: str | os.PathLike[str]) -> Library:
    """Loads the operator package in a folder and registers its operators; nothing is compiled.

    Raises:
        PackageUnusable: It was built for another platform or another version of ascendops, a file is missing, or another package has
            registered an operator of the same name.
        RegistrationError: An operator of the same name with another declaration is registered already.
    """
    root = Path(folder).resolve()
    made = manifest.read(root)
    made.check(root)
    if made.backend == "cann":
        return _load_cann(root, made)
    _claim(root, made)
    launch.ship_runtime(root, _file(root, made, made.runtime))
    soc = socs.resolve(made.soc)
    ops: dict[str, Any] = {}
    for part in made.parts:
        ops |= _operators(root, made, part, soc)
    library = Library(ops, root, soc.name, "twin")
    library.register(made.namespace)
    return library


def load_installed() -> dict[str, Library]:
    """Imports every installed operator package (entry points of the group `ascendops.operators`); the libraries by package."""
    found = {}
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda each: each.name):
        found[entry.name] = importlib.import_module(entry.value).library
    return found


def _operators(root: Path, made: Manifest, part: Part, soc: socs.Soc) -> dict[str, Operator]:
    from ascendops.spec.load import load as load_spec

    folder = root / part.folder
    specs = load_spec(folder / "op.toml").operators if (folder / "op.toml").is_file() else ()
    host = HostLibrary(_file(root, made, f"{part.folder}/{part.host}"), _file(root, made, made.host_runtime))
    found = {}
    for op_type, libraries in part.kernels.items():
        definition = host.op(op_type).for_unit(soc.unit)
        name = names.snake(op_type)
        spec = next((one for one in specs if one.op_type == op_type), None)
        kernels = [_file(root, made, f"{part.folder}/{library}") for library in libraries]
        found[name] = Operator(name, definition, signature(name, definition, spec), soc, host, kernels, compilation.symbol(name), spec)
    return found


def _load_cann(root: Path, made: Manifest) -> Library:
    from ascendops.build.cann import activate

    vendor = _file(root, made, made.vendor)
    _claim(root, made)
    activate(vendor)
    for library in sorted((root / "extension").glob("*.so")):
        import torch

        torch.ops.load_library(str(library))
    ops: dict[str, Any] = {name: ExtensionOperator(name, vendor) for name in (names.snake(op_type) for part in made.parts for op_type in part.kernels)}
    return Library(ops, root, made.soc, "cann")


def _claim(root: Path, made: Manifest) -> None:
    for part in made.parts:
        for op_type in part.kernels:
            qualified = f"{made.namespace}::{names.snake(op_type)}"
            owner = _owners.setdefault(qualified, made.name)
            if owner != made.name:
                raise PackageUnusable(
                    f"{made.name} and {owner} both have torch.ops.{qualified.replace('::', '.')}", where=str(root),
                    help="import one of them, or make one of the wheels with another --namespace",
                )  # fmt: skip


def _file(root: Path, made: Manifest, name: str) -> Path:
    path = root / name
    if not name or not path.exists():
        raise PackageUnusable(f"{made.name} lacks {name or 'a library'}", where=str(root), help="install the wheel again")
    return path
