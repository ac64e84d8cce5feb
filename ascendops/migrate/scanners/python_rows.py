"""Names in Python that PyTorch itself defines, with the row of the fact tables that answers for each."""

from __future__ import annotations

from ascendops.migrate.facts.tables import Fact

COMPILED = Fact(
    "compiled CUDA extension",
    "custom_op",
    "",
    "built from CUDA sources: its kernels become operators",
    "library_map.json: causal-conv1d, mamba-ssm, apex rows, derived",
)
_ACTIVITY = "torch.profiler.ProfilerActivity.CUDA"
PREFIXES: tuple[tuple[str, str, str | Fact], ...] = (
    ("torch.version.cuda", "MIG-VERSION", "torch.version.cuda"),
    ("torch.utils.cpp_extension.CUDAExtension", "MIG-EXTENSION", "torch.utils.cpp_extension.CUDAExtension"),
    ("torch.utils.cpp_extension.load_inline", "MIG-EXTENSION", "torch.utils.cpp_extension.load_inline"),
    ("torch.utils.cpp_extension.load", "MIG-EXTENSION", "torch.utils.cpp_extension.load (JIT"),
    (
        "torch.utils.cpp_extension.BuildExtension",
        "MIG-EXTENSION",
        Fact(
            "BuildExtension",
            "restricted",
            "torch_npu.utils.cpp_extension.NpuExtension with BuildExtension",
            "builds the C++ part; nvcc is not called",
            "cuda_cpp_map.json build",
            shim=False,
        ),
    ),
    (
        "torch.utils.cpp_extension.CUDA_HOME",
        "MIG-EXTENSION",
        Fact("CUDA_HOME", "rename", "ASCEND_HOME_PATH", "", "library_map.json env: CANN set_env.sh"),
    ),
    (
        "torch.utils.cpp_extension._find_cuda_home",
        "MIG-EXTENSION",
        Fact("_find_cuda_home", "rename", "ASCEND_HOME_PATH", "", "library_map.json env: CANN set_env.sh"),
    ),
    (
        "torch._C._cuda",
        "MIG-TORCH-CUDA",
        Fact(
            "torch._C._cuda*",
            "restricted",
            "torch_npu._C._npu_*",
            "private bindings; few have a counterpart",
            "derived from the torch.cuda table",
        ),
    ),
    ("torch.compile", "MIG-COMPILE", "torch.compile (inductor)"),
    ("torch._inductor", "MIG-COMPILE", "torch.compile (inductor)"),
    (_ACTIVITY, "MIG-PROFILER", _ACTIVITY),
    ("torch.autograd.profiler.emit_nvtx", "MIG-PROFILER", "torch.profiler.profile"),
    ("torch.profiler.profile", "MIG-PROFILER", "torch.profiler.profile"),
    (
        "torch.nn.DataParallel",
        "MIG-TORCH-FEATURE",
        Fact(
            "torch.nn.DataParallel",
            "restricted",
            "DistributedDataParallel",
            "one process for several devices is documented as unsupported",
            "aten_support.json api: torch.nn.DataParallel",
        ),
    ),
    ("torch.distributed.is_nccl_available", "MIG-DIST-NCCL", "torch.distributed.is_nccl_available"),
    ("torch.distributed.Backend.NCCL", "MIG-DIST-NCCL", 'dist backend "nccl"'),
    ("torch.distributed.ProcessGroupNCCL", "MIG-DIST-NCCL", "torch.distributed.ProcessGroupNCCL"),
    ("torch.nn.attention.SDPBackend", "MIG-BACKEND-FLAG", "torch.nn.attention.sdpa_kernel"),
    ("torch.nn.attention.sdpa_kernel", "MIG-BACKEND-FLAG", "torch.nn.attention.sdpa_kernel"),
    ("torch.float8_e4m3fn", "MIG-TORCH-FEATURE", "torch.float8_e4m3fn"),
    ("torch.float8_e5m2", "MIG-TORCH-FEATURE", "torch.float8_e4m3fn"),
    ("torch.channels_last", "MIG-TORCH-FEATURE", "torch.channels_last"),
)
