"""Rebuild the input of each model call of a Codex rollout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from prefixlint.model import Json, Request
from prefixlint.sources import _json, _provider, _record, _usage, _walk
from prefixlint.sources._records import Record

_OUTPUTS = {"reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
_NOT_SENT = {"ghost_snapshot", "other"}


@dataclass(slots=True)
class Thread:
    """Take the lines in file order; a call begins with the first thing that the model says after an input."""

    _history: list[bytes] = field(default_factory=list)
    _meta: _json.Members = field(default_factory=dict)
    _context: _json.Members = field(default_factory=dict)
    _pending: Request | None = None
    _answering: bool = False
    _last_at_s: float | None = None
    _totals: Json = None
    _turns: list[int] = field(default_factory=list)

    def add(self, record: Record) -> Iterator[Request]:
        """Add a line."""
        kind = _json.text(record.members.get("type"))
        payload = _json.opened(record.members.get("payload")) or {}
        if kind == "session_meta" and not self._meta:
            self._meta = payload
        elif kind == "turn_context":
            self._context = payload
        elif kind == "response_item":
            yield from self._item(record, record.members["payload"], payload)
        elif kind == "compacted":
            yield from self._compact(payload)
        elif kind == "event_msg":
            yield from self._event(payload)

    def finish(self) -> Iterator[Request]:
        """Yield the call that is still open."""
        if self._pending:
            yield self._pending
        self._pending = None
        self._answering = False

    def _item(self, record: Record, raw: bytes, payload: _json.Members) -> Iterator[Request]:
        kind = _json.text(payload.get("type")) or ""
        if kind in _NOT_SENT:
            return
        role = _json.text(payload.get("role"))
        if kind in _OUTPUTS or role == "assistant":
            if not self._answering:
                yield from self.finish()
                self._pending = self._request(record)
                self._answering = True
        elif self._answering:
            # Answers of tools may be written before the usage of the call; the call stays open for it.
            self._answering = False
        if role == "user":
            self._turns.append(len(self._history))
        self._history.append(raw)
        self._last_at_s = _record.time_of((record.members,))

    def _request(self, record: Record) -> Request:
        instructions = self._meta.get("base_instructions") or self._meta.get("instructions")
        text = _json.child(instructions, "text") if _json.is_object(instructions) else instructions
        model = _json.text(self._context.get("model"))
        effort = self._context.get("effort", b"null")
        return Request(
            id="",
            provider=_provider.RESPONSES,
            span=record.span(0),
            members=_walk.body(
                model=model,
                reasoning=None if effort == b"null" else b'{"effort":%s}' % effort,
                instructions=None if text == b"null" else text,
                input=_json.joined(self._history),
            ),
            model=model,
            session=_json.text(self._meta.get("id")),
            at_s=self._last_at_s if self._last_at_s is not None else _record.time_of((record.members,)),
            partial=True,
            rebuilt=True,
        )

    def _event(self, payload: _json.Members) -> Iterator[Request]:
        kind = _json.text(payload.get("type"))
        if kind == "thread_rolled_back":
            yield from self.finish()
            self._roll_back(_json.integer(payload.get("num_turns")) or 0)
        info = _walk.value_of(payload.get("info"))
        if kind != "token_count" or not isinstance(info, dict):
            return
        # Codex repeats the event when only the rate limits changed; the totals tell.
        if info.get("total_token_usage") == self._totals:
            return
        self._totals = info.get("total_token_usage")
        if self._pending and self._pending.usage is None:
            self._pending = replace(self._pending, usage=_usage.usage_of(info.get("last_token_usage")))
            yield from self.finish()

    def _roll_back(self, turns: int) -> None:
        if turns and self._turns:
            keep = self._turns[-turns] if turns <= len(self._turns) else self._turns[0]
            del self._history[keep:]
            self._turns = [t for t in self._turns if t < keep]

    def _compact(self, payload: _json.Members) -> Iterator[Request]:
        """Start over with what the compaction kept: its own list, or only the summary."""
        yield from self.finish()
        kept = payload.get("replacement_history", b"")
        if kept.startswith(b"["):
            self._history = _json.items(kept)
        else:
            text = payload.get("message", b'""')
            self._history = [b'{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}' % text]
        self._turns = []
