"""Cut a recorded conversation into the requests that made it: every answer replies to what stands before it."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.sources import _json

_SENT = {"system", "developer", "user", "assistant", "tool", "function"}


def turns(messages: list[_json.Members], *, drop: tuple[str, ...] = ()) -> Iterator[tuple[bytes, _json.Members]]:
    """Yield, for each answer, the raw array of the messages before it, and the answer.

    ``drop`` names members that the tool keeps for itself and does not send.
    """
    before: list[bytes] = []
    for message in messages:
        role = _json.text(message.get("role"))
        if role == "assistant":
            yield _json.joined(before), message
        if role in _SENT:
            before.append(encoded({k: v for k, v in message.items() if k not in drop}))


def encoded(members: _json.Members) -> bytes:
    """Build a raw object of raw members."""
    return b"{" + b",".join(_json.dumps(key) + b":" + raw for key, raw in members.items()) + b"}"
