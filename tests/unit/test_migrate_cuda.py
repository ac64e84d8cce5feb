"""The CUDA C++ and build scanners of migrate."""

from __future__ import annotations

import textwrap

import pytest

from ascendops.migrate.model import Finding
from ascendops.migrate.scanners import build_files, cuda, environment
from ascendops.migrate.scanners.cuda_text import functions, mask
from ascendops.migrate.sources.text import Source

KERNELS = """
#include <cuda_fp16.h>
#include "cub/cub.cuh"
// __global__ void not_a_kernel();
template <typename T, int N>
__global__ void __launch_bounds__(256, (N > 2 ? 1 : 2))
softmax_kernel(const T *__restrict__ x,
               T *y) {
  __shared__ float tile[32];
  float v = __shfl_xor_sync(0xffffffff, tile[0], 1);
  asm volatile("mov.u32 %0, %laneid;" : "=r"(v));
  __syncthreads();
}
__global__ void forward(float *x);
__device__ __forceinline__ float twice(float v) { return 2 * v; }
void run(cudaStream_t s) {
  softmax_kernel<float, 4>
      <<<dim3(1, 2), 32, 0, s>>>(x, y);
  const char *t = "cudaMalloc(";
  cudaErrorInvalidFoo;  cudaNeverHeardOfIt();
}
"""


def found(text: str) -> list[Finding]:
    return cuda.scan(Source("repo/k.cu", textwrap.dedent(text))).findings


def test_kernels_and_launches() -> None:
    got = {f.construct: f for f in found(KERNELS)}
    kernel = got["__global__ kernel softmax_kernel"]
    assert (kernel.line, kernel.line_end, kernel.status, kernel.status_950) == (6, 7, "custom_op", "rename")
    assert kernel.features == ("shared memory", "barrier", "warp shuffle", "inline PTX")
    assert (kernel.effort, kernel.effort_why) == ("days", "redesign: inline PTX")
    assert kernel.command == "ascendops new op softmax --from repo/k.cu"
    assert got["__global__ kernel forward"].effort == "minutes"
    assert "__global__ kernel not_a_kernel" not in got
    launch = got["<<<>>> launch of softmax_kernel"]
    assert (launch.line, launch.line_end) == (17, 18)
    assert got["__device__ function twice"].line == 15
    assert got["asm"].status == "no_equivalent"
    assert got["__shfl_xor_sync"].line == 10
    assert got["cub/cub.cuh"].status == "custom_op"
    assert got["cudaErrorInvalidFoo"].status == "restricted"
    assert "cudaMalloc" not in got


def test_unknown_cuda_names_are_listed() -> None:
    assert [name.name for name in cuda.scan(Source("k.cu", KERNELS)).unknown] == ["cudaNeverHeardOfIt"]


@pytest.mark.parametrize(
    ("code", "construct", "status"),
    [
        ("cudaMemcpyAsync(a, b, n, k, s);", "cudaMemcpyAsync", "rename"),
        ("cudaGraph_t g;", "cudaGraph_t", "no_equivalent"),
        ("CUdeviceptr p;", "CUdeviceptr", "rename"),
        ("cuModuleLoadData(&m, image);", "cuModuleLoadData", "rename"),
        ("nvrtcCreateProgram(&p);", "nvrtcCreateProgram", "no_equivalent"),
        ("ncclAllReduce(a, b);", "ncclAllReduce", "restricted"),
        ("cublasSgemm(h);", "cublasSgemm", "restricted"),
        ("cusparseCreate(&h);", "cusparseCreate", "no_equivalent"),
        ("thrust::sort(a, b);", "thrust::sort", "custom_op"),
        ("using B = cub::BlockReduce<float, 1>;", "cub::BlockReduce", "custom_op"),
        ("namespace my_cub = cub; my_cub::BlockLoad<int> b;", "my_cub::BlockLoad", "custom_op"),
        ("auto t = cudnn_frontend::TensorBuilder();", "cudnn_frontend::TensorBuilder", "restricted"),
        ("auto s = at::cuda::getCurrentCUDAStream();", "at::cuda::getCurrentCUDAStream", "rename"),
        ("TORCH_CHECK(x.device().is_cuda());", "is_cuda", "rename"),
        ("#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda())", "is_cuda", "rename"),
        ("auto o = torch::kCUDA;", "torch::kCUDA", "rename"),
        ("TORCH_LIBRARY_IMPL(ns, CUDA, m) {", "TORCH_LIBRARY_IMPL CUDA", "rename"),
        ("const at::cuda::OptionalCUDAGuard guard(d);", "at::cuda::OptionalCUDAGuard", "rename"),
        ("C10_CUDA_KERNEL_LAUNCH_CHECK();", "C10_CUDA_KERNEL_LAUNCH_CHECK", "restricted"),
        ("int n = prop.multiProcessorCount;", "deviceProp multiProcessorCount", "restricted"),
        ("__constant__ float table[4];", "__constant__", "custom_op"),
        ("atomicAdd(p, 1);", "atomicAdd", "custom_op"),
        ("atomicCAS(p, 1, 2);", "atomicCAS", "no_equivalent"),
        ("float v = tex2D<float>(t, x, y);", "tex2D", "no_equivalent"),
        ("at::cuda::SomethingNew x;", "at::cuda::SomethingNew", "restricted"),
    ],
)
def test_kinds(code: str, construct: str, status: str) -> None:
    assert (construct, status) in {(f.construct, f.status) for f in found(code)}


def test_comments_and_strings_are_blank_and_offsets_stay() -> None:
    text = "a /* cuda\nx */ \"b // c\" 'd' // e\nR\"x(f)\" g #include <h>\n"
    masked = mask(text)
    assert len(masked) == len(text) and masked.count("\n") == 3
    assert not {"cuda", "b", "d", "e", "f"} & set(masked.split()) and {"a", "g", "<h>"} <= set(masked.split())


def test_a_cuda_source_in_a_raw_string_is_scanned() -> None:
    text = 'const char *src = R"(\n__global__ void jit_kernel(int *x) { x[threadIdx.x] = 1; }\n)";\n'
    assert [(f.construct, f.line) for f in found(text)] == [("__global__ kernel jit_kernel", 2)]


def test_unbalanced_text_ends() -> None:
    assert functions(mask("__global__ void k(int a { __device__ ( ( (")) is not None
    assert functions(mask("__global__")) == []


def test_cmake() -> None:
    text = """
    # enable_language(CUDA)
    project(x LANGUAGES CXX CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
    add_library(x a.cpp src/b.cu)
    target_link_libraries(x CUDA::cudart)
    """
    got = [(f.line, f.rule, f.status) for f in build_files.scan(Source("CMakeLists.txt", textwrap.dedent(text))).findings]
    assert sorted(got) == [
        (3, "MIG-BUILD", "custom_op"),
        (4, "MIG-BUILD", "rename"),
        (5, "MIG-CUDA-ARCH", "rename"),
        (6, "MIG-CU-SOURCE", "custom_op"),
        (7, "MIG-BUILD", "rename"),
    ]


def test_packages_shell_and_docker() -> None:
    packages = environment.packages(Source("requirements.txt", "torch==2.1\n# cupy\nflash-attn>=2\ncupy-cuda12x\nnumpy\n--extra-index-url https://x/whl/cu121\n"))
    assert [(f.line, f.construct, f.status) for f in packages.findings] == [
        (1, "torch", "restricted"),
        (3, "flash-attn", "restricted"),
        (4, "cupy-cuda12x", "no_equivalent"),
        (6, "CUDA wheel index cu121", "restricted"),
    ]
    shell = environment.shell(Source("run.sh", "# nvidia-smi\nexport CUDA_VISIBLE_DEVICES=0\nnvidia-smi -L\npython t.py --device cuda:0\necho nvcc\n"))
    assert [(f.line, f.construct) for f in shell.findings] == [(2, "CUDA_VISIBLE_DEVICES"), (3, "nvidia-smi"), (4, '"cuda" device string')]
    docker = environment.docker(Source("Dockerfile", "FROM nvidia/cuda:12.1-devel\nRUN pip install deepspeed xformers\n"))
    assert [(f.line, f.rule) for f in docker.findings] == [(1, "MIG-CONTAINER"), (2, "MIG-PACKAGE"), (2, "MIG-PACKAGE")]


@pytest.mark.parametrize("text", ["target_link_libraries(" * 4000, "project(x LANGUAGES " * 4000, "project( CUDA " * 4000])
def test_repeated_heads_do_not_take_quadratic_time(text: str) -> None:
    import time

    started = time.perf_counter()
    build_files.scan(Source("CMakeLists.txt", text))
    assert time.perf_counter() - started < 5


def test_guards_of_the_preprocessor_and_tensorrt() -> None:
    text = "#if __CUDA_ARCH__ >= 800\n#elif defined(X) && CUDART_VERSION > 11\n#endif\n// #if __CUDA_ARCH__\n#define A __CUDA_ARCH__\n#ifdef USE_CUDA\n#endif\nREGISTER_TENSORRT_PLUGIN(P);\nclass P : public nvinfer1::IPluginV2 {};\nusing namespace nvcuda;\n"
    found = [(f.line, f.construct, f.status) for f in cuda.scan(Source("k.cu", text)).findings]
    assert found == [
        (10, "using namespace nvcuda", "custom_op"),
        (1, "#if __CUDA_ARCH__", "restricted"),
        (2, "#if CUDART_VERSION", "restricted"),
        (8, "REGISTER_TENSORRT_PLUGIN (first use in this file)", "custom_op"),
    ]


def test_a_header_for_another_vendor_does_not_hide_the_calls() -> None:
    text = "#define cudaMallocHost(p, n) hipHostMalloc(p, n)\n#define cublasSetMathMode(h, m) OK\n#define cudaCheck(x) check(x)\nint f() { cudaMallocHost(&p, 3); cublasSetMathMode(h, m); cudaCheck(r); }\n"
    found = {(f.line, f.construct) for f in cuda.scan(Source("k.cu", text)).findings}
    assert {(4, "cudaMallocHost"), (4, "cublasSetMathMode")} <= found
    assert not any("Check" in construct for _, construct in found)


@pytest.mark.parametrize("brackets", ["<<<g, b>>>", "<< <g, b >> >", "<< < g, b >> > ", "< << g, b >>>"])
def test_launches_of_any_formatter(brackets: str) -> None:
    text = f"void f() {{\n  render<3> {brackets}(x);\n  std::cout << a << b;\n  y = a < b;\n}}\n"
    assert [(f.line, f.construct) for f in cuda.scan(Source("k.cu", text)).findings] == [(2, "<<<>>> launch of render")]
