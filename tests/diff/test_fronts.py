"""Faults that no conversation ties together, and what only looks like one: tools, summaries, fetched text, markers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.diff_log import LogOptions, diff_log
from tests.diff.conftest import RULES, Compare, body, named, unwanted

Body = dict[str, Any]
LONG = f"{RULES} " * 4
TEMPLATES = Path(__file__).parents[1] / "data" / "chat_templates"
TALK = [("user", "first"), ("assistant", "one"), ("user", "second"), ("assistant", "two"), ("user", "third")]


def tools(*names: str) -> list[Body]:
    """Build tool definitions."""
    return [{"name": n, "description": f"does {n}", "input_schema": {"type": "object"}} for n in names]


def asked(system: str, question: str = "hello", **more: Any) -> Body:
    """Build a first Chat request."""
    return body("chat", system, [("user", question)], **more)


@pytest.mark.parametrize(
    ("after", "cause", "pointer"),
    [
        ("abc", "tool-set-change", "/tools/3"),
        ("bcd", "tool-set-change", "/tools/0/name"),
        ("axbcd", "tool-set-change", "/tools/1/name"),
        ("acbd", "tool-order", "/tools/1/name"),
    ],
)
def test_tools_of_one_question(after: str, cause: str, pointer: str, compare: Compare) -> None:
    bodies = [body("anthropic", LONG, TALK[:1], tools=tools(*names)) for names in ("abcd", after)]
    assert [(c, p) for c, p, _ in named(compare(*bodies))] == [(cause, pointer)]


def test_tools_in_a_group(compare: Compare) -> None:
    groups = [[{"functionDeclarations": [{"name": n, "description": n} for n in names]}] for names in ("abcd", "abc")]
    bodies = [body("gemini", LONG, TALK[:1], tools=group) for group in groups]
    assert named(compare(*bodies)) == [("tool-set-change", "/tools/0/functionDeclarations/3", None)]


def test_moving_tools_are_one_site(compare: Compare) -> None:
    orders = ["abcd", "bacd", "badc", "abdc"]
    result = compare(
        *(body("anthropic", LONG, [("user", f"q {o} {i}")], tools=tools(*o)) for i, o in enumerate(orders))
    )
    assert [(s.cause, s.pointer, s.requests) for s in result.sites] == [("tool-order", "/tools/*/name", 3)]


@pytest.mark.parametrize("provider", ["anthropic", "chat", "responses", "gemini"])
def test_short_compaction(provider: str, compare: Compare) -> None:
    told = ("user", "Summary of the conversation so far: two questions, two answers.")
    result = compare(body(provider, LONG, TALK), body(provider, LONG, [told, ("assistant", "ok"), ("user", "go on")]))
    assert [f.cause for f in unwanted(result)] == ["compaction"]


@pytest.mark.parametrize("provider", ["anthropic", "chat", "responses", "gemini", "raw"])
def test_asking_for_a_summary(provider: str, compare: Compare) -> None:
    asks = ("user", "Give me a summary of the chat history of Acme.")
    rest = [asks, ("assistant", "There is none."), ("user", "ok")]
    result = compare(body(provider, LONG, TALK), body(provider, LONG, rest[:1]), body(provider, LONG, rest))
    assert unwanted(result) == []


def test_fetched_text_is_most_of_the_prompt(compare: Compare) -> None:
    frame = "Answer from the context.\nContext:\n"
    result = compare(
        asked(f"{frame}Returns are free within 30 days when unopened.\n", "can I return it?"),
        asked(f"{frame}Islands take two days longer in winter.\n", "when does it arrive?"),
    )
    assert named(result) == [("retrieved-context", "/messages/0/content", len(frame))]


def test_value_at_the_very_end(compare: Compare) -> None:
    front = f"{LONG}\nCurrent time: 10:0"
    result = compare(asked(f"{front}4", "one thing"), asked(f"{front}7", "something else"))
    assert named(result) == [("timestamp", "/messages/0/content", len(front))]


@pytest.mark.parametrize(
    ("label", "values", "cause"),
    [
        ("Session id: ", ["00002710", "00004571", "000063d2", "00008233"], "random-id"),
        ("host ", ["ip-10-0-3-17", "ip-10-0-9-200"], "user-or-host"),
        ("now = ", ["datetime.datetime(2026, 11, 30, 10, 4)", "datetime.datetime(2026, 11, 30, 10, 9)"], "timestamp"),
        ("Allowed: ", ["{'read', 'write', 'exec'}", "{'exec', 'read', 'write'}"], "list-order"),
        ("Git status:\n M a.py\n", ["?? n.txt", " M b.py"], "git-status"),
        ("Recent commits:\n", ["a1b2c3d fix it\n9e8d7c6 add", "0f1e2d3 bump\na1b2c3d fix it"], "git-status"),
    ],
)
def test_values(label: str, values: list[str], cause: str, compare: Compare) -> None:
    result = compare(*(asked(f"A bot.\n{label}{v}\n{LONG}", f"question {i}") for i, v in enumerate(values)))
    assert [f.cause for f in unwanted(result)] == [cause] * (len(values) - 1)


def test_clock_behind_the_last_marker(compare: Compare) -> None:
    def request(minute: int, turns: int, *, marked: bool) -> Body:
        made = body("anthropic", LONG, TALK[:turns])
        made["system"].append({"type": "text", "text": f"Now: 2026-11-30 10:{minute}"})
        if marked:
            made["system"][0]["cache_control"] = {"type": "ephemeral"}
        return made

    assert unwanted(compare(request(10, 1, marked=True), request(11, 3, marked=True))) == []
    found = compare(request(10, 1, marked=False), request(11, 3, marked=False))
    assert [(f.cause, f.pointer) for f in unwanted(found)] == [("timestamp", "/system/1/text")]


def test_sessions_are_at_least_the_ids(compare: Compare) -> None:
    requests = [asked(LONG, "hi"), asked("You make titles.", "hi")]
    assert compare(*({"session_id": f"s{i}", "request": r} for i in range(3) for r in requests)).sessions == 3


@pytest.mark.parametrize("template", ["chatml", "system_at_head"])
def test_chat_template_leads_into_the_body(template: str, tmp_path: Path) -> None:
    front = "A bot.\nSession id: "
    ids = ["550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(asked(f"{front}{i}\n{LONG}", f"about {i[:3]}")) + "\n" for i in ids))
    result = diff_log([str(log)], LogOptions(chat_template=str(TEMPLATES / f"{template}.jinja")))
    assert named(result) == [("uuid", "/messages/0/content", len(front))]
    assert result.shared_tokens > 0


def test_other_answers_in_raw_prompts(compare: Compare) -> None:
    answers = ["a bridge over the river", "some price for the garden", "no charger in this hotel"]
    bodies = [body("raw", LONG, [*TALK[:3], ("assistant", a), ("user", "rate it")]) for a in answers]
    assert unwanted(compare(*bodies)) == []


def test_fresh_numbers_in_raw_prompts(compare: Compare) -> None:
    bodies = [body("raw", LONG, [("user", json.dumps({"id": n, "tags": ["a", "b"]}))]) for n in (9737373, 458919045)]
    assert unwanted(compare(*bodies)) == []
