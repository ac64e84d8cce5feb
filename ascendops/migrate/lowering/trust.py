"""What a kernel may reach: the front end calls Python functions while it compiles, so a kernel that leaves triton.language is refused."""

from __future__ import annotations

import ast
import re
import sys

from ascendops.migrate.scanners.python_tree import Tree

_ALLOWED = re.compile(
    r"triton\.(?:language\.(?:(?:math|standard|random|core|extra(?:\.\w+)*|libdevice)\.)?\w+(?:\.type|\.value)?|language\.PropagateNan\.(?:ALL|NONE)|next_power_of_2|cdiv|constexpr|language)|math\.\w+"
)
_FOREIGN = frozenset(sys.stdlib_module_names) - {"math", "random"}
_PLAIN = {"range", "len", "min", "max", "float", "int", "bool", "isinstance", "list", "print", "tuple", "abs", "round", "type"}


def refusal(tree: Tree, body: ast.AST, known: set[str]) -> str:
    """Why code that the front end evaluates is refused; empty if it only uses triton's language, `known` names and plain built-ins."""
    for part in ast.walk(body):
        if isinstance(part, ast.Attribute) and part.attr.startswith("__") and part.attr.endswith("__"):
            return f"line {part.lineno}: .{part.attr}"
        if isinstance(part, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)):
            return f"line {part.lineno}: an import or a global statement"
        if isinstance(part, ast.Attribute) and not isinstance(tree.parents.get(part), ast.Attribute):
            name = tree.dotted(part)
            if name.startswith(("triton.", "math.")) and (not _ALLOWED.fullmatch(name) or _FOREIGN & set(name.split(".")[1:])):
                return f"line {part.lineno}: {name}"
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id not in known | _PLAIN:
            name = tree.dotted(part.func)
            if not _ALLOWED.fullmatch(name) and part.func.id in ("getattr", "eval", "exec", "open", "__import__", "setattr", "vars", "globals", "compile", "input"):
                return f"line {part.lineno}: {part.func.id}()"
    return ""
