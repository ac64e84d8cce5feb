"""Every rule by id. A rule is a kind of code, never a place; `ascendops explain ID` prints its page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A kind of code that a scanner recognises.

    Attributes:
        id: Stable id, `MIG-...`.
        title: One line.
        page: What it means and what to do.
        effort: `minutes`, `hours`, `days`, or empty: then the status decides.
        effort_why: The reason for `effort`.
    """

    id: str
    title: str
    page: str
    effort: str = ""
    effort_why: str = ""


_ROWS = (
    Rule(
        "MIG-TORCH-CUDA",
        "A name of torch.cuda",
        "torch_npu offers most of torch.cuda under torch.npu. The fact table compares the names of seven versions of both. The shim `import torch_npu.contrib.transfer_to_npu` makes torch.cuda mean torch.npu, and raises AttributeError for names that torch.npu lacks.",
    ),
    Rule(
        "MIG-DEVICE-STRING",
        'A device named "cuda"',
        'Strings in device position become "npu". The shim rewrites them in the device arguments of a fixed list of functions; comparisons such as device.type == "cuda", dictionaries and configuration files stay as they are, and a comparison is then false.',
    ),
    Rule(
        "MIG-TENSOR-CUDA",
        "A CUDA method or attribute of a tensor or module",
        "x.cuda() becomes x.npu() and x.is_cuda becomes x.is_npu; device-neutral code is x.to(device) and x.device.type.",
    ),
    Rule(
        "MIG-DIST-NCCL",
        "The NCCL backend of torch.distributed",
        'Backend "nccl" becomes "hccl". The collectives keep their names; environment variables, timeouts and unsupported dtypes differ (HCCL has no fp64 reduction on most products).',
    ),
    Rule(
        "MIG-BACKEND-FLAG",
        "A switch of torch.backends.cuda or cudnn",
        "These switches steer cuDNN and cuBLAS. TF32 switches have HF32 counterparts in torch_npu.npu; benchmark and deterministic are accepted and have no effect; the SDPA switches do not exist.",
        "minutes",
        "one line, but check the numerics",
    ),
    Rule(
        "MIG-COMPILE",
        "torch.compile, Dynamo or Inductor",
        "Inductor for NPU is native from TorchNPU 7.3.0 and needs triton-ascend; other backends are npugraphs, aot_eager and TorchAir. Under the transfer_to_npu shim has_triton() is False, so generated Triton kernels are switched off.",
        "hours",
        "graph breaks and unsupported operators show only when it runs",
    ),
    Rule(
        "MIG-PROFILER",
        "The CUDA profiler, NVTX or Nsight",
        "torch_npu.profiler writes its own trace directory for MindStudio Insight; NVTX ranges become mstx ranges, which msprof shows.",
        "minutes",
        "calls map one to one, the tools differ",
    ),
    Rule(
        "MIG-TORCH-FEATURE",
        "A PyTorch feature that behaves differently on Ascend",
        "The operation exists, with limits that the fact names.",
        "hours",
        "behaviour must be checked",
    ),
    Rule(
        "MIG-VERSION",
        "A CUDA version, capability or architecture check",
        "torch.version.cuda is None with torch_npu, and get_device_capability returns a value for compatibility only. Replace the check by a check of the feature, or by torch_npu.npu.get_soc_version().",
        "minutes",
        "a condition is replaced",
    ),
    Rule(
        "MIG-EXTENSION",
        "A CUDA extension is built or loaded",
        "CUDAExtension, load and load_inline compile .cu sources with nvcc, which do not compile for Ascend. The C++ part builds with torch_npu.utils.cpp_extension.NpuExtension; each kernel becomes an operator project (`ascendops new op`).",
        "days",
        "every kernel in the sources is written anew",
    ),
    Rule(
        "MIG-NVCC-FLAGS",
        "Flags for nvcc",
        "nvcc flags mean nothing to bisheng. Optimisation levels carry over; architecture, fast-math and ptxas flags go away.",
        "minutes",
        "flags are dropped or renamed",
    ),
    Rule(
        "MIG-CUDA-ARCH",
        "A CUDA architecture list",
        "sm_XX, compute_XX and architecture lists become --npu-arch (dav-2201 for Atlas A2/A3, dav-3510 for Ascend 950) or SOC_VERSION.",
        "minutes",
        "one setting",
    ),
    Rule(
        "MIG-CU-SOURCE",
        "CUDA sources are part of a build",
        "A .cu file in a source list needs a counterpart: an Ascend C operator project for A2/A3, an .asc source for SIMT code on Ascend 950.",
        "days",
        "the sources are kernels",
    ),
    Rule(
        "MIG-BUILD",
        "CUDA in a build system",
        "CMake's CUDA language and packages are replaced by find_package(ASC) and the CANN toolkit, or by the project that `ascendops new op` writes.",
        "hours",
        "the build changes, not one line",
    ),
    Rule(
        "MIG-KERNEL",
        "A CUDA kernel",
        "Atlas A2/A3 has no threads inside a core: the kernel is written anew in Ascend C as copy in, compute on tiles, copy out. Ascend 950 also has a SIMT mode in which the thread code mostly stays. The finding lists the features that the body uses, because they decide the design.",
        "days",
        "a kernel is redesigned around tiles",
    ),
    Rule(
        "MIG-LAUNCH",
        "A kernel launch",
        "The launch becomes the call of the operator (aclnn or torch.ops), or `kernel<<<blockDim, l2ctrl, stream>>>` for a kernel launched directly. A grid has at most 65535 blocks on Ascend 950; on A2/A3 use as many blocks as cores.",
        "minutes",
        "follows from the kernel",
    ),
    Rule(
        "MIG-CUDA-GUARD",
        "A condition of the preprocessor on CUDA",
        "Macros such as __CUDA_ARCH__ and CUDART_VERSION choose code for a GPU generation or a CUDA version. With CANN they are not defined, so the other branch is compiled silently. Device code on Ascend has __NPU_ARCH__ (2201 for A2/A3, 3510 for 950).",
        "minutes",
        "choose the branch",
    ),
    Rule(
        "MIG-DEVICE-CODE",
        "Device code outside a kernel",
        "Device functions, atomics, shuffles, tensor-core fragments and inline PTX belong to the kernels that use them and are rewritten with them.",
        "hours",
        "part of the kernel's rewrite",
    ),
    Rule(
        "MIG-RUNTIME-API",
        "A CUDA runtime or driver call",
        "The ACL runtime (aclrt*) has a counterpart for most calls; some take further arguments.",
        "minutes",
        "names and a few arguments change",
    ),
    Rule(
        "MIG-NCCL-API",
        "An NCCL call",
        "HCCL has a counterpart for most calls (Hccl*).",
        "minutes",
        "names and a few arguments change",
    ),
    Rule(
        "MIG-CUDA-LIBRARY",
        "A call of a CUDA library",
        "cuBLAS, cuDNN and others become aclnn operators, which are called in two stages (workspace size, then execute); CUB, Thrust and CUTLASS code is rewritten.",
        "",
        "",
    ),
    Rule("MIG-HEADER", "A CUDA header", "The include follows the calls that are replaced.", "minutes", "one line"),
    Rule(
        "MIG-TORCH-CPP",
        "PyTorch C++ code that names CUDA",
        "Streams, guards and device types have counterparts in torch_npu (c10_npu); the dispatch key is PrivateUse1.",
        "minutes",
        "names change",
    ),
    Rule(
        "MIG-TRITON-KERNEL",
        "A Triton kernel",
        "triton-ascend compiles Triton for the NPU. The live tiles of one program must fit the Unified Buffer (192 KiB on A2, half of it with double buffering); fp64, fp8, unsigned dtypes and PTX are not available. The report gives an estimate from the constexpr configurations it finds.",
        "hours",
        "compile, check the limits, choose tile sizes",
    ),
    Rule(
        "MIG-TRITON-GRID",
        "A Triton launch grid",
        "The product of the grid must be at most 65535 unless TRITON_ALL_BLOCKS_PARALLEL=1; one program per core with a loop over rows is faster.",
        "minutes",
        "check the largest shape",
    ),
    Rule(
        "MIG-TRITON-OPTION",
        "A GPU launch option of Triton",
        "num_warps, num_stages, num_ctas and maxnreg are accepted and do not tune Ascend kernels. Tune block sizes and multibuffer instead.",
        "minutes",
        "drop or guard the option",
    ),
    Rule(
        "MIG-TRITON-API",
        "A Triton feature with limits on Ascend",
        "The fact names the limit.",
        "hours",
        "the kernel's code changes",
    ),
    Rule(
        "MIG-FUSED-CALL",
        "A call that a fused torch_npu operator replaces",
        "Names and semantics differ: attention masks mean the opposite (1 is masked), layouts are strings, cumulative lengths have no leading 0, a causal mask is a sparse mode, and several values are returned. The fact has the schema and the limits.",
        "hours",
        "the arguments change",
    ),
    Rule("MIG-IMPORT", "A library that depends on CUDA", "The fact names what takes its place.", "", ""),
    Rule(
        "MIG-PACKAGE",
        "A requirement on a CUDA package",
        "The fact names what takes its place in the environment.",
        "minutes",
        "one line of the environment",
    ),
    Rule(
        "MIG-ENV",
        "An environment variable of CUDA or NCCL",
        "Ascend reads variables of its own; the fact names the counterpart.",
        "minutes",
        "one name",
    ),
    Rule(
        "MIG-CONTAINER",
        "A CUDA container image or runtime",
        "Use a CANN image, and ascend-docker-runtime in place of nvidia-container-runtime.",
        "hours",
        "the image is rebuilt",
    ),
    Rule(
        "MIG-TOOL",
        "A CUDA command line tool",
        "nvidia-smi becomes npu-smi with other output; nvcc becomes bisheng; Nsight becomes msprof; cuda-gdb becomes msdebug.",
        "minutes",
        "output formats differ",
    ),
    Rule(
        "MIG-PROVIDER",
        "An ONNX Runtime execution provider",
        "CUDAExecutionProvider becomes CANNExecutionProvider, in a build of ONNX Runtime with CANN; TensorRT has no counterpart there: convert with ATC.",
        "hours",
        "operator coverage differs",
    ),
    Rule(
        "MIG-PY-KERNEL",
        "A kernel written in Python for CUDA",
        "Numba and CuPy kernels have no Ascend target: write them with Triton for Ascend or in Ascend C.",
        "days",
        "a kernel is written anew",
    ),
    Rule("MIG-CUDA-PYTHON", "A call of a CUDA library from Python", "The fact names what takes its place.", "", ""),
    Rule(
        "MIG-CUDA-BINARY",
        "A CUDA binary is loaded",
        "A shared library built with nvcc cannot be used: its sources must be ported.",
        "days",
        "the library behind it is CUDA",
    ),
    Rule(
        "MIG-ATTENTION-IMPL",
        "A CUDA attention implementation is selected",
        "Recent transformers map flash_attention_2 to npu_fusion_attention; otherwise choose sdpa.",
        "minutes",
        "one setting",
    ),
    Rule(
        "MIG-ONNX-OP",
        "An ONNX operator",
        "The table lists the operators that the CANN ONNX parser registers, with their opsets. Absence is no proof: vision and transformer operators were not read.",
        "",
        "",
    ),
    Rule(
        "MIG-ONNX-OPSET",
        "The opset of an ONNX model",
        "Registrations end at opset 18: convert newer models with onnx.version_converter before ATC.",
        "minutes",
        "one conversion",
    ),
    Rule(
        "MIG-ATEN-OP",
        "An ATen operator of a captured model",
        "native: an NPU kernel. composite: decomposed into others. cpu_fallback: runs on the CPU, with a copy there and back (TORCH_NPU_FALLBACK_CPU_DISABLE=1 turns this into an error).",
        "",
        "",
    ),
    Rule(
        "MIG-UNKNOWN",
        "A CUDA name that no rule knows",
        "The name looks like CUDA and no table lists it. Look it up, and extend the tables with tools/migration_facts.py.",
        "hours",
        "the name must be looked up",
    ),
)

RULES = {rule.id: rule for rule in _ROWS}
