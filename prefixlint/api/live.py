"""Follow requests as they are made: the engine of ``diff`` with bounded memory, for a process that runs for long."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prefixlint.api import diff
from prefixlint.api.read import request_of
from prefixlint.diff.engine import Engine, Step
from prefixlint.diff.sequence import Sequence
from prefixlint.diff.store import Store
from prefixlint.errors import ConfigError
from prefixlint.model import Fork, Json, Request
from prefixlint.sources import _provider

ELEMENT_BYTES = 500  # what an element takes in the tables beside its text, measured on CPython 3.11
CONVERSATION_BYTES = 6_000  # what a conversation takes beside its last request
MOST_NAMES = 20_000
KEPT_SHARE = 4  # a quarter of the limit survives when the engine starts afresh
_MODEL_IN_URL = re.compile(r"/(?:models?|deployments)/([^/:?]+)")
_HELD_BY_SERVER = ("previous_response_id", "conversation")


@dataclass(frozen=True, slots=True)
class Seen:
    """Say what one request did; ``session`` names its conversation, ``lost_tokens`` sums up that session's losses."""

    request: Request
    fork: Fork | None
    session: str
    prompt_tokens: int
    shared_tokens: int
    lost_tokens: int
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Remember a fork that was not let through, to refuse it again when it is retried or built upon."""

    fork: Fork
    sequence: Sequence

    def covers(self, later: Sequence) -> bool:
        """Say whether a request is the refused one again, or continues it."""
        ours, theirs = self.sequence, later
        same_front = [p.ids for p in ours.front] == [p.ids for p in theirs.front] and ours.model == theirs.model
        return same_front and theirs.talk.ids[: len(ours.talk.ids)] == ours.talk.ids


@dataclass(slots=True)
class _Talk:
    """Hold the last request of one conversation and its name."""

    name: str
    last: Request
    size_bytes: int
    refusal: _Refusal | None = None


def request_made(
    body: dict[str, Json] | bytes, *, provider: str | None = None, url: str = "", session: str | None = None
) -> Request | None:
    """Build the Request of a body that is about to be sent; None where it holds no prompt, or not all of it.

    The API and the model may stand in the address only. Raises InputError when the bytes are no JSON object.
    """
    request = request_of(body, provider or _provider.from_url(url))
    members = request.members
    if not _provider.is_body(members) or any(members.get(k, b"null") != b"null" for k in _HELD_BY_SERVER):
        return None
    named = _MODEL_IN_URL.search(url) if url and request.model is None else None
    model = named[1] if named else request.model
    return replace(request, model=model, session=session or request.session)


class Live:
    """Take requests one by one; what is remembered of them stays within ``limit_bytes``, roughly."""

    def __init__(self, *, limit_bytes: int, tokenizer: str | None = None) -> None:
        self._limit, self._options = limit_bytes, diff.DiffOptions(tokenizer=tokenizer)
        self._names: OrderedDict[str, int] = OrderedDict()
        self._fronts: OrderedDict[int, bool] = OrderedDict()
        self._made = self._number = 0
        self._talks: OrderedDict[int, _Talk] = OrderedDict()
        self._start()

    def _start(self) -> None:
        self._run = diff._Run(self._options)  # the same choice of layouts, tokenizers and trust as ``diff``
        self._counted_elements = self._text_bytes = self._last_bytes = 0

    @property
    def engine(self) -> Engine:
        """Return the engine that remembers the requests."""
        return self._run.engine

    def take(self, request: Request) -> Seen | None:
        """Compare a request with what came before; None where the send order of its API is not known."""
        self._number += 1
        request = replace(request, span=replace(request.span, path="requests", record=self._number - 1))
        step = self._add(request)
        if step is None:
            return None
        talk = self._remember(step, request)
        fork = own = self._fork_of(step)
        repeated = False
        if talk.refusal and talk.refusal.covers(step.sequence):
            fork, repeated = talk.refusal.fork, True
        else:
            talk.refusal = None
        name = request.session or talk.name
        lost = self._lose(name, own)
        shared = max(step.arrival.shared_tokens, own.shared_tokens if own else 0)
        self._last = (talk, step)
        if self.size_bytes > self._limit:
            self._recycle()
        return Seen(request, fork, name, step.sequence.tokens, shared, lost, repeated)

    def _fork_of(self, step: Step) -> Fork | None:
        """Return the fork of a request, None where some earlier request had its whole front after all.

        A new conversation is compared with the latest of its kind; when that one had forked, the ones before it still
        hold the front.
        """
        if step.arrival.relation == "append":
            return step.fork
        front = _front_key(step, self.engine.store)
        is_known = self._fronts.pop(front, False)
        self._fronts[front] = front != 0
        if len(self._fronts) > MOST_NAMES:
            self._fronts.popitem(last=False)
        return None if is_known and step.previous is None else step.fork

    def refuse(self, fork: Fork) -> None:
        """Note that the request taken last was not sent: what builds on it forks too."""
        talk, step = self._last
        talk.refusal = _Refusal(fork, step.sequence)

    def _add(self, request: Request) -> Step | None:
        try:
            step = self.engine.add(request)
        except ConfigError:
            if self._options.tokenizer:
                raise
            return None
        self.engine.totals.forks.clear()
        self.engine.totals.models.clear()
        return step

    def _remember(self, step: Step, request: Request) -> _Talk:
        assert step.strand is not None
        number, size = step.strand.number, sum(map(len, request.members.values()))
        talk = self._talks.get(number)
        if talk is None:
            self._made += 1
            talk = self._talks[number] = _Talk(request.session or f"conversation-{self._made}", request, 0)
        self._last_bytes += size - talk.size_bytes
        talk.last, talk.size_bytes = request, size
        self._talks.move_to_end(number)
        return talk

    def _lose(self, name: str, fork: Fork | None) -> int:
        lost = self._names.pop(name, 0) + (fork.lost_tokens if fork else 0)
        self._names[name] = lost
        if len(self._names) > MOST_NAMES:
            self._names.popitem(last=False)
        return lost

    @property
    def size_bytes(self) -> int:
        """Estimate what the engine holds: unique text, tables, and the last request of each conversation."""
        store = self.engine.store
        self._text_bytes += sum(store.chars[self._counted_elements :])
        self._counted_elements = len(store)
        tables = ELEMENT_BYTES * len(store) + CONVERSATION_BYTES * len(self._talks)
        return self._text_bytes + tables + self._last_bytes

    def _recycle(self) -> None:
        """Start a new engine and tell it the last requests of the latest conversations, oldest first."""
        kept = list(self._latest())[::-1]
        self._start()
        self._talks = OrderedDict()
        for talk in kept:
            step = self._add(talk.last)
            if step and step.strand:
                self._talks[step.strand.number] = talk
                self._last_bytes += talk.size_bytes

    def _latest(self) -> Iterator[_Talk]:
        room = self._limit // KEPT_SHARE
        for talk in reversed(self._talks.values()):
            room -= talk.size_bytes + CONVERSATION_BYTES
            if room < 0:
                return
            talk.refusal = None  # its ids mean nothing to the new engine
            yield talk


def _front_key(step: Step, store: Store) -> int:
    """Hash all that stands before the conversation, so that it is known again by an engine that starts afresh."""
    sequence = step.sequence
    lead = sequence.lead or (1 if sequence.talk.starts else 0)
    front = [i for p in sequence.front for i in p.ids] + list(sequence.talk.ids[:lead])
    return hash((sequence.layout.NAME, sequence.model, sequence.scope, *(store.raw(i) for i in front))) if front else 0
