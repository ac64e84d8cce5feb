"""The aclnn call of a generated binding, checked against the operator that op_host registers: name, number and order of arguments.

No compiler checks this: aclnn functions are found by name when they are called, and any arguments fit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendops.twin.host import OpDef

_CALL = re.compile(r"ASCENDOPS_ACLNN\((\w+)((?:,\s*\w+)*)\);")


def arguments(definition: OpDef) -> list[str]:
    """The arguments of aclnn<OpType> in order: inputs, attributes, outputs; an input that is also an output stands once, as input."""
    inputs = [param.name for param in definition.inputs]
    return [*inputs, *(attr.name for attr in definition.attrs), *(param.name for param in definition.outputs if param.name not in inputs)]


def called(binding: str) -> tuple[str, list[str]] | None:
    """Name and arguments of the aclnn call in a binding, with the prefixes of converted values removed; None when there is none."""
    found = _CALL.search(binding)
    if found is None:
        return None
    names = [re.sub(r"^(arg|out)_", "", name.strip()) for name in found.group(2).split(",")[1:]]
    return found.group(1), names


def problems(binding: str, definition: OpDef) -> list[str]:
    """What is wrong with a binding's aclnn call, one sentence each; empty when it fits the OpDef."""
    call = called(binding)
    if call is None:
        return [f"the binding calls no aclnn function, but op_host registers {definition.op_type}"]
    name, given = call
    wanted = arguments(definition)
    found = [] if name == f"aclnn{definition.op_type}" else [f"it calls {name}, but CANN makes aclnn{definition.op_type}"]
    if len(given) != len(wanted):
        found.append(f"it passes {len(given)} arguments, but {name} takes {len(wanted)}: {', '.join(wanted)}")
    elif given != wanted:
        at = next(i for i, (a, b) in enumerate(zip(given, wanted, strict=True)) if a != b)
        found.append(f"argument {at + 1} is {given[at]}, but {name} takes {wanted[at]} there")
    return found
