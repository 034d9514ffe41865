"""Find the request body in a log record and build the Request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from prefixlint.errors import InputError
from prefixlint.model import Request, Span
from prefixlint.sources import _json, _provider, _response, _when

# Where loggers put the body, most telling name first.
WRAPPERS = (
    *("body", "request", "params", "kwargs", "payload", "request_body", "requestBody", "input", "req", "data", "json"),
    *(
        "inputs",
        "json_data",
        "llm_request",
        "raw_request",
        "original_request",
        "proxy_server_request",
        "optional_params",
    ),
)
TIMES = (
    *("ts", "at_s", "time", "timestamp", "@timestamp", "at", "datetime", "date", "created_at", "createdAt"),
    *(
        "startTime",
        "start_time",
        "started_at",
        "request_time",
        "requestTime",
        "request_at",
        "startedDateTime",
        "created",
    ),
)
SESSIONS = (
    *("session", "session_id", "sessionId", "conversation_id", "conversationId", "conversation", "thread_id"),
    *("threadId", "chat_id", "chatId"),
)
IDS = ("request_id", "requestId", "custom_id", "call_id", "id", "uuid")
_HOLDERS = ("metadata", "headers", "conversation")
_ADDRESSES = ("url", "path", "endpoint", "uri")
_MAX_DEPTH = 4
_NO_BODIES = {*_response.KEYS, "metadata", "usage"}
# Claude Code puts its session into metadata.user_id: user_<hash>_account_<uuid>_session_<uuid>, or JSON.
_USER_SESSION = re.compile(r'_session_([0-9a-fA-F-]{8,})|"session_id"\s*:\s*"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a body with the objects around it, outermost first, and the APIs that it fits."""

    pointer: str
    members: _json.Members
    around: tuple[_json.Members, ...] = ()
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Shape:
    """Hold which members of an object matter; records of a log have few shapes, so this is worked out once for each."""

    times: tuple[str, ...]
    sessions: tuple[str, ...]
    ids: tuple[str, ...]
    wrappers: tuple[str, ...]
    others: tuple[str, ...]
    holders: tuple[str, ...]
    addresses: tuple[str, ...]


@lru_cache(maxsize=1024)
def _shape(keys: tuple[str, ...]) -> _Shape:
    have = set(keys)

    def of(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name in have)

    others = tuple(k for k in keys if k not in WRAPPERS and k not in _NO_BODIES)
    return _Shape(of(TIMES), of(SESSIONS), of(IDS), of(WRAPPERS), others, of(_HOLDERS), of(_ADDRESSES))


def find(members: _json.Members, depth: int = 0) -> Found | None:
    """Find the body in a record: the record itself, a member with a known name, or the only member that is a body.

    Raises InputError when two members of unknown name are bodies, since either could be meant.
    """
    candidates = _provider.candidates(members)
    if candidates:
        return Found("", members, (), candidates)
    if depth == _MAX_DEPTH or "lc" in members:  # LangChain's serialised prompts are no requests
        return None
    shape = _shape(tuple(members))
    for key in shape.wrappers:
        found = _inside(members, key, depth)
        if found:
            return found
    if depth:
        return None
    bodies = [f for k in shape.others if (f := _inside(members, k, depth)) and "prompt" not in f.members]
    if len(bodies) > 1:
        places = " and ".join(repr(b.pointer) for b in bodies[:2])
        raise InputError(f"two request bodies in one record, at {places}; write one request per line")
    return bodies[0] if bodies else None


def _inside(members: _json.Members, key: str, depth: int) -> Found | None:
    raw = members[key]
    if raw[:1] not in (b"{", b'"'):
        return None
    inner = _json.opened(raw)
    found = find(inner, depth + 1) if inner else None
    if found is None:
        return None
    escaped = key.replace("~", "~0").replace("/", "~1")
    return Found(f"/{escaped}{found.pointer}", found.members, (members, *found.around), found.candidates)


def build(found: Found, span: Span, provider: str | None = None, number: int = 0) -> Request:
    """Build the Request of a body that was found; ``provider`` overrides what the body looks like."""
    outside = found.around or (found.members,)
    members = found.members
    if provider is None:
        provider = _by_address(outside) or (found.candidates[0] if found.candidates else _provider.provider_of(members))
    response = _answer(outside, provider)
    request = Request(
        id=_first_id(found.around) or response.id or str(number),
        provider=provider,
        span=span,
        members=members,
        model=_json.text(members.get("model")) or first_text(found.around, ("model",)) or response.model,
        session=session_of(found),
        at_s=time_of(found.around or outside, response.at_s),
        usage=response.usage,
        body_pointer=found.pointer,
        scope=_json.text(members.get("cache_salt")) or "",
        completion=response.text if provider == _provider.RAW else None,
    )
    return with_tokens(request) if provider == _provider.TOKENS else request


def _answer(levels: tuple[_json.Members, ...], provider: str) -> _response.Response:
    """Return the answer of the outermost object that has one; only raw prompts need its text."""
    if provider != _provider.RAW:
        plain = _response.quick(levels[0])
        if plain and (plain.usage or len(levels) == 1):
            return plain
    response = _response.beside(levels[0])
    for level in levels[1:] if response.usage is None else ():
        inner = _response.beside(level)
        response = inner if inner.usage or inner.text else response
    return response


def with_tokens(request: Request) -> Request:
    """Fill in the ids of a token trace: ``tokens`` (or its other names), ``output_tokens``, ``salt``."""
    members = request.members
    tokens = next(
        (ids for k in ("tokens", "input_ids", "prompt_token_ids", "prompt") if (ids := _ids(members.get(k)))), []
    )
    output = next((ids for k in ("output_tokens", "output_ids", "output") if (ids := _ids(members.get(k)))), None)
    scope = next((s for k in ("salt", "cache_salt") if (s := _json.text(members.get(k)))), "")
    return replace(request, tokens=tokens, output=output, scope=scope)


def _ids(raw: bytes | None) -> list[int] | None:
    if not _json.is_array(raw) or raw is None:
        return None
    value = _json.loads(raw)
    if value and isinstance(value[0], list):  # a batch of one
        value = value[0]
    if not all(isinstance(i, int) for i in value):
        raise _json.BrokenJsonError("token ids must be whole numbers", 0)
    return list(value)


def _first_id(levels: tuple[_json.Members, ...]) -> str | None:
    for level in levels:
        found = _text_in(level, _shape(tuple(level)).ids)
        if found:
            return found
    return None


def first_text(levels: tuple[Mapping[str, bytes], ...], keys: tuple[str, ...]) -> str | None:
    """Return the first member among ``keys`` that is a text or a number, outermost object first."""
    for level in levels:
        found = _text_in(level, keys)
        if found:
            return found
    return None


def _text_in(level: Mapping[str, bytes], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        raw = level.get(key)
        if raw is None or raw[0] in b"{[tfn":
            continue
        value = _json.text(raw) if raw[0] == 0x22 else raw.decode("ascii", "replace")
        if value:
            return value
    return None


def time_of(levels: tuple[Mapping[str, bytes], ...], default: float | None = None) -> float | None:
    """Return the time of a record, outermost object first."""
    for level in levels:
        for key in _shape(tuple(level)).times:
            raw = level[key]
            if raw[0] not in b'"0123456789':
                continue
            at_s = _when.seconds(_json.text(raw) if raw[0] == 0x22 else float(raw))
            if at_s is not None:
                return at_s
    return default


def session_of(found: Found) -> str | None:
    """Return the session that a record or its body names."""
    for level in (*found.around, found.members):
        shape = _shape(tuple(level))
        session = _text_in(level, shape.sessions)
        if session:
            return session
        for holder in shape.holders:
            inner = _json.opened(level[holder])
            session = _in_metadata(inner, holder) if inner else None
            if session:
                return session
    return None


def _in_metadata(inner: _json.Members, holder: str) -> str | None:
    if holder == "headers":
        lower = {k.lower(): v for k, v in inner.items()}
        return first_text((lower,), ("session_id", "session-id", "x-session-id", "x-claude-code-session-id"))
    if holder == "conversation":
        return first_text((inner,), ("id",))
    session = first_text((inner,), SESSIONS)
    user = _USER_SESSION.search(_json.text(inner.get("user_id")) or "")
    return session or (user and (user[1] or user[2])) or None


def _by_address(levels: tuple[_json.Members, ...]) -> str | None:
    for level in levels:
        for key in _shape(tuple(level)).addresses:
            address = _json.text(level[key])
            if address and "/" in address:
                return _provider.from_url(address)
    return None
