"""Name the cause in one small log for each kind of change: our column of docs/compare.md.

Usage: python benchmarks/compare.py
Ten requests of about 2,000 tokens each, four tools, one fault in each log; made here, the same on every run.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

Body = dict[str, Any]
RULES = "You are the help desk of a railway. Quote the fare rule that you used. "
TOPICS = ("fares", "seats", "bikes", "dogs", "delays", "refunds", "groups", "meals", "night trains", "luggage")
TEXT = RULES + "".join(f"Section {i}: about {TOPICS[i % 10]}, ask for station {i * 7} first. " for i in range(110))
TOOLS = ("search_fares", "book_seat", "cancel_trip", "find_train")


def body(turn: int) -> Body:
    """Build the healthy request of one turn: ten users, one question each."""
    tools = [
        {"type": "function", "function": {"name": n, "description": f"Do {n}.", "parameters": SCHEMA}} for n in TOOLS
    ]
    question = f"What about {TOPICS[turn]} on the way to Bern?"
    messages = [{"role": "system", "content": TEXT}, {"role": "user", "content": question}]
    return {"model": "gpt-4o", "messages": messages, "tools": copy.deepcopy(tools)}


SCHEMA = {"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}}, "required": ["from"]}


def front(line: Callable[[int], str]) -> Callable[[int], Body]:
    """Put a line in front of the system prompt."""

    def build(turn: int) -> Body:
        made = body(turn)
        made["messages"][0]["content"] = line(turn) + "\n" + TEXT
        return made

    return build


def system(change: Callable[[str, int], str]) -> Callable[[int], Body]:
    """Change the text of the system prompt."""

    def build(turn: int) -> Body:
        made = body(turn)
        made["messages"][0]["content"] = change("É " + TEXT.replace(". ", ".\n"), turn)
        return made

    return build


def tools(turn: int) -> Body:
    """Shuffle the tools."""
    made = body(turn)
    random.Random(turn).shuffle(made["tools"])
    return made


def keys(turn: int) -> Body:
    """Turn the keys of a schema round in every other request."""
    made = body(turn)
    if turn % 2:
        function = made["tools"][0]["function"]
        function["parameters"] = dict(reversed(SCHEMA.items()))
    return made


def shots(turn: int) -> Body:
    """Shuffle few-shot examples."""
    made = body(turn)
    pairs = [(f"How much is ticket {n}?", f"It is {n} francs. " * 20) for n in range(1, 5)]
    random.Random(turn).shuffle(pairs)
    middle = [{"role": r, "content": t} for pair in pairs for r, t in zip(("user", "assistant"), pair, strict=True)]
    made["messages"][1:1] = middle
    return made


def window(turn: int) -> Body:
    """Keep the last six messages of one growing conversation."""
    said = [
        {"role": ("user", "assistant")[n % 2], "content": f"Line {n}: {TOPICS[n % 10]} again. " * 15}
        for n in range(2 * turn + 7)
    ]
    made = body(turn)
    made["messages"][1:] = said[-7:]
    return made


def stamp(turn: int) -> str:
    """Return the clock of one request."""
    return f"2026-09-01T10:3{turn % 6}:1{turn}Z"


LOGS: dict[str, Callable[[int], Body]] = {
    "ISO timestamp in system": front(lambda t: f"Current time: {stamp(t)}"),
    "human date/time": front(lambda t: f"It is Tuesday, September 01, 2026 at 10:3{t} AM."),
    "epoch seconds": front(lambda t: f"now={1788258600 + 37 * t}"),
    "UUID": front(lambda t: f"Request {uuid.UUID(int=random.Random(t).getrandbits(128), version=4)}"),
    "req_ id": front(lambda t: f"Trace req_{random.Random(t).getrandbits(64):016x}"),
    "tools reordered": tools,
    "trailing space in system": system(lambda s, t: s.replace("first.\n", "first. \n", 3) if t % 2 else s),
    "CRLF vs LF": system(lambda s, t: s.replace("\n", "\r\n") if t % 2 else s),
    "NFC vs NFD": system(lambda s, t: unicodedata.normalize("NFD", s) if t % 2 else s),
    "key order in tool schema": keys,
    "user name in system": front(lambda t: f"User name: {('Ann', 'Ben', 'Cem', 'Dana', 'Eli')[t % 5]}"),
    "few-shot messages shuffled": shots,
    "sliding history window": window,
    "clean log (false alarms)": body,
    "static date that never changes": front(lambda t: "Fares are valid from 2026-01-15."),
}  # fmt: skip


def causes(name: str) -> tuple[str, ...]:
    """Return the causes that ``prefixlint diff`` names for one log, most costly first."""
    from prefixlint.api.diff_log import LogOptions, diff_log

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_text("".join(json.dumps(LOGS[name](turn)) + "\n" for turn in range(10)), encoding="utf-8")
        result = diff_log([str(path)], LogOptions())
    found = [s.cause for s in result.sites if any(not f.wanted and f.cause == s.cause for f in result.forks)]
    return tuple(dict.fromkeys([*found, *(f.rule for f in result.findings if f.severity != "info")]))


def rows() -> Iterator[tuple[str, str]]:
    """Yield each kind with what was named."""
    for name in LOGS:
        yield name, ", ".join(f"`{c}`" for c in causes(name)) or "nothing"


if __name__ == "__main__":
    for kind, named in rows():
        print(f"{kind:32} {named}")
