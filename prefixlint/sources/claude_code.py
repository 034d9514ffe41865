"""Read Claude Code transcripts (``~/.claude/projects/<slug>/<uuid>.jsonl``) and those of their sub-agents.

A transcript is a tree of lines linked by ``parentUuid``; each model answer is spread over one line per content block.
The prompt of an answer is the path from the root to it. System prompt and tools are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _records, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "claude-code"
UNIQUE = True  # a resumed or forked session repeats its history in a file of its own
_NOTE = (
    "Claude Code transcripts hold neither the system prompt nor the tools; "
    "capture the requests with a proxy (ANTHROPIC_BASE_URL) to see them"
)
_TYPES = {"user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot"}
_TYPES |= {"mode", "permission-mode", "ai-title", "last-prompt", "queue-operation", "custom-title", "agent-name"}


def claims(head: Head) -> bool:
    """Tell whether the lines have a known ``type`` and some of them a ``sessionId`` with a message or a link."""
    kinds = {_json.text(r.get("type")) for r in head.records if "type" in r}
    told = any("sessionId" in r and r.keys() & {"message", "uuid", "leafUuid", "mode"} for r in head.records)
    return told and bool(kinds & _TYPES) and head.kind == "jsonl"


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each answer, with its whole conversation and its usage, counted once."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    from prefixlint.sources import _claude_tree

    tree = _claude_tree.Tree()
    _walk.note_once(source, _NOTE)
    for record in _records.json_lines(source):
        if isinstance(record, InputError):
            yield record
            continue
        yield from _walk.guarded(record, tree.add)
    yield from tree.end()
