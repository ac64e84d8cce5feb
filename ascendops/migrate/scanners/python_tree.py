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
        bound: Functions whose local names were looked up, with these names.
        docstrings: Ids of the constants that are docstrings or lone string statements.
    """

    nodes: list[ast.AST]
    aliases: dict[str, str]
    parents: dict[ast.AST, ast.AST]
    docstrings: set[int] = field(default_factory=set)
    bound: dict[ast.AST, frozenset[str]] = field(default_factory=dict)

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
        for parent in self.up(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                if parent not in self.bound:
                    self.bound[parent] = _bound(parent)
                if node.id in self.bound[parent]:
                    return True
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
    nodes: list[ast.AST] = [root]
    parents: dict[ast.AST, ast.AST] = {}
    for node in nodes:  # the list grows while it is walked
        for child in ast.iter_child_nodes(node):
            parents[child] = node
            nodes.append(child)
    tree = Tree(nodes, dict(aliases or {}), parents)
    _collect_aliases(tree)
    tree.docstrings = {
        id(node.value)
        for node in nodes
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


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The parameters and assigned names of a function; names that it imports itself are not among them."""
    arguments = function.args
    names = {part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {part.arg for part in (arguments.vararg, arguments.kwarg) if part}
    imported: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Global):
            imported |= set(node.names)
    return frozenset(names - imported)
