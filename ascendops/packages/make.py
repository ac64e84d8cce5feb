"""`ascendops package`: projects, built, as one wheel."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import keyword
import re
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from ascendops import __version__
from ascendops.build.columns import KernelColumns
from ascendops.build.project import open_project, resolve_backend
from ascendops.errors import PackageRefused
from ascendops.packages import cann, wheel
from ascendops.packages.manifest import FILE, GROUP, Manifest, Part, cpu_features
from ascendops.packages.sources import sources
from ascendops.spec import names
from ascendops.twin import compilation
from ascendops.twin.host import HostLibrary
from ascendops.twin.loaded import CUBE_LIBRARY

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.build.project import Project

CPUS = ("portable", "native")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_RESERVED = ("aten", "prim", "quantized", "torchvision", "npu")  # namespaces of operators that are not a user's

_INIT = '''"""{summary}

Importing this module registers the operators: torch.ops.{namespace}.{first}(...), also as {module}.{first}(...).
"""

from pathlib import Path as _Path

try:
    from ascendops.packages import load as _load
except ImportError as error:
    raise ImportError("{name} needs ascendops {version} to register its operators: pip install ascendops=={version}") from error
import torch as _torch

library = _load(_Path(__file__).parent)
{exports}
__all__ = {all}
'''


@dataclass(frozen=True)
class Package:
    """A wheel that was made.

    Attributes:
        path: The file.
        module: What to import.
        operators: Qualified names, such as `ascendops::softmax`.
        tag: The wheel's tag.
    """

    path: Path
    module: str
    operators: tuple[str, ...]
    tag: str


def package(
    roots: Sequence[Path], name: str, out: Path, *, version: str = "0.1.0", namespace: str = "ascendops", backend: str = "auto",
    soc: str = "Ascend910B1", cpu: str = "portable", jobs: int | None = None,
) -> Package:  # fmt: skip
    """Builds projects and writes them as one wheel.

    Args:
        roots: Folders of the projects.
        name: Name of the distribution; the module has `_` in place of `-` and `.`.
        out: Folder of the wheel.
        version: Version of the distribution (PEP 440).
        namespace: The operators become torch.ops.<namespace>.
        backend: `twin`, `cann` or `auto`, as for a build.
        soc: The SoC to build for.
        cpu: `portable`: the twin runs on every CPU of this architecture; `native`: on CPUs with the instruction sets of this one, faster.
        jobs: Compilations at once.

    Raises:
        PackageRefused: The name, version or namespace cannot be used, or two projects have one operator.
        CompileError: A project does not compile.
    """
    module = _module(name)
    try:
        version = str(Version(version))
    except InvalidVersion:
        raise PackageRefused(f"'{version}' is not a version", help="use the form 1.2.3 (PEP 440)") from None
    if not namespace.isidentifier() or keyword.iskeyword(namespace) or namespace in _RESERVED:
        raise PackageRefused(f"'{namespace}' cannot be a namespace of operators", help="use an identifier of your own")
    projects = [open_project(root) for root in roots]
    for project in projects:
        if project.spec is not None and project.spec.dialect == "tbe":
            raise PackageRefused(f"{project.name} is a project of the TBE DSL", where=str(project.root), why="it is evaluated, so there is no library to ship")
    _distinct([(project.root, [spec.name for spec in project.specs]) for project in projects])
    chosen = resolve_backend(backend)
    built = [(project, project.build(chosen, soc, jobs)) for project in projects]
    _distinct([(project.root, list(library.ops)) for project, library in built])
    folders = _folders(projects)
    files: dict[str, bytes | Path] = {}
    if chosen == "cann":
        manifest, extra = cann.collect(built, name, namespace, soc, folders)
        tag = cann.tag()
        files |= {f"{module}/{inside}": path for inside, path in extra.items()}
    else:
        manifest, extra = _twin(built, name, namespace, soc, folders, cpu)
        tag = f"py3-none-{_platform()}"
        files |= {f"{module}/{inside}": path for inside, path in extra.items()}
    operators = sorted(names.snake(op_type) for part in manifest.parts for op_type in part.kernels)
    summary = f"Operators for Ascend NPUs: {', '.join(operators)}"
    files[f"{module}/{FILE}"] = manifest.text().encode()
    files[f"{module}/__init__.py"] = _init(summary, name, module, namespace, operators).encode()
    path = wheel.write(
        out, name, version, tag, files, summary=summary, requires=[f"ascendops=={__version__}", "torch>=2.7"],
        entry_points={GROUP: {canonicalize_name(name): module}},
    )  # fmt: skip
    return Package(path, module, tuple(f"{namespace}::{operator}" for operator in operators), tag)


def _module(name: str) -> str:
    module = canonicalize_name(name).replace("-", "_")
    if not _NAME.fullmatch(name) or not module.isidentifier() or keyword.iskeyword(module):
        raise PackageRefused(f"'{name}' cannot be the name of a package", help="use letters, digits, '-' and '_', beginning with a letter")
    found = importlib.util.find_spec(module)
    earlier = any(entry.value == module for entry in importlib.metadata.entry_points(group=GROUP))
    if found is not None and not earlier:
        raise PackageRefused(
            f"there is a module '{module}' here already", where=found.origin, help="choose another --name: an installed package would hide one of the two"
        )
    return module


def _distinct(operators: Sequence[tuple[Path, Sequence[str]]]) -> None:
    owners: dict[str, Path] = {}
    for root, listed in operators:
        for name in listed:
            if name in owners:
                raise PackageRefused(
                    f"two projects have the operator {name}", where=str(root), why=f"the other one is {owners[name]}",
                    help="rename one, or make two packages with namespaces of their own",
                )  # fmt: skip
            owners[name] = root


def _folders(projects: Sequence[Project]) -> dict[Path, str]:
    """The folder of each project in the package."""
    folders: dict[Path, str] = {}
    for project in projects:
        folders[project.root] = project.name if project.name not in folders.values() else f"{project.name}_{len(folders)}"
    return folders


def _twin(
    built: Sequence[tuple[Project, Library]], name: str, namespace: str, soc: str, folders: Mapping[Path, str], cpu: str
) -> tuple[Manifest, dict[str, Path]]:
    runtime = compilation.runtime_library(portable=cpu == "portable")
    host_runtime = compilation.host_runtime_library()
    files = {f"lib/{runtime.name}": runtime, f"lib/{host_runtime.name}": host_runtime}
    parts = []
    for project, library in built:
        folder = folders[project.root]
        kernels: dict[str, list[str]] = {}
        hosts: set[HostLibrary] = set()
        for operator in library.ops.values():
            hosts.add(operator.host)
            kernels[operator.definition.op_type] = []
            assert isinstance(operator.kernels, KernelColumns)
            for kernel in operator.kernels.linked(runtime):
                inside = f"kernels/{operator.name}-{_hash(kernel)}/kernel.so"
                kernels[operator.definition.op_type].append(inside)
                files[f"{folder}/{inside}"] = kernel
                if kernel.with_name(CUBE_LIBRARY).is_file():
                    files[f"{folder}/{Path(inside).with_name(CUBE_LIBRARY)}"] = kernel.with_name(CUBE_LIBRARY)
        (host,) = hosts
        files[f"{folder}/host.so"] = host.path
        files |= {f"{folder}/{inside}": path for inside, path in sources(project)}
        parts.append(Part(folder, "host.so", kernels))
    features = cpu_features() if cpu == "native" else []
    return Manifest(name, namespace, soc, "twin", parts, f"lib/{runtime.name}", f"lib/{host_runtime.name}", cpu=features), files


def _hash(path: Path) -> str:
    from ascendops.toolchain.cache import file_digest

    return file_digest(path)[:12]


def _platform() -> str:
    return re.sub(r"[-.]", "_", sysconfig.get_platform())


def _init(summary: str, name: str, module: str, namespace: str, operators: Sequence[str]) -> str:
    exports = "\n".join(f"{operator} = _torch.ops.{namespace}.{operator}" for operator in operators)
    listed = ["library", *operators]
    return _INIT.format(summary=summary, name=name, module=module, namespace=namespace, first=operators[0], version=__version__, exports=exports, all=listed)
