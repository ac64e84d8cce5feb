"""Digests of a declaration: one of everything, one of what generated C++ depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ascendops.spec.policy import TorchPolicy

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec


def digest(data: Mapping[str, Any]) -> str:
    """sha256 of the parsed op.toml; comments, spacing and the order of keys do not matter."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def interface_digest(spec: OpSpec) -> str:
    """sha256 of what the gen/ files of one operator depend on: name, schema, units, tensors, autograd.

    Cases, cost and doc may change without rendering anew.
    """
    return digest(_interface(spec))


def project_digest(spec: OpSpec) -> str:
    """sha256 of what the gen/ files of the whole project depend on: the interfaces of all its operators."""
    return digest({"operators": [_interface(op) for op in spec.operators]}) if spec.further else interface_digest(spec)


def _interface(spec: OpSpec) -> dict[str, Any]:
    tensors = [[t.name, str(t.shape), list(t.dtypes), t.format] for t in (*spec.inputs, *spec.outputs)]
    found: dict[str, Any] = {"name": spec.name, "schema": spec.schema.text, "units": list(spec.units), "tensors": tensors}
    if spec.autograd is not None:
        formulas = {name: formula.text for name, formula in spec.autograd.formula.items()}
        found["autograd"] = {"backward": spec.autograd.backward, "grads": dict(spec.autograd.grads), "formula": formulas}
    if spec.torch != TorchPolicy():
        found["torch"] = [spec.torch.contiguous, dict(spec.torch.autocast), list(spec.torch.variants)]
    if spec.defines:
        found["defines"] = spec.defines
    if spec.project != spec.name:
        found["project"] = spec.project
    return found
