"""Find which conversation a request continues, with or without a session id, and the best earlier request of any.

A *strand* is one conversation of one agent: requests that grow. A session id narrows the choice, but one session can
hold several strands (sub-agents, titles, summaries).
"""

from __future__ import annotations

import itertools
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from prefixlint.diff.fork import common
from prefixlint.diff.sequence import ASSISTANT_ROLES, Growing, Sequence, SequenceReader, last_turn
from prefixlint.diff.store import Store
from prefixlint.elements import Layout
from prefixlint.model import Request

KEPT_BYTES = 40_000_000
MOST_STRANDS = 20_000
MOST_CHAINS = 300_000
RECENT = 6
WINDOW_BYTES = 64
_OFFSETS = [int(2_048 * 1.5**k) for k in range(26)]

Relation = Literal["append", "same", "branch", "open"]


@dataclass(slots=True)
class Strand:
    """Hold the last request of one conversation.

    ``chain`` identifies all of its elements; ``forked`` says that it did not continue the one before.
    """

    number: int
    last: Sequence
    growing: Growing | None
    members: Mapping[str, bytes]
    chain: int
    forked: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """Say how a request relates to the log before it.

    ``append``: it continues ``strand``; ``same``: an earlier request had all of it; ``branch``: it continues an earlier
    request of a strand; ``open``: none of these, ``candidates`` may be its conversation. ``shared_tokens`` counts whole
    elements shared with the best earlier request.
    """

    sequence: Sequence
    relation: Relation
    shared_tokens: int
    strand: Strand | None = None
    candidates: tuple[Strand, ...] = ()
    best: Strand | None = None


@dataclass(slots=True)
class _Recent:
    """Remember keys in two generations, so that the memory stays bounded and what is used stays."""

    limit: int
    young: dict[int, int] = field(default_factory=dict)
    old: dict[int, int] = field(default_factory=dict)

    def get(self, key: int) -> int | None:
        found = self.young.get(key)
        return self.old.get(key) if found is None else found

    def put(self, key: int, value: int) -> None:
        if len(self.young) >= self.limit:
            self.old, self.young = self.young, {}
        self.young[key] = value


class Tracker:
    """Follow all conversations of a log; memory is bounded by the last requests of the latest conversations."""

    def __init__(self, store: Store, reader: SequenceReader) -> None:
        self._store, self._reader = store, reader
        self._strands: OrderedDict[int, Strand] = OrderedDict()
        self._by_session: dict[str, list[int]] = {}
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._made = self._nameless = 0
        self._ids: set[int] = set()
        self._kept: OrderedDict[int, int] = OrderedDict()
        self._kept_bytes = 0
        self._seen, self._ends = _Recent(MOST_CHAINS), _Recent(MOST_CHAINS)
        self._owner: dict[int, int] = {}
        self._windows, self._families = _Recent(MOST_STRANDS * 4), _Recent(MOST_STRANDS * 3)

    def continued(self, layout: Layout, request: Request, talk: bytes) -> Strand | None:
        """Find the strand that a request continues by its bytes alone: the same front, and an array that grew."""
        for strand in self._nearest(request.session or "", talk):
            last = strand.last
            if last.layout is not layout or strand.growing is None:
                continue
            if (last.model, last.scope) != (request.model or "", request.scope):
                continue
            if strand.growing.is_continued_by(talk) and _same_front(layout, strand.members, request.members):
                return strand
        return None

    def _nearest(self, session: str, talk: bytes) -> Iterator[Strand]:
        numbers = self._by_session.get(session, [])[-RECENT:][::-1] if session else list(self._recent)[::-1]
        tried = set()
        for number in itertools.chain(numbers, self._by_window(talk)):
            strand = self._strands.get(number)
            if strand and number not in tried and strand.last.session == session:
                tried.add(number)
                yield strand

    def _by_window(self, talk: bytes) -> Iterator[int]:
        """Yield strands that had the same bytes at the same places, the places furthest back first."""
        for step in range(len(_OFFSETS) - 1, -1, -1):
            at = _OFFSETS[step]
            if at + WINDOW_BYTES <= len(talk):
                number = self._windows.get(hash((step, talk[at : at + WINDOW_BYTES])))
                if number is not None:
                    yield number

    def reusable(self, request: Request, talk: bytes) -> Growing | None:
        """Choose a conversation whose element bounds the request can probably reuse."""
        for strand in self._nearest(request.session or "", talk):
            if strand.growing and strand.growing.raw[:WINDOW_BYTES] == talk[:WINDOW_BYTES]:
                return strand.growing
        return None

    def append(self, strand: Strand, sequence: Sequence) -> Arrival:
        """Take a request that continues a strand."""
        known = len(strand.last.talk.ids)
        shared, chain, fresh = strand.last.tokens, strand.chain, False
        for item in sequence.talk.ids[known:]:
            chain = hash((chain, item))
            fresh = fresh or self._seen.get(chain) is None
            if fresh:
                self._seen.put(chain, strand.number)
            else:
                shared += self._store.tokens(item, sequence.tokenizer)
            self._owner[item] = strand.number
        self._ends.put(chain, strand.number)
        strand.chain = chain
        return Arrival(sequence, "append", shared, strand, best=strand)

    def arrive(self, sequence: Sequence) -> Arrival:
        """Take a request whose bytes continue nothing, and find out what its content continues."""
        chains = list(self._chains(sequence))
        front = len(chains) - len(sequence.talk.ids)
        depth, best = self._deepest(chains)
        shared = self._tokens(sequence, depth)
        strand = self._strands.get(best) if best is not None else None
        whole = depth == len(chains)
        parent = self._parent(sequence, chains, front)
        candidates: tuple[Strand, ...] = ()
        if whole or parent is not None:
            relation: Relation = "same" if whole else "branch"
            if parent is not None and not whole:
                strand = self._strands.get(parent, strand)
                if strand and common(strand.last.talk.ids, sequence.talk.ids) == len(strand.last.talk.ids):
                    relation = "append"
        else:
            relation, candidates = "open", self._candidates(sequence)
        self._chain_end = chains[-1] if chains else 0
        self._pending = chains
        return Arrival(sequence, relation, shared, strand, candidates, strand)

    def _chains(self, sequence: Sequence) -> Iterator[int]:
        chain = hash((sequence.layout.NAME, sequence.model, sequence.scope))
        for part in sequence.front:
            chain = hash((chain, part.part.member, part.shape))
            for item in part.ids:
                chain = hash((chain, item))
                yield chain
        chain = hash((chain, "talk"))
        for item in sequence.talk.ids:
            chain = hash((chain, item))
            yield chain

    def _deepest(self, chains: list[int]) -> tuple[int, int | None]:
        """Return how many elements the best earlier request shares, and its strand."""
        depth, best = 0, None
        for chain in chains:
            found = self._seen.get(chain)
            if found is None:
                break
            depth, best = depth + 1, found
        return depth, best

    def _tokens(self, sequence: Sequence, depth: int) -> int:
        ids = [i for part in (*sequence.front, sequence.talk) for i in part.ids]
        return sum(self._store.tokens(i, sequence.tokenizer) for i in ids[:depth])

    def _parent(self, sequence: Sequence, chains: list[int], front: int) -> int | None:
        """Return the strand with the request that got the last answer of this one, if the log has it."""
        roles = [self._store.role(i) for i in sequence.talk.ids]
        turn = last_turn(roles)
        answer = turn
        while answer and roles[answer - 1] in ASSISTANT_ROLES:
            answer -= 1
        if answer in (0, turn):
            return None
        for end in range(answer, turn + 1):
            found = self._ends.get(chains[front + end - 1]) if front + end else None
            if found is not None:
                return found
        for strand in self._nearest(sequence.session, b""):
            last = strand.last.talk.ids
            if strand.chain in chains and common(last, sequence.talk.ids) == len(last) > answer - 2:
                return strand.number
        return None

    def _candidates(self, sequence: Sequence) -> tuple[Strand, ...]:
        """Return the strands that hold most of this conversation, then the latest of the same session."""
        votes: dict[int, int] = {}
        for item in set(sequence.conversation):
            owner = self._owner.get(item)
            if owner is not None:
                votes[owner] = votes.get(owner, 0) + 1 + self._store.chars[item]
        ranked = sorted(votes, key=lambda number: (-votes[number], -number))
        session = self._by_session.get(sequence.session, [])[-3:][::-1] if sequence.session else []
        recent = [] if sequence.session else list(self._recent)[::-1][:2]
        found = []
        for number in dict.fromkeys((*ranked[:4], *session, *recent)):
            strand = self._strands.get(number)
            if strand and strand.last.layout is sequence.layout and strand.last.session == sequence.session:
                found.append(strand)
        return tuple(found)

    def relatives(self, sequence: Sequence) -> Iterator[Strand]:
        """Yield strands of any session whose front may be the same template as this one's."""
        tried = set()
        numbers = [self._families.get(key) for key in self._family_keys(sequence)]
        for number in (*numbers, *list(self._recent)[::-1][:2]):
            strand = self._strands.get(number) if number is not None else None
            if strand is None or strand.number in tried:
                continue
            tried.add(strand.number)
            if (strand.last.layout, strand.last.model, strand.last.scope) == (
                sequence.layout,
                sequence.model,
                sequence.scope,
            ):
                yield strand

    def _family_keys(self, sequence: Sequence) -> Iterator[int]:
        """Sketch the front: how its text begins, how it ends, and which other elements it has."""
        ids = [i for part in sequence.front for i in part.ids] + list(sequence.talk.ids[: sequence.lead])
        if sequence.talk.starts and not sequence.lead:
            ids = list(sequence.talk.ids[:1])
        texts = [i for i in ids if self._store.role(i) in ("system", "developer")]
        scope = (sequence.layout.NAME, sequence.model, sequence.scope)
        if texts:
            pieces = [p.text for p in self._store.element(texts[0]).pieces if p.kind == "text"]
            last = [p.text for p in self._store.element(texts[-1]).pieces if p.kind == "text"]
            yield hash((scope, "tail", last[-1][-64:] if last else ""))
            yield hash((scope, "head", pieces[0][:48] if pieces else ""))
            yield hash((scope, "start", pieces[0][:24] if pieces else ""))
        tools = [i for i in ids if self._store.role(i) == "tools"]
        if tools:
            yield hash((scope, "tools", tuple(sorted(tools))))
            yield hash((scope, "tools", len(tools)))

    def keep(
        self,
        sequence: Sequence,
        *,
        strand: Strand | None,
        growing: Growing | None,
        request: Request,
        relation: Relation = "append",
        forked: bool = False,
    ) -> Strand:
        """Remember a request as the last of its strand, a new one if ``strand`` is None."""
        if strand is None:
            strand = Strand(self._made, sequence, growing, request.members, 0)
            self._nameless += not sequence.session and relation != "branch"
            self._made += 1
            self._by_session.setdefault(sequence.session, []).append(strand.number)
        strand.last, strand.members, strand.forked = sequence, request.members, forked
        self._strands[strand.number] = strand
        self._strands.move_to_end(strand.number)
        if strand.number in self._recent:
            self._recent.remove(strand.number)
        self._recent.append(strand.number)
        self._keep_bytes(strand, growing, request)
        while len(self._strands) > MOST_STRANDS:
            self._forget(self._strands.popitem(last=False)[1])
        return strand

    def settle(self, strand: Strand, sequence: Sequence) -> None:
        """Record the elements of a request that ``arrive`` looked at."""
        for chain in self._pending:
            self._seen.put(chain, strand.number)
        self._ends.put(self._chain_end, strand.number)
        strand.chain = self._chain_end
        for item in sequence.conversation:
            self._owner[item] = strand.number
        for key in self._family_keys(sequence):
            self._families.put(key, strand.number)

    def _keep_bytes(self, strand: Strand, growing: Growing | None, request: Request) -> None:
        """Keep the raw bytes of the latest strands, within the limit."""
        self._kept_bytes -= self._kept.pop(strand.number, 0)
        before = len(strand.growing.raw) if strand.growing and growing is not strand.growing else 0
        strand.growing = growing
        if growing is None:
            strand.members = {}
            return
        size = len(growing.raw) + sum(map(len, request.members.values())) - len(growing.raw)
        self._kept[strand.number] = size = max(size, len(growing.raw))
        self._kept_bytes += size
        self._register(strand, growing.raw, before)
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            number, freed = self._kept.popitem(last=False)
            self._kept_bytes -= freed
            old = self._strands.get(number)
            if old:
                old.growing, old.members = None, {}

    def _register(self, strand: Strand, raw: bytes, before: int) -> None:
        for step, at in enumerate(_OFFSETS):
            if at + WINDOW_BYTES > len(raw):
                break
            if at + WINDOW_BYTES > before:
                self._windows.put(hash((step, raw[at : at + WINDOW_BYTES])), strand.number)

    def _forget(self, strand: Strand) -> None:
        self._kept_bytes -= self._kept.pop(strand.number, 0)
        numbers = self._by_session.get(strand.last.session, [])
        if strand.number in numbers:
            numbers.remove(strand.number)
        if not numbers:
            self._by_session.pop(strand.last.session, None)

    def name(self, session: str) -> None:
        """Count a session id, also one whose requests only repeat those of another session."""
        if session:
            self._ids.add(hash(session))

    @property
    def sessions(self) -> int:
        """Return how many sessions were met: the different ids, whatever number of agents each of them runs.

        Among requests without an id, each conversation counts that is no branch of another.
        """
        return len(self._ids) + self._nameless


def _same_front(layout: Layout, left: Mapping[str, bytes], right: Mapping[str, bytes]) -> bool:
    return all(left.get(p.member) == right.get(p.member) for p in layout.PARTS[:-1])


def roles_of(store: Store, items: Iterable[int]) -> list[str]:
    """Return who speaks in each of some elements."""
    return [store.role(i) for i in items]
