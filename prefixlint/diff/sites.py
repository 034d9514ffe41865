"""Gather forks of one place and cause into sites, the costliest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from prefixlint.model import Fork, Site

_INDEX = re.compile(r"/\d+(?=/|$)")
_FIRST = re.compile(r"^/(?:messages|input|contents)/0(?=/|$)")
_MOVING = (
    "/messages/",
    "/input/",
    "/contents/",
    "/tools/",
)  # lists of which each request has another position
ORDERS = frozenset(("tool-order", "list-order", "key-order", "tool-set-change"))


@dataclass(slots=True)
class _Sum:
    pointers: set[str] = field(default_factory=set)
    requests: int = 0
    lost: int = 0
    recoverable: int = 0
    cost: float | None = None
    example: int = 0
    most: int = -1


def gather(forks: Sequence[Fork], cost_of: Callable[[int], float | None] = lambda _: None) -> tuple[Site, ...]:
    """Sum up the unwanted forks; ``cost_of`` gives the money that the fork of an index has lost.

    Forks at changing positions of a list are one site, whose pointer has ``*`` for the position.
    """
    sums: dict[tuple[str, str], _Sum] = {}
    for index, fork in enumerate(forks):
        if not fork.wanted:
            place = general(fork.pointer, fork.cause)
            _add(sums.setdefault((fork.cause, place), _Sum()), fork, index, cost_of(index))
    sites = [_site(cause, found) for (cause, _), found in sums.items()]
    return tuple(sorted(sites, key=lambda s: (-s.lost_tokens, -s.requests, s.pointer)))


def general(pointer: str, cause: str = "") -> str:
    """Write ``*`` for the positions of messages, blocks in them and tools, and of all that stands in another order.

    The first message and the blocks of a system prompt have fixed places, so each is a site of its own.

    >>> general("/messages/12/content"), general("/tools/3/function/name"), general("/system/0/text")
    ('/messages/*/content', '/tools/*/function/name', '/system/0/text')
    """
    if cause in ORDERS or pointer.startswith(_MOVING):
        first = _FIRST.match(pointer)
        start = first.end() if first else 0
        return pointer[:start] + _INDEX.sub("/*", pointer[start:])
    return pointer


def _add(found: _Sum, fork: Fork, index: int, cost: float | None) -> None:
    found.pointers.add(fork.pointer)
    found.requests += 1
    found.lost += fork.lost_tokens
    found.recoverable += fork.recoverable_tokens
    if cost is not None:
        found.cost = (found.cost or 0.0) + cost
    if fork.lost_tokens > found.most:
        found.most, found.example = fork.lost_tokens, index


def _site(cause: str, found: _Sum) -> Site:
    tokens = zip(*(p.split("/") for p in found.pointers), strict=True)
    place = "/".join(t[0] if len(set(t)) == 1 else "*" for t in tokens)
    return Site(place, cause, found.requests, found.lost, found.recoverable, found.example, found.cost)
