"""Draw the radix tree of a log as an SVG icicle: one row per token depth, one column of height per request."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from prefixlint.display import count
from prefixlint.model import ReportOptions
from prefixlint.report.tree_html import COLORS, title_of
from prefixlint.trees import Edge, Tree

NAME = "svg"
WIDTH, ROW, LEFT, TOP = 1000, 18, 10, 40
_SMALLEST = 0.4  # pixels below which an edge is not drawn


def tree_report(tree: Tree, options: ReportOptions) -> str:
    """Write the picture: x is the token position, y the requests, colour the state."""
    end = max((_end(e) for e in tree.roots), default=1)
    rows = sum(e.requests for e in tree.roots) or 1
    height = min(max(rows * ROW, 120), 1600)
    scale_x, scale_y = (WIDTH - 2 * LEFT) / end, height / rows
    boxes: list[str] = []
    y = 0.0
    for root in tree.roots:
        boxes += _boxes(root, y, scale_x, scale_y, options)
        y += root.requests * scale_y
    head = (
        f"{count(tree.requests)} prompts, {count(tree.prompt_tokens)} tokens, {count(tree.distinct_tokens)} distinct; "
        f"x: token position up to {count(end)}, y: requests"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + TOP + 10}" width="{WIDTH}" '
        f'height="{height + TOP + 10}" role="img"><style>text{{font:11px sans-serif}}</style>'
        f'<rect width="{WIDTH}" height="{height + TOP + 10}" fill="#fff"/>'
        f'<text x="{LEFT}" y="20">{escape(head)}</text>{"".join(boxes)}</svg>\n'
    )


def _end(edge: Edge) -> int:
    return max([edge.end, *(_end(c) for c in edge.children)])


def _boxes(edge: Edge, y: float, scale_x: float, scale_y: float, options: ReportOptions) -> Iterator[str]:
    x, width, height = LEFT + edge.start * scale_x, edge.tokens * scale_x, edge.requests * scale_y
    if height < _SMALLEST:
        return
    yield (
        f'<rect x="{x:.1f}" y="{TOP + y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" '
        f'fill="{COLORS[edge.state]}" fill-opacity="0.75" stroke="#fff" stroke-width="0.6">'
        f"<title>{escape(title_of(edge, options))}</title></rect>"
    )
    if width > 60 and height > 11:
        label = f"{count(edge.tokens)} x{edge.requests}"
        yield f'<text x="{x + 3:.1f}" y="{TOP + y + min(height / 2 + 4, 14):.1f}" fill="#fff">{label}</text>'
    for child in edge.children:
        yield from _boxes(child, y, scale_x, scale_y, options)
        y += child.requests * scale_y
