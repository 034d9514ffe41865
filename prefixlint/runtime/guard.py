"""Watch requests as they are made, and say at once when the prefix of a conversation breaks."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prefixlint import cards
from prefixlint.api.live import Live, Seen, request_made
from prefixlint.display import shown
from prefixlint.errors import ConfigError, InputError, PrefixlintError
from prefixlint.model import Fork, Json, Request
from prefixlint.runtime.record import Recorder

Body = dict[str, Json] | bytes
OnFork = Literal["warn", "raise", "ignore"] | Callable[[Fork], object]

logger = logging.getLogger("prefixlint.guard")
_session: ContextVar[str | None] = ContextVar("prefixlint_session", default=None)
_allowed: ContextVar[bool] = ContextVar("prefixlint_allowed", default=False)


class ForkError(PrefixlintError):
    """Say that a request was not sent because its prefix forks; ``fork`` says where and why."""

    def __init__(self, fork: Fork, message: str = "") -> None:
        super().__init__(message or describe(fork))
        self.fork = fork

    def __reduce__(self) -> tuple[type[ForkError], tuple[Fork, str]]:
        """Pickle with the fork, so that it crosses process boundaries."""
        return type(self), (self.fork, str(self))


@dataclass(frozen=True, slots=True)
class Checked:
    """Hold the outcome of one check.

    ``body`` is what to send: the very object that came in, unless the guard canonicalizes and had something to change
    (then ``rules`` names what). ``skipped`` says why a body was not compared; ``session`` names the conversation it
    was compared with. Tokens are those of the prompt, those it shares with the best earlier request, and those that
    the session has lost so far.
    """

    body: Body
    forks: tuple[Fork, ...] = ()
    session: str = ""
    model: str = ""
    provider: str = ""
    prompt_tokens: int = 0
    shared_tokens: int = 0
    lost_tokens: int = 0
    rules: tuple[str, ...] = ()
    skipped: str = ""

    @property
    def fork(self) -> Fork | None:
        """Return the fork of this request, None where its prefix holds."""
        return self.forks[0] if self.forks else None

    @property
    def changed(self) -> bool:
        """Return whether ``body`` is another one than what came in."""
        return bool(self.rules)


latest: ContextVar[Checked | None] = ContextVar("prefixlint_latest", default=None)


@dataclass(slots=True)
class Totals:
    """Sum up what a guard has seen since it was made."""

    requests: int = 0
    forks: int = 0
    skipped: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    shared_tokens: int = 0
    lost_tokens: int = 0


class Guard:
    """Compare each request with the ones before it; thread-safe, and never in the way of a call.

    An error inside the guard is logged once for each kind, and the request goes out as it came.

    >>> guard = Guard(on_fork="ignore")
    >>> text = "You are a patient tutor for pupils of all ages. It is 2026-08-10 16:16:{}. Explain one step at a time."
    >>> for second in ("11", "52"):
    ...     body = {"model": "gpt-4o", "messages": [{"role": "system", "content": text.format(second)}]}
    ...     checked = guard.check(body, session="a")
    >>> checked.fork.cause, checked.fork.char_offset
    ('timestamp', 71)
    """

    def __init__(
        self,
        on_fork: OnFork = "warn",
        *,
        canonicalize: bool = False,
        budget: int | None = None,
        limit_mb: float = 64,
        max_body_mb: float = 16,
        tokenizer: str | None = None,
        record: str | os.PathLike[str] | None = None,
        record_text: bool = False,
        record_key: bytes | None = None,
        redact: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make a guard.

        ``on_fork``: log a warning, raise ForkError before the request is sent, or call with the Fork. ``budget``:
        tokens that a session may lose before the guard reacts. ``limit_mb``: what it may remember. Bodies larger than
        ``max_body_mb`` are not looked at. ``record``: a JSONL file that ``prefixlint diff`` reads; words are replaced
        unless ``record_text``, and equal words alike with the same ``record_key`` (random for each guard). ``redact``:
        show lengths and hashes in messages instead of text.
        """
        if not callable(on_fork) and on_fork not in ("warn", "raise", "ignore"):
            raise ConfigError(f"unknown on_fork {on_fork!r}; known: warn, raise, ignore, or a function")
        if limit_mb <= 0 or max_body_mb <= 0:
            raise ConfigError("limit_mb and max_body_mb must be above 0")
        self.on_fork, self.canonicalize, self.budget, self.redact = on_fork, canonicalize, budget, redact
        self.totals = Totals()
        self._limit_bytes, self._most_bytes = int(limit_mb * 1e6), int(max_body_mb * 1e6)
        self._tokenizer, self._clock = tokenizer, clock
        self._recorder = Recorder(Path(record), key=record_key, keeps_text=record_text) if record else None
        self._observers: tuple[Callable[[Checked], object], ...] = ()
        self._told: set[str] = set()
        self._start()
        _renew_after_fork(self)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._live = self._empty()

    def _empty(self) -> Live:
        return Live(limit_bytes=self._limit_bytes, tokenizer=self._tokenizer)

    def check(self, body: Body, *, session: str | None = None, provider: str | None = None, url: str = "") -> Checked:
        """Compare a body with what was sent before, and react; ``Checked.body`` is what to send.

        ``session`` names the conversation; without it, the body's own session id or its history tells. ``provider`` and
        ``url`` say which API it is for where the body does not. Raises ForkError only, and only if asked to.
        """
        try:
            checked = self._look(body, session or _session.get(), provider, url)
        except Exception as error:  # the promise of the class: nothing in here breaks a call
            self.note_error(error)
            checked = Checked(body, skipped=f"{type(error).__name__} inside the guard")
        self._tell(checked)
        return checked

    def _look(self, body: Body, session: str | None, provider: str | None, url: str) -> Checked:
        if not isinstance(body, Mapping) and len(body) > self._most_bytes:
            return self._too_large(body, len(body))
        try:
            request = request_made(body, provider=provider, url=url, session=session)
        except InputError as error:
            return self._skipped(body, str(error))
        if request is None:
            return self._skipped(body, "no prompt, or not all of it")
        size = sum(map(len, request.members.values()))
        if size > self._most_bytes:
            return self._too_large(body, size)
        sent, rules = self._canonical(body, request.provider) if self.canonicalize else (body, ())
        if rules:
            request = request_made(sent, provider=request.provider, url=url, session=session) or request
        with self._lock:
            seen = self._take(request)
        if seen is None:
            return self._skipped(body, f"the send order of {request.provider!r} is not known")
        if self._recorder:
            self._record(seen)
        return self._checked(sent, seen, rules)

    def _take(self, request: Request) -> Seen | None:
        """Compare, under the lock; an engine that failed half-way is replaced by an empty one."""
        try:
            seen = self._live.take(request)
        except BaseException:
            self._live = self._empty()
            raise
        if seen and seen.fork and self.on_fork == "raise" and self._reacts(seen.lost_tokens) and not _allowed.get():
            self._live.refuse(seen.fork)
        return seen

    def _too_large(self, body: Body, size: int) -> Checked:
        self._once("size", "a body of %d bytes was not looked at; max_body_mb of the guard is less", size)
        return self._skipped(body, "too large")

    def _skipped(self, body: Body, reason: str) -> Checked:
        self.totals.skipped += 1
        return Checked(body, skipped=reason)

    @staticmethod
    def _canonical(body: Body, provider: str) -> tuple[Body, tuple[str, ...]]:
        """Return the canonical body, or the very object that came in where nothing had to change."""
        from prefixlint.api.library import canonicalize, dump

        value = body if isinstance(body, Mapping) else json.loads(body)
        found = canonicalize(value, provider=provider)
        if not found.edits:
            return body, ()
        rules = tuple(dict.fromkeys(edit.rule for edit in found.edits))
        return (found.body if isinstance(body, Mapping) else dump(found.body)), rules

    def _checked(self, body: Body, seen: Seen, rules: tuple[str, ...]) -> Checked:
        request, forks = seen.request, (seen.fork,) if seen.fork else ()
        totals = self.totals
        totals.requests += 1
        totals.prompt_tokens += seen.prompt_tokens
        totals.shared_tokens += seen.shared_tokens
        if seen.fork and not seen.is_repeated:
            totals.forks += 1
            totals.lost_tokens += seen.fork.lost_tokens
        return Checked(
            body, forks, seen.session, request.model or "", request.provider, seen.prompt_tokens, seen.shared_tokens,
            seen.lost_tokens, rules,
        )  # fmt: skip

    def _record(self, seen: Seen) -> None:
        assert self._recorder
        try:
            self._recorder.write(seen.request, self._clock(), seen.session)
        except OSError as error:
            self.note_error(error, "cannot record the request to %s", self._recorder.path)

    def _tell(self, checked: Checked) -> None:
        """Pass the outcome on; only a ForkError leaves."""
        latest.set(checked)
        for observer in self._observers:
            try:
                observer(checked)
            except Exception as error:
                self.note_error(error, "an observer of the guard failed")
        if checked.fork and self._reacts(checked.lost_tokens):
            self._react(checked, checked.fork)

    def _reacts(self, lost_tokens: int) -> bool:
        return self.budget is None or lost_tokens > self.budget

    def _react(self, checked: Checked, fork: Fork) -> None:
        if callable(self.on_fork):
            try:
                self.on_fork(fork)
            except ForkError:
                raise
            except Exception as error:
                self.note_error(error, "the function given as on_fork failed")
        elif self.on_fork == "warn":
            logger.warning("%s", describe(fork, redact=self.redact), extra=log_fields(checked))
        elif self.on_fork == "raise" and not _allowed.get():
            raise ForkError(fork, describe(fork, redact=self.redact))

    def note_error(self, error: Exception, message: str = "an error inside the guard", *values: object) -> None:
        """Count an error inside the guard or what feeds it, and log the first of its kind."""
        self.totals.errors += 1
        kind = f"{message} {type(error).__name__}"
        self._once(kind, f"{message}; the request goes out as it is", *values, error=error)

    def _once(self, key: str, message: str, *values: object, error: Exception | None = None) -> None:
        if key in self._told:
            return
        self._told.add(key)
        logger.error(message, *values, exc_info=error) if error else logger.warning(message, *values)

    def observe(self, observer: Callable[[Checked], object]) -> None:
        """Call ``observer`` with the outcome of each check from now on; its errors are logged once."""
        self._observers = (*self._observers, observer)

    @contextlib.contextmanager
    def session(self, name: str) -> Iterator[None]:
        """Name the session of all requests that are made inside, in this thread or task."""
        token = _session.set(name)
        try:
            yield
        finally:
            _session.reset(token)

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Let forks pass inside, in this thread or task: the caller knows better than ``on_fork="raise"``."""
        token = _allowed.set(True)
        try:
            yield
        finally:
            _allowed.reset(token)

    def forget(self) -> None:
        """Forget all conversations, as after a change of instructions that was meant."""
        with self._lock:
            self._live = self._empty()


def describe(fork: Fork, *, redact: bool = False) -> str:
    """Say in one line where and why a prefix forks, what it costs, and what to do.

    At most 40 characters of a value are shown, none with ``redact``.
    """
    left, right = shown(fork.left, redact=redact), shown(fork.right, redact=redact)
    where = f"prefix forks at {fork.pointer or 'the prompt'}, token {fork.token} ({fork.cause})"
    return f"{where}: {left} -> {right}; {fork.lost_tokens:,} tokens are computed again. {_advice(fork.cause)}"


def _advice(cause: str) -> str:
    try:
        return cards.rule(cause).instead
    except PrefixlintError:
        return ""


def log_fields(checked: Checked) -> dict[str, object]:
    """Return what a log record about a request can carry; none of it is text of the prompt."""
    fork = checked.fork
    return {
        "prefix_session": checked.session,
        "prefix_forks": len(checked.forks),
        "prefix_cause": fork.cause if fork else "",
        "prefix_pointer": fork.pointer if fork else "",
        "prefix_tokens": checked.prompt_tokens,
        "prefix_shared_tokens": fork.shared_tokens if fork else checked.shared_tokens,
        "prefix_lost_tokens": fork.lost_tokens if fork else 0,
    }


def _renew_after_fork(guard: Guard) -> None:
    """Give the guard of a forked process a lock and a spool of its own; the old lock may be held for ever."""
    if not hasattr(os, "register_at_fork"):
        return
    known = weakref.ref(guard)

    def renew() -> None:
        found = known()
        if found is not None:
            found._start()

    os.register_at_fork(after_in_child=renew)
