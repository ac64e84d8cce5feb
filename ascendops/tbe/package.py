"""The cann backend of TBE projects: gen/build.sh packs a vendors folder, which is put on ASCEND_CUSTOM_OPP_PATH.

CANN compiles the Python sources itself, when it compiles a graph. Written from the documents; not run with CANN.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.build.cann import NEW_LAYOUT, activate, needed_toolkit, step
from ascendops.build.installed import ExtensionOperator
from ascendops.build.library import Library
from ascendops.build.twin import render_gen
from ascendops.errors import ToolchainError

if TYPE_CHECKING:
    from ascendops.build.project import Project
    from ascendops.spec.socs import Soc


def build(project: Project, soc: Soc) -> tuple[Library, int]:
    """Packs the project under build/tbe and puts the package on ASCEND_CUSTOM_OPP_PATH.

    Raises:
        ToolchainMissing: No toolkit.
        ToolchainError: The toolkit has no TBE, a step failed, or a file is missing in the package.
        CompileError: The prototype library does not compile.
    """
    toolkit = needed_toolkit()
    if (toolkit.root / NEW_LAYOUT).is_file():
        what = f"CANN {toolkit.version or '9'} has no TBE, so {project.name} cannot be built for it"
        raise ToolchainError(what, where=str(toolkit.root), help="use CANN up to 8.x, or write the operator in Ascend C: ascendops new op NAME")
    render_gen(project)
    stage = project.root / "build" / "tbe"
    step(["bash", str(project.root / "gen" / "build.sh"), str(stage)], project.root, {**os.environ, "ASCEND_HOME_PATH": str(toolkit.root)}, f"packing {project.name}")
    vendor = next(iter(sorted((stage / "vendors").glob("*"))), stage / "vendors" / "none")
    missing = [str(path.relative_to(stage)) for path in _contents(project, vendor) if not path.is_file()]
    if missing:
        raise ToolchainError(f"the package of {project.name} lacks {missing[0]}", where=str(stage), why=f"{len(missing)} files that gen/build.sh should have made are not there")
    activate(vendor)
    ops: dict[str, Any] = {spec.name: ExtensionOperator(spec.name, vendor) for spec in project.specs}
    return Library(ops, project.root, soc.name, "cann"), 1


def _contents(project: Project, vendor: Path) -> Iterator[Path]:
    tbe = vendor / "op_impl" / "ai_core" / "tbe"
    for spec in project.specs:
        yield from (tbe / "config" / unit / f"aic-{unit}-ops-info.json" for unit in spec.units)
        for source in ("dynamic", "."):
            if (project.root / "tbe" / "impl" / source / f"{spec.name}.py").is_file():
                yield tbe / f"{vendor.name}_impl" / source / f"{spec.name}.py"
    yield vendor / "op_proto" / "lib" / "linux" / platform.machine() / "libcust_opsproto_rt2.0.so"
