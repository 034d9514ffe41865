"""The radix tree of a log, for reports: spans of tokens, how many requests share each, the text where they part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prefixlint.model import InputFile

State = Literal["cached", "partly", "evicted", "unknown"]


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold one span of tokens ``[start, end)`` that ``requests`` requests have in common.

    ``part`` and ``pointer`` say where its text begins; ``text`` is that text, with the value that differs from the
    siblings at ``[mark_start, mark_end)`` and the rule of its shape. ``record`` is the first request that came here.
    ``hidden_edges`` and ``hidden_tokens`` count what was left out below.
    """

    start: int
    end: int
    requests: int
    record: int
    path: str
    part: str = ""
    pointer: str = ""
    text: str = ""
    mark_start: int = 0
    mark_end: int = 0
    rule: str = ""
    state: State = "unknown"
    children: tuple[Edge, ...] = ()
    hidden_edges: int = 0
    hidden_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Return the length of the span."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Tree:
    """Hold the tree of a log: one root edge list per cache scope (model, salt)."""

    inputs: tuple[InputFile, ...]
    tokenizer: str
    exact: bool
    requests: int
    prompt_tokens: int
    distinct_tokens: int
    edges: int
    roots: tuple[Edge, ...]
    scopes: tuple[str, ...] = ()
    cache: str = ""
    capacity: str = ""
    held_tokens: int = 0
    notes: tuple[str, ...] = ()
