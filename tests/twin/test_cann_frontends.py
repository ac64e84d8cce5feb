"""gen/cann8 and gen/cann9 with CMake, against a toolkit of stubs that records how its functions are called."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest
import torch

import ascendops
from ascendops import resources
from ascendops.build import resolve_backend
from ascendops.errors import CompileError, ToolchainError, ToolchainMissing
from ascendops.render import new_project

pytestmark = [
    pytest.mark.twin,
    pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("make") is None, reason="needs cmake and make"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
]

CONFIG = """
set(ASCEND_AUTOGEN_PATH ${CMAKE_BINARY_DIR}/autogen)
file(MAKE_DIRECTORY ${ASCEND_AUTOGEN_PATH})
"""
FUNC = """
function(get_system_info out)
    set(${out} test_x86 PARENT_SCOPE)
endfunction()
function(opbuild)
    cmake_parse_arguments(O "" "OUT_DIR" "OPS_SRC" ${ARGN})
    file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "opbuild ${CMAKE_COMPILE} ${O_OPS_SRC}\\n")
    file(WRITE ${O_OUT_DIR}/aclnn_softmax.cpp "int aclnnSoftmax() { return 0; }\\n")
    file(WRITE ${O_OUT_DIR}/aclnn_softmax.h "int aclnnSoftmax();\\n")
    file(WRITE ${O_OUT_DIR}/op_proto.cc "int proto;\\n")
    file(WRITE ${O_OUT_DIR}/op_proto.h "\\n")
    if(NOT DEFINED ENV{BREAK_OP_BUILD})
        foreach(unit ${ASCEND_COMPUTE_UNIT})
            file(WRITE ${O_OUT_DIR}/aic-${unit}-ops-info.ini "[Softmax]\\n")
        endforeach()
    endif()
endfunction()
function(add_kernels_compile)
    file(GLOB kernels RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/op_kernel/*)
    file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "kernels ${ASCEND_COMPUTE_UNIT} ${vendor_name} ${kernels}\\n")
    add_custom_target(binary)
endfunction()
"""
INTF = """
add_library(intf_pub INTERFACE)
target_include_directories(intf_pub INTERFACE TWIN_HOST ${CMAKE_CURRENT_SOURCE_DIR}/op_kernel)
target_compile_options(intf_pub INTERFACE -std=c++17 -w)
foreach(name exe_graph register tiling_api rt2_registry nnopbase ascendcl)
    add_library(${name} INTERFACE)
endforeach()
"""
MAKESELF = """
file(GLOB_RECURSE found RELATIVE ${CPACK_TEMPORARY_DIRECTORY} ${CPACK_TEMPORARY_DIRECTORY}/*)
file(WRITE ${CPACK_PACKAGE_DIRECTORY}/packed.txt "${found}")
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/${CPACK_PACKAGE_FILE_NAME} [==[#!/bin/bash
for word in "$@"; do
    case $word in --install-path=*) mkdir -p "${word#--install-path=}/vendors/ascendops_softmax/op_api/lib" ;; esac
done
]==])
execute_process(COMMAND chmod +x ${CPACK_TEMPORARY_DIRECTORY}/${CPACK_PACKAGE_FILE_NAME})
"""


@pytest.fixture
def toolkit(tmp_path):
    root = tmp_path / "toolkit"
    customize = root / "tools/op_project_templates/ascendc/customize"
    (customize / "cmake/util").mkdir(parents=True)
    (customize / "scripts").mkdir()
    (customize / "cmake/config.cmake").write_text(CONFIG)
    (customize / "cmake/func.cmake").write_text(FUNC)
    (customize / "cmake/intf.cmake").write_text(INTF.replace("TWIN_HOST", str(resources.twin("include") / "host")))
    (customize / "cmake/makeself.cmake").write_text(MAKESELF)
    (customize / "cmake/util/gen_version_info.sh").write_text('echo "$1" > "$2/version.info"\n')
    (customize / "scripts/install.sh").write_text("vendor_name=customize\n")
    (root / "compiler").mkdir()
    (root / "compiler/version.info").write_text("version_dir=8.1.RC1\n")
    return root


@pytest.fixture
def ascend_host(toolkit, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    monkeypatch.setenv("ASCENDOPS_JOBS", "2")
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", "/elsewhere/vendors/other")
    return toolkit


@pytest.fixture
def project(tmp_path):
    return new_project("softmax", tmp_path / "softmax").root


def build8(project, toolkit, **extra):
    env = {**os.environ, "ASCEND_HOME_PATH": str(toolkit), "ASCENDOPS_JOBS": "2", **extra}
    return subprocess.run(["bash", project / "gen/cann8/build.sh"], env=env, capture_output=True, text=True, check=False)


def test_cann8_builds_the_package(project, toolkit):
    done = build8(project, toolkit)
    assert done.returncode == 0, done.stdout + done.stderr
    stage = project / "build/cann8"
    assert done.stdout.splitlines()[-1] == f"{stage}/build_out/custom_opp_test_x86.run"
    opbuild, kernels = (stage / "build_out/calls.txt").read_text().splitlines()
    host = [f"{stage}/op_host/softmax_{part}.cpp" for part in ("def", "infershape", "tiling")]
    assert opbuild.split()[0] == "opbuild"
    assert sorted(opbuild.split()[2].split(";")) == host
    words = kernels.split()
    assert words[1:3] == ["ascend910b;ascend910_93", "ascendops_softmax"]
    assert {"op_kernel/softmax.cpp", "op_kernel/softmax_tiling.h", "op_kernel/CMakeLists.txt"} <= set(words[3].split(";"))
    assert (stage / "scripts/install.sh").read_text() == "vendor_name=ascendops_softmax\n"
    vendor = "packages/vendors/ascendops_softmax"
    machine = os.uname().machine
    assert set((stage / "build_out/packed.txt").read_text().split(";")) == {
        "install.sh",
        f"{vendor}/version.info",
        f"{vendor}/op_api/include/aclnn_softmax.h",
        f"{vendor}/op_api/lib/libcust_opapi.so",
        f"{vendor}/op_impl/ai_core/tbe/op_tiling/lib/linux/{machine}/libcust_opmaster_rt2.0.so",
        f"{vendor}/op_impl/ai_core/tbe/op_tiling/liboptiling.so",
        f"{vendor}/op_proto/inc/op_proto.h",
        f"{vendor}/op_proto/lib/linux/{machine}/libcust_opsproto_rt2.0.so",
    }


def test_cann8_stops_when_op_build_made_nothing(project, toolkit):
    done = build8(project, toolkit, BREAK_OP_BUILD="1")
    assert done.returncode != 0
    assert "op_build made no aic-ascend910b-ops-info.ini" in done.stderr


def test_cann8_says_what_is_missing(project, toolkit, tmp_path):
    done = build8(project, tmp_path / "nothing")
    assert (done.returncode, "see gen/cann9" in done.stderr) == (3, True)
    env = {key: value for key, value in os.environ.items() if key != "ASCEND_HOME_PATH"}
    done = subprocess.run(["bash", project / "gen/cann8/build.sh"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "set_env.sh" in done.stderr) == (3, True)


ASC = """
set(ASCEND_AUTOGEN_PATH ${CMAKE_BINARY_DIR}/autogen)
foreach(name npu_op_package npu_op_code_gen npu_op_library npu_op_kernel_sources npu_op_kernel_options npu_op_kernel_library npu_op_package_add)
    cmake_language(EVAL CODE "function(${name})
        file(APPEND ${CMAKE_BINARY_DIR}/calls.txt \\"${name} \\${ARGN}\\n\\")
        if(${name} STREQUAL npu_op_code_gen)
            file(WRITE ${CMAKE_BINARY_DIR}/autogen/aclnn_softmax.cpp \\"\\")
            file(WRITE ${CMAKE_BINARY_DIR}/autogen/op_proto.cc \\"\\")
        endif()
    endfunction()")
endforeach()
file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "units ${ASCEND_COMPUTE_UNIT}\\n")
"""


def test_cann9_calls_the_toolkit_functions(project, tmp_path):
    (tmp_path / "asc").mkdir()
    (tmp_path / "asc/ASCConfig.cmake").write_text(ASC)
    build = tmp_path / "build"
    command = ["cmake", "-S", project / "gen/cann9", "-B", build, f"-DASC_DIR={tmp_path / 'asc'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    calls = [line.split(" ", 1) for line in (build / "calls.txt").read_text().splitlines()]
    assert calls[:2] == [["units", "ascend910b;ascend910_93"], ["npu_op_package", f"ascendops_softmax;TYPE;RUN;CONFIG;INSTALL_PATH;{build}"]]
    host = [f"{project}/gen/op_host/softmax_def.cpp", f"{project}/gen/op_host/softmax_infershape.cpp", f"{project}/op_host/softmax_tiling.cpp"]
    code_gen = calls[2][1].split(";")
    assert calls[2][0] == "npu_op_code_gen"
    assert sorted(code_gen[1:4]) == host
    assert code_gen[4:8] == ["PACKAGE", "ascendops_softmax", "OUT_DIR", f"{build}/autogen"]
    libraries = {args.split(";")[0]: args.split(";")[1:] for name, args in calls if name == "npu_op_library"}
    assert sorted(libraries["cust_optiling"]) == sorted(["TILING", *host])
    assert libraries["cust_opapi"] == ["ACLNN", f"{build}/autogen/aclnn_softmax.cpp"]
    assert sorted(libraries["cust_op_proto"]) == sorted(["GRAPH", *host, f"{build}/autogen/op_proto.cc"])
    kernels = {name: args for name, args in calls if name.startswith("npu_op_kernel")}
    assert kernels == {
        "npu_op_kernel_sources": "ascendc_kernels;OP_TYPE;Softmax;KERNEL_FILE;softmax.cpp",
        "npu_op_kernel_library": f"ascendc_kernels;SRC_BASE;{project}/op_kernel;TILING_LIBRARY;cust_optiling",
    }
    added = [args for name, args in calls if name == "npu_op_package_add"]
    assert added == ["ascendops_softmax;LIBRARY;cust_optiling;cust_opapi;cust_op_proto", "ascendops_softmax;LIBRARY;ascendc_kernels"]


def test_the_cann_backend_builds_and_installs(project, ascend_host):
    assert resolve_backend("auto") == "cann"
    library = ascendops.open_project(project).build(backend="cann")
    vendor = project / "build/cann8/install/vendors/ascendops_softmax"
    assert (library.backend, list(library.ops)) == ("cann", ["softmax"])
    assert (vendor / "op_api/lib").is_dir()
    assert os.environ["ASCEND_CUSTOM_OPP_PATH"] == f"{vendor}:/elsewhere/vendors/other"
    with pytest.raises(ToolchainMissing, match=r"libascendcl\.so was not found in the toolkit") as error:
        library.softmax(torch.ones(3))  # tests/twin/test_aclnn_call.py has a runtime that is there
    assert error.value.exit_code == 3


def test_the_cann_backend_reports_a_silent_failure_of_op_build(project, ascend_host, monkeypatch):
    monkeypatch.setenv("BREAK_OP_BUILD", "1")
    with pytest.raises(ToolchainError, match="failed") as error:
        ascendops.open_project(project).build(backend="cann")
    assert "op_build made no aic-ascend910b-ops-info.ini" in str(error.value)


def test_the_cann_backend_shows_a_compiler_error_as_the_twin_does(project, ascend_host):
    source = project / "op_host/softmax_tiling.cpp"
    source.write_text(source.read_text().replace("context->SetBlockDim", "context->SetBlockDimm"))
    with pytest.raises(CompileError) as error:
        ascendops.open_project(project).build(backend="cann")
    assert "SetBlockDimm" in str(error.value) and error.value.exit_code == 4


def test_an_installer_that_installs_nothing_is_reported(project, ascend_host):
    makeself = ascend_host / "tools/op_project_templates/ascendc/customize/cmake/makeself.cmake"
    makeself.write_text(makeself.read_text().replace("mkdir -p", "echo"))
    with pytest.raises(ToolchainError, match="installed nothing"):
        ascendops.open_project(project).build(backend="cann")


@pytest.fixture
def tbe_host(tmp_path, monkeypatch):
    """A TBE project, and a toolkit of 8.x."""
    toolkit = tmp_path / "toolkit"
    (toolkit / "compiler").mkdir(parents=True)
    (toolkit / "compiler/version.info").write_text("version_dir=8.1.RC1\n")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    monkeypatch.delenv("ASCEND_CUSTOM_OPP_PATH", raising=False)
    new_project("relu", tmp_path / "relu", dialect="tbe")
    return tmp_path / "relu", toolkit


def compiler(folder, script):
    """Stands for g++: the prototypes include GE's headers, which no stand-in has."""
    path = folder / "cxx"
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_tbe_project_is_packed_and_put_on_the_path(tbe_host, tmp_path, monkeypatch):
    project, _ = tbe_host
    monkeypatch.setenv("CXX", compiler(tmp_path, f'echo "$@" > {tmp_path}/cxx.txt; while [ "$1" != -o ]; do shift; done; touch "$2"'))
    library = ascendops.open_project(project).build(backend="cann")
    vendor = project / "build/tbe/vendors/ascendops_relu"
    assert (library.backend, list(library.ops)) == ("cann", ["relu"])
    assert os.environ["ASCEND_CUSTOM_OPP_PATH"] == str(vendor)
    tbe = vendor / "op_impl/ai_core/tbe"
    info = json.loads((tbe / "config/ascend910b/aic-ascend910b-ops-info.json").read_text())
    assert info["Relu"]["input0"]["name"] == "x" and info["Relu"]["opFile"] == {"value": "relu"}
    assert (tbe / "ascendops_relu_impl/dynamic/relu.py").read_text() == (project / "tbe/impl/dynamic/relu.py").read_text()
    words = (tmp_path / "cxx.txt").read_text().split()
    assert {"-D_GLIBCXX_USE_CXX11_ABI=0", "-lgraph", "-lregister", "gen/op_proto/relu.cc", "gen/op_proto/relu_infershape.cc"} <= set(words)
    with pytest.raises(ToolchainMissing, match=r"torch\.ops\.ascendops\.relu is not registered"):
        library.relu(torch.ones(3))


def test_a_tbe_package_that_is_not_whole_or_not_possible_is_told(tbe_host, tmp_path, monkeypatch):
    project, toolkit = tbe_host
    monkeypatch.setenv("CXX", "true")
    with pytest.raises(ToolchainError, match=r"the package of relu lacks .*libcust_opsproto_rt2\.0\.so"):
        ascendops.open_project(project).build(backend="cann")
    monkeypatch.setenv("CXX", compiler(tmp_path, "echo 'relu.cc:3:1: error: no such type' >&2; exit 1"))
    with pytest.raises(CompileError, match="no such type"):
        ascendops.open_project(project).build(backend="cann")
    marker = toolkit / "compiler/tikcpp/ascendc_kernel_cmake/fwk_modules/func.cmake"
    marker.parent.mkdir(parents=True)
    marker.touch()
    with pytest.raises(ToolchainError, match="has no TBE"):
        ascendops.open_project(project).build(backend="cann")
