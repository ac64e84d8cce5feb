"""A Python file as a syntax tree with its import aliases resolved: `tl.load` is `triton.language.load` whatever it is called."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Tree:
    """The parsed file.

    Attributes:
        nodes: Every node in breadth-first order.
        aliases: Local name to full dotted name.
        parents: Node to its parent.
        owners: Node to the function around it, for nodes inside functions.
        bound: Function to its parameters and assigned names, without those that it imports or declares global.
        docstrings: Ids of the constants that are docstrings or lone string statements.
    """

    nodes: list[ast.AST]
    aliases: dict[str, str]
    parents: dict[ast.AST, ast.AST]
    docstrings: set[int] = field(default_factory=set)
    owners: dict[ast.AST, ast.AST] = field(default_factory=dict)
    bound: dict[ast.AST, set[str]] = field(default_factory=dict)

    def dotted(self, node: ast.AST) -> str:
        """The full dotted name of a Name or Attribute chain; empty if it is neither."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(node.id if self.shadowed(node) else self.aliases.get(node.id, node.id))
        return ".".join(reversed(parts))

    def shadowed(self, node: ast.Name) -> bool:
        """Whether a parameter or a local variable of an enclosing function hides the import of this name."""
        if node.id not in self.aliases:
            return False
        owner = self.owners.get(node)
        while owner is not None:
            if node.id in self.bound.get(owner, ()):
                return True
            owner = self.owners.get(owner)
        return False

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """The ancestors of a node, nearest first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def imports(self) -> Iterator[tuple[ast.alias, str]]:
        """Each imported name with its full dotted name; its line is the alias's own."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias, alias.name
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    yield alias, f"{node.module}.{alias.name}"

    def chains(self) -> Iterator[tuple[ast.Attribute | ast.Name, str]]:
        """Each maximal dotted chain with its full name; plain names only if an import or an assignment gave them one."""
        for node in self.nodes:
            if isinstance(node, ast.Attribute):
                if not isinstance(self.parents.get(node), ast.Attribute) and (name := self.dotted(node)):
                    yield node, name
            elif (
                isinstance(node, ast.Name)
                and node.id in self.aliases
                and not isinstance(self.parents.get(node), ast.Attribute)
            ) and not (isinstance(node.ctx, ast.Store) or self.shadowed(node)):
                yield node, self.aliases[node.id]


def parse(text: str, aliases: dict[str, str] | None = None) -> Tree:
    """Parses Python text; `aliases` are those of earlier notebook cells.

    Raises:
        SyntaxError: It is not Python 3.
        ValueError: It holds null bytes, or is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in scanned code are its author's business
            root = ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error
    tree = Tree([root], dict(aliases or {}), {})
    _walk(tree)
    _collect_aliases(tree)
    tree.docstrings = {
        id(node.value)
        for node in tree.nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Constant, ast.JoinedStr))
    }
    return tree


def _collect_aliases(tree: Tree) -> None:
    for node in tree.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                head = alias.name.split(".")[0]
                tree.aliases[alias.asname or head] = alias.name if alias.asname else head
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                tree.aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in tree.nodes:  # `cuda = torch.cuda` names a module a second time
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Attribute)
        ):
            name = tree.dotted(node.value)
            if name.startswith(("torch.cuda", "triton.", "torch.utils.cpp_extension.")):
                tree.aliases.setdefault(node.targets[0].id, name)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def _walk(tree: Tree) -> None:
    """Fills nodes, parents, owners and bound names in one pass; contexts and operators are left out."""
    nodes, parents, owners = tree.nodes, tree.parents, tree.owners
    imported: dict[ast.AST, set[str]] = {}
    for node in nodes:  # the list grows while it is walked
        owner = node if isinstance(node, _FUNCTIONS) else owners.get(node)
        for name in node._fields:
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST) and not isinstance(child, _LEAVES):
                    parents[child] = node
                    nodes.append(child)
                    if owner is not None:
                        owners[child] = owner
        if owner is not None:
            _bind(node, owner, tree.bound, imported)
    for function, names in imported.items():
        tree.bound.get(function, set()).difference_update(names)


def _bind(node: ast.AST, owner: ast.AST, bound: dict[ast.AST, set[str]], imported: dict[ast.AST, set[str]]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            bound.setdefault(owner, set()).add(node.id)
    elif isinstance(node, ast.arg):
        bound.setdefault(owner, set()).add(node.arg)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        imported.setdefault(owner, set()).update(alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Global):
        imported.setdefault(owner, set()).update(node.names)
