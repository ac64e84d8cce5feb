"""A built library: its operators by name, and their registration with PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ascendops.build.operator import Operator
from ascendops.errors import did_you_mean


class Library:
    """Operators of one project, built for one SoC and backend.

    Attributes:
        ops: Operators by snake_case name; each is also an attribute (`lib.softmax`).
        root: The project folder.
        soc: Name of the SoC, e.g. `Ascend910B1`.
        backend: `twin` or `cann`.
    """

    def __init__(self, ops: Mapping[str, Operator], root: Path, soc: str, backend: str) -> None:
        self.ops = dict(ops)
        self.root = root
        self.soc = soc
        self.backend = backend

    def __getattr__(self, name: str) -> Operator:
        ops: dict[str, Operator] = self.__dict__.get("ops", {})
        if name in ops:
            return ops[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"this library has no operator '{name}': {did_you_mean(name, ops)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.ops]

    def __repr__(self) -> str:
        return f"<Library {self.root.name}: {', '.join(self.ops)} ({self.backend}, {self.soc})>"

    def register(self, namespace: str = "ascendops", *, compiled: bool = False) -> Any:
        """Puts every operator under `torch.ops.<namespace>`; registering the same build again does nothing.

        Args:
            namespace: Where in torch.ops.
            compiled: Compiles C++ kernels for the CPU, with which a call costs about what one of PyTorch's own operators does beside the
                kernel; some 10 s at first, then from the cache. `torchlib.kinds(namespace)` says which operators have one.

        Returns:
            The `torch.ops.<namespace>` object.

        Raises:
            RegistrationError: Another operator of that name is registered already.
            CompileError: The compiled kernels do not compile with this PyTorch.
        """
        from ascendops import torchlib

        return torchlib.register(self, namespace, compiled=compiled)
