"""Changes of a conversation: edited, dropped, inserted, moved, summarized; and content in another shape."""

# ruff: noqa: E501 - one row of a table is one line

from __future__ import annotations

from typing import Any

import pytest

from tests.diff.conftest import MESSAGE_AT, PROVIDERS, RULES, Compare, Turn, body, named, place

LONG: list[Turn] = [
    ("user", "please fix the login bug in auth.py"),
    ("assistant", "I will look at auth.py first and report back."),
    ("user", "ok go ahead"),
    ("assistant", "The bug is in line 12: wrong hash."),
    ("user", "fix it then"),
    ("assistant", "Fixed and tested, all green now."),
    ("user", "thanks, now the docs"),
]
NEXT: list[Turn] = [("assistant", "Docs are updated in docs/auth.md."), ("user", "and the changelog?")]
SUMMARY = "This session is being continued from a previous conversation. Summary: the login bug was fixed."


def edited(index: int, text: str) -> list[Turn]:
    """Return the long conversation with one message in other words."""
    return [(role, text if i == index else said) for i, (role, said) in enumerate(LONG)]


STAMPED = edited(6, "[2026-03-02T09:00:00Z] thanks, now the docs")
EXAMPLES: list[Turn] = [("user", "2+2"), ("assistant", "4"), ("user", "3+3"), ("assistant", "6")]
CHANGES: list[tuple[str, int, list[Turn], list[Turn]]] = [
    ("history-rewrite", 2, LONG, [*edited(2, "ok go ahead please"), *NEXT]),
    ("history-rewrite", 1, LONG, [*edited(1, "I will look at auth.py first and report…"), *NEXT]),
    ("trailing-whitespace", 3, LONG, [*edited(3, "The bug is in line 12: wrong hash. "), *NEXT]),
    ("timestamp", 6, STAMPED, [*edited(6, "[2026-03-02T09:07:00Z] thanks, now the docs"), *NEXT]),
    ("sliding-window", 0, LONG, [*LONG[2:], *NEXT]),
    ("sliding-window", 0, LONG, [*LONG[4:], *NEXT]),
    ("sliding-window", 2, LONG, [*LONG[:2], *LONG[4:], *NEXT]),
    ("message-inserted", 4, LONG, [*LONG[:4], ("user", "<reminder>be careful</reminder>"), *LONG[4:], *NEXT]),
    ("history-rewrite", 3, LONG, [*LONG[:3], *LONG[5:], *NEXT]),
    ("compaction", 0, LONG, [("user", SUMMARY), ("assistant", "Understood."), ("user", "and the changelog?")]),
    ("list-order", 0, [*EXAMPLES, ("user", "7+7?")], [*EXAMPLES[2:], *EXAMPLES[:2], ("user", "8+8?")]),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("rule", "index", "first", "second"), CHANGES, ids=[f"{c[0]} {c[1]}" for c in CHANGES])
def test_history(provider: str, rule: str, index: int, first: list[Turn], second: list[Turn], compare: Compare) -> None:
    before, after = body(provider, RULES, first), body(provider, RULES, second)
    at = MESSAGE_AT.get(provider, "").format(index + (provider == "chat"))
    expected = [(rule, *place(provider, before, after, first[index][1], second[index][1], at))]
    assert named(compare(before, after)) == expected
    assert named(compare(before, after, files=True)) == expected
    if len(first) > 5:
        assert named(compare(body(provider, RULES, first[:-2]), before, after)) == expected


def anthropic(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Build an Anthropic body."""
    return {"model": "claude-sonnet-4-6", "max_tokens": 9, "system": [{"type": "text", "text": RULES}],
            "messages": messages, **more}  # fmt: skip


def chat(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Build an OpenAI Chat body."""
    return {"model": "gpt-5.1", "messages": [{"role": "system", "content": RULES}, *messages], **more}


def user(content: Any) -> dict[str, Any]:
    """Build a user message."""
    return {"role": "user", "content": content}


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    """Build an answer."""
    return {"role": "assistant", "content": content, **more}


def use(call: str, **arguments: Any) -> dict[str, Any]:
    """Build a tool use of the Anthropic API."""
    return assistant([{"type": "tool_use", "id": call, "name": "read", "input": arguments}])


def result(call: str, text: str) -> dict[str, Any]:
    """Build a tool result of the Anthropic API."""
    return user([{"type": "tool_result", "tool_use_id": call, "content": text}])


def call(arguments: str, name: str = "call_1") -> dict[str, Any]:
    """Build a tool call of the Chat API."""
    calls = [{"id": name, "type": "function", "function": {"name": "w", "arguments": arguments}}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(text: str, name: str = "call_1") -> dict[str, Any]:
    """Build a tool message of the Chat API."""
    return {"role": "tool", "tool_call_id": name, "content": text}


def image(data: str) -> dict[str, Any]:
    """Build a user message with an image."""
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return user([{"type": "text", "text": "see"}, {"type": "image", "source": source}])


THOUGHT = {"type": "thinking", "thinking": "hmm", "signature": "abc"}
SAID = {"type": "text", "text": "It is 4."}
PNG = "iVBORw0KGgoAAAANSUhEUg{}AAAUA"
MORE = [assistant("Shown."), user("more")]
ARGUMENTS = "/messages/2/tool_calls/0/function/arguments"
ASKED = [user("show"), use("t1", path="a.txt", offset=0, opts={"b": 1, "a": [1, 2]}), result("t1", "one line")]
WEATHER = [user("weather?"), call('{"city": "Köln", "n": 1}'), told('{"t": 21, "u": "C"}')]
SHAPES: list[tuple[str, str, int | None, dict[str, Any], dict[str, Any]]] = [
    ("number-format", "/messages/1/content/0/input/offset", 1, anthropic(ASKED),
     anthropic([ASKED[0], use("t1", path="a.txt", offset=0.0, opts={"b": 1, "a": [1, 2]}), ASKED[2], *MORE])),
    ("key-order", "/messages/1/content/0/input", None, anthropic(ASKED),
     anthropic([ASKED[0], use("t1", offset=0, path="a.txt", opts={"b": 1, "a": [1, 2]}), ASKED[2], *MORE])),
    ("key-order", "/messages/1/content/0/input/opts", None, anthropic(ASKED),
     anthropic([ASKED[0], use("t1", path="a.txt", offset=0, opts={"a": [1, 2], "b": 1}), ASKED[2], *MORE])),
    ("tool-call-id", "/messages/1/content/0/id", 1, anthropic(ASKED),
     anthropic([ASKED[0], use("t9", path="a.txt", offset=0, opts={"b": 1, "a": [1, 2]}), result("t9", "one line"), *MORE])),
    ("history-rewrite", "/messages/2/content/0/content", 0, anthropic(ASKED),
     anthropic([*ASKED[:2], result("t1", "[old result cleared]"), *MORE])),
    ("content-shape", "/messages/0/content", None, anthropic([user("first")]),
     anthropic([user([{"type": "text", "text": "first"}]), *MORE])),
    ("content-shape", "/system", None, anthropic([user("first")]), anthropic([user("first"), *MORE]) | {"system": RULES}),
    ("thinking-stripped", "/messages/1/content/0/type", 1, anthropic([user("2+2"), assistant([THOUGHT, SAID]), user("ok")]),
     anthropic([user("2+2"), assistant([SAID]), user("ok"), *MORE])),
    ("image-reencode", "/messages/0/content/1/source/data", 22, anthropic([image(PNG.format("A"))]),
     anthropic([image(PNG.format("B")), *MORE])),
    ("param-change", "/thinking/type", 0, anthropic([user("q")], thinking={"type": "enabled", "budget_tokens": 1024}),
     anthropic([user("q"), *MORE], thinking={"type": "disabled"})),
    ("param-change", "/thinking", None, anthropic([user("q")], thinking={"type": "enabled"}), anthropic([user("q"), *MORE])),
    ("param-change", "/tool_choice/type", 1, anthropic([user("q")], tool_choice={"type": "auto"}),
     anthropic([user("q"), *MORE], tool_choice={"type": "any"})),
    ("model-switch", "/model", 7, anthropic([user("q")]), anthropic([user("q"), *MORE], model="claude-opus-4-5")),
    ("key-order", ARGUMENTS, 2, chat(WEATHER), chat([WEATHER[0], call('{"n": 1, "city": "Köln"}'), WEATHER[2], user("b")])),
    ("number-format", ARGUMENTS, 23, chat(WEATHER),
     chat([WEATHER[0], call('{"city": "Köln", "n": 1.0}'), WEATHER[2], user("b")])),
    ("escape-style", ARGUMENTS, 11, chat(WEATHER),
     chat([WEATHER[0], call('{"city": "K\\u00f6ln", "n": 1}'), WEATHER[2], user("b")])),
    ("history-rewrite", ARGUMENTS, 10, chat(WEATHER),
     chat([WEATHER[0], call('{"city": "Bonn", "n": 1}'), WEATHER[2], user("b")])),
    ("key-order", "/messages/3/content", 2, chat(WEATHER), chat([*WEATHER[:2], told('{"u": "C", "t": 21}'), user("b")])),
    ("content-shape", "/messages/2/content", None, chat(WEATHER),
     chat([WEATHER[0], WEATHER[1] | {"content": ""}, WEATHER[2], user("b")])),
    ("thinking-stripped", "/messages/2", None, chat([user("q"), assistant("4", reasoning_content="let me think"), user("w")]),
     chat([user("q"), assistant("4"), user("w"), *MORE])),
    ("role-change", "/messages/0/role", 0, chat([user("q"), assistant("4"), user("w")]),
     {"model": "gpt-5.1", "messages": [{"role": "developer", "content": RULES}, user("q"), assistant("4"), user("w"), *MORE]}),
    ("param-change", "/reasoning_effort", 0, chat([user("q")], reasoning_effort="low"),
     chat([user("q"), *MORE], reasoning_effort="high")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "pointer", "offset", "before", "after"), SHAPES, ids=[f"{s[0]} {s[1]}" for s in SHAPES]
)
def test_shape(rule: str, pointer: str, offset: int | None, before: Any, after: Any, compare: Compare) -> None:
    assert named(compare(before, after)) == [(rule, pointer, offset)]
    assert named(compare(before, after, files=True)) == [(rule, pointer, offset)]


def test_null_members_and_the_order_of_members_are_no_difference(compare: Compare) -> None:
    dumped = {"content": "4", "role": "assistant", "refusal": None, "tool_calls": None}
    before, after = chat([user("q"), dumped, user("w")]), chat([user("q"), assistant("4"), user("w"), *MORE])
    assert not named(compare(before, after))


def test_what_a_local_server_holds_is_the_prompt_and_its_answer(compare: Compare) -> None:
    first = {"request": {"prompt": "User: hello\nBot:"}, "response": {"content": " Hi there. \n"}}
    kept = {"request": {"prompt": "User: hello\nBot: Hi there. \nUser: go\nBot:"}, "response": {"content": " Ok."}}
    trimmed = {"request": {"prompt": "User: hello\nBot: Hi there.\nUser: go\nBot:"}, "response": {"content": " Ok."}}
    assert not named(compare(first, kept))
    assert named(compare(first, trimmed)) == [("trailing-whitespace", "/prompt", 26)]
