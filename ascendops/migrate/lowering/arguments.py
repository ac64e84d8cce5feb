"""The types of a kernel's run-time arguments, from how its body and its helpers use them and from what launches pass.

`pointer` kinds carry what they point to: `data` (the tested dtype), `index` (int64), `index32` or `mask`; scalars are `int`,
`float` or `bool`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ascendops.migrate.scanners.python_tree import Tree

_POINTER_WORD = re.compile(r"(^|_)ptrs?(_|$)|^p_|ptr$|Ptr$")
_FLOAT_WORD = re.compile(
    r"(^|_)(eps|epsilon|scale|alpha|beta[12]?|gamma|lr|p|prob|temperature|softcap|slope|theta|momentum|decay|inv|rcp|factor|value|low|high|smoothing|weight_decay)(_|$)",
    re.IGNORECASE,
)
_INT_WORD = re.compile(r"(^|_)(stride|size|len|num|n|m|k|cols?|rows?|columns|dim|seq|batch|heads?|index|offset|start|end)(_|$)|stride|^[A-Z]$|seed", re.IGNORECASE)
_INDEX32_WORD = re.compile(r"cu_?seq|seq_?lens?|block_?tables?|slot|lengths?|b_(start|loc|seq)", re.IGNORECASE)
_ACCESS = {"load", "store", "make_block_ptr", "make_tensor_descriptor"}
_CASTS = {"to", "multiple_of", "max_contiguous", "max_constancy", "broadcast_to", "advance", "expand_dims", "reshape", "trans", "cast"}


@dataclass
class Uses:
    """How one function uses its parameters.

    Attributes:
        pointers: Parameters that are bases of loads and stores.
        indices: Pointers whose loaded values become addresses or loop bounds.
        masks: Pointers whose loaded values become masks.
        sizes: Scalars in addresses, masks, ranges and divisions.
        data: Scalars that meet loaded values in arithmetic.
        stored: Pointers that are written.
        strides: Scalars that only multiply positions: a launch may pass 1 for them, and Triton then compiles a kernel of its own.
    """

    pointers: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)
    masks: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    strides: set[str] = field(default_factory=set)


class Body:
    """One kernel or helper: its variables, and what they are made of."""

    def __init__(self, tree: Tree, node: ast.FunctionDef, helpers: dict[str, ast.FunctionDef], known: dict[str, Uses]) -> None:
        self.tree = tree
        self.parameters = [item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        self.fixed = {item.arg for item in (*node.args.args, *node.args.kwonlyargs) if item.annotation is not None and "constexpr" in ast.unparse(item.annotation)}
        self.parts = list(ast.walk(node))
        self.sources: dict[str, list[ast.expr]] = {}
        for part in self.parts:
            if isinstance(part, ast.Assign):
                for target in part.targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self.sources.setdefault(name.id, []).append(part.value)
            elif isinstance(part, (ast.AugAssign, ast.AnnAssign)) and isinstance(part.target, ast.Name) and part.value is not None:
                self.sources.setdefault(part.target.id, []).append(part.value)
        self.helpers, self.known = helpers, known

    def uses(self) -> Uses:
        """What the body says about the parameters."""
        found = Uses()
        for call in self.parts:
            if isinstance(call, ast.Call):
                self._access(call, found)
                self._helper(call, found)
            elif isinstance(call, ast.Attribute) and call.attr == "element_ty":
                found.pointers |= self._deep(call.value) & set(self.parameters)
        free = set(self.parameters) - self.fixed
        found.pointers &= free
        found.sizes &= free - found.pointers
        found.strides = self._factors() & found.sizes
        self._loaded(found, free)
        return found

    def _factors(self) -> set[str]:
        """Parameters that are factors of products and never bounds of a range or of a comparison."""
        factors: set[str] = set()
        bounds: set[str] = set()
        for part in self.parts:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                factors |= {side.id for side in (part.left, part.right) if isinstance(side, ast.Name)}
            elif isinstance(part, ast.Compare) or (isinstance(part, ast.Call) and self.tree.dotted(part.func).rsplit(".", 1)[-1] in ("range", "cdiv")):
                bounds |= {leaf.id for leaf in ast.walk(part) if isinstance(leaf, ast.Name)}
        return factors - bounds

    def _access(self, call: ast.Call, found: Uses) -> None:
        leaf = self.tree.dotted(call.func).rsplit(".", 1)[-1]
        if (leaf in _ACCESS or leaf.startswith("atomic_")) and (call.args or call.keywords):
            address = call.args[0] if call.args else call.keywords[0].value
            base = self.base(address)
            found.pointers |= base
            found.stored |= base if leaf != "load" and not leaf.startswith("make") else set()
            found.sizes |= self._deep(address) - base
            for word in call.keywords:
                if word.arg in ("mask", "shape", "strides", "offsets", "block_shape"):
                    found.sizes |= self._deep(word.value)
        elif leaf in ("range", "arange", "cdiv", "zeros", "full", "static_range"):
            for part in call.args if leaf in ("range", "cdiv", "static_range") else ():
                found.sizes |= self._deep(part)

    def _helper(self, call: ast.Call, found: Uses) -> None:
        uses = self.known.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if uses is None:
            return
        for name, value in self._given(call):
            if name in uses.pointers:
                found.pointers |= self.base(value)
                found.indices |= self.base(value) if name in uses.indices else set()
                found.stored |= self.base(value) if name in uses.stored else set()
            elif name in uses.sizes:
                found.sizes |= self._deep(value)

    def _given(self, call: ast.Call) -> list[tuple[str, ast.expr]]:
        """(parameter, argument) of a call of a helper; empty for other calls."""
        helper = self.helpers.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if helper is None:
            return []
        order = [item.arg for item in helper.args.args]
        return [*zip(order, call.args, strict=False), *((word.arg or "", word.value) for word in call.keywords)]

    def _loaded(self, found: Uses, free: set[str]) -> None:
        """Which pointers hold indices and masks, and which scalars meet data."""
        of: dict[str, set[str]] = {}
        for name, values in self.sources.items():
            of[name] = {base for value in values for load in self._loads(value) for base in self.base(load.args[0] if load.args else load.keywords[0].value)}
        addresses, masks = self._places()
        for name, pointers in of.items():
            live = pointers & found.pointers
            if name in addresses:
                found.indices |= live
            elif name in masks:
                found.masks |= live
        data = {name for name, pointers in of.items() if pointers}
        for part in self.parts:
            if isinstance(part, ast.BinOp):
                sides = [{leaf.id for leaf in ast.walk(side) if isinstance(leaf, ast.Name)} for side in (part.left, part.right)]
                if any(side & data for side in sides):
                    found.data |= (sides[0] | sides[1]) & free - found.pointers

    def _places(self) -> tuple[set[str], set[str]]:
        """Names that are part of addresses and loop bounds, and names that are masks themselves."""
        addresses: set[str] = set()
        masks: set[str] = set()
        for call in self.parts:
            if not isinstance(call, ast.Call):
                continue
            leaf = self.tree.dotted(call.func).rsplit(".", 1)[-1]
            if leaf in _ACCESS or leaf.startswith("atomic_"):
                addresses |= self._all(call.args[0]) if call.args else set()
                for word in call.keywords:
                    if word.arg == "mask":
                        spine = word.value
                        masks |= {part.id for part in _and(spine) if isinstance(part, ast.Name)}
            elif leaf == "range":
                for part in call.args:
                    addresses |= self._all(part)
            for name, value in self._given(call):
                uses = self.known.get(call.func.id) if isinstance(call.func, ast.Name) else None
                addresses |= self._all(value) if uses is not None and name in uses.sizes | uses.pointers else set()
        return addresses, masks

    def _loads(self, node: ast.expr) -> Iterator[ast.Call]:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and self.tree.dotted(part.func).endswith(".load") and (part.args or part.keywords):
                yield part

    def base(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> set[str]:
        """The parameters that an address starts from: the left end of its sums."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self.base(node.left, seen), self.base(node.right, seen)
            named = {name for name in left | right if _POINTER_WORD.search(name)}
            return named or left or right
        if isinstance(node, ast.Name):
            if node.id in self.parameters and node.id not in self.sources:
                return set() if node.id in self.fixed else {node.id}
            own = {node.id} if node.id in self.parameters else set()
            if node.id in seen or (own and node.id not in self.fixed):
                return own
            values = self.sources.get(node.id, [])
            return own or {name for value in values[:3] for name in self.base(value, seen | {node.id})}
        if isinstance(node, ast.Subscript):
            return self.base(node.value, seen)
        if isinstance(node, ast.IfExp):
            return self.base(node.body, seen) | self.base(node.orelse, seen)
        if isinstance(node, ast.Call):
            leaf = self.tree.dotted(node.func).rsplit(".", 1)[-1] or getattr(node.func, "attr", "")
            if leaf in _CASTS and isinstance(node.func, ast.Attribute) and not self.tree.dotted(node.func).startswith("triton"):
                return self.base(node.func.value, seen)
            if leaf in (*_CASTS, "make_block_ptr", "make_tensor_descriptor") and (node.args or node.keywords):
                return self.base(node.args[0] if node.args else node.keywords[0].value, seen)
        return set()

    def _deep(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> set[str]:
        """Every parameter below an expression, through variables but not through loads."""
        found: set[str] = set()
        for part in _without_loads(node):
            if isinstance(part, ast.Name):
                if part.id in self.parameters:
                    found.add(part.id)
                elif part.id not in seen:
                    for value in self.sources.get(part.id, []):
                        found |= self._deep(value, seen | {part.id})
        return found

    def _all(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> set[str]:
        """Every name below an expression, through variables but not through loads."""
        found: set[str] = set()
        for part in _without_loads(node):
            if isinstance(part, ast.Name) and part.id not in seen:
                found.add(part.id)
                for value in self.sources.get(part.id, []):
                    found |= self._all(value, seen | {part.id} | found)
        return found


def _without_loads(node: ast.AST) -> Iterator[ast.AST]:
    stack = [node]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "load":
            continue
        stack.extend(ast.iter_child_nodes(part))


def _and(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        yield from _and(node.left)
        yield from _and(node.right)
    else:
        yield node


def study(tree: Tree, node: ast.FunctionDef, helpers: dict[str, ast.FunctionDef]) -> Uses:
    """What a kernel's body, and the bodies of the helpers that it calls, say about its parameters."""
    reached: dict[str, ast.FunctionDef] = {}
    stack: list[ast.AST] = [node]
    while stack:
        called = {part.func.id for part in ast.walk(stack.pop()) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
        for name in called & set(helpers) - set(reached):
            reached[name] = helpers[name]
            stack.append(helpers[name])
    known: dict[str, Uses] = {}
    for _ in range(min(3, len(reached))):  # helpers call helpers
        known = {name: Body(tree, helper, reached, known).uses() for name, helper in reached.items()}
    return Body(tree, node, reached, known).uses()


def kinds(node: ast.FunctionDef, uses: Uses, passed: dict[str, str]) -> dict[str, str]:
    """Each run-time parameter's kind; `passed` is what launches say about it (see `launches`)."""
    found: dict[str, str] = {}
    for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        text = ast.unparse(item.annotation) if item.annotation is not None else ""
        if "constexpr" not in text:
            found[item.arg] = _kind(item.arg, text, uses, passed.get(item.arg, ""))
    return found


def _kind(name: str, annotation: str, uses: Uses, passed: str) -> str:
    if name in uses.pointers or passed == "pointer" or (_POINTER_WORD.search(name) and name not in uses.sizes | uses.data):
        if name in uses.indices and name not in uses.stored:
            return "index32" if _INDEX32_WORD.search(name) else "index"
        return "mask" if name in uses.masks and name not in uses.stored else "data"
    for word, kind in (("float", "float"), ("fp32", "float"), ("bool", "bool"), ("int1", "bool"), ("int64", "int64"), ("i64", "int64"), ("int", "int")):
        if word in annotation:
            return kind
    if passed in ("int", "float", "bool"):
        return passed
    if _FLOAT_WORD.search(name) and name not in uses.sizes:
        return "float"
    if name in uses.sizes or _INT_WORD.search(name):
        return "int"
    return "float" if name in uses.data else "int"
