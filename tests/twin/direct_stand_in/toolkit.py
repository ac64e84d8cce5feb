"""Stand-ins for the CANN toolkits of 8.x and 9.x that a direct launch project is built with: kernels are compiled for the CPU twin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ascendops import resources
from ascendops.spec import socs
from ascendops.twin.launch import _soc_fields

HERE = Path(__file__).parent
KERNEL_CMAKE = "compiler/tikcpp/ascendc_kernel_cmake"
_MODULES = {
    "CMakeDetermineASCCompiler.cmake": """
find_program(CMAKE_ASC_COMPILER NAMES bisheng PATHS "$ENV{ASCEND_HOME_PATH}/bin" NO_DEFAULT_PATH)
set(CMAKE_ASC_COMPILER_ENV_VAR ASC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in ${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake @ONLY)
""",
    "CMakeASCCompiler.cmake.in": """
set(CMAKE_ASC_COMPILER "@CMAKE_ASC_COMPILER@")
set(CMAKE_ASC_COMPILER_LOADED 1)
set(CMAKE_ASC_SOURCE_FILE_EXTENSIONS asc)
set(CMAKE_ASC_OUTPUT_EXTENSION .o)
set(CMAKE_ASC_COMPILER_ENV_VAR ASC)
""",
    "CMakeTestASCCompiler.cmake": "set(CMAKE_ASC_COMPILER_WORKS TRUE)\n",
    "CMakeASCInformation.cmake": """
set(CMAKE_INCLUDE_FLAG_ASC "-I")
set(CMAKE_ASC_COMPILE_OPTIONS_PIC "-fPIC")
set(CMAKE_SHARED_LIBRARY_CREATE_ASC_FLAGS "-shared")
set(CMAKE_SHARED_LIBRARY_SONAME_ASC_FLAG "${CMAKE_SHARED_LIBRARY_SONAME_C_FLAG}")
set(CMAKE_ASC_CREATE_SHARED_LIBRARY "<CMAKE_ASC_COMPILER> <LANGUAGE_COMPILE_FLAGS> <CMAKE_SHARED_LIBRARY_CREATE_ASC_FLAGS> <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
set(CMAKE_ASC_FLAGS_RELEASE_INIT "-O3")
include(CMakeCommonLanguageInclude)
cmake_initialize_per_config_variable(CMAKE_ASC_FLAGS "Flags used by the ASC compiler")
string(APPEND CMAKE_ASC_FLAGS " --npu-arch=${CMAKE_ASC_ARCHITECTURES}")
set(CMAKE_ASC_COMPILE_OBJECT "<CMAKE_ASC_COMPILER> <DEFINES> <INCLUDES> -std=c++17 <FLAGS> -o <OBJECT> -c <SOURCE>")
set(CMAKE_ASC_LINK_EXECUTABLE "<CMAKE_ASC_COMPILER> <FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
""",
}


def toolkit(root: Path, version: int, soc: str) -> Path:
    """Makes the stand-in toolkit of CANN `version` (8 or 9) for kernels of `soc` in the folder `root`."""
    (root / "include/acl").mkdir(parents=True)
    (root / "include/acl/acl.h").write_text((HERE / "acl.h").read_text())
    _runtime(root, soc)
    home = root / KERNEL_CMAKE
    home.mkdir(parents=True)
    if version == 8:
        text = (HERE / "ascendc.cmake").read_text().replace("STAND_IN_PYTHON", sys.executable).replace("STAND_IN_FOLDER", str(HERE))
        (home / "ascendc.cmake").write_text(text)
        return root
    for name, text in _MODULES.items():
        (home / "asc_modules").mkdir(exist_ok=True)
        (home / "asc_modules" / name).write_text(text)
    (root / "asc").mkdir()
    (root / "asc/asc-config.cmake").write_text((HERE / "asc.cmake").read_text())
    (root / "bin").mkdir()
    bisheng = root / "bin/bisheng"
    bisheng.write_text(f'#!/bin/sh\nPYTHONPATH={HERE}:$PYTHONPATH exec {sys.executable} {HERE}/bisheng.py {root} "$@"\n')
    bisheng.chmod(0o755)
    return root


def _runtime(root: Path, soc: str) -> None:
    """libascendcl of the toolkit, for a device with the memories and cores of `soc`."""
    target = socs.resolve(soc)
    fields = {name: value for name, value in _soc_fields(target, 0, 1).items() if name not in ("aic", "aiv", "cores")}
    lines = [f"    launch.{name} = {value};" for name, value in fields.items()]
    lines += [f"    constexpr uint32_t kVectorCores = {target.vector_cores}, kCubeCores = {target.aic};"]
    (root / "generated").mkdir()
    (root / "generated/soc_fields.inc").write_text("\n".join(lines) + "\n")
    (root / "lib64").mkdir()
    command = ["g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-I", str(resources.twin("include")), "-I", str(root / "generated")]
    subprocess.run([*command, str(HERE / "runtime.cpp"), "-o", str(root / "lib64/libascendcl.so"), "-ldl"], check=True)
