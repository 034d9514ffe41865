"""Draw the radix tree of a log in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.display import count, plural, redacted, visible
from prefixlint.model import ReportOptions
from prefixlint.trees import Edge, Tree

NAME = "text"
_MARKS = {"cached": "■", "partly": "◧", "evicted": "□", "unknown": " "}


def tree_report(tree: Tree, options: ReportOptions) -> str:
    """Write a head and one line per edge: tokens, requests, state, the text where it begins."""
    lines = [*_head(tree)]
    for edge in tree.roots:
        lines += _edge(edge, "", True, options, is_root=True)
    if tree.cache:
        lines += ["", "■ cached  ◧ partly  □ evicted at the end of the log"]
    lines += [f"note: {note}" for note in tree.notes]
    return "\n".join(lines) + "\n"


def _head(tree: Tree) -> Iterator[str]:
    for i in tree.inputs[:3]:
        yield f"{i.path} ({i.format}, {plural(i.requests, 'request')})"
        yield from (f"  {error}" for error in i.errors[:5])
    exact = "" if tree.exact else ", an estimate"
    yield (
        f"{plural(tree.requests, 'prompt')} of {count(tree.prompt_tokens)} tokens ({tree.tokenizer}{exact}) are "
        f"{count(tree.distinct_tokens)} tokens in {plural(tree.edges, 'edge')}"
    )
    if tree.cache:
        size = f" with a capacity of {tree.capacity}" if tree.capacity else ", unbounded"
        yield f"state of {tree.cache}{size}: {count(tree.held_tokens)} tokens held"
    yield ""


def _edge(edge: Edge, indent: str, last: bool, options: ReportOptions, *, is_root: bool = False) -> Iterator[str]:
    branch = "" if is_root else indent + ("└─ " if last else "├─ ")
    below = "" if is_root else indent + ("   " if last else "│  ")
    mark = _MARKS[edge.state]
    span = f"{count(edge.start)}..{count(edge.end)}"
    yield f"{branch}{mark} {span}  {count(edge.tokens)} tok  x{edge.requests}  {_label(edge, options)}".rstrip()
    tail = edge.hidden_edges > 0
    for number, child in enumerate(edge.children):
        yield from _edge(child, below, number == len(edge.children) - 1 and not tail, options)
    if tail:
        more = f"{plural(edge.hidden_edges, 'more edge')}, {count(edge.hidden_tokens)} tokens"
        yield f"{below}└─ {more}"


def _label(edge: Edge, options: ReportOptions) -> str:
    place = f"{edge.part}{edge.pointer}" if edge.part else ""
    text = marked(edge, options)
    rule = f"  ({edge.rule})" if edge.rule else ""
    return f"{place}  {text}{rule}"


def marked(edge: Edge, options: ReportOptions) -> str:
    """Return the text of an edge with the differing value between ``«`` and ``»``."""
    if not edge.text:
        return ""
    if options.redact:
        return redacted(edge.text)
    before, inside = edge.text[: edge.mark_start], edge.text[edge.mark_start : edge.mark_end]
    after = edge.text[edge.mark_end :]
    if not inside:
        return f'"{visible(edge.text)}"'
    room = max(40 - len(before) - len(inside), 0)
    return f'"{visible(before)}«{visible(inside)}»{visible(after[:room])}"'
