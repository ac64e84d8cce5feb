"""Errors of toolchains, compilation and projects (ASC4xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = [
    "CompileError",
    "CompilerNotFound",
    "DeviceError",
    "FileProblem",
    "NotAProject",
    "NothingSelected",
    "PackageRefused",
    "PackageUnusable",
    "SourcesChanging",
    "ToolchainAbsent",
    "ToolchainError",
    "ToolchainMissing",
    "UnknownBackend",
    "UnknownToolchain",
    "WheelMismatch",
]


class CompileError(AscendOpsError):
    """The compiler refused a source of the operator.

    The message shows the compiler's own words for the first error, the exact command, and the full log's path. A line of a
    generated file is mapped back to the template or to op.toml: edit those, since gen/ is rendered anew by each build.
    """

    id = "ASC401"
    exit_code = ExitCode.COMPILE


class CompilerNotFound(AscendOpsError):
    """No C++ compiler was found.

    The CPU twin compiles operator sources with g++ or clang++ (C++17). Install one (Debian and Ubuntu: `apt-get install g++`;
    openEuler: `dnf install gcc-c++`), or set CXX to the compiler's path. `ascendops doctor` shows what was looked for.
    """

    id = "ASC402"
    exit_code = ExitCode.TOOLCHAIN


class ToolchainMissing(AscendOpsError):
    """The CANN toolchain was asked for and is not installed.

    `--backend cann` needs the CANN toolkit: source its set_env.sh so that ASCEND_HOME_PATH is set. Without it, `--backend twin`
    builds and runs the same sources on the CPU.
    """

    id = "ASC403"
    exit_code = ExitCode.TOOLCHAIN


class ToolchainError(AscendOpsError):
    """A tool of the toolchain failed in a way that is not an error in the operator's source."""

    id = "ASC404"
    exit_code = ExitCode.TOOLCHAIN


class NotAProject(AscendOpsError):
    """The folder is not an operator project.

    A project has an op.toml (made by `ascendops new op NAME`), or the two folders op_host/ and op_kernel/ of the msopgen layout.
    """

    id = "ASC405"


class NothingSelected(AscendOpsError):
    """The command found nothing to work on.

    No operator project lies here, above here or up to three levels below; or -k, --op or the paths selected none.
    """

    id = "ASC406"
    exit_code = ExitCode.NOTHING


class UnknownBackend(AscendOpsError):
    """The backend is not one that the kit has.

    `--backend` and $ASCENDOPS_BACKEND take auto, twin or cann.
    """

    id = "ASC407"


class FileProblem(AscendOpsError):
    """The operating system refused to read or write a file.

    The message has its path and the reason. The build cache lies in the user's cache folder: set ASCENDOPS_CACHE to a folder
    that can be written. Reports go where options such as `test --html`, `test --junitxml`, `report --out` and `migrate --out` say.
    """

    id = "ASC408"


class ToolchainAbsent(AscendOpsError):
    """A private toolchain is needed and is not installed.

    `ascendops check` compiles Triton kernels with the real triton-ascend and AscendNPU-IR packages. They replace the package
    `triton` wherever they are installed, so they are kept in a private folder: ascendops toolchain install triton-ascend
    """

    id = "ASC409"
    exit_code = ExitCode.TOOLCHAIN


class UnknownToolchain(AscendOpsError):
    """No toolchain of that name is pinned.

    `ascendops toolchain list` shows the names. Only exact versions whose hashes ship with the kit are fetched.
    """

    id = "ASC410"


class WheelMismatch(AscendOpsError):
    """A wheel of a toolchain is missing or is not the pinned file.

    Nothing was installed. `--from` takes a folder that holds the wheels under their own names; each must have the SHA-256 that
    data/toolchains.json lists.
    """

    id = "ASC411"
    exit_code = ExitCode.TOOLCHAIN


class PackageRefused(AscendOpsError):
    """`ascendops package` cannot make this wheel.

    The name must be one that pip and Python accept and that no other module has here, two projects may not have an operator of the same
    name, and a project of the TBE DSL has no compiled library to ship.
    """

    id = "ASC412"


class PackageUnusable(AscendOpsError):
    """An installed package of operators cannot be used in this environment.

    Its libraries were compiled for one platform and for one version of the interface between ascendops and its CPU twin, and two packages
    cannot both register an operator of one name. Install the version of ascendops that the message names, or make the wheel again here
    with `ascendops package`.
    """

    id = "ASC413"
    exit_code = ExitCode.TOOLCHAIN


class SourcesChanging(AscendOpsError):
    """A source or header changed while it was compiled, several times in a row.

    A build is kept under the contents of the files it was made from, so these must hold still while the compiler reads them. Something
    writes them all the time: a generator, a checkout, a synchronised folder. Let it finish, and build again.
    """

    id = "ASC414"
    exit_code = ExitCode.COMPILE


class DeviceError(AscendOpsError):
    """The Ascend runtime or an operator on the device reports an error.

    The message has the call, its status and the runtime's own text. 107001 to 107003: no device is set or visible (ASCEND_RT_VISIBLE_DEVICES).
    161xxx: an argument was refused. 361xxx and 561xxx: the operator's tiling or kernel was not found, or failed: is the package of this SoC
    installed, and first on ASCEND_CUSTOM_OPP_PATH? 507xxx: the kernel failed on the device, and the plog files say where.
    """

    id = "ASC415"
    exit_code = ExitCode.TOOLCHAIN
