"""How much of the Unified Buffer one program of a Triton kernel needs, estimated from the block sizes that the file states."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ascendops.migrate.scanners.python_tree import Tree

UB_BYTES = 192 * 1024
_BYTES = 4  # values are widened to float32 in most kernels


@dataclass(frozen=True)
class Size:
    """An estimate: live tiles times their elements times four bytes, doubled by multibuffer."""

    tiles: int
    elements: int
    sizes: tuple[tuple[str, int], ...]

    @property
    def bytes(self) -> int:
        """Bytes with double buffering."""
        return self.tiles * self.elements * _BYTES * 2

    @property
    def text(self) -> str:
        """The estimate in words."""
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes)
        verdict = "above" if self.bytes > UB_BYTES else "within"
        return f"estimate for {sizes}: {self.tiles} tiles x {self.elements} x 4 bytes x 2 = {self.bytes / 1024:.0f} KiB, {verdict} the 192 KiB of the Unified Buffer"


def estimate(tree: Tree, kernel: ast.FunctionDef) -> Size | None:
    """The largest size over the configurations found; None if no configuration gives every block size."""
    blocks = _blocks(tree, kernel)
    if not blocks:
        return None
    best: Size | None = None
    tiles = max(
        1,
        sum(
            1
            for node in ast.walk(kernel)
            if isinstance(node, ast.Call) and tree.dotted(node.func).endswith((".load", ".zeros", ".full"))
        ),
    )
    for config in (*_configs(tree, kernel), *_launches(tree, kernel)):
        if all(name in config for name in blocks):
            elements = 1
            for name in blocks[:2]:  # a tile has two dimensions as a rule; a third is a loop over chunks
                elements *= config[name]
            size = Size(tiles, elements, tuple((name, config[name]) for name in blocks[:2]))
            best = size if best is None or size.bytes > best.bytes else best
    return best


def _blocks(tree: Tree, kernel: ast.FunctionDef) -> list[str]:
    """The constexpr parameters that are extents of tl.arange, in order of first use."""
    parameters = {argument.arg for argument in (*kernel.args.args, *kernel.args.kwonlyargs)}
    found: dict[str, None] = {}
    for node in ast.walk(kernel):
        if (
            isinstance(node, ast.Call)
            and tree.dotted(node.func).endswith(".arange")
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Name)
        ) and node.args[1].id in parameters:
            found.setdefault(node.args[1].id)
    return list(found)


def _configs(tree: Tree, kernel: ast.FunctionDef) -> Iterator[dict[str, int]]:
    for decorator in kernel.decorator_list:
        for node in ast.walk(decorator):
            if (
                isinstance(node, ast.Call)
                and tree.dotted(node.func).endswith("Config")
                and node.args
                and isinstance(node.args[0], ast.Dict)
            ):
                table = node.args[0]
                yield {
                    k.value: v.value
                    for k, v in zip(table.keys, table.values, strict=True)
                    if isinstance(k, ast.Constant)
                    and isinstance(k.value, str)
                    and isinstance(v, ast.Constant)
                    and isinstance(v.value, int)
                }


def _launches(tree: Tree, kernel: ast.FunctionDef) -> Iterator[dict[str, int]]:
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
    }
    for node in tree.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Subscript)
            and tree.dotted(node.func.value).endswith(kernel.name)
        ):
            values: dict[str, int] = {}
            for keyword in node.keywords:
                if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, int):
                    values[keyword.arg or ""] = keyword.value.value
                elif isinstance(keyword.value, ast.Name) and keyword.value.id in constants:
                    values[keyword.arg or ""] = constants[keyword.value.id]
            yield values
