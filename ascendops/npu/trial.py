"""A first use of the laptop `npu` device, run in a process of its own after it was compiled: a device that crashes there is not used here."""

from __future__ import annotations

import faulthandler
import sys
from pathlib import Path


def main(path: str) -> None:
    """Switches the device on and does what the parts of PyTorch that know of devices do: views, autograd threads, generators, streams, files, errors."""
    faulthandler.enable()
    import contextlib
    import io

    import torch

    from ascendops.npu.device import start

    start(Path(path))
    x = torch.randn(3, 4, device="npu", requires_grad=True)
    layer = torch.nn.Linear(4, 4).to("npu")
    optimizer = torch.optim.AdamW(layer.parameters())
    torch.nn.functional.layer_norm(layer(x[1:]), [4]).square().sum().backward()
    optimizer.step()
    with torch.npu.stream(torch.npu.Stream()):  # type: ignore[attr-defined]
        torch.npu.Event().record()  # type: ignore[attr-defined]
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    torch.load(file, map_location="cpu")
    torch.Generator(device="npu").manual_seed(1)
    with contextlib.suppress(RuntimeError):  # a message with numbers in it
        torch.npu.set_device(torch.npu.device_count())  # type: ignore[attr-defined]
    torch.npu.synchronize()  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(sys.argv[1])
