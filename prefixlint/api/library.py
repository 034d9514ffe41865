"""The library: canonicalize a body before it is sent, compare two, check one, count one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from prefixlint.canon import body as canon_body
from prefixlint.canon.changes import Change, changes
from prefixlint.errors import InputError
from prefixlint.model import Json

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
    return Canonical(new if edits or not isinstance(body, dict) else body, edits)


def canonical_bytes(
    body: Mapping[str, Json], *, provider: str | None = None, unsafe: bool = False, all_roles: bool = False
) -> bytes:
    """Return the canonical body as UTF-8 JSON without blanks: equal bytes for equal meaning.

    >>> canonical_bytes({"model": "m", "max_tokens": 105.0, "messages": []})
    b'{"max_tokens":105,"messages":[],"model":"m"}'
    """
    return dump(canonicalize(body, provider=provider, unsafe=unsafe, all_roles=all_roles).body)


def dump(value: Json) -> bytes:
    """Write JSON without blanks; what orjson refuses (big integers, lone surrogates) goes the slow way."""
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


def is_anthropic(body: Mapping[str, Json], provider: str | None) -> bool:
    """Return whether a body is for the Messages API, where a string is short for one text block."""
    if provider:
        return "anthropic" in provider or "claude" in provider or "bedrock" in provider
    tools = body.get("tools")
    if "system" in body or (isinstance(tools, list) and any("input_schema" in t for t in tools if t)):
        return True
    roles = {m.get("role") for m in body.get("messages") or () if isinstance(m, dict)}
    return "max_tokens" in body and str(body.get("model", "")).startswith("claude") and roles <= {"user", "assistant"}
