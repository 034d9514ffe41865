"""Write the radix tree of a log as one HTML page that folds, or as an SVG icicle; nothing is loaded, no script runs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from prefixlint.display import count, plural, visible
from prefixlint.model import ReportOptions
from prefixlint.report.tree_text import marked
from prefixlint.trees import Edge, Tree

NAME = "html"
COLORS = {"cached": "#2e7d5b", "partly": "#b7791f", "evicted": "#b23a3a", "unknown": "#3b6ea5"}
_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;margin:2rem;background:#fff;color:#1b1f24}
details{margin-left:1.2rem;border-left:1px solid #d0d7de;padding-left:.6rem}
summary,.leaf{cursor:default;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.leaf{margin-left:1.2rem;padding-left:1.6rem}
.s{display:inline-block;width:.7rem;height:.7rem;border-radius:2px;margin-right:.4rem}
.n{font-variant-numeric:tabular-nums;color:#57606a}
code{background:#f6f8fa;padding:0 .25rem}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}code{background:#161b22}
details{border-color:#30363d}.n{color:#8b949e}}
"""


def tree_report(tree: Tree, options: ReportOptions) -> str:
    """Write the page."""
    exact = "" if tree.exact else ", an estimate"
    head = (
        f"{plural(tree.requests, 'prompt')} of {count(tree.prompt_tokens)} tokens "
        f"({escape(tree.tokenizer)}{exact}) are {count(tree.distinct_tokens)} in {plural(tree.edges, 'edge')}"
    )
    legend = "".join(
        f'<span class="s" style="background:{COLORS[s]}"></span>{s} ' for s in ("cached", "partly", "evicted")
    )
    body = "".join(line for edge in tree.roots for line in _edge(edge, options, 0))
    notes = "".join(f"<p>{escape(note)}</p>" for note in tree.notes)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>prefixlint tree</title><style>{_STYLE}</style><h1>Prefix tree</h1><p>{head}</p>"
        f"<p>{legend if tree.cache else ''}</p>{body}{notes}</html>\n"
    )


def _edge(edge: Edge, options: ReportOptions, depth: int) -> Iterator[str]:
    label = (
        f'<span class="s" style="background:{COLORS[edge.state]}" title="{edge.state}"></span>'
        f'<span class="n">{count(edge.start)}..{count(edge.end)} · {count(edge.tokens)} tokens · '
        f"{plural(edge.requests, 'request')}</span> {escape(edge.part + edge.pointer)} "
        f"<code>{escape(marked(edge, options))}</code> {escape(edge.rule)}"
    )
    if not edge.children and not edge.hidden_edges:
        yield f'<div class="leaf">{label}</div>'
        return
    yield f"<details{' open' if depth < 3 else ''}><summary>{label}</summary>"
    for child in edge.children:
        yield from _edge(child, options, depth + 1)
    if edge.hidden_edges:
        more = f"{plural(edge.hidden_edges, 'more edge')}, {count(edge.hidden_tokens)} tokens"
        yield f'<div class="leaf n">{more}</div>'
    yield "</details>"


def title_of(edge: Edge, options: ReportOptions) -> str:
    """Return the hover text of an edge."""
    place = f"{edge.part}{edge.pointer} " if edge.part else ""
    span = f"{count(edge.start)}..{count(edge.end)}, {plural(edge.requests, 'request')}, {edge.state}"
    return f"{span}: {place}{visible(marked(edge, options), 120)}"
