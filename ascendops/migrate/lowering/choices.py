"""The compile-time values to try for a kernel: its autotune configurations, its heuristics, its launches, else an assumption."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ascendops.migrate.lowering.evaluate import Host, Unknown
from ascendops.migrate.lowering.launches import Launch
from ascendops.migrate.scanners.python_tree import Tree

MOST_CONFIGS = 64
_SHAPED = ("arange", "zeros", "full", "make_block_ptr", "make_tensor_descriptor", "reshape", "view")


@dataclass
class Choice:
    """Values for every compile-time parameter.

    Attributes:
        values: Name to value; a dtype is `{"dtype": "float32"}`.
        assumed: Names whose value nothing in the file gives.
        line: Where the configuration stands; 0 if it does not come from one.
        given: Names that the configuration itself has.
    """

    values: dict[str, Any] = field(default_factory=dict)
    assumed: set[str] = field(default_factory=set)
    line: int = 0
    given: frozenset[str] = frozenset()


def fixed_parameters(node: ast.FunctionDef) -> list[str]:
    """The parameters annotated with tl.constexpr."""
    return [item.arg for item in (*node.args.args, *node.args.kwonlyargs) if item.annotation is not None and "constexpr" in ast.unparse(item.annotation)]


def choices(tree: Tree, node: ast.FunctionDef, launch: Launch | None, size: int) -> list[Choice]:
    """The configurations of a kernel, completed; one where it has none."""
    fixed = fixed_parameters(node)
    functions = {item.name: item for item in tree.nodes if isinstance(item, ast.FunctionDef)}
    host = Host(tree, size, functions=functions)
    module = {item.targets[0].id: item.value for item in tree.nodes if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name)}
    configs = [pair for call in node.decorator_list if isinstance(call, ast.Call) for pair in _autotune(tree, host, call, module)]
    rules = {name: rule for call in node.decorator_list if isinstance(call, ast.Call) for name, rule in _heuristics(tree, call, module)}
    defaults = dict(zip(reversed([item.arg for item in node.args.args]), reversed(node.args.defaults), strict=False))
    found: list[Choice] = []
    use = uses(tree, node, fixed)
    sizes = sum(kind == "size" for kind in use.values())
    for line, config in configs or [(0, {})]:
        choice = Choice({name: value for name, value in config.items() if name in fixed}, line=line, given=frozenset(config))
        for name, value in (launch.constants if launch else {}).items():
            choice.values.setdefault(name, value)
        for name, default in defaults.items():
            if name in fixed and name not in choice.values:
                _try(host, choice, name, default, module)
        for name, rule in rules.items():
            if name in fixed and name not in choice.values:
                _rule(host, choice, name, rule, module)
        for name in fixed:
            if name not in choice.values:
                choice.values[name] = _assume(name, use[name], size, sizes)
                choice.assumed.add(name)
            elif use[name] == "flag" and not isinstance(choice.values[name], (bool, type(None), str)):
                choice.values[name] = bool(choice.values[name])
        if all(other.values != choice.values for other in found):
            found.append(choice)
    return found


def _try(host: Host, choice: Choice, name: str, node: ast.expr, names: dict[str, Any]) -> None:
    try:
        value = host.value(node, names)
    except Unknown:
        return
    if isinstance(value, (bool, int, float, str, type(None))):
        choice.values[name] = value


def _rule(host: Host, choice: Choice, name: str, rule: ast.expr, module: dict[str, Any]) -> None:
    """A heuristic: its lambda over the values that are known; a test that depends on sizes counts as true."""
    if isinstance(rule, ast.Lambda) and len(rule.args.args) == 1:
        _try(host, choice, name, rule.body, {**module, rule.args.args[0].arg: dict(choice.values)})


def _autotune(tree: Tree, host: Host, call: ast.Call, module: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    if not tree.dotted(call.func).endswith("autotune"):
        return
    listed = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "configs"), None)
    if listed is not None:
        yield from itertools.islice(_configs(tree, host, listed, dict(module), 0), MOST_CONFIGS)


def _configs(tree: Tree, host: Host, node: ast.expr, names: dict[str, Any], depth: int) -> Iterator[tuple[int, dict[str, Any]]]:
    if depth > 6:
        return
    if isinstance(node, ast.List):
        for item in node.elts:
            yield from _configs(tree, host, item, names, depth + 1)
    elif isinstance(node, ast.Starred):
        yield from _configs(tree, host, node.value, names, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _configs(tree, host, node.left, names, depth + 1)
        yield from _configs(tree, host, node.right, names, depth + 1)
    elif isinstance(node, ast.ListComp):
        for bound in _loops(host, node.generators, names):
            yield from _configs(tree, host, node.elt, bound, depth + 1)
    elif isinstance(node, ast.IfExp):
        yield from _configs(tree, host, node.body, names, depth + 1)
    elif isinstance(node, ast.Name) and isinstance(names.get(node.id), ast.expr):
        yield from _configs(tree, host, names[node.id], names, depth + 1)
    elif isinstance(node, ast.Call):
        name = tree.dotted(node.func)
        if name.rsplit(".", 1)[-1] == "Config" and node.args:
            try:
                table = host.value(node.args[0], names)
            except Unknown:
                return
            if isinstance(table, dict):
                yield node.lineno, table
        elif name in host.functions:
            for part in ast.walk(host.functions[name]):
                if isinstance(part, ast.Return) and part.value is not None:
                    yield from _configs(tree, host, part.value, names, depth + 1)


def _loops(host: Host, generators: list[ast.comprehension], names: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if not generators:
        yield names
        return
    head, *rest = generators
    try:
        values = host.value(head.iter, names)
    except Unknown:
        values = []
    for value in values if isinstance(values, (list, tuple)) else []:
        bound = dict(names)
        if isinstance(head.target, ast.Name):
            bound[head.target.id] = value
        elif isinstance(head.target, ast.Tuple) and isinstance(value, (list, tuple)):
            bound.update({part.id: item for part, item in zip(head.target.elts, value, strict=False) if isinstance(part, ast.Name)})
        if all(_holds(host, test, bound) for test in head.ifs):
            yield from _loops(host, rest, bound)


def _holds(host: Host, test: ast.expr, names: dict[str, Any]) -> bool:
    try:
        return bool(host.value(test, names))
    except Unknown:
        return True


def _heuristics(tree: Tree, call: ast.Call, module: dict[str, Any]) -> Iterator[tuple[str, ast.expr]]:
    if not tree.dotted(call.func).endswith("heuristics"):
        return
    table = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "values"), None)
    if isinstance(table, ast.Name):
        table = module.get(table.id)
    if isinstance(table, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value


def uses(tree: Tree, node: ast.FunctionDef, names: list[str]) -> dict[str, str]:
    """`text:VALUE`, `size`, `dtype`, `flag`, `count` or empty: how the kernel uses each compile-time parameter."""
    wanted = set(names)
    found: dict[str, set[str]] = {name: set() for name in names}
    texts: dict[str, str] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Compare) and isinstance(part.left, ast.Name) and part.left.id in wanted:
            for right in part.comparators:
                if isinstance(right, ast.Constant) and isinstance(right.value, str):
                    texts.setdefault(part.left.id, f"text:{right.value}")
        elif isinstance(part, ast.Call):
            for name, use in _call_uses(tree, part):
                found.get(name, set()).add(use)
        elif isinstance(part, (ast.If, ast.IfExp, ast.While)):
            test = part.test.operand if isinstance(part.test, ast.UnaryOp) else part.test
            for side in test.values if isinstance(test, ast.BoolOp) else [test]:
                if isinstance(side, ast.Name):
                    found.get(side.id, set()).add("flag")
    order = ("dtype", "size", "flag", "count")
    return {name: texts.get(name) or next((use for use in order if use in found[name]), "") for name in names}


def _call_uses(tree: Tree, call: ast.Call) -> Iterator[tuple[str, str]]:
    leaf = tree.dotted(call.func).rsplit(".", 1)[-1] or getattr(call.func, "attr", "")
    if leaf == "to":
        yield from ((item.id, "dtype") for item in call.args if isinstance(item, ast.Name))
    if leaf in ("zeros", "full"):
        typed = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "dtype")]
        yield from ((item.id, "dtype") for item in typed if isinstance(item, ast.Name))
    use = "count" if leaf in ("range", "static_range") else "size" if leaf in _SHAPED else ""
    for value in (*call.args, *(word.value for word in call.keywords)) if use else ():
        yield from ((item.id, use) for item in ast.walk(value) if isinstance(item, ast.Name))


def _assume(name: str, use: str, size: int, sizes: int) -> Any:
    if use.startswith("text:"):
        return use.removeprefix("text:")
    if use == "dtype":
        return {"dtype": "float32"}
    if use == "flag" or re.match(r"(IS|HAS|USE|DO|WITH|ENABLE)_", name.upper()) or "CAUSAL" in name.upper():
        return True
    if re.search(r"HEAD|DIM|D_?MODEL", name.upper()):
        return 64
    if use == "size" or re.search(r"BLOCK|TILE|CHUNK|^B[A-Z]{1,2}$", name.upper()):
        return size if sizes < 2 else min(size, 64)
    if "DTYPE" in name.upper():
        return {"dtype": "float32"}
    if re.search(r"SMOOTHING|SCALE|BETA|ALPHA|EPS|GAMMA|_PROB|TEMPERATURE", name.upper()):
        return 0.5
    if re.search(r"^N_?(COLS|ROWS|COL|ROW)|SIZE|HIDDEN|VOCAB|^[NMKVD]$", name.upper()):
        return size
    return 4 if use == "count" else 16
