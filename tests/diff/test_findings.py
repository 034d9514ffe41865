"""What no fork shows: markers, cache keys, duplicates, prefixes that were there and not read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.diff.conftest import RULES, Compare, named

LONG = " ".join(f"Rule {n}: keep answer number {n} short and to the point." for n in range(400))
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def block(text: str, mark: Any = None) -> dict[str, Any]:
    """Build a text block."""
    return {"type": "text", "text": text} | ({"cache_control": mark} if mark else {})


def claude(system: list[dict[str, Any]], turns: int = 1, **more: Any) -> dict[str, Any]:
    """Build an Anthropic body with ``turns`` messages."""
    messages = [{"role": ("user", "assistant")[n % 2], "content": [block(f"turn {n}")]} for n in range(turns)]
    return {"model": "claude-sonnet-4-6", "max_tokens": 9, "system": system, "messages": messages, **more}


def told(result: Any, *, info: bool = False) -> list[tuple[str, str]]:
    """Return rule and pointer of the findings."""
    return [(f.rule, f.pointer) for f in result.findings if info or f.severity != "info"]


def test_a_marked_prefix_below_the_minimum(compare: Compare) -> None:
    short, long = claude([block("Short.", MARK)]), claude([block(LONG, MARK)])
    assert told(compare(short, short), info=True) == [("below-minimum", "/system/0/cache_control")]
    assert told(compare(long, long), info=True) == []


def test_a_marked_conversation_may_grow_over_the_minimum(compare: Compare) -> None:
    bodies = []
    for turns in (1, 3, 5):
        bodies.append(claude([block("Short.")], turns))
        bodies[-1]["messages"][0]["content"][0]["text"] = LONG if turns == 5 else "hello"
        bodies[-1]["messages"][-1]["content"][0]["cache_control"] = MARK
    assert told(compare(bodies[0], bodies[1]), info=True)
    assert ("below-minimum", "/messages/0/content/0/cache_control") in told(compare(*bodies[:2]), info=True)


def test_a_marker_on_the_block_that_changes(compare: Compare) -> None:
    def body(minute: int, turns: int) -> dict[str, Any]:
        return claude([block(LONG), block(f"Now: 2026-03-02T09:{minute}:00Z", MARK)], turns)

    result = compare(body(10, 1), body(25, 3))
    assert named(result)[0][0] == "timestamp"
    assert told(result) == [("breakpoint-misplaced", "/system/1/cache_control")]


def test_a_marker_before_the_block_that_changes_is_right(compare: Compare) -> None:
    def body(minute: int, turns: int) -> dict[str, Any]:
        return claude([block(LONG, MARK), block(f"Now: 2026-03-02T09:{minute}:00Z", MARK)], turns)

    assert told(compare(body(10, 1), body(25, 3))) == []


@pytest.mark.parametrize(
    ("rule", "pointer", "marks"),
    [
        ("too-many-breakpoints", "/system/4/cache_control", [MARK] * 5),
        ("ttl-order", "/system/1/cache_control", [MARK, HOUR]),
    ],
)
def test_markers_that_the_server_refuses(rule: str, pointer: str, marks: list[Any], compare: Compare) -> None:
    body = claude([block(f"{n} {LONG}", mark) for n, mark in enumerate(marks)])
    assert told(compare(body)) == [(rule, pointer)]


def test_a_turn_longer_than_the_server_looks_back(compare: Compare) -> None:
    def body(turns: int) -> dict[str, Any]:
        made = claude([block(LONG, MARK)], turns)
        made["messages"][-1]["content"][-1]["cache_control"] = MARK
        return made

    assert told(compare(body(1), body(19))) == []
    assert told(compare(body(1), body(27))) == [("lookback-exceeded", "/messages/26/content/0/cache_control")]


def chat(turns: int, **more: Any) -> dict[str, Any]:
    """Build a Chat body."""
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"turn {n}"} for n in range(turns)]
    return {"model": "gpt-5.1", "messages": [{"role": "system", "content": RULES}, *messages], **more}


@pytest.mark.parametrize("key", ["prompt_cache_key", "cache_salt", "user", "lora_name", "id_slot"])
def test_a_key_that_changes_in_one_conversation(key: str, compare: Compare) -> None:
    result = compare(chat(1, **{key: "a1"}), chat(3, **{key: "b2"}))
    assert named(result) == []
    assert told(result) == [("routing-key", f"/{key}")]
    assert told(compare(chat(1, **{key: "a1"}), chat(3, **{key: "b2"}), files=True)) == [("routing-key", f"/{key}")]
    assert told(compare(chat(1, **{key: "a1"}), chat(3, **{key: "a1"}))) == []


def test_a_key_for_every_request(compare: Compare) -> None:
    assert told(compare(chat(1, prompt_cache_key="a1"), chat(1, prompt_cache_key="b2"))) == [
        ("routing-key", "/prompt_cache_key")
    ]


def test_a_key_that_stands_twice_in_a_tool(tmp_path: Any) -> None:
    from prefixlint.api.diff import diff
    from prefixlint.api.read import open_log

    line = '{"model": "gpt-5.1", "tools": [{"type": "function", "function": {"name": "a", "parameters": '
    line += '{"type": "object", "type": "string"}}}], "messages": [{"role": "user", "content": "{\\"a\\": 1}"}]}'
    (tmp_path / "log.jsonl").write_text(line + "\n")
    assert told(diff(open_log([str(tmp_path / "log.jsonl")]).requests())) == [("duplicate-key", "/tools/0")]


def recorded(at: str, turns: int, read: int, write: int) -> dict[str, Any]:
    """Build a log record with its time and what the provider said about its cache."""
    body = claude([block(LONG, MARK)], turns)
    usage = {
        "input_tokens": 9,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": 3,
    }
    return {"ts": f"2026-03-02T{at}Z", "request": body, "usage": usage}


@pytest.mark.parametrize(
    ("rule", "at", "read"),
    [
        ("intact-but-not-read", "09:02:00", 0),
        ("ttl-expired", "09:40:00", 0),
        ("", "09:02:00", 5_000),
    ],
)
def test_prefixes_that_were_not_read(rule: str, at: str, read: int, compare: Compare) -> None:
    result = compare(recorded("09:00:00", 1, 0, 5_000), recorded(at, 3, read, 0))
    assert [f.rule for f in result.findings] == ([rule] if rule else [])
    assert all(f.severity == "info" for f in result.findings)
    assert result.usage.cache_read == read


def test_many_at_once_before_the_first_is_stored(compare: Compare) -> None:
    records = [recorded("09:00:00", 1, 0, 5_000), *(recorded(f"09:00:0{n}", 1, 0, 5_000) for n in (1, 1, 2, 2))]
    for number, record in enumerate(records):
        record["request"]["messages"][0]["content"][0]["text"] = f"question {number}"
    assert "fan-out-before-warm" in [f.rule for f in compare(*records).findings]
