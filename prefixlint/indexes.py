"""Hold what an index of fingerprints says about a log: what is shared in bytes, and where prefixes part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prefixlint.model import InputFile

Where = Literal["front", "history", "fresh"]
View = Literal["diff", "replay", "tree"]


@dataclass(frozen=True, slots=True)
class IndexedRequest:
    """Locate one request of an index; ``record`` counts the requests with a prompt of its file from 0."""

    path: str
    record: int
    start_byte: int
    end_byte: int
    session: str
    model: str


@dataclass(frozen=True, slots=True)
class Parting:
    """Say that requests part from earlier ones at one place.

    ``where`` is ``front`` (tools and system prompt), ``history`` (what was answered before) or ``fresh`` (behind the
    question that was answered last, where everything is new by right). ``position`` is the block of the first
    difference. ``bytes_behind`` are those between it and the fresh part, which could have been shared.
    ``before`` is the earliest request that goes on otherwise.
    """

    family: str
    where: Where
    position: int
    requests: int
    bytes_behind: int
    example: IndexedRequest
    before: IndexedRequest


@dataclass(frozen=True, slots=True)
class Family:
    """Sum up the requests that begin with the same words, for the same API and model.

    ``appended`` requests go on where an earlier one ended, ``repeated`` hold nothing new, ``first`` share nothing.
    ``partings`` counts those that part from an earlier one, by place.
    """

    name: str
    provider: str
    model: str
    requests: int
    sessions: int
    bytes: int
    blocks: int
    distinct: int
    shared_bytes: int
    first: int
    appended: int
    repeated: int
    front: int
    history: int
    fresh: int
    histogram: tuple[tuple[int, int], ...]
    example: IndexedRequest


@dataclass(frozen=True, slots=True)
class Branch:
    """Hold one stretch of the tree of all prompts: blocks that the same requests share."""

    family: str
    first_block: int
    blocks: int
    requests: int
    example: IndexedRequest


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Hold all that an index says; ``shared_blocks`` are different blocks that at least two requests hold.

    Families, partings and branches are sorted by weight. ``view`` is the verb that asked.
    """

    view: View
    block_bytes: int
    inputs: tuple[InputFile, ...]
    requests: int
    sessions: int
    bytes: int
    blocks: int
    distinct: int
    shared_blocks: int
    shared_bytes: int
    families: tuple[Family, ...]
    partings: tuple[Parting, ...]
    branches: tuple[Branch, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexResult:
    """Say what ``index`` did: how much of the inputs was read now, and how much was indexed before."""

    folder: str
    files: int
    requests: int
    blocks: int
    read_bytes: int
    kept_bytes: int
    tasks: int
    errors: int
    notes: tuple[str, ...] = ()
