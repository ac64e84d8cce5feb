"""The gradient formulas and relations of a template's preset, in the names of the new operator's schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ascendops.spec import schema as schemas
from ascendops.spec.autograd import PREFIX

if TYPE_CHECKING:
    from ascendops.spec.schema import FunctionSchema


def gradients(values: Mapping[str, Any], name: str, given: FunctionSchema) -> tuple[tuple[str, str], ...]:
    """(input, formula) pairs of the preset's `gradient` table; its tensors are renamed to those of `given`, place by place."""
    written: Mapping[str, str] = values.get("gradient", {})
    renamed = _renamed(values, name, given)
    return tuple(
        (renamed.get(tensor, tensor), re.sub(r"[A-Za-z_]\w*", lambda word: renamed.get(word.group(), word.group()), formula))
        for tensor, formula in written.items()
    )


def with_relations(values: Mapping[str, Any], name: str, given: FunctionSchema) -> Mapping[str, Any]:
    """The preset's values, the tensors of its `relations` renamed to those of `given`, place by place."""
    if "relations" not in values:
        return values
    renamed = _renamed(values, name, given)
    return {**values, "relations": {kind: [renamed.get(tensor, tensor) for tensor in tensors] for kind, tensors in values["relations"].items()}}


def _renamed(values: Mapping[str, Any], name: str, given: FunctionSchema) -> dict[str, str]:
    """The names of `given` by those of the preset's schema, of gradients too."""
    preset = schemas.parse(str(values["schema"]).replace("{name}", name))
    renamed = {old.name: new.name for old, new in zip(preset.tensors, given.tensors, strict=False)}
    renamed |= {str(old.name): str(new.name) for old, new in zip(preset.returns, given.returns, strict=False)}
    return renamed | {f"{PREFIX}{old.name}": f"{PREFIX}{new.name}" for old, new in zip(preset.returns, given.returns, strict=False)}
