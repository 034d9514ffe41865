"""Prove an edit before it is written: the same values, stable, and never a shorter shared prefix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from prefixlint.canon import splice
from prefixlint.canon.agree import INSTRUCTIONS, TALK, TOOLS, digest, without_marks
from prefixlint.errors import FixError, InputError
from prefixlint.json_spans import parse
from prefixlint.model import Json
from prefixlint.prefix import lcp

SIBLINGS = 64  # texts compared at a fork; a prompt that shares with none of the latest shares with few


def same(record: bytes, pointer: str, expected: Json, path: str) -> None:
    """Raise FixError unless the edited record has exactly the value that was meant, in the same order of keys."""
    try:
        document = parse(record, path=path)
    except InputError as error:
        raise FixError(f"{path}: the edited record is no JSON: {error.message}; nothing was written") from error
    node = document.node(pointer)
    if node is None or not equal(splice.decode(document, node), expected):
        raise FixError(f"{path}: the edited record would not have the value that was meant; nothing was written")


def equal(left: Json, right: Json) -> bool:
    """Compare two values with the order of their keys and the types and spelling of their numbers."""
    if left is right:
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)


@dataclass(slots=True)
class Branch:
    """Hold one element of a prompt that some request sent, and what followed it."""

    text: str = ""
    next: dict[bytes, Branch] = field(default_factory=dict)


@dataclass(slots=True)
class Sharing:
    """Measure, request by request, how many characters begin some earlier prompt of the same scope alike.

    Only whole lines and sentences count: half a date that two prompts happen to share is nothing to lose.
    """

    roots: dict[str, Branch] = field(default_factory=dict)
    digests: dict[int, tuple[Json, bytes]] = field(default_factory=dict)
    total: int = 0

    def add(self, scope: str, body: dict[str, Json]) -> None:
        """Take one body."""
        branch = self.roots.setdefault(scope, Branch())
        known = True
        for element in elements(body):
            key = self._digest(element)
            below = branch.next.get(key)
            if below is None:
                below = Branch(_spelled(element))
                if known:
                    others = islice(reversed(branch.next.values()), SIBLINGS)
                    same = max((lcp(below.text, other.text) for other in others), default=0)
                    self.total += _whole(below.text, same)
                    known = False
                branch.next[key] = below
            elif known:
                self.total += len(below.text)
            branch = below

    def _digest(self, element: Json) -> bytes:
        found = self.digests.get(id(element))
        if found is None or found[0] is not element:
            found = self.digests[id(element)] = (element, digest(without_marks(element)))
        return found[1]


def elements(body: dict[str, Json]) -> Iterator[Json]:
    """Yield what a body sends, tools first, each tool, block and message by itself."""
    config = body.get("toolConfig")
    first = [body.get(k) for k in TOOLS] + [config.get("tools") if isinstance(config, dict) else None]
    for part in (*first, *(body.get(k) for k in (*INSTRUCTIONS, *TALK, "prompt"))):
        if isinstance(part, list):
            yield from part
        elif part is not None:
            yield part


def _spelled(element: Json) -> str:
    text = json.dumps(without_marks(element), ensure_ascii=False)
    return text.replace("\\n", "\n")


def _whole(piece: str, same: int) -> int:
    """Cut a common beginning back to the end of a line or sentence."""
    return same if same == len(piece) else max(piece.rfind("\n", 0, same), piece.rfind(". ", 0, same)) + 1
