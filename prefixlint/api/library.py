"""The library: canonicalize a body before it is sent, compare two, check one, count one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from prefixlint.canon import body as canon_body
from prefixlint.canon.changes import Change, changes
from prefixlint.canon.values import at
from prefixlint.errors import InputError
from prefixlint.model import Finding, Fork, Json, Request

# Shared by all calls: spellings of elements that were found canonical, bounded by canon.body.MEMO_BYTES.
_MEMO = canon_body.Memo()


@dataclass(frozen=True, slots=True)
class Canonical:
    """Hold a canonical body and what was changed to get there; no edits mean that it was canonical already."""

    body: dict[str, Json]
    edits: tuple[Change, ...]


def canonicalize(
    body: Mapping[str, Json],
    *,
    provider: str | None = None,
    unsafe: bool = False,
    all_roles: bool = False,
    all_blanks: bool = False,
) -> Canonical:
    r"""Return the form that all bodies of equal meaning share; the input is never changed.

    Parts that are canonical already are shared with the input, so copy before you change the result in place. Text is
    touched where the developer wrote it (system, developer, tools); ``all_roles`` adds user, assistant and tool text
    and the spelling of tool arguments. ``unsafe`` also moves lines with a clock or an id into the last user turn.

    >>> canonicalize({"model": "m", "messages": [{"role": "system", "content": "Hi. \r\n"}]}).body
    {'messages': [{'content': 'Hi.\n', 'role': 'system'}], 'model': 'm'}
    >>> [edit.rule for edit in canonicalize({"tools": [{"name": "b"}, {"name": "a"}], "messages": []}).edits]
    ['key-order', 'tool-order']
    """
    if not isinstance(body, Mapping):
        raise InputError(f"expected a request body as a dict, got {type(body).__name__}")
    markers = canon_body.has_markers(body.get("messages")) and not is_anthropic(body, provider)
    options = canon_body.Options(all_roles, all_blanks, unsafe, markers)
    try:
        new = canon_body.canonical(body, options, _MEMO)
    except RecursionError as error:
        raise InputError("the body is nested too deeply to be a request") from error
    except TypeError as error:
        raise InputError(f"the body is no JSON: {error}") from error
    edits = tuple(changes(dict(body), new))
    if unsafe:
        new, moves = _moved(new, provider)
        edits += moves
        new = canon_body.canonical(new, options, _MEMO) if moves else new
    return Canonical(new if edits or not isinstance(body, dict) else body, edits)


def _moved(body: dict[str, Json], provider: str | None) -> tuple[dict[str, Json], tuple[Change, ...]]:
    """Move labelled clocks and ids of developer text into the last user turn."""
    from prefixlint.api.bodies import request_of
    from prefixlint.api.fix_alone import moved_in_body
    from prefixlint.api.render import render

    request = request_of(body, provider)
    if request is None:
        return body, ()
    new, causes = moved_in_body(body, render(request))
    return new, tuple(Change(rule, pointer, at(body, pointer), at(new, pointer)) for pointer, rule in causes.items())


def canonical_bytes(
    body: Mapping[str, Json], *, provider: str | None = None, unsafe: bool = False, all_roles: bool = False
) -> bytes:
    """Return the canonical body as UTF-8 JSON without blanks: equal bytes for equal meaning.

    >>> canonical_bytes({"model": "m", "max_tokens": 105.0, "messages": []})
    b'{"max_tokens":105,"messages":[],"model":"m"}'
    """
    return dump(canonicalize(body, provider=provider, unsafe=unsafe, all_roles=all_roles).body)


def dump(value: Json) -> bytes:
    """Write JSON without blanks; what orjson refuses (big integers, lone surrogates) goes the slow way.

    A number beyond the range of floats, which Python reads as infinite, stays one. Raises InputError for NaN.
    """
    try:
        fast = orjson.dumps(value)
    except TypeError:
        fast = None
    if fast is not None and (b"null" not in fast or not _has_infinite(value)):  # orjson writes inf and NaN as null
        return fast
    return _dump(value).encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


def _dump(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_plain({k: None})[1:-5]}{_dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_dump, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            raise InputError("the body holds NaN, which is no JSON")
        return "1e999" if value > 0 else "-1e999"
    return _plain(value)


def _plain(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _has_infinite(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_infinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_infinite, value))
    return isinstance(value, float) and not math.isfinite(value)


def is_anthropic(body: Mapping[str, Json], provider: str | None) -> bool:
    """Return whether a body is for the Messages API, where a string is short for one text block."""
    if provider:
        return "anthropic" in provider or "claude" in provider or "bedrock" in provider
    tools = body.get("tools")
    if "system" in body or (isinstance(tools, list) and any("input_schema" in t for t in tools if t)):
        return True
    roles = {m.get("role") for m in body.get("messages") or () if isinstance(m, dict)}
    return "max_tokens" in body and str(body.get("model", "")).startswith("claude") and roles <= {"user", "assistant"}


def fork(before: Mapping[str, Json], after: Mapping[str, Json], *, provider: str | None = None) -> Fork | None:
    """Compare two bodies and return where their prefixes part, with cause and cost; None where ``after`` goes on.

    >>> found = fork({"model": "m", "messages": [{"role": "system", "content": "It is 9:14."}]},
    ...              {"model": "m", "messages": [{"role": "system", "content": "It is 9:15."}]})
    >>> found.pointer, found.char_offset
    ('/messages/0/content', 9)
    """
    from dataclasses import replace

    from prefixlint.api.diff import diff

    requests = [_request(body, provider) for body in (before, after)]
    named = (replace(r, span=replace(r.span, path=p)) for r, p in zip(requests, ("before", "after"), strict=True))
    found = diff(named).forks
    return found[0] if found else None


def check(body: Mapping[str, Json], *, provider: str | None = None) -> tuple[Finding, ...]:
    """Lint one body: what will change from request to request, and what an API or a cache will not take.

    >>> text = "You are a patient tutor for pupils of all ages. Current time: 2026-08-10 16:16:11"
    >>> [f.rule for f in check({"model": "m", "messages": [{"role": "system", "content": text}]})]
    ['timestamp']
    """
    from prefixlint.api.check import check_body

    return check_body(dict(body), provider)


def count(body: Mapping[str, Json], *, provider: str | None = None, tokenizer: str | None = None) -> int:
    """Count the tokens of everything in a body that is prompt; an estimate where the vocabulary is not public.

    >>> count({"model": "gpt-4o", "messages": [{"role": "user", "content": "hello world"}]})
    2
    """
    from prefixlint.api.render import render
    from prefixlint.api.tokens import tokenizer_for

    request = _request(body, provider)
    counted = tokenizer_for(request.model, tokenizer)
    return sum(counted.count(s.text) for s in render(request).segments if s.kind in ("text", "json"))


def _request(body: Mapping[str, Json], provider: str | None) -> Request:
    from prefixlint.api.read import request_of

    return request_of(dump(dict(body)), provider)
