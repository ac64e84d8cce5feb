"""Tries an installed toolchain on one kernel whose verdict is known."""

from __future__ import annotations

from ascendops.errors import ToolchainError
from ascendops.migrate.lowering.plan import Options
from ascendops.migrate.lowering.run import check
from ascendops.toolchain.private import Installed

_KERNEL = '''import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(z_ptr + offsets, x + tl.load(y_ptr + offsets, mask=inside), mask=inside)
'''


def trial(toolchain: Installed) -> str:
    """Compiles a vector addition; returns its core type.

    Raises:
        ToolchainError: It does not compile: the packages do not work on this machine.
    """
    (verdict,), _ = check([("trial.py", _KERNEL, None)], toolchain, Options("Ascend910B1", ("fp32",)), limits=False)
    attempt = verdict.attempts[0]
    if attempt.plan is None:
        raise ToolchainError(
            f"{toolchain.name} is unpacked and does not work here", where=str(toolchain.path),
            why=attempt.message, help=f"ascendops toolchain remove {toolchain.name}",
        )  # fmt: skip
    return attempt.plan.core
