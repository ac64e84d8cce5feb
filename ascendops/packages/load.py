"""What importing an operator package does: loads its libraries and registers its operators."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import os
from collections.abc import Callable
from pathlib import Path

from ascendops.build.library import Library
from ascendops.build.operator import Operator
from ascendops.build.twin import signature
from ascendops.errors import PackageUnusable, ToolchainMissing
from ascendops.packages import manifest
from ascendops.packages.manifest import GROUP, Manifest, Part
from ascendops.spec import names, socs
from ascendops.twin import compilation, loaded
from ascendops.twin.host import HostLibrary

_owners: dict[str, str] = {}  # qualified operator name to the package that registered it


def load(folder: str | os.PathLike[str]) -> Library:
    """Loads the operator package in a folder and registers its operators; nothing is compiled.

    Raises:
        PackageUnusable: It was built for another platform or another version of ascendops, a file is missing, or another package has
            registered an operator of the same name.
        ToolchainMissing: It was built for CANN, and the toolkit is not here.
        RegistrationError: An operator of the same name with another declaration is registered already.
    """
    root = Path(folder).resolve()
    made = manifest.read(root)
    made.check(root)
    _claim(root, made)
    soc = socs.resolve(made.soc)
    make: Callable[..., Operator] = Operator
    if made.backend == "cann":
        make = _installed(_file(root, made, made.vendor))
        for extension in sorted((root / "extension").glob("*.so")):
            _load_extension(extension, made)
    else:
        loaded.ship_runtime(root, _file(root, made, made.runtime))
    ops: dict[str, Operator] = {}
    for part in made.parts:
        ops |= _operators(root, made, part, soc, make)
    library = Library(ops, root, soc.name, made.backend)
    library.register(made.namespace)
    return library


def load_installed() -> dict[str, Library]:
    """Imports every installed operator package (entry points of the group `ascendops.operators`); the libraries by package."""
    found = {}
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda each: each.name):
        found[entry.name] = importlib.import_module(entry.value).library
    return found


def _operators(root: Path, made: Manifest, part: Part, soc: socs.Soc, make: Callable[..., Operator]) -> dict[str, Operator]:
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
        found[name] = make(name, definition, signature(name, definition, spec), soc, host, kernels, compilation.symbol(name), spec)
    return found


def _installed(vendor: Path) -> Callable[..., Operator]:
    """What makes an operator of the CANN package in `vendor`, which is put on ASCEND_CUSTOM_OPP_PATH."""
    from ascendops.build.cann import activate
    from ascendops.build.installed import InstalledOperator
    from ascendops.toolchain.cann import find_toolkit

    toolkit = find_toolkit()
    if toolkit is None:
        raise ToolchainMissing("the CANN toolkit was not found", help="source the toolkit's set_env.sh before the import")
    activate(vendor)
    return functools.partial(InstalledOperator, vendor=vendor, toolkit=toolkit.root)


def _load_extension(path: Path, made: Manifest) -> None:
    import torch

    try:
        torch.ops.load_library(str(path))
    except OSError as error:
        raise PackageUnusable(
            f"the extension of {made.name} does not load with torch {torch.__version__}", where=str(path), why=str(error.__cause__ or error),
            help="it needs the torch and torch_npu that it was built with, and CANN's set_env.sh; else make the wheel again here",
        ) from error  # fmt: skip


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
