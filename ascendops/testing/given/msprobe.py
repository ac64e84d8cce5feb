"""Dumps of msprobe's PrecisionDebugger (task `tensor`): a dump.json that names one file per tensor."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import CasesUnreadable, SpecError
from ascendops.testing.given.case import Given, assign, recorded

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

NAME = "dump.json"
_FOLDER = "dump_tensor_data"


def recognises(source: Path) -> bool:
    """Whether this is a dump.json, or a folder that has one at any depth (step and rank are folders)."""
    return source.name == NAME if source.is_file() else next(source.rglob(NAME), None) is not None


def read(spec: OpSpec, source: Path) -> Given:
    """The forward calls of an API called like the operator, with the outputs that were dumped.

    Raises:
        CasesUnreadable: The dump has no tensors, or is damaged.
    """
    found = Given()
    for path in [source] if source.is_file() else sorted(source.rglob(NAME)):
        data = _load(path)
        for name, call in data["data"].items():
            api = _api(name)
            found.seen.add(api)
            if ".forward" in name and api.lower() in _names(spec):
                _add(found, spec, _label(path, source, name), call, path.parent, Path(str(data.get("dump_data_dir") or "")))
    return found


def _names(spec: OpSpec) -> set[str]:
    plain = spec.name.removesuffix("_custom")
    return {spec.name, plain, f"npu_{plain}", spec.op_type.lower(), plain.replace("_", "")}


def _api(name: str) -> str:
    """`softmax` of `Functional.softmax.0.forward`, `Softmax` of `Module.attn.Softmax.forward.0`."""
    before = name.split(".forward")[0].split(".backward")[0].split(".")
    words = [word for word in before if not word.isdigit()]
    return words[-1] if words else name


def _label(path: Path, source: Path, name: str) -> str:
    inside = path.parent.relative_to(source) if source.is_dir() else Path()
    return "/".join([*inside.parts, name])


def _load(path: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        task = data["task"]
        data["data"].items()
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise CasesUnreadable(f"this is no dump.json of msprobe: {type(error).__name__}: {error}", where=str(path)) from error
    if task != "tensor":
        raise CasesUnreadable(f"the dump has the task '{task}', so it has no tensors", where=str(path), help='dump again with "task": "tensor"')
    return data


def _add(found: Given, spec: OpSpec, label: str, call: dict[str, Any], folder: Path, declared: Path) -> None:
    places = [folder / _FOLDER, declared if declared.is_absolute() else folder / declared]
    files: list[Path] = []

    def value(entry: Any) -> Any:
        if isinstance(entry, list):
            return [value(item) for item in entry]
        if isinstance(entry, dict) and "data_name" in entry:
            files.append(_file(str(entry["data_name"]), places))
            return _tensor(files[-1])
        if isinstance(entry, dict) and entry.get("type") in ("torch.Tensor", "mindspore.Tensor"):
            raise SpecError("a tensor of the call was not dumped")
        return entry.get("value") if isinstance(entry, dict) else entry

    try:
        positional = [value(entry) for entry in call.get("input_args") or []]
        named = {key: value(entry) for key, entry in (call.get("input_kwargs") or {}).items()}
        tensors, attrs = assign(spec, positional, named)
        outputs = tuple(value(entry) for entry in call.get("output") or [])
    except SpecError as error:
        found.left_out[label] = error.what
        return
    content = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    known = outputs if len(outputs) == len(spec.outputs) else None
    found.add(spec, label, tensors, attrs, load=recorded(tensors), content=content, outputs=known, how="msprobe dump")


def _file(name: str, places: list[Path]) -> Path:
    for place in places:
        if (place / name).is_file():
            return place / name
    raise SpecError(f"{name} is in none of: {', '.join(map(str, places))}")


def _tensor(path: Path) -> Any:
    import numpy as np
    import torch

    try:
        if path.suffix == ".npy":
            return torch.from_numpy(np.load(path, allow_pickle=False))
        loaded = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many classes for a damaged file
        raise CasesUnreadable(f"the tensor cannot be read: {type(error).__name__}: {error}", where=str(path)) from error
    return loaded.detach() if isinstance(loaded, torch.Tensor) else loaded
