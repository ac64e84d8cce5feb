"""An operator project on disk, and its build."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ascendops.build.discover import is_project
from ascendops.errors import NotAProject, UnitError, UnknownBackend, did_you_mean
from ascendops.spec import socs
from ascendops.toolchain.cann import find_toolkit

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.spec.model import OpSpec

BACKENDS = ("auto", "twin", "cann")
DEFAULT_SOC = "Ascend910B1"


@dataclass(frozen=True)
class BuildResult:
    """One finished build.

    Attributes:
        name: The project's name.
        library: What was built.
        seconds: Wall time.
        compiled: How many libraries were compiled; 0 means that everything was up to date.
    """

    name: str
    library: Library
    seconds: float
    compiled: int


@dataclass(frozen=True)
class Project:
    """A folder with an operator: a kit project (op.toml) or one of the msopgen layout (op_host/ and op_kernel/).

    Attributes:
        root: The folder.
        spec: Its declaration; None without an op.toml.
        tried: Values of tunables that a build sets in place of op.toml's.
    """

    root: Path
    spec: OpSpec | None
    tried: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The operator's name, or the folder's where there is no op.toml."""
        return self.spec.name if self.spec else self.root.name

    @property
    def specs(self) -> tuple[OpSpec, ...]:
        """The declarations of all its operators, the first one of op.toml first; empty without an op.toml."""
        return self.spec.operators if self.spec else ()

    @property
    def defines(self) -> dict[str, str]:
        """Macros that a build sets for op_host and op_kernel."""
        declared = self.spec.defines if self.spec else {}
        return {name: str(value) for name, value in {**declared, **self.tried}.items()}

    def trying(self, values: Mapping[str, int]) -> Project:
        """The same project, whose builds set these values of tunables. op.toml stays as it is; a build for CANN writes them into gen/."""
        return replace(self, tried=dict(values))

    def with_tried(self) -> Project:
        """The same project, declared with the values that are tried."""
        if self.spec is None or not self.tried:
            return self
        tunables = tuple(replace(one, best=self.tried.get(one.name, one.best)) for one in self.spec.tunables)
        return replace(self, spec=replace(self.spec, tunables=tunables))

    def build(self, backend: str = "auto", soc: str = DEFAULT_SOC, jobs: int | None = None) -> Library:
        """Builds for one SoC and loads the result; unchanged sources compile nothing.

        Args:
            backend: `twin`, `cann`, or `auto`: cann where the CANN toolkit is, else twin.
            soc: soc_version, npu-smi name or compute unit.
            jobs: Compilations at once; the number of cores by default.

        Raises:
            CompileError: A source does not compile.
            CompilerNotFound: The twin has no C++ compiler.
            ToolchainMissing: `cann` without the toolkit.
        """
        return self.build_result(backend, soc, jobs).library

    def build_result(self, backend: str = "auto", soc: str = DEFAULT_SOC, jobs: int | None = None) -> BuildResult:
        """Like `build`, with the time it took and the number of libraries compiled."""
        start = time.perf_counter()
        chosen = resolve_backend(backend)
        target = socs.resolve(soc)
        self.check_unit(target)
        if self.spec is not None and self.spec.dialect == "tbe":
            from ascendops.tbe import build as tbe, package

            library, compiled = tbe.build(self, target) if chosen == "twin" else package.build(self, target)
        elif chosen == "cann":
            from ascendops.build import cann

            library, compiled = cann.build(self, target, jobs)
        else:
            from ascendops.build import twin

            library, compiled = twin.build(self, target, jobs)
        return BuildResult(self.name, library, time.perf_counter() - start, compiled)

    def check_unit(self, soc: socs.Soc) -> None:
        """Refuses a SoC that op.toml does not declare.

        Raises:
            UnitError: Its compute unit is not in `units`.
        """
        if self.spec and soc.unit not in self.spec.units:
            raise UnitError(
                f"{self.name} is not declared for {soc.name} (compute unit {soc.unit})",
                where=f"{self.spec.path}",
                help=f"add '{soc.unit}' to units, or use --soc with one of: {', '.join(self.spec.units)}",
            )


def open_project(path: str | os.PathLike[str]) -> Project:
    """Opens the operator project in a folder.

    Raises:
        NotAProject: The folder is missing, or has neither an op.toml nor op_host/ and op_kernel/.
        SpecError: Its op.toml is not valid.
    """
    root = Path(path).expanduser().absolute()
    root = root.parent if root.name == "op.toml" else root
    if not root.is_dir():
        raise NotAProject(f"{root} is not a folder", where=str(root), help="give the folder of an operator project")
    if not is_project(root):
        raise NotAProject(
            f"{root} is not an operator project: it has no op.toml, not both of op_host/ and op_kernel/, and no CMakeLists.txt with npu_op_kernel_sources",
            where=str(root), help="make one with: ascendops new op NAME",
        )  # fmt: skip
    if (root / "op.toml").is_file():
        from ascendops.spec.load import check_references, load

        spec = load(root / "op.toml")
        check_references(spec)
        return Project(root, spec)
    return Project(root, None)


def resolve_backend(backend: str) -> str:
    """`twin` or `cann`: for `auto`, $ASCENDOPS_BACKEND if set, else cann where the CANN toolkit is, else twin.

    Raises:
        UnknownBackend: It is neither of these nor `auto`, as an argument or in the variable.
    """
    if backend == "auto":
        backend = os.environ.get("ASCENDOPS_BACKEND") or "auto"
    if backend not in BACKENDS:
        raise UnknownBackend(f"backend '{backend}' is not known", help=did_you_mean(backend, BACKENDS))
    if backend != "auto":
        return backend
    return "cann" if find_toolkit() else "twin"


def build_all(
    paths: Sequence[Path], backend: str = "auto", soc: str = DEFAULT_SOC, jobs: int | None = None,
    progress: Callable[[BuildResult], None] | None = None,
) -> list[BuildResult]:  # fmt: skip
    """Builds the projects one after the other (each compiles its parts in parallel); stops at the first error."""
    results = []
    for path in paths:
        result = open_project(path).build_result(backend, soc, jobs)
        if progress:
            progress(result)
        results.append(result)
    return results
