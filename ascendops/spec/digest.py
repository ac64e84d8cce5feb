"""Digests of a declaration: one of everything, one of what generated C++ depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec


def digest(data: Mapping[str, Any]) -> str:
    """sha256 of the parsed op.toml; comments, spacing and the order of keys do not matter."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def interface_digest(spec: OpSpec) -> str:
    """sha256 of what gen/ depends on: name, schema, units, tensors. Cases, cost and doc may change without rendering anew."""
    tensors = [[t.name, str(t.shape), list(t.dtypes), t.format] for t in (*spec.inputs, *spec.outputs)]
    return digest({"name": spec.name, "schema": spec.schema.text, "units": list(spec.units), "tensors": tensors})
