"""Keep the tree of a Claude Code transcript and rebuild the prompt of each answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from prefixlint.model import Request, Span, Usage
from prefixlint.sources import _json, _provider, _record, _usage
from prefixlint.sources._records import Record


@dataclass(slots=True)
class _Node:
    """Hold one line: ``content`` is raw and None where the line is not sent (attachments, notices)."""

    order: int
    parent: str | None
    role: str
    content: bytes | None
    answer_id: str = ""
    at_s: float | None = None


@dataclass(slots=True)
class _Answer:
    """Hold an answer whose lines are still coming in."""

    id: str
    session: str
    span: Span
    model: str | None
    at_s: float | None
    messages: bytes
    usage: Usage | None = None


@dataclass(slots=True)
class Tree:
    """Take the lines in file order; yield a request once its answer is complete."""

    _nodes: dict[str, _Node] = field(default_factory=dict)
    _answers: dict[str, list[str]] = field(default_factory=dict)
    _results: dict[str, list[str]] = field(default_factory=dict)
    _last: dict[str, str] = field(default_factory=dict)
    _open: dict[str, _Answer] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _prompts: dict[str, _Prompt] = field(default_factory=dict)

    def add(self, record: Record) -> Iterator[Request]:
        """Add a line."""
        members = record.members
        kind = _json.text(members.get("type"))
        uuid = _json.text(members.get("uuid"))
        if uuid is None or kind is None or uuid in self._nodes:
            return
        lane = self._lane(members)
        node = self._node(members, kind, lane)
        if node.answer_id:
            yield from self._answered(record, node, lane)
        elif kind == "user":
            yield from self._finish(lane)
        self._nodes[uuid] = node
        self._last[lane] = uuid
        if node.answer_id:
            self._answers.setdefault(node.answer_id, []).append(uuid)
        elif node.parent and node.role == "user" and _is_result(node.content):
            self._results.setdefault(node.parent, []).append(uuid)

    def end(self) -> Iterator[Request]:
        """Yield the answers that nothing followed."""
        for lane in list(self._open):
            yield from self._finish(lane)

    def _lane(self, members: _json.Members) -> str:
        """Name the conversation a line belongs to; older transcripts keep sub-agents in the same file."""
        session = _record.first_text((members,), ("sessionId", "session_id")) or ""
        agent = _json.text(members.get("agentId"))
        if agent:
            return f"{session}/{agent}"
        if members.get("isSidechain") != b"true":
            return session
        return f"{session}/{self._root(_json.text(members.get('parentUuid')) or _json.text(members.get('uuid')) or '')}"

    def _root(self, uuid: str) -> str:
        seen = set[str]()
        while uuid not in seen and uuid in self._nodes and self._nodes[uuid].parent:
            seen.add(uuid)
            uuid = self._nodes[uuid].parent or uuid
        return uuid

    def _node(self, members: _json.Members, kind: str, lane: str) -> _Node:
        message = _json.opened(members.get("message")) or {}
        hidden = members.get("isVisibleInTranscriptOnly") == b"true" or members.get("isApiErrorMessage") == b"true"
        sent = kind in ("user", "assistant") and not hidden and message.get("model") != b'"<synthetic>"'
        # Without links (older or shortened transcripts) a line follows the one before it.
        linked = "parentUuid" in members
        parent = _json.text(members.get("parentUuid")) if linked else self._last.get(lane)
        answer = _json.text(message.get("id")) or "" if sent and kind == "assistant" else ""
        if sent and kind == "assistant" and not answer:
            answer = _json.text(members.get("requestId")) or f"line-{len(self._nodes)}"
        return _Node(
            len(self._nodes),
            parent,
            kind,
            message.get("content") if sent else None,
            answer,
            _record.time_of((members,)),
        )

    def _answered(self, record: Record, node: _Node, lane: str) -> Iterator[Request]:
        """Open a request at the first line of an answer; later lines only bring newer usage."""
        message = _json.opened(record.members.get("message")) or {}
        usage = _usage.usage_of(_json.loads(message["usage"])) if "usage" in message else None
        current = self._open.get(lane)
        if current and current.id == node.answer_id:
            current.usage = usage or current.usage
            return
        yield from self._finish(lane)
        if node.answer_id in self._seen:  # a resumed session repeats its history
            return
        self._seen.add(node.answer_id)
        prompt = self._prompt(lane, node.parent)
        self._open[lane] = _Answer(
            node.answer_id,
            lane,
            record.span(0),
            _json.text(message.get("model")),
            node.at_s if prompt.at_s is None else prompt.at_s,
            prompt.messages(),
            usage,
        )

    def _finish(self, lane: str) -> Iterator[Request]:
        answer = self._open.get(lane)
        if answer is None:
            return
        del self._open[lane]
        yield Request(
            id=answer.id,
            provider=_provider.ANTHROPIC,
            span=answer.span,
            members={"model": _json.dumps(answer.model), "messages": answer.messages},
            model=answer.model,
            session=answer.session or None,
            at_s=answer.at_s,
            usage=answer.usage,
            no_prompt=answer.messages == b"[]",
            partial=True,
            rebuilt=True,
        )

    def _prompt(self, lane: str, leaf: str | None) -> _Prompt:
        """Return what was sent before a line; where that continues the last prompt, only new lines are added."""
        known = self._prompts.get(lane)
        nodes = self._path(leaf, known.leaf if known else None)
        if nodes is None or known is None:
            known = self._prompts[lane] = _Prompt()
            nodes = self._path(leaf, None) or []
        known.add(nodes)
        known.leaf = leaf
        return known

    def _path(self, uuid: str | None, stop: str | None) -> list[_Node] | None:
        """Return the lines from the root, or from behind ``stop``, to a line; None when ``stop`` is not on the way.

        Tools that ran side by side hang on different lines of one answer, and the path passes only one of them; all
        lines of an answer on the path count, with their results.
        """
        found: dict[str, _Node] = {}
        passed = set[str]()
        while uuid and uuid in self._nodes and uuid not in passed and uuid != stop:
            passed.add(uuid)
            found[uuid] = self._nodes[uuid]
            for mate in self._mates(uuid):
                found.setdefault(mate, self._nodes[mate])
            uuid = self._nodes[uuid].parent
        if stop is not None and uuid != stop:
            return None
        for mate in [u for u, n in found.items() if n.answer_id]:
            for result in self._results.get(mate, ()):
                found.setdefault(result, self._nodes[result])
        return _grouped([n for n in found.values() if n.content is not None])

    def _mates(self, uuid: str) -> Iterator[str]:
        """Yield the lines of the same answer; a copy of it in a resumed session is another branch."""
        top = self._top(uuid)
        for mate in self._answers.get(self._nodes[uuid].answer_id, ()):
            if self._top(mate) == top:
                yield mate

    def _top(self, uuid: str) -> str:
        """Climb to the first line of an answer."""
        node = self._nodes[uuid]
        while node.parent in self._nodes and self._nodes[node.parent].answer_id == node.answer_id:
            uuid = node.parent
            node = self._nodes[uuid]
        return uuid


class _Prompt:
    """Hold a conversation as messages: one for each answer, and one for the user lines between two answers."""

    def __init__(self) -> None:
        self.leaf: str | None = None
        self.at_s: float | None = None
        self._done: list[bytes] = []
        self._role = ""
        self._parts: list[bytes] = []

    def add(self, nodes: list[_Node]) -> None:
        """Add lines in the order in which they are sent."""
        for node in nodes:
            if node.role != self._role:
                self._done += self._last()
                self._role, self._parts = node.role, []
            self._parts.append(node.content or b"[]")
            self.at_s = node.at_s

    def messages(self) -> bytes:
        """Return the raw array of messages."""
        return _json.joined(self._done + self._last())

    def _last(self) -> list[bytes]:
        if not self._parts:
            return []
        return [b'{"role":"%s","content":%s}' % (self._role.encode(), _merged(self._parts))]


def _grouped(path: list[_Node]) -> list[_Node]:
    """Put the lines of one answer together, at the place of its first line."""
    first: dict[str, int] = {}
    for node in path:
        if node.answer_id:
            first[node.answer_id] = min(node.order, first.get(node.answer_id, node.order))
    return sorted(path, key=lambda n: (first.get(n.answer_id, n.order), n.order))


def _merged(parts: list[bytes]) -> bytes:
    if len(parts) == 1:
        return parts[0]
    return _json.joined([block for part in parts for block in _blocks(part)])


def _blocks(content: bytes) -> list[bytes]:
    if content.startswith(b"["):
        return _json.items(content)
    return [b'{"type":"text","text":%s}' % content]


def _is_result(content: bytes | None) -> bool:
    return content is not None and b'"tool_result"' in content[:4096]
