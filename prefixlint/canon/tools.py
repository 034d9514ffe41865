"""Name tools and put them in order, with their cache markers at their places."""

from __future__ import annotations

from prefixlint.model import Json

DECLARATIONS = frozenset(("functionDeclarations", "function_declarations"))


def tool_name(tool: Json) -> str:
    """Return the name by which a tool is called, or its type where it has none."""
    if not isinstance(tool, dict):
        return ""
    for place in (tool, tool.get("function"), tool.get("toolSpec"), tool.get("custom")):
        if isinstance(place, dict) and isinstance(place.get("name"), str):
            return str(place["name"])
    declared = next((tool[k] for k in DECLARATIONS if isinstance(tool.get(k), list)), None)
    if declared:
        return min(tool_name(d) for d in declared)
    kind = tool.get("type")
    return kind if isinstance(kind, str) else min((k for k in tool if k != "cache_control"), default="")


def place_marks(before: list[Json], after: list[Json]) -> list[Json]:
    """Keep cache markers by position in a list that is put in order; a single one goes to the end of the list."""
    marks = [t.get("cache_control") if isinstance(t, dict) else None for t in before]
    found = [m for m in marks if m is not None]
    if len(found) == 1:
        marks = [None] * (len(marks) - 1) + found
    return [_with_mark(tool, mark) for tool, mark in zip(after, marks, strict=True)]


def _with_mark(tool: Json, mark: Json) -> Json:
    if not isinstance(tool, dict) or tool.get("cache_control") == mark:
        return tool
    new = {**tool, "cache_control": mark}
    return {key: new[key] for key in sorted(new) if key != "cache_control" or mark is not None}


def has_inner_mark(tools: list[Json]) -> bool:
    marked = [i for i, t in enumerate(tools) if isinstance(t, dict) and t.get("cache_control") is not None]
    return len(marked) == 1 and marked[0] != len(tools) - 1


def bare(tool: Json) -> str:
    rest = {k: v for k, v in tool.items() if k != "cache_control"} if isinstance(tool, dict) else tool
    return repr(rest)
