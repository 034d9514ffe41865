"""Make captured text safe to show: invisible characters escaped, length bounded, or redacted to length and hash."""

from __future__ import annotations

import hashlib
import unicodedata

LIMIT = 40  # the longest piece of a value that any report shows, in code points
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\x1b", "\\": "\\\\"}
# Kept although invisible: the blank itself, since words are made of it; trailing blanks are marked by `visible`.
_KEPT = {" "}


def escape(text: str) -> str:
    """Escape every character that a terminal would hide or obey: controls, zero-width, bidi marks, odd blanks."""
    return "".join(_escape_one(char) for char in text)


def _escape_one(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    # C: controls, format characters, surrogates, unassigned; Z: separators; Mn: combining marks (NFD looks like NFC).
    if char in _KEPT or unicodedata.category(char)[0] not in "CZM":
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str, limit: int = LIMIT) -> str:
    """Escape ``text``, mark blanks at its end as ``\\x20`` and cut it after ``limit`` code points with ``…``."""
    cut = text[:limit]
    body = cut.rstrip(" ")
    shown = escape(body) + "\\x20" * (len(cut) - len(body))
    return shown + "…" if len(text) > limit else shown


def redacted(text: str) -> str:
    """Replace a value by its length and the first 8 hex digits of its SHA-256: equal values stay recognisable."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"<{len(text)} chars {digest}>"


def shown(text: str, *, redact: bool, limit: int = LIMIT) -> str:
    """Show a value as every report does: redacted, or escaped and bounded."""
    return redacted(text) if redact else visible(text, limit)


def count(number: int) -> str:
    """Write a count with thousands separators."""
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """Write a count with its noun: ``1 request``, ``2 requests``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def money(usd: float) -> str:
    """Write an amount: cents, or four digits where cents would show nothing."""
    if usd >= 0.01:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.00005 or not usd else "<$0.0001"
