"""Reads the final HIVM of a kernel: on-chip memory used and available, core type, synchronisation, library calls."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

_SPACES = {"ub": "UB", "cbuf": "L1", "ca": "L0A", "cb": "L0B", "cc": "L0C"}
_BITS = {"f32": 32, "f16": 16, "bf16": 16, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1, "f64": 64}
_CONSTANT = re.compile(r"(%[\w-]+) = (?:arith\.constant |llvm\.mlir\.constant\()(-?\d+) : i64")
_CAST = re.compile(r"hivm\.hir\.pointer_cast\(([^)]*)\)[^:]*: memref<((?:\d+x)+)(\w+),[^\n]*?address_space<(\w+)>")
_SPEC = re.compile(r'"(\w+)", (\d+) : i32')
_ENTRY = re.compile(r"func\.func @(\w+)\(%arg0[^\n]*attributes \{([^\n]*)\} \{")
_CORE = re.compile(r"func_core_type<(\w+)>")
_SYNCS = ("set_flag", "wait_flag", "pipe_barrier", "sync_block_set", "sync_block_wait")


@dataclass
class Plan:
    """What the compiler planned for one kernel.

    Attributes:
        used: On-chip memory to bits used at the high-water mark (UB, L1, L0A, L0B, L0C).
        available: The same memories to the bits that the target has.
        core: `AIV` (vector), `AIC` (cube) or `MIX` (both).
        cores: How many of those cores the target has.
        syncs: Kind of synchronisation to how often it stands in the code.
        calls: Library functions that the code calls, with their count.
        workspace_bytes: Global memory that one program needs; 0 if none.
    """

    used: dict[str, int] = field(default_factory=dict)
    available: dict[str, int] = field(default_factory=dict)
    core: str = ""
    cores: int = 0
    syncs: dict[str, int] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    workspace_bytes: int = 0


def read(text: str) -> Plan:
    """The plan in a module of final HIVM."""
    plan = Plan()
    spec = {name: int(value) for name, value in _SPEC.findall(text.partition("\n  func.func")[0])}
    plan.available = {name: spec[f"{name}_SIZE"] for name in _SPACES.values() if f"{name}_SIZE" in spec}
    for function in re.split(r"\n  func\.func ", text):
        constants = {name: int(value) for name, value in _CONSTANT.findall(function)}
        for addresses, dims, element, space in _CAST.findall(function):
            size = math.prod(int(dim) for dim in dims.rstrip("x").split("x")) * _BITS.get(element, 32)
            memory = _SPACES.get(space, space)
            for address in addresses.split(","):
                start = constants.get(address.strip(), 0) * 8
                plan.used[memory] = max(plan.used.get(memory, 0), start + size)
    kinds = {core for _, attributes in _ENTRY.findall(text) if "hacc.entry" in attributes or "hivm.part_of_mix" in attributes for core in _CORE.findall(attributes)}
    plan.core = "MIX" if {"AIC", "AIV"} <= kinds or "MIX" in kinds else next(iter(kinds), "")
    plan.cores = spec.get("VECTOR_CORE_COUNT" if plan.core == "AIV" else "CUBE_CORE_COUNT", 0)
    plan.syncs = {name: count for name in _SYNCS if (count := len(re.findall(rf"hivm\.hir\.{name}\b", text)))}
    for name in re.findall(r"\bcall @(\w+)\(", text):
        plan.calls[name] = plan.calls.get(name, 0) + 1
    workspace = re.search(r"_infer_workspace_shape_function\(\).*?constant (\d+) : index", text, re.DOTALL)
    plan.workspace_bytes = int(workspace[1]) if workspace else 0
    return plan
