"""Exports of TritonBench (`--export both --export-dir DIR`): pickles of inputs and outputs, read without running what they name."""

from __future__ import annotations

import hashlib
import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import CasesUnreadable, SpecError
from ascendops.testing.given.case import Given, assign, recorded

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

_INPUT = "-input.pkl"
_FWD = "-fwd-output.pkl"
_ALLOWED = frozenset((
    ("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_parameter"), ("torch._tensor", "_rebuild_from_type_v2"),
    ("collections", "OrderedDict"), ("torch", "Size"), ("torch", "Tensor"), ("torch.nn.parameter", "Parameter"),
))  # fmt: skip


def recognises(source: Path) -> bool:
    """Whether a folder holds exported inputs."""
    return source.is_dir() and next(source.glob(f"x_*{_INPUT}"), None) is not None


def read(spec: OpSpec, source: Path) -> Given:
    """One case per exported input; the output of the first implementation that has one is the recorded output.

    Raises:
        CasesUnreadable: A pickle names something other than tensors, or is damaged.
    """
    found = Given()
    for path in sorted(source.glob(f"x_*{_INPUT}")):
        name = path.name.removesuffix(_INPUT)
        exported = _load(path)
        positional, named = ([], exported) if isinstance(exported, dict) else (list(exported) if isinstance(exported, (list, tuple)) else [exported], {})
        answers = sorted(source.glob(f"{name}-*{_FWD}"))
        outputs = _outputs(_load(answers[0])) if answers else None
        how = f"TritonBench {answers[0].name.removeprefix(f'{name}-').removesuffix(_FWD)}" if answers else ""
        try:
            tensors, attrs = assign(spec, positional, named)
        except SpecError as error:
            found.left_out[name] = error.what
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        found.add(
            spec, name, tensors, attrs, load=recorded(tensors), content=content,
            outputs=outputs if outputs is not None and len(outputs) == len(spec.outputs) else None, how=how,
        )  # fmt: skip
    return found


def _outputs(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


class _Tensors(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Tensors and containers; everything else is refused, since a pickle can name any function."""
        if (module, name) == ("torch.storage", "_load_from_bytes"):
            return _storage
        if (module, name) in _ALLOWED or (module == "torch" and name.endswith("Storage")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no tensor")


def _storage(content: bytes) -> Any:
    import torch

    return torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")


def _load(path: Path) -> Any:
    import torch

    try:
        value = _Tensors(io.BytesIO(path.read_bytes())).load()
    except Exception as error:  # a damaged pickle raises anything
        raise CasesUnreadable(f"the export cannot be read: {type(error).__name__}: {error}", where=str(path)) from error

    def plain(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            return item.detach()
        if isinstance(item, (list, tuple)):
            return type(item)(map(plain, item)) if type(item) in (list, tuple) else tuple(map(plain, item))
        return {key: plain(entry) for key, entry in item.items()} if isinstance(item, dict) else item

    return plain(value)
