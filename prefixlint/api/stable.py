"""Compare prompts that one function built: up to where are they equal, and what moved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from prefixlint.api.diff import DiffOptions, diff
from prefixlint.api.library import dump
from prefixlint.api.read import request_of
from prefixlint.api.render import render
from prefixlint.api.tokens import tokenizer_for
from prefixlint.diff.sequence import last_turn
from prefixlint.errors import InputError
from prefixlint.model import DiffResult, Fork, Json, ReportOptions, Request, Segment, Site, Span
from prefixlint.prefix import lcp
from prefixlint.report.text import diff_report

Until = Literal["last-turn", "end"] | str | int
_SHOWN = ReportOptions(top=3)


@dataclass(frozen=True, slots=True)
class Moved:
    """Hold a fork of two built prompts with the whole comparison, for the report."""

    fork: Fork
    result: DiffResult

    @property
    def report(self) -> str:
        """Write it as ``prefixlint diff`` does."""
        return diff_report(self.result, _SHOWN)


def built(value: object, name: str = "built") -> list[Request]:
    """Take what a prompt builder returned: a request body, a list of messages, a text, or a list of bodies.

    Raises InputError when it is nothing of this.
    """
    if isinstance(value, str) and not value.lstrip().startswith(("{", "[")):
        return [Request(id="0", provider="raw", span=Span(name, 0, 0, len(value)), text=value)]
    if isinstance(value, str | bytes | bytearray):
        try:
            return built(json.loads(value), name)
        except ValueError:
            text = value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
            return [Request(id="0", provider="raw", span=Span(name, 0, 0, len(text)), text=text)]
    bodies = _bodies(value)
    found = [request_of(dump(_plain(body))) for body in bodies]
    return [replace(r, span=Span(name, k, 0, r.span.end_byte)) for k, r in enumerate(found)]


def _bodies(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        return [value]
    items = list(value) if isinstance(value, Iterable) else []
    items = [i if isinstance(i, Mapping) else getattr(i, "model_dump", lambda: None)() for i in items]
    if items and all(isinstance(i, Mapping) for i in items):
        return [{"messages": items}] if all("role" in i for i in items) else items
    raise InputError(f"a prompt builder must return a body, messages or a text, not {type(value).__name__}")


def _plain(value: Any) -> Json:
    """Turn what SDKs take as bodies (models, tuples) into plain JSON."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    dumped = getattr(value, "model_dump", None)
    return _plain(dumped(exclude_none=True)) if dumped else value


def moved(
    before: Request, after: Request, *, until: Until = "last-turn", tokenizer: str | None = None, name: str = "changed"
) -> Moved | None:
    """Compare two prompts up to a place: the fresh last turn, the end, a JSON pointer, or a number of tokens.

    None where they are equal up to there.
    """
    pair = [replace(before, session="s", at_s=None), replace(after, session="s", at_s=None)]
    named = [replace(r, span=replace(r.span, path=p, record=0)) for r, p in zip(pair, ("as it is", name), strict=True)]
    result = diff(named, DiffOptions(tokenizer=tokenizer))
    fork = result.forks[0] if result.forks else None
    if fork is None:
        fork = None if _texts(before) == _texts(after) else _shorter(before, after, named, tokenizer)
    if fork is None or _is_behind(fork, before, after, until):
        return None
    fork = replace(fork, wanted=False)  # the caller has said up to where none is
    site = Site(fork.pointer, fork.cause, 1, fork.lost_tokens, fork.recoverable_tokens, 0)
    return Moved(fork, replace(result, forks=(fork,), sites=result.sites or (site,)))


def _texts(request: Request) -> list[tuple[str, str]]:
    """Return what the model reads, piece by piece."""
    return [(s.role, s.text) for s in render(request).segments]


def _shorter(before: Request, after: Request, named: list[Request], tokenizer: str | None) -> Fork | None:
    """Describe two prompts of which one ends before the other does."""
    ours, theirs = render(before).segments, render(after).segments
    same = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a.text != b.text), -1)
    at = same if same >= 0 else min(len(ours), len(theirs))
    count = tokenizer_for(after.model, tokenizer).count
    shared = sum(count(s.text) for s in theirs[:at])
    left, right = (s[at].text if at < len(s) else "" for s in (ours, theirs))
    shared += count(right[: lcp(left, right)])
    pointer = (theirs[at] if at < len(theirs) else ours[at]).pointer if at < max(len(ours), len(theirs)) else ""
    kind: Literal["missing"] = "missing"
    return Fork(
        named[0].span, named[1].span, pointer, None, kind, shared, "message-inserted", False, "display", left, right,
        shared, 0, 0,
    )  # fmt: skip


def _is_behind(fork: Fork, before: Request, after: Request, until: Until) -> bool:
    """Say whether a fork lies behind the place up to which prompts have to agree."""
    if until == "end":
        return False
    if isinstance(until, int):
        return fork.token >= until
    segments = render(after).segments
    at = _index(segments, fork.pointer)
    if at is None:
        return False
    if until != "last-turn":
        end = _index(segments, until)
        if end is None:
            raise InputError(f"there is nothing at {until!r} in the prompt; until takes a pointer, a number or 'end'")
        return at >= end
    return at >= min(_last_turn(segments), _last_turn(render(before).segments))


def _index(segments: tuple[Segment, ...], pointer: str) -> int | None:
    return next((k for k, s in enumerate(segments) if f"{s.pointer}/".startswith(f"{pointer}/")), None)


def _last_turn(segments: tuple[Segment, ...]) -> int:
    """Return the first segment of the fresh last turn; a raw text has none."""
    talk = [k for k, s in enumerate(segments) if s.part == "message" and s.role]
    roles = [segments[k].role for k in talk]
    turn = last_turn(roles) if roles else 0
    return talk[turn] if turn < len(talk) else len(segments)


def continues(before: Request, after: Request, *, tokenizer: str | None = None) -> Moved | None:
    """Say why ``before`` is no prefix of ``after``; None where it is one."""
    ours, theirs = _texts(before), _texts(after)
    if theirs[: len(ours)] == ours:
        return None
    text, longer = before.text, after.text
    if text is not None and longer is not None and longer.startswith(text):
        return None
    return moved(before, after, until="end", tokenizer=tokenizer, name="what should continue it")


def stored(request: Request, *, until: Until = "last-turn", tokenizer: str | None = None) -> dict[str, Json]:
    """Return the prefix of a prompt to be kept in a file: its pieces up to ``until``, and their tokens."""
    segments = render(request).segments
    count = tokenizer_for(request.model, tokenizer)
    kept = segments[: _end(segments, until)] if not isinstance(until, int) else segments
    return {
        "version": 1,
        "model": request.model,
        "tokenizer": count.name,
        "tokens": sum(count.count(s.text) for s in kept),
        "prefix": [{"at": s.pointer, "role": s.role, "text": s.text} for s in kept],
    }


def _end(segments: tuple[Segment, ...], until: Until) -> int:
    if until == "end":
        return len(segments)
    if until == "last-turn":
        return _last_turn(segments)
    found = _index(segments, str(until))
    if found is None:
        raise InputError(f"there is nothing at {until!r} in the prompt")
    return found
