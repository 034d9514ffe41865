"""Rebuild the whole input of Responses requests that continue an earlier one by ``previous_response_id``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from prefixlint.model import Request
from prefixlint.sources import _json, _provider, _response


@dataclass(frozen=True, slots=True)
class _Turn:
    """Hold what one request added: its own input items and the items that were answered."""

    items: list[bytes]
    before: _Turn | None


class Chains:
    """Remember every answered turn by its response id; only the increments are held, never whole prompts."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    def complete(self, request: Request, record: _json.Members) -> Request:
        """Return the request with the earlier turns put in front of its input, as the service does.

        ``instructions`` are not carried over by the service, so they are not here. A request whose earlier turn is not
        in the log is marked truncated, since what stands in front is unknown.
        """
        if request.provider != _provider.RESPONSES:
            return request
        earlier_id = _json.text(request.members.get("previous_response_id"))
        answer = _response.beside(record)
        if earlier_id is None and answer.output is None:
            return request
        earlier = self._turns.get(earlier_id) if earlier_id else None
        own = _input_items(request.members.get("input"))
        if answer.id and answer.output is not None:
            self._turns[answer.id] = _Turn([*own, *_json.items(answer.output)], earlier)
        if earlier_id is None:
            return request
        if earlier is None:
            return replace(request, truncated=True)
        whole = _json.joined([*_all(earlier), *own])
        return replace(request, members={**request.members, "input": whole}, rebuilt=True)


def _all(turn: _Turn | None) -> list[bytes]:
    parts: list[list[bytes]] = []
    while turn:
        parts.append(turn.items)
        turn = turn.before
    return [item for part in reversed(parts) for item in part]


def _input_items(raw: bytes | None) -> list[bytes]:
    if raw is None:
        return []
    if raw.startswith(b"["):
        return _json.items(raw)
    return [b'{"role":"user","content":' + raw + b"}"]
