"""Probes of CANN, NPUs and GPUs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ascendops.doctor.checks import Check, Grade, run
from ascendops.toolchain.cann import DEFAULT_HOMES, VARIABLES, Toolkit, find_toolkit, is_toolkit

_INSTALL = "install the CANN toolkit and source its set_env.sh; without it: --backend twin"


def check_cann(needed: bool) -> Iterator[Check]:
    """The toolkit, the variables that should name it, and its compiler and project generator."""
    for name in VARIABLES:
        value = os.environ.get(name)
        if value and not is_toolkit(Path(value)):
            yield Check("CANN", name, Grade.WARN, path=value, note="names no CANN toolkit", fix=f"unset {name}, or source CANN's set_env.sh")
    toolkit = find_toolkit()
    if toolkit is None:
        looked = f"looked at {', '.join((*VARIABLES, *DEFAULT_HOMES))}"
        yield Check("CANN", "toolkit", Grade.MISSING, note=looked, fix=_INSTALL).unless(needed)
        return
    yield Check(
        "CANN", "toolkit", Grade.OK if toolkit.active else Grade.WARN, toolkit.version, str(toolkit.root),
        note=f"from {toolkit.source}", fix=None if toolkit.active else f"source {_set_env(toolkit.root)}",
    )  # fmt: skip
    yield _tool(toolkit, "bisheng", "ccec").unless(needed)
    generator = _tool(toolkit, "msopgen")
    yield generator if generator.grade is Grade.OK else Check("CANN", "msopgen", Grade.UNNEEDED, note="`ascendops new` writes projects")


def _tool(toolkit: Toolkit, *names: str) -> Check:
    path = next((found for found in map(toolkit.tool, names) if found), None)
    if path:
        return Check("CANN", Path(path).name, Grade.OK, path=path)
    where = f"not on PATH nor below {toolkit.root}"
    return Check("CANN", names[0], Grade.MISSING, note=where, fix=f"source {_set_env(toolkit.root)}; if that does not help, reinstall CANN")


def _set_env(root: Path) -> Path:
    return next((path for path in (root / "set_env.sh", root.parent / "set_env.sh") if path.exists()), root / "set_env.sh")


def check_npu(needed: bool) -> Iterator[Check]:
    """The driver's npu-smi, and the chips that it lists."""
    path = shutil.which("npu-smi")
    if path is None:
        note = "no NPU driver: kernels can be built but not run"
        yield Check("NPU", "npu-smi", Grade.WARN, note=note, fix="install the NPU driver and firmware, or use --backend twin").unless(
            needed, "no NPU driver: kernels run on the CPU twin"
        )
        return
    ran = run([path, "info"], timeout_s=30)
    chips = [name for name in re.findall(r"(?m)^\|\s*\d+\s+(\S+)\s*\|", ran.text) if re.search(r"\d{3}", name)]
    version = re.search(r"Version:\s*(\S+)", ran.text)
    if not ran.ok or not chips:
        note = ran.last_line or "lists no chip"
        fix = "npu-smi info must list a chip: is the driver loaded, and is the device passed into the container?"
        yield Check("NPU", "npu-smi", Grade.WARN, version and version[1], path, note, fix).unless(needed)
        return
    named = ", ".join(dict.fromkeys(f"Ascend{chip}" for chip in chips))
    yield Check("NPU", "npu-smi", Grade.OK, version and version[1], path, f"{len(chips)} x {named}")


def check_gpu() -> Iterator[Check]:
    """GPUs by nvidia-smi; one is never needed, it only runs Triton references natively."""
    path = shutil.which("nvidia-smi")
    if path is None:
        yield Check("GPU", "nvidia-smi", Grade.UNNEEDED, note="no GPU: Triton references are interpreted on the CPU")
        return
    ran = run([path, "--query-gpu=name,driver_version", "--format=csv,noheader"], timeout_s=30)
    if not ran.ok or "," not in ran.first_line:
        yield Check("GPU", "nvidia-smi", Grade.UNNEEDED, path=path, note=ran.last_line or "lists no GPU")
        return
    name, _, driver = ran.first_line.partition(",")
    yield Check("GPU", "nvidia-smi", Grade.OK, driver.strip(), path, name.strip())
