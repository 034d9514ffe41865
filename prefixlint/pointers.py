"""RFC 6901 JSON pointers."""

from __future__ import annotations


def split_pointer(pointer: str) -> list[str]:
    """Split a pointer into its decoded tokens."""
    return [t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]]


def escape_token(token: str) -> str:
    """Escape a key for use in a pointer."""
    return token.replace("~", "~0").replace("/", "~1")
