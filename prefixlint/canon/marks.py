"""Put cache markers where they are read: on the last block that stays the same."""

from __future__ import annotations

from prefixlint.canon.values import at, with_value
from prefixlint.json_spans import split_pointer
from prefixlint.model import Json

MARK = "cache_control"
MOST = 4  # markers that the Messages API takes in one request, https://docs.anthropic.com (2026-03)


def stable_block(body: Json, changing: str) -> str:
    """Return the pointer of the last block before the one that changes: in its list, else the last tool; '' for none.

    ``changing`` points into a list of blocks, such as ``/system/2/text``.
    """
    tokens = split_pointer(changing)
    place = next((n for n in range(len(tokens) - 1, 0, -1) if tokens[n].isdigit()), 0)
    if not place:
        return ""
    parent = "".join(f"/{t}" for t in tokens[:place])
    if int(tokens[place]) > 0:
        found = f"{parent}/{int(tokens[place]) - 1}"
    elif parent == "/system" and isinstance(body.get("tools"), list) and body["tools"]:
        found = f"/tools/{len(body['tools']) - 1}"
    else:
        return ""
    return found if isinstance(at(body, found), dict) else ""


def moved(body: Json, marker: str, changing: str) -> Json:
    """Return the body with a marker moved in front of what changes, or one more there if it stood far behind.

    ``marker`` is the pointer of the ``cache_control`` that covers the changing text.
    """
    target = stable_block(body, changing)
    block, _, _ = marker.rpartition("/")
    holder = at(body, block)
    if not target or not isinstance(holder, dict) or MARK not in holder or MARK in at(body, target):
        return body
    mark = holder[MARK]
    if marker.split("/")[1] == changing.split("/")[1] or count(body) >= MOST:
        body = with_value(body, block, {k: v for k, v in holder.items() if k != MARK})
    return with_value(body, target, {**at(body, target), MARK: mark})


def count(value: Json) -> int:
    """Count the markers of a body."""
    if isinstance(value, dict):
        return (MARK in value) + sum(map(count, value.values()))
    return sum(map(count, value)) if isinstance(value, list) else 0


def pointers(value: Json, pointer: str = "") -> list[str]:
    """List the blocks that carry a marker, in document order."""
    if isinstance(value, dict):
        own = [pointer] if MARK in value else []
        return own + [p for k, v in value.items() for p in pointers(v, f"{pointer}/{k}")]
    if isinstance(value, list):
        return [p for i, v in enumerate(value) for p in pointers(v, f"{pointer}/{i}")]
    return []


def without(body: Json, block: str) -> Json:
    """Return the body without the marker of one block."""
    holder = at(body, block)
    return with_value(body, block, {k: v for k, v in holder.items() if k != MARK})


def ordered(body: Json) -> Json:
    """Give every marker the lifetime of the longest one behind it: longer ones must come first."""
    longest = False
    for block in sorted(pointers(body), key=_sent, reverse=True):
        holder = at(body, block)
        mark = holder[MARK]
        if isinstance(mark, dict) and mark.get("ttl") == "1h":
            longest = True
        elif isinstance(mark, dict) and longest:
            body = with_value(body, block, {**holder, MARK: {**mark, "ttl": "1h"}})
    return body


def _sent(block: str) -> tuple[int, list[int]]:
    tokens = split_pointer(block)
    order = {"tools": 0, "system": 1, "messages": 2}
    return order.get(tokens[0] if tokens else "", 3), [int(t) for t in tokens if t.isdigit()]
