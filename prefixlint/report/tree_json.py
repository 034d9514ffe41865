"""Write the radix tree of a log as JSON."""

from __future__ import annotations

from typing import Any

import orjson

from prefixlint.model import ReportOptions
from prefixlint.report.tree_text import marked
from prefixlint.trees import Edge, Tree

NAME = "json"


def tree_report(tree: Tree, options: ReportOptions) -> str:
    """Write version 1."""
    document = {
        "version": 1,
        "tokenizer": {"name": tree.tokenizer, "exact": tree.exact},
        "requests": tree.requests,
        "prompt_tokens": tree.prompt_tokens,
        "distinct_tokens": tree.distinct_tokens,
        "edges": tree.edges,
        "cache": {"name": tree.cache, "capacity": tree.capacity, "held_tokens": tree.held_tokens}
        if tree.cache
        else None,
        "roots": [edge_document(edge, options) for edge in tree.roots],
        "notes": list(tree.notes),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def edge_document(edge: Edge, options: ReportOptions) -> dict[str, Any]:
    """Return one edge with all below it."""
    return {
        "start": edge.start,
        "end": edge.end,
        "tokens": edge.tokens,
        "requests": edge.requests,
        "state": edge.state,
        "record": edge.record,
        "path": edge.path,
        "part": edge.part,
        "pointer": edge.pointer,
        "text": marked(edge, options),
        "rule": edge.rule,
        "hidden": {"edges": edge.hidden_edges, "tokens": edge.hidden_tokens},
        "children": [edge_document(child, options) for child in edge.children],
    }
