"""Read captured HTTP exchanges: bodies, their encodings, and what address and headers tell."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace

from prefixlint.model import Request, Span
from prefixlint.sources import _json, _provider, _record, _response

_MODEL = re.compile(r"/(?:models|deployments|model|engines)/([^/:?]+)(?:[/:?]|$)")
_SESSION_HEADERS = ("session_id", "session-id", "x-session-id", "x-claude-code-session-id", "helicone-session-id")


def exchange(
    *, url: str, headers: Mapping[str, str], sent: bytes, answered: bytes, at_s: float | None, span: Span, pointer: str
) -> Request | None:
    """Build the request of an exchange; None when its body is no model request."""
    try:
        members = _json.members(sent)
    except _json.BrokenJsonError:
        return None
    found = _record.find(members)
    if found is None:
        return None
    provider = _provider.from_url(url) if found.pointer == "" else None
    request = _record.build(found, span, provider)
    answer = _response.parse(answered.strip() if answered.lstrip()[:1] in b"{[" else _json.dumps(text_of(answered)))
    model = _MODEL.search(url)
    lower = {k.lower(): v for k, v in headers.items()}
    session = next((lower[h] for h in _SESSION_HEADERS if h in lower), None)
    return replace(
        request,
        id=answer.id or "",
        usage=answer.usage,
        model=request.model or (model[1] if model else None) or answer.model,
        session=session or request.session,
        at_s=at_s if at_s is not None else answer.at_s,
        body_pointer=pointer + found.pointer,
    )


def text_of(data: bytes) -> str:
    """Decode captured text."""
    return data.decode("utf-8", "replace")


def unbase64(text: str) -> bytes:
    """Decode base64; text that is none is returned as it is."""
    try:
        return base64.b64decode(text, validate=False)
    except binascii.Error:
        return text.encode("utf-8", "replace")


def decompressed(data: bytes, encoding: str) -> bytes:
    """Undo a content encoding; what cannot be undone here (br without its library, damage) gives no bytes."""
    try:
        if encoding in ("gzip", "x-gzip"):
            return gzip.decompress(data)
        if encoding == "deflate":
            return zlib.decompress(data)
        if encoding == "zstd":
            import zstandard

            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except (OSError, EOFError, zlib.error, ValueError):
        return b""
    return b"" if encoding in ("br",) else data
