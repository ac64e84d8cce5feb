"""What user code does with an NPU, on the laptop device: run as a program, one line per check, because the device cannot be switched off."""

from __future__ import annotations

import contextlib
import copy
import io
import sys
import traceback
import warnings

import torch

import ascendops

warnings.simplefilter("ignore")
twin = ascendops.enable_npu_twin()
assert ascendops.enable_npu_twin() is twin
CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def same(a, b):
    assert a.device.type == "npu", a.device
    torch.testing.assert_close(a.cpu(), b)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.conv, self.norm = torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4 * 3 * 3, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.linear(torch.nn.functional.max_pool2d(x, 2).flatten(1))


def train(net, x, make, steps=3):
    optimizer = make(net.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), torch.arange(len(x), device=x.device) % 5)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@check
def moves_and_names():
    x = torch.randn(3, 4)
    for moved in (x.npu(), x.to("npu"), x.to("npu:0"), x.to(torch.device("npu", 0))):
        assert moved.is_npu and moved.device == torch.device("npu:0") and moved.cpu().equal(x)
    assert torch.npu.is_available() and torch.npu.is_twin and "twin" in torch.npu.get_device_name()
    assert torch.npu.device_count() == 2 and torch.npu.current_device() == 0
    assert torch.accelerator.current_accelerator().type == "npu"
    assert repr(x.npu()).startswith("tensor(") and "device='npu:0'" in repr(x.npu())


@check
def several_devices():
    with torch.npu.device(1):
        assert torch.npu.current_device() == 1 and torch.empty(2, device="npu").device.index == 1
    torch.npu.set_device(1)
    assert torch.zeros(2, device="npu").device.index == 1
    torch.npu.set_device("npu:0")
    y = torch.ones(2, device="npu:1").to("npu:0") + 1
    assert y.device.index == 0 and y.tolist() == [2, 2]
    with contextlib.suppress(RuntimeError):
        torch.npu.set_device(7)
        raise AssertionError("device 7 was accepted")


@check
def factories_and_views():
    x = torch.arange(24.0, device="npu").reshape(2, 3, 4)
    view = x[1].t()[1:]
    view.add_(100)
    wanted = torch.arange(24.0).reshape(2, 3, 4)
    wanted[1].t()[1:].add_(100)
    same(x, wanted)
    assert view._base is not None and view.data_ptr() == x.data_ptr() + 13 * 4
    same(x[x > 20], wanted[wanted > 20])
    x[0, :, 1] = -1
    wanted[0, :, 1] = -1
    same(torch.cat([x, x.flip(0)]), torch.cat([wanted, wanted.flip(0)]))
    same(x.unfold(2, 2, 1).permute(3, 0, 1, 2).contiguous(), wanted.unfold(2, 2, 1).permute(3, 0, 1, 2))
    same(torch.eye(3, device="npu") @ torch.full((3, 2), 2.0, device="npu"), torch.full((3, 2), 2.0))
    same(torch.view_as_real(torch.fft.fft(x)), torch.view_as_real(torch.fft.fft(wanted)))


@check
def out_and_resize():
    out = torch.empty(0, device="npu")
    torch.add(torch.ones(3, device="npu"), 1, out=out)
    same(out, torch.full((3,), 2.0))
    x = torch.arange(4.0, device="npu")
    pointer = x.data_ptr()
    x.resize_(2, 1)
    assert x.data_ptr() == pointer
    x.resize_(1000)
    same(x[:4], torch.arange(4.0))
    y = torch.empty(0, device="npu").set_(x.untyped_storage(), 1, (2,), (2,))
    same(y, torch.tensor([1.0, 3.0]))
    y.set_(torch.ones(5, device="npu"))
    same(y, torch.ones(5))


@check
def training_equals_the_cpu():
    x = torch.randn(6, 2, 8, 8, generator=torch.Generator().manual_seed(0))
    for make in (
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), lambda p: torch.optim.Adam(p, 1e-2), lambda p: torch.optim.AdamW(p, 1e-2, foreach=True),
        lambda p: torch.optim.AdamW(p, 1e-2, fused=True),
    ):  # fmt: skip
        cpu, npu = train(Net(), x, make), train(Net().npu(), x.npu(), make)
        assert max(abs(a - b) for a, b in zip(cpu, npu, strict=True)) < 1e-5, (cpu, npu)


@check
def transformer_and_attention():
    torch.manual_seed(2)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    x = torch.randn(2, 5, 16)
    wanted = layer(x)
    moved = copy.deepcopy(layer).npu()
    result = moved(x.npu())
    torch.testing.assert_close(result.cpu(), wanted)
    result.sum().backward()
    q = torch.randn(2, 2, 5, 8, device="npu", requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
    assert q.grad.device.type == "npu"


@check
def autocast_and_scaler():
    net, x = torch.nn.Linear(4, 4).npu(), torch.randn(2, 4).npu()
    with torch.autocast("npu", dtype=torch.bfloat16):
        assert net(x).dtype == torch.bfloat16 and torch.softmax(net(x), -1).dtype == torch.float32
    with torch.npu.amp.autocast():
        assert net(x).dtype == torch.float16
    scaler, optimizer = torch.npu.amp.GradScaler(), torch.optim.SGD(net.parameters(), 0.1)
    scaler.scale(net(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    before = net.weight.detach().clone()
    net.weight.grad.fill_(float("inf"))
    scaler.step(optimizer)
    scaler.update()
    assert net.weight.equal(before)


@check
def random_numbers():
    torch.manual_seed(5)
    a = torch.randn(4, device="npu")
    torch.manual_seed(5)
    assert a.equal(torch.randn(4, device="npu"))
    torch.npu.manual_seed(6)
    state = torch.npu.get_rng_state()
    b = torch.rand(3, device="npu")
    torch.npu.set_rng_state(state)
    assert b.equal(torch.rand(3, device="npu")) and torch.npu.initial_seed() == 6
    generator = torch.Generator(device="npu").manual_seed(7)
    assert generator.device.type == "npu" and generator.initial_seed() == 7
    c = torch.rand(3, device="npu", generator=generator)
    same(c, torch.rand(3, generator=torch.Generator().manual_seed(7)))
    assert torch.nn.functional.dropout(torch.ones(100, device="npu"), 0.5).count_nonzero() < 100


@check
def save_and_load():
    net = Net().npu()
    file = io.BytesIO()
    torch.save({"net": net.state_dict(), "x": torch.arange(3, device="npu")}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].device.type == "npu" and loaded["x"].tolist() == [0, 1, 2]
    file.seek(0)
    assert torch.load(file, map_location="cpu")["x"].device.type == "cpu"
    Net().load_state_dict(loaded["net"])
    assert copy.deepcopy(loaded["x"]).device.type == "npu"


@check
def streams_and_events():
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    stream = torch.npu.Stream()
    default = torch.npu.current_stream()
    start.record()
    with torch.npu.stream(stream):
        assert torch.npu.current_stream() == stream != default
        x = torch.ones(1000, device="npu").cumsum(0)
        stream.record_event(end)
    assert torch.npu.current_stream() == default
    default.wait_event(end)
    default.wait_stream(stream)
    torch.npu.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0 and stream.query() and x[-1] == 1000


@check
def memory():
    torch.npu.empty_cache()
    before = torch.npu.memory_allocated()
    x = torch.empty(1 << 20, device="npu", dtype=torch.uint8)
    assert torch.npu.memory_allocated() - before == 1 << 20 <= torch.npu.max_memory_allocated()
    del x
    assert torch.npu.memory_allocated() == before
    torch.npu.reset_peak_memory_stats()
    assert torch.npu.max_memory_allocated() == before


@check
def transforms_and_graphs():
    x = torch.randn(3, 4, device="npu")
    same(torch.vmap(torch.sin)(x), x.cpu().sin())
    same(torch.func.grad(lambda t: t.square().sum())(x), 2 * x.cpu())
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()).npu()
    torch.testing.assert_close(torch.compile(net, fullgraph=True, backend="aot_eager")(x), net(x))
    y = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=False)
    y.sum().backward()
    program = torch.export.export(net, (x,))
    torch.testing.assert_close(program.module()(x), net(x))


@check
def data_loader():
    from torch.utils.data import DataLoader, TensorDataset

    for (batch,) in DataLoader(TensorDataset(torch.arange(6.0)), batch_size=3):
        assert batch.to("npu", non_blocking=True).sum() >= 3


@check
def other_dtypes():
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn):
        x = torch.ones(3, device="npu").to(dtype)
        assert x.cpu().dtype == dtype and x.clone().device.type == "npu"
    assert torch.ones(2, device="npu", dtype=torch.complex64).conj().resolve_conj().imag.sum() == 0


@check
def counts_and_report():
    twin.reset_fallbacks()
    torch.ones(3, device="npu").add(1).add(1)
    assert twin.fallbacks()["aten::add.out"] == 2  # the functional form is made of it
    assert "aten::add.out" in twin.report() and "has an NPU kernel" in twin.report()


@check
def import_torch_npu():
    import torch_npu

    assert torch_npu.is_twin and torch_npu.npu is torch.npu
    with contextlib.suppress(AttributeError):
        torch_npu.npu_fusion_attention  # noqa: B018
        raise AssertionError("the stand-in has everything")


@check
def kit_operators(folder):
    from torch_projects import register, small
    from two_operators import make

    for name in ("softmax", "gelu"):
        ops = register(small(folder, name), "npu_checks")
    ops = register(make(folder), "npu_checks")
    x = torch.randn(4, 5)
    same(ops.softmax(x.npu().t()), x.t().softmax(-1))
    cpu, npu = x.clone().requires_grad_(), x.npu().requires_grad_()
    ops.exp_custom(ops.gelu(cpu)).sum().backward()
    ops.exp_custom(ops.gelu(npu)).sum().backward()
    same(npu.grad, cpu.grad)
    torch.testing.assert_close(
        torch.compile(lambda t: ops.softmax(ops.gelu(t)), fullgraph=True, backend="aot_eager")(npu), ops.softmax(ops.gelu(npu))
    )


if __name__ == "__main__":
    from pathlib import Path

    wanted = sys.argv[2:] or list(CHECKS)
    for name in wanted:
        try:
            CHECKS[name](Path(sys.argv[1])) if name == "kit_operators" else CHECKS[name]()
            sys.stdout.write(f"ok {name}\n")
        except Exception:  # noqa: BLE001  the next checks run all the same
            sys.stdout.write(f"FAILED {name}\n{traceback.format_exc()}\n")
        sys.stdout.flush()
