"""The torch binding of gen/torch, compiled without torch_npu: its schema, and its Meta kernel for every kind of argument."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ascendops.render import gen
from ascendops.spec import load

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]

SPEC = Path(__file__).parents[1] / "golden" / "every_kind.toml"
USE = """
import torch
import ascendops_every_kind

op = torch.ops.ascendops.every_kind
spec_schema = torch._C.parse_schema({schema!r})
assert str(op.default._schema).removeprefix("ascendops::") == str(spec_schema), op.default._schema

def meta(*shape, dtype=torch.float32):
    return torch.empty(shape, dtype=dtype, device="meta")

acc = meta(12, 3)
y, idx, same, z = op(meta(4, 5, 6), [meta(5, 9), meta(5, 1)], acc=acc, dims=[0], pad=[1, 1], scale=2.0, oi=3, of=1.5, ol=[1], bs=[True])
assert [tuple(t.shape) for t in (y, idx, z)] == [(1, 5, 6), (4, 3, 16, 4), (120, 5, 1)]
assert [t.dtype for t in (y, idx, z)] == [torch.float32, torch.int32, torch.float16]
assert same is acc
y, idx, same, z = op(meta(5, 6, dtype=torch.float16), [meta(5, 2, dtype=torch.float16)], meta(6), acc=acc, keep=False, k=4, scale=1.0)
assert [tuple(t.shape) for t in (y, idx, z)] == [(), (2, 16, 2), (30, 1, 0)]
assert [t.dtype for t in (y, idx, z)] == [torch.float16, torch.int32, torch.float32]

for arguments, message in [
    ((meta(5, 6), [], meta(7)), "does not allow these shapes"),
    ((meta(6), []), "does not allow these shapes"),
    ((meta(5, 6, dtype=torch.int8), []), "has no kernel for Char"),
]:
    try:
        op(*arguments, acc=acc, scale=1.0)
    except RuntimeError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)
print("fine")
"""


def test_the_binding_compiles_and_infers(tmp_path):
    torch = pytest.importorskip("torch")
    spec = load(SPEC)
    gen(spec).write(tmp_path)
    root = Path(torch.__file__).parent
    include = [f"-I{tmp_path}/gen/torch/shim", f"-I{root}/include", f"-I{root}/include/torch/csrc/api/include", f"-I{sysconfig.get_paths()['include']}"]
    sources = [tmp_path / "gen/torch/every_kind_binding.cpp", tmp_path / "gen/op_host/every_kind_infershape.cpp"]
    flags = ["-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", "-DASCENDOPS_META_ONLY"]
    target = tmp_path / "ascendops_every_kind.so"
    command = ["g++", *flags, *include, *sources, "-o", target, f"-L{root}/lib", "-lc10", "-ltorch_cpu"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    code = USE.format(schema=spec.schema.text)
    used = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert used.stdout == "fine\n", used.stderr
