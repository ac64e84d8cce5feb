"""The gradient formulas of a template's preset, in the names of the new operator's schema."""

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
    preset = schemas.parse(str(values["schema"]).replace("{name}", name))
    renamed = {old.name: new.name for old, new in zip(preset.tensors, given.tensors, strict=False)}
    renamed |= {str(old.name): str(new.name) for old, new in zip(preset.returns, given.returns, strict=False)}
    renamed |= {f"{PREFIX}{old.name}": f"{PREFIX}{new.name}" for old, new in zip(preset.returns, given.returns, strict=False)}
    return tuple(
        (renamed.get(tensor, tensor), re.sub(r"[A-Za-z_]\w*", lambda word: renamed.get(word.group(), word.group()), formula))
        for tensor, formula in written.items()
    )
