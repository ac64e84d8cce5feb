"""Rules for Triton: kernels, launches, options, features with limits, and an estimate of the Unified Buffer that a kernel needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.rules.finding import new_op
from ascendops.migrate.scanners.python_tree import Tree
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.scanners.triton_memory import estimate

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_LIMITED_BY_ARGUMENT = {
    "load": ("cache_modifier", "eviction_policy", "volatile", "padding_option"),
    "store": ("cache_modifier", "eviction_policy"),
    "dot": ("max_num_imprecise_acc", "out_dtype", "allow_tf32", "input_precision"),
    "range": ("warp_specialize", "flatten", "disallow_acc_multi_buffer", "disable_licm"),
    "associative_scan": ("reverse",),
    "cumsum": ("reverse",),
}
"""Features that are limited only where one of these arguments is given."""
_QUIET = {"arange", "cdiv", "cat", "permute", "trans", "reshape", "max", "lshift", "device_print", "advance", "umulhi"}
"""Features whose limit hardly any kernel meets: they are described on the rule's page."""
_FLOAT8 = ("float8e4nv", "float8e5", "float8e4b15", "float8e4b8", "float8e5b16")


def scan(tree: Tree, sink: Sink) -> None:
    """Adds the findings about Triton in one file."""
    kernels = {}
    for node in tree.nodes:
        if isinstance(node, ast.FunctionDef) and (decorators := _decorators(tree, node)):
            kernels[node.name] = node
            _kernel(tree, node, decorators, sink)
    for node in tree.nodes:
        if isinstance(node, ast.Call):
            _call(tree, node, kernels, sink)
    for alias, name in tree.imports():
        if name.startswith("triton.") and (hit := _name(name)):
            sink.add(alias.lineno, *hit)
    for chain, name in tree.chains():
        if name.startswith("triton.") and isinstance(chain, ast.Attribute) and (hit := _name(name)):
            sink.add(chain.lineno, *hit)


def _decorators(tree: Tree, node: ast.FunctionDef) -> list[str]:
    names = [tree.dotted(item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list]
    jit = any(
        name in ("triton.jit", "triton.runtime.jit.jit", "triton.JITFunction") or name.endswith("gluon.jit")
        for name in names
    )
    return names if jit else []


def _kernel(tree: Tree, node: ast.FunctionDef, decorators: list[str], sink: Sink) -> None:
    gluon = any("gluon" in name for name in decorators)
    fact = tables.triton_rule("Gluon" if gluon else "on-chip memory")
    helper = any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node))
    size = estimate(tree, node)
    features = tuple(sorted(_features(tree, node)))
    note = size.text if size else "the size of a tile is not known from this file"
    sink.add(
        node.lineno,
        f"@triton.jit kernel {node.name}",
        "MIG-TRITON-KERNEL",
        Fact(fact.name, fact.status, "", f"{note}. {fact.note}", fact.source),
        todo="compile it with triton-ascend as part of its callers"
        if helper
        else f"compile it with triton-ascend and check the limits; {note}",
        features=features,
        command="" if helper or "dot" in features else new_op(node.name, sink.source.file),
    )


def _features(tree: Tree, node: ast.FunctionDef) -> Iterator[str]:
    names = {tree.dotted(part.func).rsplit(".", 1)[-1] for part in ast.walk(node) if isinstance(part, ast.Call)}
    yield from names & {
        "dot",
        "atomic_add",
        "atomic_cas",
        "sort",
        "sum",
        "max",
        "min",
        "reduce",
        "argmax",
        "cumsum",
        "associative_scan",
        "make_block_ptr",
        "make_tensor_descriptor",
        "rand",
        "randn",
    }


def _call(tree: Tree, node: ast.Call, kernels: dict[str, ast.FunctionDef], sink: Sink) -> None:
    name = tree.dotted(node.func)
    if name in ("triton.autotune", "triton.testing.do_bench", "triton.testing.perf_report"):
        row = (
            tables.triton_rule("triton.testing")
            if "testing" in name
            else Fact(
                name,
                "restricted",
                "",
                "; ".join(tables.triton_api()["triton.autotune"]["restrictions"]),
                "triton_support.json",
            )
        )
        sink.add(node.lineno, name, "MIG-TRITON-OPTION", row)
    launch = isinstance(node.func, ast.Subscript) and _is_launch(tree, node, kernels)
    if launch and isinstance(node.func, ast.Subscript):
        fact = tables.triton_rule("launch grid")
        dims = len(node.func.slice.elts) if isinstance(node.func.slice, ast.Tuple) else 0
        more = f"{dims}-D grids are merged to 1-D; " if dims > 1 else ""
        sink.add(
            node.lineno,
            f"launch grid of {ast.unparse(node.func.value)}",
            "MIG-TRITON-GRID",
            Fact(fact.name, fact.status, "", more + fact.note, fact.source),
            todo=f"check that the grid never exceeds 65535 programs; {more}prefer one program per core",
        )
    if launch or name in ("triton.Config", "triton.runtime.autotuner.Config"):
        for keyword in node.keywords:
            if keyword.arg in _OPTIONS:
                sink.add(
                    keyword.value.lineno,
                    f"{'' if launch else 'triton.Config '}{keyword.arg}",
                    "MIG-TRITON-OPTION",
                    tables.triton_rule("num_warps"),
                )
    if name.startswith("triton.language."):
        _feature(name, {keyword.arg for keyword in node.keywords if keyword.arg}, node, sink)


def _is_launch(tree: Tree, node: ast.Call, kernels: dict[str, ast.FunctionDef]) -> bool:
    """`f[grid](...)` where f is a kernel of this file, or looks like one in a file that uses Triton."""
    target = node.func.value if isinstance(node.func, ast.Subscript) else None
    name = tree.dotted(target) if target is not None else ""
    leaf = name.rsplit(".", 1)[-1]
    if leaf in kernels:
        return True
    options = any(keyword.arg in (*_OPTIONS, "BLOCK_SIZE", "BLOCK") for keyword in node.keywords)
    return (
        bool(leaf)
        and ("kernel" in leaf.lower() or options)
        and not isinstance(getattr(node.func, "slice", None), ast.Constant)
    )


def _feature(name: str, arguments: set[str], node: ast.Call, sink: Sink) -> None:
    leaf = name.removeprefix("triton.language.")
    row = tables.triton_api().get(f"tl.{leaf}")
    if row is None or leaf in _QUIET:
        return
    limited = _LIMITED_BY_ARGUMENT.get(leaf)
    if limited is not None and not arguments & set(limited):
        return
    if row["status"] == "restricted" or limited is not None:
        used = f" ({', '.join(sorted(arguments & set(limited)))})" if limited else ""
        note = "; ".join(row.get("restrictions", []))
        ptx = leaf == "inline_asm_elementwise"
        sink.add(
            node.lineno,
            f"tl.{leaf}{used}",
            "MIG-TRITON-API",
            Fact(f"tl.{leaf}", "no_equivalent" if ptx else "restricted", "", note, row["source"]),
        )


def _name(name: str) -> tuple[str, str, Fact] | None:
    if name.startswith(("triton.language.extra.cuda", "triton.language.cuda", "triton.language.inline_asm")):
        leaf = name.rsplit(".", 1)[-1]
        row = (
            "triton.language.extra.cuda.globaltimer"
            if leaf in ("globaltimer", "smid", "gdc_wait", "gdc_launch_dependents")
            else "tl.extra.cuda"
        )
        fact = tables.triton_rule(row)
        return name, "MIG-TRITON-API", fact
    if name.startswith(
        ("triton.language.extra.libdevice", "triton.language.libdevice", "triton.language.math.libdevice")
    ):
        return name, "MIG-TRITON-API", tables.triton_rule("tl.extra.cuda")
    if name.startswith("triton.tools.tensor_descriptor"):
        return name, "MIG-TRITON-API", _DESCRIPTOR
    if name.startswith("triton.experimental"):
        return name, "MIG-TRITON-API", tables.triton_rule("Gluon")
    leaf = name.rsplit(".", 1)[-1]
    if name.startswith("triton.language."):
        if leaf in _FLOAT8:
            return f"tl.{leaf}", "MIG-TRITON-API", tables.triton_rule("fp8")
        if leaf == "float64":
            return f"tl.{leaf}", "MIG-TRITON-API", tables.triton_rule("fp64")
        if leaf in ("uint16", "uint32", "uint64"):
            return f"tl.{leaf}", "MIG-TRITON-API", tables.triton_rule("uint16")
    return None


_DESCRIPTOR = Fact(
    "tensor descriptors",
    "restricted",
    "",
    "descriptors of the host are not available; tl.make_tensor_descriptor must not be mixed with tl.load and tl.store",
    "triton_support.json api: tl.make_tensor_descriptor",
)
