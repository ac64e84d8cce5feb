"""Small inline SVG pictures of the HTML report; colours come from the page's CSS variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

BINS = ("0", "<1/8", "<1/4", "<1/2", "<=1", "<=2", "<=8", "<=64", ">64", "nan/inf")
_LABELS = ("0", "⅛", "¼", "½", "1", "2", "8", "64", ">64", "nan")
_GOOD = 5  # bins up to the allowed error


def histogram(counts: Mapping[str, int], width: int = 320, height: int = 96) -> str:
    """Bars of element counts by error / allowed error, on a logarithmic scale; the line marks the limit."""
    import math

    total = sum(counts.values())
    if total == 0:
        return ""
    bins = BINS if counts.get("nan/inf") else BINS[:-1]
    step, floor = width / len(bins), height - 16
    top = math.log10(max(counts.values()) + 1)
    parts = []
    for i, name in enumerate(bins):
        count = counts.get(name, 0)
        size = max(2.0, (floor - 14) * math.log10(count + 1) / top) if count else 0.0
        x = i * step
        kind = "good" if i < _GOOD else "bad"
        if count:
            parts.append(
                f'<rect class="bar {kind}" x="{x + 2:.1f}" y="{floor - size:.1f}" width="{step - 4:.1f}" height="{size:.1f}" rx="2">'
                f"<title>{count} elements with error {escape(name)} of the allowed</title></rect>"
                f'<text class="count" x="{x + step / 2:.1f}" y="{floor - size - 3:.1f}">{_short(count)}</text>'
            )
        parts.append(f'<text class="tick" x="{x + step / 2:.1f}" y="{height - 4}">{escape(_LABELS[i])}</text>')
    limit = _GOOD * step
    parts.append(f'<line class="axis" x1="0" x2="{width}" y1="{floor}" y2="{floor}"/>')
    parts.append(f'<line class="limit" x1="{limit:.1f}" x2="{limit:.1f}" y1="2" y2="{floor}"/>')
    label = escape(f"Histogram of error over allowed error for {total} elements")
    return f'<svg class="hist" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def heat(rows: Sequence[Sequence[int]], size: int = 7) -> str:
    """A map of an output: one square per cell, darker the more of its elements fail; the first row is on top."""
    if not rows:
        return ""
    width, height = size * len(rows[0]), size * len(rows)
    cells = "".join(
        f'<rect class="bad bar" x="{x * size}" y="{y * size}" width="{size - 1}" height="{size - 1}" opacity="{max(0.25, share / 100):.2f}">'
        f"<title>{share} % of this part of the output</title></rect>"
        for y, row in enumerate(rows)
        for x, share in enumerate(row)
        if share
    )
    label = f"Map of the output, {len(rows)} by {len(rows[0])} parts: where elements fail"
    back = f'<rect class="rest" width="{width}" height="{height}"/>'
    return f'<svg class="map" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{label}">{back}{cells}</svg>'


def meter(part: int, whole: int, enough: float = 1.0) -> str:
    """A thin bar that is filled by part / whole, green from the share `enough` on."""
    share = 100 * part / whole if whole else 0
    kind = "good" if part >= enough * whole else "bad"
    return (
        f'<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="{part} of {whole}">'
        f'<rect class="rest" width="100" height="4" rx="2"/><rect class="bar {kind}" width="{share:.1f}" height="4" rx="2"/></svg>'
    )


def _short(count: int) -> str:
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)
