"""Prove an edit before it is written: the same values, stable, and never a shorter shared prefix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from prefixlint.canon import splice
from prefixlint.errors import FixError, InputError
from prefixlint.json_spans import parse
from prefixlint.model import Json, Prompt
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
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)


@dataclass(slots=True)
class Branch:
    """Hold one piece of prompt that some request sent, and what followed it."""

    next: dict[str, Branch] = field(default_factory=dict)


def shared_characters(prompts: Iterable[Prompt]) -> int:
    """Sum, over the prompts in order, the characters that begin some earlier prompt of the same scope alike."""
    roots: dict[str, Branch] = {}
    total = 0
    for prompt in prompts:
        branch = roots.setdefault(prompt.scope, Branch())
        known = True
        for segment in prompt.segments:
            piece = f"{segment.role}\0{segment.text}"
            below = branch.next.get(piece)
            if below is None:
                if known:
                    total += max((lcp(piece, other) for other in list(branch.next)[-SIBLINGS:]), default=0)
                    known = False
                below = branch.next[piece] = Branch()
            elif known:
                total += len(piece)
            branch = below
    return total
