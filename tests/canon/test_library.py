"""Bodies of equal meaning get equal bytes, whatever disturbed them."""

from __future__ import annotations

import copy
import doctest
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prefixlint.api import library
from prefixlint.api.library import canonical_bytes, canonicalize
from prefixlint.errors import InputError
from tests.canon.bodies import EXAMPLES, SAFE, SAFE_ALL_ROLES, bodies, seeds

many = settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))


def combined(names: dict[str, Any]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=4, unique=True)


@pytest.mark.slow
@many
@given(bodies, combined(SAFE), seeds)
def test_disturbed_bodies_get_equal_bytes(body: Any, kinds: list[str], seed: int) -> None:
    draw = random.Random(seed)
    expected = canonical_bytes(body)
    other = body
    for kind in kinds:
        other = SAFE[kind](other, draw)
    before = copy.deepcopy(other)
    result = canonicalize(other)
    assert other == before, "the input was changed"
    assert library.dump(result.body) == expected
    assert canonicalize(result.body).edits == ()
    assert bool(result.edits) == (json.dumps(other) != json.dumps(result.body))


@pytest.mark.slow
@many
@given(bodies, combined(SAFE_ALL_ROLES), seeds)
def test_disturbed_text_of_all_roles(body: Any, kinds: list[str], seed: int) -> None:
    draw = random.Random(seed)
    expected = canonical_bytes(body, all_roles=True)
    for kind in kinds:
        body = SAFE_ALL_ROLES[kind](body, draw)
    assert canonical_bytes(body, all_roles=True) == expected


@given(bodies)
def test_user_text_stays_by_default(body: Any) -> None:
    body["messages"].append({"role": "user", "content": "e\u0301 \r\nb\u200b "})
    assert canonicalize(body).body["messages"][-1]["content"] == "e\u0301 \r\nb\u200b "


def test_markers_keep_lists() -> None:
    marked = [{"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}]
    first = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": marked}]}
    assert canonicalize(first).body["messages"][0]["content"] == [{"type": "text", "text": "s"}]
    anthropic = {"system": "s", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": marked}]}
    assert canonicalize(anthropic).body["messages"][0]["content"] == "a"


def test_the_marker_stays_behind_the_tools() -> None:
    tools = [{"name": "b"}, {"name": "a", "cache_control": {"type": "ephemeral"}}]
    new = canonicalize({"tools": tools, "messages": []}).body["tools"]
    assert new == [{"name": "a"}, {"name": "b", "cache_control": {"type": "ephemeral"}}]


def test_properties_follow_required() -> None:
    schema = {"type": "object", "properties": {"z": {}, "b": {}, "a": {}}, "required": ["z", "a"]}
    tool = canonicalize({"tools": [{"name": "t", "input_schema": schema}], "messages": []}).body["tools"][0]
    assert list(tool["input_schema"]["properties"]) == ["z", "a", "b"]


def test_structured_output_keeps_its_order() -> None:
    schema = {"schema": {"type": "object", "properties": {"why": {}, "answer": {}}}, "name": "n"}
    body = {"messages": [], "response_format": {"type": "json_schema", "json_schema": schema}}
    new = canonicalize(body).body["response_format"]["json_schema"]
    assert list(new) == ["name", "schema"]
    assert list(new["schema"]["properties"]) == ["why", "answer"]


def test_thinking_keeps_every_character() -> None:
    block = {"type": "thinking", "thinking": "a \r\n", "signature": "x=="}
    body = {"system": "", "messages": [{"role": "assistant", "content": [block]}]}
    assert canonicalize(body, all_roles=True).body["messages"][0]["content"] == [block]


def test_what_orjson_refuses() -> None:
    body = {"messages": [{"role": "user", "content": "a\ud800"}], "seed": 10**30, "x": float("inf")}
    assert json.loads(canonical_bytes(body)) == body
    assert (
        canonicalize({"messages": [{"role": "user", "content": None, "n": 1}]}).body["messages"][0]["content"] is None
    )


def test_nothing_is_taken_for_null() -> None:
    one = {"messages": [{"role": "user", "content": None}]}
    canonicalize(one)
    other = {"messages": [{"role": "user", "content": float("inf")}]}
    assert canonicalize(other).body["messages"][0]["content"] == float("inf")


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(library).failed == 0


KEYS = ["role", "content", "type", "text", "name", "function", "parameters", "properties", "required",
        "cache_control", "description", "arguments", "tool_calls", "parts", "functionDeclarations",
        "input", "toolSpec", "anyOf"]  # fmt: skip
MEMBERS = ["messages", "tools", "system", "input", "contents", "systemInstruction", "functions", "toolConfig", "prompt"]
junk = st.recursive(
    st.none() | st.booleans() | st.sampled_from([1, 2.0, 10**30, "user", "system", "a \r\n", '{"a":1}', "e\u0301", ""]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(KEYS), below, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from(MEMBERS), junk, max_size=5), st.booleans())
def test_any_json_is_taken_and_stable(body: Any, all_roles: bool) -> None:
    new = canonicalize(body, all_roles=all_roles)
    assert canonicalize(new.body, all_roles=all_roles).edits == ()
    assert json.loads(canonical_bytes(body, all_roles=all_roles)) == json.loads(library.dump(new.body))


def test_numbers_beyond_floats_stay_numbers() -> None:
    body = json.loads('{"a": 1e400, "b": [-1e400, null], "messages": []}')
    assert canonical_bytes(body) == b'{"a":1e999,"b":[-1e999,null],"messages":[]}'
    assert json.loads(canonical_bytes(body)) == body
    with pytest.raises(InputError, match="NaN"):
        canonical_bytes({"a": float("nan"), "messages": []})


def test_a_text_of_which_nothing_is_left_has_one_shape() -> None:
    contents: tuple[Any, ...] = ("", "\ufeff", " ", [{"type": "text", "text": " "}])
    bodies = [{"model": "m", "messages": [{"role": "system", "content": c}]} for c in contents]
    assert len({canonical_bytes(b) for b in bodies}) == 1
