"""The Python scanners of migrate: what is found, with which status, and what is left alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from ascendops.migrate.model import Finding
from ascendops.migrate.scanners import python
from ascendops.migrate.scanners.all import scan
from ascendops.migrate.sources.text import Source


def found(text: str, file: str = "repo/a.py") -> list[Finding]:
    return python.scan(Source(file, textwrap.dedent(text))).findings


def rows(text: str) -> list[tuple[int, str, str]]:
    return sorted((f.line, f.construct, f.status) for f in found(text))


@pytest.mark.parametrize(
    ("code", "construct", "status"),
    [
        ("import torch\ntorch.cuda.synchronize()", "torch.cuda.synchronize", "rename"),
        ("import torch.cuda as gpu\ngpu.synchronize()", "torch.cuda.synchronize", "rename"),
        ("from torch import cuda\ncuda.empty_cache()", "torch.cuda.empty_cache", "rename"),
        ("from torch.cuda.amp import GradScaler as S\nx = S()", "torch.cuda.amp.GradScaler", "rename"),
        ("import torch\nc = torch.cuda\nc.current_stream()", "torch.cuda.current_stream", "rename"),
        ("import torch\ntorch.cuda.CUDAGraph()", "torch.cuda.CUDAGraph", "restricted"),
        ("import torch\ntorch.cuda.get_device_properties(0).name", "torch.cuda.get_device_properties", "restricted"),
        ("import torch\ntorch.cuda.jiterator._create_jit_fn(s)", "torch.cuda.jiterator", "no_equivalent"),
        ("import torch.backends.cudnn as cudnn\ncudnn.benchmark = True", "torch.backends.cudnn.benchmark", "restricted"),
        ("import torch\ntorch.backends.cuda.enable_flash_sdp(True)", "torch.backends.cuda.enable_flash_sdp", "no_equivalent"),
        ("import torch\nv = torch.version.cuda", "torch.version.cuda", "restricted"),
        ("import torch\n@torch.compile\ndef f(): pass", "torch.compile", "restricted"),
        ("from torch.utils.cpp_extension import load\n\nload(name='m', sources=s)", "torch.utils.cpp_extension.load", "custom_op"),
        ("x = y.cuda()", ".cuda()", "rename"),
        ("x = f(y).cuda(non_blocking=True)", ".cuda()", "rename"),
        ("assert x.is_cuda", "is_cuda", "rename"),
        ("init(backend='nccl')", '"nccl" distributed backend', "rename"),
        ("from torch.profiler import ProfilerActivity\np = [ProfilerActivity.CUDA]", "torch.profiler.ProfilerActivity.CUDA", "rename"),
        ("s = Session(m, providers=['CUDAExecutionProvider'])", "CUDAExecutionProvider", "restricted"),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'", "CUDA_VISIBLE_DEVICES", "rename"),
        ("import os\nos.environ.setdefault('NCCL_FOO_BAR', '1')", "NCCL_FOO_BAR", "restricted"),
        ("import subprocess\nsubprocess.run(['nvidia-smi', '-L'])", "nvidia-smi", "restricted"),
        ("torch.set_default_tensor_type('torch.cuda.FloatTensor')", "torch.cuda.FloatTensor", "rename"),
        ("lib.impl('op', f, 'CUDA')", '"CUDA" dispatch key', "rename"),
        ("import torch\nm = torch.nn.DataParallel(m)", "torch.nn.DataParallel", "restricted"),
        ("t = Trainer(accelerator='gpu')", 'accelerator="gpu"', "restricted"),
        ("from flash_attn import flash_attn_func", "flash_attn.flash_attn_func", "restricted"),
        ("from . import iou3d_cuda", "iou3d_cuda", "custom_op"),
        ("import importlib\nm = importlib.import_module('norm_cuda')", "norm_cuda", "custom_op"),
        ("import flash_attn", "flash_attn", "restricted"),
        ("import cupy as cp\nk = cp.RawKernel(src, 'f')", "cupy.RawKernel", "custom_op"),
        ("from cuda import nvrtc\nnvrtc.nvrtcCreateProgram(s)", "cuda.nvrtc.nvrtcCreateProgram", "no_equivalent"),
        ("from numba import cuda\n\n@cuda.jit\ndef k(a):\n    pass", "@cuda.jit kernel k", "custom_op"),
        ("flags = {'nvcc': ['-O3', '-gencode', 'arch=compute_80,code=sm_80']}", "gencode compute_80", "rename"),
        ("flags = {'nvcc': ['-O3']}", "nvcc flags", "restricted"),
        ("sources = ['a.cpp', 'csrc/a.cu']", "csrc/a.cu (.cu source)", "custom_op"),
        ("import ctypes\nctypes.CDLL('libfoo_cuda.so')", "libfoo_cuda.so (CUDA binary)", "custom_op"),
    ],
)
def test_kinds(code: str, construct: str, status: str) -> None:
    assert (construct, status) in {(f.construct.split(" (")[0] if f.rule == "MIG-CUDA-PYTHON" else f.construct, f.status) for f in found(code)}


@pytest.mark.parametrize(
    "code",
    [
        "d = 'cuda'",
        "d = 'cuda:1'",
        "x = torch.zeros(3, device='cuda')",
        "d = f'cuda:{rank}'",
        "ok = x.device.type == 'cuda'",
        "if 'cuda' in device: pass",
        "def f(device='cuda'): pass",
        "parser.add_argument('--device', default='cuda')",
        "m.to('cuda', dtype)",
        "def get():\n    return 'cuda'",
        "table = {'cuda': 1}",
        "d = 'cuda' if ok else 'cpu'",
        "with torch.autocast('cuda', dtype): pass",
        "names = ['cpu', 'cuda']",
        "d = 'cuda:' + str(rank)",
        "d = 'cuda:%d' % rank",
        "d = 'cuda:{}'.format(rank)",
        "if device.startswith('cuda'): pass",
    ],
)
def test_device_strings(code: str) -> None:
    assert [f.construct for f in found(code)] == ['"cuda" device string']


@pytest.mark.parametrize(
    "code",
    [
        "# torch.cuda.synchronize()",
        "'''uses torch.cuda and \"cuda\"'''",
        "def f():\n    'cuda'\n    return 1",
        "p = os.path.join(root, 'cuda')",
        "p = root / 'cuda'",
        "x = op(impl='cuda')",
        "assert impl in ['ref', 'cuda']",
        "print('cuda')",
        "raise ValueError('cuda')",
        "raise RuntimeError('this needs nvcc and a CUDA device with sm_80 or newer to work')",
        "help = 'the cuda device'",
        "url = 'https://example.com/cuda'",
        "s = name + 'cuda'",
        "from helpers import is_cuda_like, run_cuda",
        "from .helpers import run_cuda",
    ],
)
def test_left_alone(code: str) -> None:
    assert found(code) == []


def test_an_import_names_the_fused_operator() -> None:
    finding = found("from flash_attn import flash_attn_func")[0]
    assert finding.replacement == "torch_npu.npu_fusion_attention" and "int head_num" in finding.todo


def test_a_parameter_or_variable_hides_an_import() -> None:
    code = "import torch._inductor.config as config\ndef f(config):\n    return config.width\ndef g():\n    config = 1\n    return config.width\n"
    assert [f.line for f in found(code)] == [1]


def test_one_finding_for_a_line_and_construct() -> None:
    assert len(found("d = 'cuda' if 'cuda' in device else 'cpu'")) == 1


def test_names_in_an_import_list_have_their_own_lines() -> None:
    code = "from torch.utils.cpp_extension import (\n    CppExtension,\n    CUDAExtension,\n    CUDA_HOME,\n)\ne = CUDAExtension\n"
    assert rows(code) == [
        (3, "torch.utils.cpp_extension.CUDAExtension", "custom_op"),
        (4, "torch.utils.cpp_extension.CUDA_HOME", "rename"),
        (6, "torch.utils.cpp_extension.CUDAExtension", "custom_op"),
    ]


def test_cuda_in_a_string_has_the_lines_of_the_file() -> None:
    code = '''
    a = 1
    src = r"""
    #include <c10/cuda/CUDAException.h>
    __global__ void scale_kernel(float *x, int n) {
        int i = threadIdx.x;  // cudaMalloc in a comment
        if (i < n) x[i] *= 2;
    }
    void run() { scale_kernel<<<1, 32>>>(p, n); }
    """
    '''
    assert [(line, construct) for line, construct, _ in rows(code)] == [
        (4, "c10/cuda/CUDAException.h"),
        (5, "__global__ kernel scale_kernel"),
        (9, "<<<>>> launch of scale_kernel"),
    ]


def test_unknown_names_are_listed() -> None:
    sink = python.scan(Source("a.py", "import torch\ntorch.cuda.never_heard_of_it()\n"))
    assert [(name.name, name.line) for name in sink.unknown] == [("torch.cuda.never_heard_of_it", 2)]


TRITON = '''
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 65536}, num_warps=4, num_stages=2)], key=["n"])
@triton.jit
def add_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, eviction_policy="evict_first")
    b = tl.load(y + i)
    tl.atomic_add(y + i, a.to(tl.float64))

def launch(x, y):
    add_kernel[(1024, 8)](x, y, 5, num_warps=8)
'''


def test_triton() -> None:
    got = {(f.line, f.construct): f for f in found(TRITON)}
    assert {status for (line, _), status in ((key, f.status) for key, f in got.items()) if line == 7} == {"restricted"}
    kernel = got[(7, "@triton.jit kernel add_kernel")]
    assert "BLOCK=65536: 2 tiles" in kernel.todo and "above the 192 KiB" in kernel.todo
    assert kernel.command == "ascendops new op add --from repo/a.py"
    assert (14, "num_warps") in got and (14, "launch grid of add_kernel") in got
    assert "2-D grids are merged" in got[(14, "launch grid of add_kernel")].todo
    assert (5, "triton.Config num_warps") in got and (5, "triton.Config num_stages") in got
    assert (9, "tl.load (eviction_policy)") in got and (10, "tl.load") not in got
    assert got[(11, "tl.float64")].status == "no_equivalent"
    assert got[(11, "tl.atomic_add")].status == "restricted"


def test_a_triton_tile_that_fits_is_within() -> None:
    kernel = next(f for f in found(TRITON.replace("65536", "1024")) if f.rule == "MIG-TRITON-KERNEL")
    assert "= 16 KiB, within the 192 KiB" in kernel.todo


def test_python_2_is_searched_as_text_and_reported(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import torch\nprint 'x'\ntorch.cuda.synchronize()\n# torch.cuda.init()\n")
    report = scan([tmp_path])
    assert [(f.line, f.construct) for f in report.findings] == [(3, "torch.cuda.synchronize")]
    assert "not Python 3" in report.skipped[0].reason


@pytest.mark.parametrize(
    ("text", "construct", "status"),
    [
        ('dist.init_process_group("NCCL")', '"nccl" distributed backend', "rename"),
        ("import torch.distributed as dist\nb = dist.Backend.NCCL", "torch.distributed.Backend.NCCL", "rename"),
        ("lib.cudaSetDevice(0)", "cudaSetDevice", "rename"),
        ('Extension("x", ["x.cpp"], libraries=["m", "cudart", "nvrtc"])', "libraries cudart, nvrtc", "rename"),
        ('import os\nos.putenv("NCCL_DEBUG", "INFO")', "NCCL_DEBUG", "restricted"),
        ("t = event.cuda_time_total", ".cuda_time_total", "rename"),
        ('p.table(sort_by="self_cuda_time_total")', 'sort_by="self_cuda_time_total"', "rename"),
        ('import importlib\nm = importlib.import_module("tensorrt.plugin")', 'import of "tensorrt.plugin" by name', "custom_op"),
        ("from flash_attn import flash_attn_func as f\n\ny = f(q, k, v)", "flash_attn.flash_attn_func", "restricted"),
    ],
)
def test_names_by_string_by_attribute_and_calls_of_replaced_functions(text: str, construct: str, status: str) -> None:
    found = python.scan(Source("a.py", text)).findings
    assert (construct, status) in {(f.construct, f.status) for f in found if f.line == len(text.split("\n"))}


@pytest.mark.parametrize("text", ["self.cuda_time = 3", 'importlib.import_module("json")', 'print("NCCL is slow")', "f = flash_attn_func(q)", "x = cuda_time_total", 'f(libraries=["m"])', "self.cudaThing(3)"])
def test_their_neighbours_are_silent(text: str) -> None:
    assert not python.scan(Source("a.py", f"import importlib\n{text}\n")).findings
