"""The contents of a package for an Ascend host: the installed CANN package, and the extension for torch_npu.

Written from the documents and run with a toolkit of scripts only: it was not run on an NPU.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ascendops.build import cann as backend
from ascendops.build.installed import InstalledOperator
from ascendops.errors import PackageRefused, ToolchainError
from ascendops.packages.manifest import Manifest, Part
from ascendops.packages.sources import sources
from ascendops.twin import compilation

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.build.project import Project


def collect(
    built: Sequence[tuple[Project, Library]], name: str, namespace: str, soc: str, folders: Mapping[Path, str]
) -> tuple[Manifest, dict[str, Path]]:
    """The manifest and the files of one project that was built for CANN.

    Raises:
        PackageRefused: More than one project, no op.toml, or another namespace than the one in gen/torch.
        ToolchainError: The extension for torch_npu does not build.
    """
    (project, library), *others = built
    if others or project.spec is None:
        raise PackageRefused("a package for CANN takes one project with an op.toml", help="put the operators into one op.toml, or make a wheel for each")
    if namespace != "ascendops":
        raise PackageRefused(f"gen/torch registers the operators under ascendops, not {namespace}", help="leave --namespace out")
    operator = next(iter(library.ops.values()))
    if not isinstance(operator, InstalledOperator):
        raise PackageRefused("a package takes Ascend C operators, and this project is TBE", help="install build/tbe/vendors by hand, and gen/torch with pip")
    vendor, folder, runtime = operator.vendor, folders[project.root], compilation.host_runtime_library()
    files = {f"{folder}/host.so": operator.host.path, f"lib/{runtime.name}": runtime}
    files |= {f"{folder}/{inside}": path for inside, path in sources(project)}
    files |= {f"vendors/{vendor.name}/{path.relative_to(vendor)}": path for path in sorted(vendor.rglob("*")) if path.is_file()}
    stage = project.root / "build" / "extension"
    shutil.rmtree(stage, ignore_errors=True)
    command = [sys.executable, "setup.py", "build_ext", "--build-lib", str(stage / "lib"), "--build-temp", str(stage / "temp")]
    backend.step(command, project.root / "gen" / "torch", dict(os.environ), f"the torch_npu extension of {project.name}")
    extensions = sorted((stage / "lib").rglob("*.so"))
    if not extensions:
        raise ToolchainError(f"building the torch_npu extension of {project.name} made no library", where=str(stage))
    files |= {f"extension/{path.name}": path for path in extensions}
    parts = [Part(folder, "host.so", {spec.op_type: [] for spec in project.specs})]
    return Manifest(name, namespace, soc, "cann", parts, host_runtime=f"lib/{runtime.name}", vendor=f"vendors/{vendor.name}"), files


def tag() -> str:
    """The tag of a wheel with an extension module: this Python, this platform."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{version}-{version}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
