"""Changes of the tool list through every API: order, set, one definition."""

# ruff: noqa: E501 - one row of a table is one line

from __future__ import annotations

from typing import Any

import pytest

from tests.diff.conftest import RULES, Compare, body, named

NAMES = ["read", "bash", "grep", "edit"]
QUERY = {"type": "string", "description": "query text"}
SCHEMA = {"type": "object", "properties": {"q": QUERY, "limit": {"type": "integer"}}, "required": ["q", "limit"]}
AT = {"chat": "/tools/{}/function", "responses": "/tools/{}", "anthropic": "/tools/{}",
      "gemini": "/tools/0/functionDeclarations/{}"}  # fmt: skip


def tools(
    provider: str, names: list[str], text: dict[str, str] | None = None, schema: Any = None
) -> list[dict[str, Any]]:
    """Return definitions; ``text`` overrides descriptions, ``schema`` the parameters of grep."""
    found = []
    for name in names:
        plain: dict[str, Any] = {"name": name, "description": (text or {}).get(name, f"Run {name}")}
        parameters = schema if schema and name == "grep" else SCHEMA
        plain |= {"input_schema" if provider == "anthropic" else "parameters": parameters}
        found.append({"type": "function", "function": plain} if provider == "chat" else plain)
    return [{"functionDeclarations": found}] if provider == "gemini" else found


def changes(provider: str) -> list[tuple[str, str, int | None, dict[str, Any], dict[str, Any]]]:
    """Return rule, place and both sides of each change."""
    at = AT[provider]
    end = at.removesuffix("/function")
    inner = "/input_schema" if provider == "anthropic" else "/parameters"
    keys = {"type": "object", "required": SCHEMA["required"], "properties": SCHEMA["properties"]}
    listed = SCHEMA | {"required": ["limit", "q"]}
    stamp = "Run it. Updated 2026-03-02T09:{}0:00Z. Be careful with it."
    numbers = [{"type": "object", "properties": {"n": {"maximum": m}}} for m in (10, 10.0)]
    more = SCHEMA | {"properties": {**SCHEMA["properties"], "x": {"type": "string"}}}  # type: ignore[dict-item]
    base: dict[str, Any] = {"names": NAMES}
    return [
        ("tool-order", at.format(1) + "/name", 0, base, {"names": ["read", "edit", "bash", "grep"]}),
        ("tool-set-change", end.format(4), None, base, {"names": [*NAMES, "web"]}),
        ("tool-set-change", end.format(3), None, base, {"names": NAMES[:3]}),
        ("tool-set-change", at.format(1) + "/name", 0, base, {"names": ["read", "web", *NAMES[1:]]}),
        ("tool-def-change", at.format(1) + "/description", 8, base, base | {"text": {"bash": "Run bash [WARNING: no]"}}),
        ("timestamp", at.format(1) + "/description", 30, base | {"text": {"bash": stamp.format(0)}},
         base | {"text": {"bash": stamp.format(1)}}),
        ("key-order", at.format(2) + inner, None, base, base | {"schema": keys}),
        ("list-order", at.format(2) + inner + "/required/0", 0, base, base | {"schema": listed}),
        ("number-format", at.format(2) + inner + "/properties/n/maximum", 2, base | {"schema": numbers[0]},
         base | {"schema": numbers[1]}),
        ("tool-def-change", at.format(2) + inner + "/properties", None, base, base | {"schema": more}),
    ]  # fmt: skip


@pytest.mark.parametrize("provider", AT)
def test_tools(provider: str, compare: Compare) -> None:
    for rule, pointer, offset, ours, theirs in changes(provider):
        left, right = tools(provider, **ours), tools(provider, **theirs)
        before = body(provider, RULES, [("user", "hi there")], tools=left)
        after = body(provider, RULES, [("user", "hi there"), ("assistant", "ok"), ("user", "go")], tools=right)
        assert named(compare(before, after)) == [(rule, pointer, offset)]
        assert named(compare(before, after, files=True)) == [(rule, pointer, offset)]


@pytest.mark.parametrize("provider", AT)
def test_across_sessions_only_accidents_count(provider: str, compare: Compare) -> None:
    accidents = {"tool-order", "key-order", "list-order", "number-format", "timestamp"}
    for rule, pointer, offset, ours, theirs in changes(provider):
        before = body(provider, RULES, [("user", "hi there")], tools=tools(provider, **ours))
        after = body(provider, RULES, [("user", "another thing")], tools=tools(provider, **theirs))
        assert named(compare(before, after)) == ([(rule, pointer, offset)] if rule in accidents else [])


def test_a_shuffled_list_can_be_shared_whole_again(compare: Compare) -> None:
    left, right = (tools("chat", names) for names in (NAMES, NAMES[::-1]))
    fork = compare(
        body("chat", RULES, [("user", "a")], tools=left), body("chat", RULES, [("user", "b")], tools=right)
    ).forks[0]
    assert fork.recoverable_tokens == fork.lost_tokens > 100
