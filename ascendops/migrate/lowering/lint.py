"""What triton-ascend accepts although it is wrong or has no effect on an NPU: the compiler is silent, so these rules speak."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ascendops.migrate.lowering.launches import Launch
from ascendops.migrate.lowering.slices import portable_names, vendor
from ascendops.migrate.lowering.verdict import Note
from ascendops.migrate.scanners.python_tree import Tree

GRID_LIMIT = 65535
_RULES = {
    "inline_asm_elementwise": ("PTX", "warning", "PTX passes through the front end and cannot run on an NPU", "write it with tl operations"),
    "device_assert": ("DEVICE-ASSERT", "warning", "tl.device_assert becomes nothing: the condition is never checked", "check it on the host, or write a flag to a tensor"),
    "extern_elementwise": ("EXTERN", "warning", "an external device function of CUDA or ROCm has no counterpart", "write it with tl operations"),
}  # fmt: skip
_IGNORED = {
    "load": ("cache_modifier", "eviction_policy", "volatile"),
    "store": ("cache_modifier", "eviction_policy"),
    "range": ("warp_specialize", "num_stages", "flatten"),
}


def lint(tree: Tree, node: ast.FunctionDef, helpers: dict[str, ast.FunctionDef], file: str, launches: list[Launch]) -> list[Note]:
    """The notes on one kernel, its helpers of the same file included."""
    own = {id(part) for part in tree.nodes}
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    bodies = [node, *(helper for name, helper in helpers.items() if name in called and id(helper) in own)]
    notes = [note for body in bodies for note in _calls(tree, body, file)]
    notes += _decorators(tree, node, file)
    if launches:
        notes.append(_grid(file, launches[0]))
    return notes


def _calls(tree: Tree, body: ast.FunctionDef, file: str) -> Iterator[Note]:
    portable = portable_names(tree)
    for part in ast.walk(body):
        if not isinstance(part, ast.Call):
            continue
        name = tree.dotted(part.func)
        leaf = name.rsplit(".", 1)[-1]
        if name.startswith("triton.language.") and leaf in _RULES:
            short, level, message, help_text = _RULES[leaf]
            yield Note(f"CHK-{short}", level, file, part.lineno, message, help_text)
        if vendor(name.rpartition(".")[0]) and isinstance(part.func, ast.Name) and part.func.id in portable:
            continue
        if "libdevice" in name:
            yield Note("CHK-LIBDEVICE", "warning", file, part.lineno, f"{leaf} of libdevice is a stub in triton-ascend 3.2 and gives nothing", f"use tl.{leaf} or tl.math.{leaf}")
        elif name.startswith("triton.language.extra.cuda") or name.endswith((".globaltimer", ".smid")):
            yield Note("CHK-PTX", "warning", file, part.lineno, f"{leaf} reads a GPU register", "remove it")
        for word in part.keywords:
            if word.arg in _IGNORED.get(leaf, ()) and not (isinstance(word.value, ast.Constant) and word.value.value in ("", None, False)):
                yield Note("CHK-NO-EFFECT", "note", file, part.lineno, f"{word.arg} of tl.{leaf} has no effect", "leave it, or drop it")
        if leaf.startswith("atomic_"):
            yield from _atomic(part, leaf, file)


def _atomic(call: ast.Call, leaf: str, file: str) -> Iterator[Note]:
    for word in call.keywords:
        if word.arg == "sem" and isinstance(word.value, ast.Constant) and word.value.value not in ("acq_rel", None):
            yield Note("CHK-ATOMIC", "warning", file, call.lineno, f"{leaf} with sem={word.value.value!r}: only acq_rel is implemented", "drop sem, and do not rely on a weaker order being cheaper")
        if word.arg == "scope" and isinstance(word.value, ast.Constant) and word.value.value not in ("gpu", None):
            yield Note("CHK-ATOMIC", "warning", file, call.lineno, f"{leaf} with scope={word.value.value!r}: only gpu is implemented", "drop scope")


def _decorators(tree: Tree, node: ast.FunctionDef, file: str) -> Iterator[Note]:
    for item in node.decorator_list:
        call = item if isinstance(item, ast.Call) else None
        if call is None or not tree.dotted(call.func).endswith("autotune"):
            continue
        yield Note(
            "CHK-AUTOTUNE-IMPORT", "note", file, call.lineno,
            "@triton.autotune asks for the device when the file is imported: with triton-ascend and no NPU the import raises",
            "guard the import on machines without an NPU; with one it works",
        )  # fmt: skip
        options = {word.arg for part in ast.walk(call) if isinstance(part, ast.Call) for word in part.keywords}
        if options & {"num_warps", "num_stages", "num_ctas", "maxnreg"}:
            yield Note("CHK-NO-EFFECT", "note", file, call.lineno, "num_warps, num_stages and num_ctas do not tune an NPU: such configurations are compiled several times for nothing", "keep one configuration per block size")  # fmt: skip


def _grid(file: str, launch: Launch) -> Note:
    dims = launch.grid.count("cdiv")
    text = f"grid {launch.grid}: " if launch.grid else ""
    merged = "the product of its dims" if dims > 1 or launch.grid.count(",") > 1 else "it"
    return Note(
        "CHK-GRID", "note", file, launch.line, f"{text}{merged} must be at most {GRID_LIMIT} programs",
        "loop inside the program over more rows, one program per core is fastest; or TRITON_ALL_BLOCKS_PARALLEL=1",
    )  # fmt: skip
