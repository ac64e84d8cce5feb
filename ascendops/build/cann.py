"""The cann backend: drives the CANN toolchain over the front ends in gen/ and installs the package beside the project."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ascendops.build.installed import operators
from ascendops.build.library import Library
from ascendops.build.twin import render_gen
from ascendops.errors import ToolchainError, ToolchainMissing
from ascendops.toolchain.cann import Toolkit, find_toolkit
from ascendops.toolchain.compiler import Outcome
from ascendops.toolchain.diagnose import compile_error

if TYPE_CHECKING:
    from ascendops.build.project import Project
    from ascendops.spec.socs import Soc

# What asc-config.cmake of CANN 9.x needs; where it is missing, the toolkit has the msopgen layout of 8.x.
NEW_LAYOUT = "compiler/tikcpp/ascendc_kernel_cmake/fwk_modules/func.cmake"


def build(project: Project, soc: Soc, jobs: int | None) -> tuple[Library, int]:
    """Builds the custom-op package with the toolkit, installs it under build/, and returns the library.

    Raises:
        ToolchainMissing: No toolkit, or no cmake.
        CompileError: The toolkit's compiler refused a source.
        ToolchainError: A step of the toolkit failed or left out a file that it should have made.
    """
    toolkit = needed_toolkit()
    if shutil.which("cmake") is None:
        raise ToolchainMissing("cmake was not found on PATH", help="install cmake 3.16 or newer")
    render_gen(project.with_tried())  # what the toolkit compiles with stands in gen/
    environment = {**os.environ, "ASCEND_HOME_PATH": str(toolkit.root)}
    if jobs:
        environment["ASCENDOPS_JOBS"] = str(jobs)
    stage = _drive(project, toolkit, environment, jobs)
    package = _package(stage, project)
    vendors = stage / "install"
    step([str(package), "--quiet", f"--install-path={vendors}"], package.parent, environment, f"installing {package.name}")
    installed = [path for path in sorted((vendors / "vendors").glob("*")) if path.is_dir()]
    if not installed:
        raise ToolchainError(f"{package.name} installed nothing", where=str(vendors), why="vendors/ is empty after the installer ended with 0")
    activate(installed[0])
    return Library(operators(project, soc, toolkit, installed[0]), project.root, soc.name, "cann"), 1


def needed_toolkit() -> Toolkit:
    """The CANN toolkit of this host.

    Raises:
        ToolchainMissing: There is none.
    """
    toolkit = find_toolkit()
    if toolkit is None:
        raise ToolchainMissing(
            "the CANN toolkit was not found", why="looked at ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME and /usr/local/Ascend",
            help="source the toolkit's set_env.sh, or use --backend twin",
        )  # fmt: skip
    return toolkit


def _drive(project: Project, toolkit: Toolkit, environment: Mapping[str, str], jobs: int | None) -> Path:
    """Runs the front end that fits the toolkit; returns the folder it built in."""
    if project.spec is None:
        script = project.root / "build.sh"
        if not script.is_file():
            raise ToolchainError(f"{project.name} has no build.sh", where=str(project.root), help="an msopgen project is built by its own build.sh")
        step(["bash", str(script)], project.root, environment, f"build.sh of {project.name}")
        return project.root / "build_out"
    if (toolkit.root / NEW_LAYOUT).is_file():
        stage = project.root / "build" / "cann9"
        shutil.rmtree(stage, ignore_errors=True)
        step(["cmake", "-S", str(project.root / "gen" / "cann9"), "-B", str(stage)], project.root, environment, f"configuring {project.name}")
        parallel = ["--parallel", str(jobs)] if jobs else ["--parallel"]
        step(["cmake", "--build", str(stage), "--target", "binary", "package", *parallel], project.root, environment, f"the CANN build of {project.name}")
        return stage
    stage = project.root / "build" / "cann8"
    shutil.rmtree(stage, ignore_errors=True)
    step(["bash", str(project.root / "gen" / "cann8" / "build.sh"), str(stage)], project.root, environment, f"the CANN build of {project.name}")
    return stage


def _package(stage: Path, project: Project) -> Path:
    found = sorted(path for path in stage.rglob("*.run") if "_CPack_Packages" not in path.parts)
    if not found:
        raise ToolchainError(
            f"the CANN build of {project.name} made no .run package", where=str(stage),
            why="the build ended with 0, but no custom_opp_*.run lies under that folder",
        )  # fmt: skip
    return found[0]


def step(command: Sequence[str], cwd: Path, environment: Mapping[str, str], what: str) -> None:
    """Runs one step of a build and raises what its output says when it fails.

    Raises:
        CompileError: A compiler said where in a source.
        ToolchainError: It failed otherwise.
    """
    done = subprocess.run(list(command), cwd=cwd, env=dict(environment), capture_output=True, text=True, errors="replace", check=False)
    outcome = Outcome(tuple(command), done.returncode, done.stdout + done.stderr)
    if done.returncode == 0:
        return
    error = compile_error(outcome, what)
    if error.where is not None:
        raise error
    raise ToolchainError(f"{what} failed", why=error.why)


def activate(vendor: Path) -> None:
    """Puts an installed CANN package on ASCEND_CUSTOM_OPP_PATH of this process, first."""
    others = [path for path in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(os.pathsep) if path and path != str(vendor)]
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = os.pathsep.join([str(vendor), *others])
