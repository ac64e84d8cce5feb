"""Golden bundles: a reference's outputs recorded on one machine, with hashes of everything they depend on, for use on another.

A bundle is a folder: `bundle.json` (manifest) and `data.safetensors` (outputs). The inputs are not stored: they are made again from
their recipe, and must have the recorded sha256. `id` is the sha256 of the manifest without it, so it names the whole content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ascendops.errors import BundleCorrupt, BundleInputs, BundleMissing, BundleTruncated, BundleVersion
from ascendops.parity import inputs, safetensors
from ascendops.parity.calling import Outputs, Values, named_tensors

FORMAT = "ascendops-bundle/1"
MANIFEST, DATA = "bundle.json", "data.safetensors"
SAMPLE = 1024  # elements kept of an output that is too large to be stored whole


@dataclass
class Entry:
    """One recorded case.

    Attributes:
        key: Hash of the inputs' bytes and the scalars; see `key_of`.
        name: The case's id in the operator's list of cases.
        recipe: How the inputs are made: shapes, dtypes, layout, values, seed.
        inputs: Per tensor: sha256 of its values, dtype, shape, strides, offset.
        outputs: Per output: dtype, shape, sha256 of all values, name in the data file, and whether it is a sample.
        repeatable: Whether a second run of the reference gave the same bits.
    """

    key: str
    name: str
    recipe: dict[str, Any]
    inputs: dict[str, dict[str, Any]]
    outputs: list[dict[str, Any] | None]
    repeatable: bool = True


@dataclass
class Bundle:
    """A whole bundle; see `load` and `Recording`."""

    path: Path
    op: str
    schema: str
    digests: dict[str, str]
    how: str
    provenance: dict[str, Any]
    entries: list[Entry]
    left_out: dict[str, str]
    id: str
    tensors: dict[str, torch.Tensor] = field(repr=False, default_factory=dict)

    def find(self, name: str, values: Values) -> Entry | None:
        """The entry recorded for these inputs, or None if the case was not recorded.

        Raises:
            BundleInputs: A case of this name was recorded with other inputs.
        """
        key = key_of(values)
        found = next((entry for entry in self.entries if entry.key == key), None)
        named = next((entry for entry in self.entries if name and entry.name == name), None)
        if found is None and named is not None:
            raise BundleInputs(
                f"the inputs of {name} are not those of the recording",
                where=str(self.path / MANIFEST),
                why=_which_input(named, values),
                help="record again: ascendops test --record FOLDER",
            )
        return found

    def outputs(self, entry: Entry) -> Outputs | None:
        """The recorded outputs, or None if one of them was stored as a sample only."""
        if any(out is not None and out.get("sample") for out in entry.outputs):
            return None
        return [None if out is None else self._whole(out) for out in entry.outputs]

    def samples(self, entry: Entry) -> list[tuple[torch.Tensor, torch.Tensor] | None]:
        """(flat indices, values) of each output."""
        found: list[tuple[torch.Tensor, torch.Tensor] | None] = []
        for out in entry.outputs:
            if out is None:
                found.append(None)
                continue
            values = self._stored(out).flatten()
            found.append(
                (sample_of(_count(out["shape"])) if out.get("sample") else torch.arange(values.numel()), values)
            )
        return found

    def _stored(self, out: dict[str, Any]) -> torch.Tensor:
        stored = self.tensors[out["data"]]
        return torch.view_as_complex(stored) if out["dtype"] == "complex128" else stored

    def _whole(self, out: dict[str, Any]) -> torch.Tensor:
        whole: torch.Tensor = self._stored(out).reshape(out["shape"])
        return whole


class Recording:
    """Collects the outputs of a reference and writes them as a bundle.

    Args:
        op: Operator name; `schema` its PyTorch schema.
        how: What runs, e.g. `Triton on NVIDIA H200`.
        digests: sha256 of what the outputs depend on: `interface` (schema, tensors) and `reference` (its source).
        largest: Outputs with more elements are stored as a sample of 1024 elements and a hash.
    """

    def __init__(
        self,
        op: str,
        schema: str,
        how: str,
        digests: Mapping[str, str],
        provenance: Mapping[str, Any],
        largest: int = 1 << 16,
    ) -> None:
        self.manifest: dict[str, Any] = {
            "format": FORMAT, "op": op, "schema": schema, "how": how, "generator": inputs.GENERATOR, "digests": dict(digests),
            "provenance": dict(provenance), "cases": [], "left_out": {},
        }  # fmt: skip
        self.tensors: dict[str, torch.Tensor] = {}
        self.largest = largest

    def add(
        self, name: str, recipe: Mapping[str, Any], values: Values, outputs: Outputs, repeatable: bool = True
    ) -> None:
        """Adds one case with the outputs of the reference (on any device)."""
        entry: dict[str, Any] = {
            "key": key_of(values), "name": name, "recipe": dict(recipe), "repeatable": repeatable,
            "inputs": {key: _describe(tensor) for key, tensor in named_tensors(values)}, "outputs": [],
        }  # fmt: skip
        for i, out in enumerate(outputs):
            entry["outputs"].append(None if out is None else self._store(f"{len(self.manifest['cases'])}.{i}", out))
        self.manifest["cases"].append(entry)

    def leave_out(self, name: str, why: str) -> None:
        """Notes that a case has no outputs, and why."""
        self.manifest["left_out"][name] = why

    @property
    def size(self) -> int:
        """Bytes of outputs so far."""
        return sum(tensor.numel() * tensor.itemsize for tensor in self.tensors.values())

    def write(self, folder: Path) -> str:
        """Writes the bundle and returns its id."""
        folder.mkdir(parents=True, exist_ok=True)
        data = safetensors.dumps(self.tensors)
        self.manifest["data"] = {"file": DATA, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        self.manifest["id"] = identity(self.manifest)
        (folder / DATA).write_bytes(data)
        (folder / MANIFEST).write_text(_text(self.manifest), encoding="utf-8")
        return str(self.manifest["id"])

    def _store(self, key: str, out: torch.Tensor) -> dict[str, Any]:
        out = out.detach().cpu().contiguous()
        record: dict[str, Any] = {"data": key, "dtype": _word(out.dtype), "shape": list(out.shape), "sha256": inputs.digest(out)}
        stored = out
        if out.numel() > self.largest and not out.is_complex():
            record["sample"] = 1
            stored = out.flatten()[sample_of(out.numel())]
        self.tensors[key] = torch.view_as_real(stored) if out.dtype == torch.complex128 else stored
        return record


def load(folder: Path, op: str | None = None) -> Bundle:
    """Reads and checks a bundle, or that of `op` in a folder of bundles.

    Raises:
        BundleMissing: There is none.
        BundleTruncated: Its data is incomplete.
        BundleCorrupt: A hash does not fit.
        BundleVersion: Its format or generator is of another version.
    """
    if not (folder / MANIFEST).is_file() and op is not None:
        folder = next((folder / name for name in (op, op.removesuffix("_custom")) if (folder / name).is_dir()), folder)
    if not (folder / MANIFEST).is_file() and (folder / "golden" / MANIFEST).is_file():
        folder = folder / "golden"
    path = folder / MANIFEST
    if not path.is_file():
        raise BundleMissing(
            f"{path} does not exist", where=str(folder), help="record one: ascendops test --record FOLDER"
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BundleCorrupt(f"{path} is not JSON: {error}", where=str(path)) from error
    _check_version(manifest, path)
    if manifest.get("id") != identity(manifest):
        raise BundleCorrupt("the manifest was changed after the recording: its id does not fit", where=str(path))
    tensors = _data(folder, manifest["data"])
    bundle = Bundle(
        folder, manifest["op"], manifest["schema"], manifest["digests"], manifest["how"], manifest["provenance"],
        [Entry(**entry) for entry in manifest["cases"]], manifest["left_out"], manifest["id"], tensors,
    )  # fmt: skip
    _check_outputs(bundle)
    return bundle


def identity(manifest: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON of a manifest, without its id."""
    return canonical_hash({key: value for key, value in manifest.items() if key != "id"})


def canonical_hash(data: Any) -> str:
    """sha256 of the canonical JSON of plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def key_of(values: Values) -> str:
    """Hash of a case: the values of its tensors (not their layout) and its scalars, with their names."""
    tensors = {name: inputs.digest(tensor) for name, tensor in named_tensors(values)}
    others = {
        name: repr(item) for name, item in values.items() if not any(key.split("[")[0] == name for key in tensors)
    }
    return canonical_hash({"tensors": tensors, "others": others})


def sample_of(count: int) -> torch.Tensor:
    """Flat indices of the elements that are kept of a large output: its start, its end, and a random choice between."""
    edge = SAMPLE // 8
    inner = torch.from_numpy((inputs.bits(inputs.key(0, "sample", count), SAMPLE - 2 * edge) % count).astype("int64"))
    chosen: torch.Tensor = torch.unique(torch.cat([torch.arange(edge), inner, torch.arange(count - edge, count)]))
    return chosen


def _text(manifest: dict[str, Any]) -> str:
    """The manifest with one case per line, so that differences between two can be read."""
    cases = ",\n  ".join(json.dumps(case, separators=(",", ":")) for case in manifest["cases"])
    head = json.dumps({key: value for key, value in manifest.items() if key != "cases"}, indent=1)
    return head[: head.rindex("}")].rstrip() + f',\n "cases": [\n  {cases}\n ]\n}}\n'


def _check_version(manifest: dict[str, Any], path: Path) -> None:
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != FORMAT:
        raise BundleVersion(f"the bundle has the format {found!r}, this version reads {FORMAT!r}", where=str(path))
    if manifest.get("generator") != inputs.GENERATOR:
        raise BundleVersion(
            f"the bundle's inputs come from {manifest.get('generator')!r}, this version has {inputs.GENERATOR!r}",
            where=str(path), help="record it again",
        )  # fmt: skip


def _data(folder: Path, record: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    path = folder / record["file"]
    size = path.stat().st_size if path.is_file() else -1
    if 0 <= size < record["bytes"]:
        raise BundleTruncated(f"{path} has {size} bytes of {record['bytes']}", where=str(path), help="copy it again")
    if size >= 0 and hashlib.sha256(path.read_bytes()).hexdigest() != record["sha256"]:
        raise BundleCorrupt(f"{path} is not the file that was recorded: its sha256 differs", where=str(path))
    return safetensors.load(path)


def _check_outputs(bundle: Bundle) -> None:
    for entry in bundle.entries:
        for out in entry.outputs:
            if out is None:
                continue
            whole = not out.get("sample")
            if out["data"] not in bundle.tensors or (whole and inputs.digest(bundle._whole(out)) != out["sha256"]):
                raise BundleCorrupt(
                    f"an output of {entry.name} has other values than were recorded", where=str(bundle.path)
                )


def _which_input(entry: Entry, values: Values) -> str:
    for name, tensor in named_tensors(values):
        want = entry.inputs.get(name, {}).get("sha256")
        if want != inputs.digest(tensor):
            return f"input {name}: sha256 {inputs.digest(tensor)[:16]}, recorded {str(want)[:16]}"
    return "a scalar differs"


def _describe(tensor: torch.Tensor) -> dict[str, Any]:
    return {
        "sha256": inputs.digest(tensor), "dtype": _word(tensor.dtype), "shape": list(tensor.shape),
        "strides": list(tensor.stride()), "offset": tensor.storage_offset(),
    }  # fmt: skip


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _count(shape: Sequence[int]) -> int:
    return torch.Size(shape).numel()
