"""Rules for dotted names in Python: torch.cuda, torch.backends, extensions, profilers, CUDA libraries."""

from __future__ import annotations

import ast
import functools

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.python_tree import Tree
from ascendops.migrate.scanners.sink import Sink

Hit = tuple[str, str, Fact]  # construct, rule, fact

_QUIET_IMPORTS = {
    "torch",
    "torchvision",
    "torchaudio",
    "transformers",
    "accelerate",
    "peft",
    "trl",
    "onnxruntime",
    "torch.distributed",
    "lightning",
    "pytorch_lightning",
    "vllm",
    "deepspeed",
    "megatron",
    "triton",
    "liger_kernel",
    "fla",
    "sglang",
    "detectron2",
    "mmcv",
    "mmcv.ops",
}
_USED_LIBRARIES = (
    "cupy",
    "numba.cuda",
    "pycuda",
    "tensorrt",
    "torch_tensorrt",
    "torch2trt",
    "pynvml",
    "nvtx",
    "cuda.cuda",
    "cuda.nvrtc",
    "cuda.bindings",
    "cuda.cudart",
)
"""Libraries of which every use is a finding, not only the import."""


def scan(tree: Tree, sink: Sink) -> None:
    """Adds a finding for each import and each use of a name that a rule knows."""
    seen: set[tuple[int, str]] = set()
    for alias, name in tree.imports():
        if hit := _import(name):
            sink.add(alias.lineno, *hit)
    for node, name in tree.chains():
        line = node.end_lineno or node.lineno if isinstance(node, ast.Attribute) else node.lineno
        if hit := known(name):
            construct, rule, fact = hit
            if rule == "MIG-CUDA-PYTHON":
                if (node.lineno, fact.name) in seen:
                    continue
                seen.add((node.lineno, fact.name))
                text = ast.unparse(node)
                construct = construct if text == construct else f"{construct} ({text})"
            first = _chain_line(node)
            sink.add(first, construct, rule, fact, line_end=line, edit=_edit(node, name, fact, sink))
        elif name.startswith("torch.cuda."):
            sink.unsure(node.lineno, name)
        elif isinstance(node, ast.Attribute):
            _tail(tree, node, sink)
    for part in tree.nodes:
        if isinstance(part, ast.Attribute) and not tree.dotted(part):
            _tail(tree, part, sink)  # a method of a call: f(x).cuda()


def _chain_line(chain: ast.AST) -> int:
    node = chain
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "lineno", 0)


def _edit(node: ast.Attribute | ast.Name, name: str, fact: Fact, sink: Sink) -> object:
    """The rename of a chain that is written out in full on one line."""
    if (
        fact.status != "rename"
        or fact.name != name
        or not fact.target.startswith("torch.npu")
        or node.lineno != node.end_lineno
    ):
        return None
    prefix = sink.source.lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="ignore")
    return sink.edit(node.lineno, len(prefix), name, fact.target)


def _tail(tree: Tree, node: ast.Attribute, sink: Sink) -> None:
    """Methods and attributes that are CUDA's whatever the object is."""
    line = node.end_lineno or node.lineno
    parent = tree.parents.get(node)
    start = len(
        sink.source.lines[line - 1]
        .encode()[: max((node.end_col_offset or 0) - len(node.attr), 0)]
        .decode(errors="ignore")
    )
    if node.attr == "cuda" and isinstance(parent, ast.Call) and parent.func is node:
        sink.add(
            line,
            ".cuda()",
            "MIG-TENSOR-CUDA",
            tables.related("Tensor.cuda()"),
            replacement=".npu()",
            edit=sink.edit(line, start, "cuda", "npu"),
        )
    elif node.attr == "is_cuda":
        sink.add(
            line,
            "is_cuda",
            "MIG-TENSOR-CUDA",
            tables.related("Tensor.is_cuda"),
            edit=sink.edit(line, start, "is_cuda", "is_npu"),
        )


def _import(name: str) -> Hit | None:
    if hit := known(name):
        return hit
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if module in _QUIET_IMPORTS:
            return None
        if fact := tables.imports().get(module):
            return name, "MIG-IMPORT", fact
    return None


@functools.lru_cache(maxsize=4096)
def known(name: str) -> Hit | None:
    """The construct, rule and fact of a full dotted name, if a rule knows it."""
    if name == "torch.cuda" or name.startswith("torch.cuda."):
        return _torch_cuda(name)
    if name.startswith("torch.backends.") and name.split(".")[2] in ("cuda", "cudnn"):
        return _backend(name)
    for prefix, rule, row in _PREFIXES:
        if name == prefix or name.startswith(prefix + ("" if prefix.endswith("_cuda") else ".")):
            return name if rule == "MIG-COMPILE" else prefix, rule, tables.related(row) if isinstance(row, str) else row
    for library in _USED_LIBRARIES:
        if name.startswith(library + "."):
            return _library(name, library)
    return None


def _torch_cuda(name: str) -> Hit | None:
    facts = tables.torch_cuda()
    parts = name.split(".")
    for end in range(len(parts), 2, -1):
        if fact := facts.get(".".join(parts[:end])):
            rule = (
                "MIG-PROFILER"
                if parts[2] in ("nvtx", "profiler")
                else "MIG-VERSION"
                if parts[2] in ("get_device_capability", "get_arch_list", "get_gencode_flags")
                else "MIG-TORCH-CUDA"
            )
            return fact.name, rule, fact
    if len(parts) == 2 or parts[2] in ("comm", "gds", "green_contexts", "memory", "jiterator"):
        return (
            name,
            "MIG-TORCH-CUDA",
            Fact(
                "torch.cuda",
                "rename",
                "torch.npu",
                "the module itself",
                tables.table("cuda_api_map")["_meta"]["torch_npu_source"],
                shim=True,
            ),
        )
    return None


def _backend(name: str) -> Hit:
    parts = name.split(".")
    leaf = parts[-1]
    if "allow_tf32" in parts:
        row = "torch.backends.cuda.matmul.allow_tf32" if "matmul" in parts else "torch.backends.cudnn.allow_tf32"
    elif "sdp" in leaf:
        row = "torch.backends.cuda.enable_flash_sdp"
    elif leaf == "preferred_linalg_library":
        row = "torch.backends.cuda.preferred_linalg_library"
    elif parts[2] == "cudnn":
        row = "torch.backends.cudnn.benchmark"
    else:
        return (
            name,
            "MIG-BACKEND-FLAG",
            Fact(
                name,
                "restricted",
                "",
                "a cuBLAS or cuDNN switch; it has no effect on NPU kernels",
                tables.related("torch.backends.cudnn.benchmark").source,
            ),
        )
    return name, "MIG-BACKEND-FLAG", tables.related(row)


def _library(name: str, library: str) -> Hit:
    leaf = name.rsplit(".", 1)[-1]
    for section in ("runtime", "driver"):
        if fact := native(section, leaf):
            return name, "MIG-CUDA-PYTHON", fact
    fact = tables.imports().get(library) or tables.imports()[library.split(".")[0]]
    kernel = leaf in ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel", "SourceModule", "fuse", "jit")
    if kernel:
        return (
            name,
            "MIG-PY-KERNEL",
            Fact(
                name,
                "custom_op",
                "Triton for Ascend or Ascend C",
                "CUDA C++ or Numba code is written anew",
                fact.source,
            ),
        )
    return name, "MIG-CUDA-PYTHON", fact


@functools.lru_cache(maxsize=4096)
def native(section: str, name: str) -> Fact | None:
    """The fact of a CUDA runtime or driver name: the table's row, else the family that its spelling shows."""
    import re

    base = re.sub(r"(Async|_v\d|_ptsz|_ptds|WithFlags|WithStream)+$", "", name)
    if fact := tables.cpp("runtime").get(name) or tables.cpp("runtime").get(base):
        return fact
    return next((fact for pattern, fact in tables.patterns(section) if re.fullmatch(pattern, name)), None)


_ACTIVITY = "torch.profiler.ProfilerActivity.CUDA"
_PREFIXES: tuple[tuple[str, str, str | Fact], ...] = (
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
    ("torch.distributed.is_nccl_available", "MIG-DIST-NCCL", "torch.distributed.is_nccl_available"),
    ("torch.distributed.ProcessGroupNCCL", "MIG-DIST-NCCL", "torch.distributed.ProcessGroupNCCL"),
    ("torch.nn.attention.SDPBackend", "MIG-BACKEND-FLAG", "torch.nn.attention.sdpa_kernel"),
    ("torch.nn.attention.sdpa_kernel", "MIG-BACKEND-FLAG", "torch.nn.attention.sdpa_kernel"),
    ("torch.float8_e4m3fn", "MIG-TORCH-FEATURE", "torch.float8_e4m3fn"),
    ("torch.float8_e5m2", "MIG-TORCH-FEATURE", "torch.float8_e4m3fn"),
    ("torch.channels_last", "MIG-TORCH-FEATURE", "torch.channels_last"),
)
