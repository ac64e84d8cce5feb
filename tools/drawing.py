"""Drawings of tiling strategies as SVG: the tensor in GM split over cores and tiles, and what lies in UB of one core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, PANEL, TOP = 760, 196, 34
CORES = ("#4e79a7", "#76b7b2", "#edc948", "#b07aa1")  # of the first cores; a fifth band is "..."
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.small{font-size:10.5px;fill:#555}.title{font-weight:600;font-size:13px}"
    ".box{fill:#fff;stroke:#888}.in{fill:#dbe9f6;stroke:#4e79a7}.out{fill:#e3f1e1;stroke:#59a14f}"
    ".work{fill:#fdf1d3;stroke:#c9a227}.stay{fill:#f1e3ee;stroke:#b07aa1}.tile{fill:none;stroke:#d1495b;stroke-width:2}"
    ".core{font-size:10.5px;fill:#444;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-opacity:.8}.line{stroke:#888;fill:none}.arrow{stroke:#444;fill:none;marker-end:url(#tip)}"
)


def svg(title: str, panels: Sequence[Mapping[str, Any]]) -> str:
    """One panel below the other. A panel has `key`, `tile` (rows, part or whole), `note`, and lists `in`, `work`, `stay`, `out`;
    `memory` names another memory than UB.
    """
    height = PANEL * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for index, panel in enumerate(panels):
        parts.append(f'<g transform="translate(0 {index * PANEL})">')
        parts += _panel(panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Mapping[str, Any]) -> Iterator[str]:
    yield _text(12, 20, f"{panel['key']}: {panel['note']}", "title")
    yield from _tensor(panel["tile"], panel.get("rows", "rows"), panel.get("columns", "n"))
    yield '<rect class="box" x="252" y="34" width="374" height="146" rx="8"/>'
    yield _text(262, 50, panel.get("memory", "UB of one core"), "small")
    yield _arrow(176, 250, 100, panel.get("reads", "MTE2"))
    yield _arrow(628, 690, 100, panel.get("writes", "MTE3"))
    yield _text(696, 104, "GM")
    for x, width, kind, names in ((262, 112, "in", panel["in"]), (382, 118, "work", panel.get("work", [])), (506, 112, "out", panel["out"])):
        yield from _column(x, width, kind, names, panel.get("stay", []) if kind == "work" else [])


def _tensor(tile: str, rows: str, columns: str) -> Iterator[str]:
    left, width, band = 34, 140, 26
    yield _text(left + width / 2 - 3 * len(columns), TOP + 156, columns, "small")
    yield f'<text class="small" transform="translate(24 {TOP + 92}) rotate(-90)">{escape(rows)}</text>'
    for core, color in enumerate(CORES):
        y = TOP + core * band
        yield f'<rect x="{left}" y="{y}" width="{width}" height="{band}" fill="{color}" fill-opacity="0.35" stroke="#666"/>'
    yield _text(left + 60, TOP + 4 * band + 18, "...", "small")
    yield f'<rect class="line" x="{left}" y="{TOP}" width="{width}" height="{5 * band + 10}"/>'
    if tile == "rows":
        yield from (f'<path class="line" d="M{left} {TOP + step}h{width}"/>' for step in (9, 18))
        yield f'<rect class="tile" x="{left}" y="{TOP}" width="{width}" height="9"/>'
    elif tile == "part":
        yield from (f'<path class="line" d="M{left + step} {TOP}v9"/>' for step in (35, 70, 105))
        yield f'<path class="line" d="M{left} {TOP + 9}h{width}"/><rect class="tile" x="{left}" y="{TOP}" width="35" height="9"/>'
    else:
        yield f'<rect class="tile" x="{left}" y="{TOP}" width="{width}" height="{band}"/>'
    yield from (_text(left + 4, TOP + core * band + 17, f"core {core}", "core") for core in range(len(CORES)))


def _column(x: int, width: int, kind: str, names: Sequence[str], stay: Sequence[str]) -> Iterator[str]:
    """Boxes below each other; a name that ends with *2 is a double-buffered queue."""
    labelled = [(kind, name) for name in names] + [("stay", name) for name in stay]
    step = min(40, 124 // max(len(labelled), 1))
    for index, (style, name) in enumerate(labelled):
        y, double = 56 + index * step, name.endswith("*2")
        if double:
            yield f'<rect class="{style}" x="{x + 4}" y="{y - 3}" width="{width}" height="{step - 10}" rx="3"/>'
        yield f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{step - 10}" rx="3"/>'
        yield _text(x + 5, y + (step - 10) / 2 + 4, name.removesuffix("*2").strip(), "small")


def _arrow(left: int, right: int, y: int, label: str) -> str:
    return f'<path class="arrow" d="M{left} {y}H{right}"/>' + _text((left + right) / 2 - 3 * len(label), y - 7, label, "small")


def _text(x: float, y: float, text: str, style: str = "") -> str:
    mark = f' class="{style}"' if style else ""
    return f'<text{mark} x="{x:g}" y="{y:g}">{escape(text)}</text>'
