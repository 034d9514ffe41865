"""Each provider's parts come in the order in which they are sent, with their places, and nothing else is prompt text."""

# ruff: noqa: E501 - one body is one row

from __future__ import annotations

import json
from typing import Any

import pytest

from prefixlint.api.read import request_of
from prefixlint.api.render import render
from prefixlint.errors import ConfigError

TOOL = {"name": "read", "description": "Read it", "input_schema": {"type": "object"}}
PLAIN = {"name": "read", "description": "Read it", "parameters": {"type": "object"}}


def texts(body: dict[str, Any], api: str, kind: str = "text") -> list[tuple[str, str]]:
    """Return pointer and text of the segments of one kind."""
    prompt = render(request_of(json.dumps(body).encode(), api))
    return [(s.pointer, s.text) for s in prompt.segments if s.kind == kind]


def test_anthropic() -> None:
    body = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, {"role": "assistant", "content": "yes"}],
        "max_tokens": 5, "temperature": 1, "metadata": {"user_id": "u"},
        "thinking": {"type": "enabled", "budget_tokens": 99},
        "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
        "tools": [TOOL], "model": "claude-sonnet-4-6",
    }  # fmt: skip
    assert [p for p, _ in texts(body, "anthropic")] == [
        "/tools/0/name", "/tools/0/description", "/tools/0/input_schema/type", "/system/0/text", "/thinking/type",
        "/messages/0/content/0/text", "/messages/1/content",
    ]  # fmt: skip
    assert texts(body, "anthropic", "role") == [("/messages/0/role", "user"), ("/messages/1/role", "assistant")]
    assert ("/thinking", '","budget_tokens":99}') in texts(body, "anthropic", "json")


def test_openai_chat() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]
    body = {
        "messages": [
            {"content": "Be kind.", "role": "system"},
            {"role": "assistant", "tool_calls": calls, "content": None},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ],
        "tool_choice": "auto", "reasoning_effort": "low", "tools": [{"type": "function", "function": PLAIN}],
        "model": "gpt-5.1", "stream": True,
    }  # fmt: skip
    assert [p for p, _ in texts(body, "openai-chat")] == [
        "/tools/0/type", "/tools/0/function/name", "/tools/0/function/description",
        "/tools/0/function/parameters/type", "/messages/0/content", "/messages/1/tool_calls/0/id",
        "/messages/1/tool_calls/0/function/name", "/messages/1/tool_calls/0/function/arguments",
        "/messages/2/content", "/messages/2/tool_call_id",
    ]  # fmt: skip
    assert texts(body, "openai-chat", "json")[-2:] == [("/reasoning_effort", "low"), ("/tool_choice", "auto")]


def test_openai_responses() -> None:
    body = {
        "input": [{"role": "user", "content": "hi"}, {"type": "function_call", "id": "fc", "call_id": "c", "name": "f",
                                                     "arguments": "{}", "status": "completed"}],
        "instructions": "Be kind.", "tools": [PLAIN], "model": "gpt-5.1",
    }  # fmt: skip
    assert [t for _, t in texts(body, "openai-responses")][-5:] == ["Be kind.", "hi", "c", "f", "{}"]
    assert texts({"model": "m", "input": "hi"}, "openai-responses") == [("/input", "hi")]


def test_gemini() -> None:
    body = {
        "contents": [{"parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}],
        "tools": [{"functionDeclarations": [PLAIN]}], "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "model": "gemini-3-flash", "generationConfig": {"temperature": 1},
    }  # fmt: skip
    found = texts(body, "gemini")
    assert found[0] == ("/systemInstruction/parts/0/text", "Be kind.")
    assert found[1][0] == "/tools/0/functionDeclarations/0/name"
    assert found[-2:] == [("/contents/0/parts/0/text", "hi"), ("/contents/1/parts/0/functionCall/name", "f")]
    assert texts(body, "gemini", "json")[-1][1] == '","args":{"a":1}}'


def test_bedrock_cache_points_are_marks() -> None:
    body = {
        "system": [{"text": "Be kind."}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": "hi"}, {"cachePoint": {"type": "default"}}]}],
    }
    prompt = render(request_of(json.dumps(body).encode(), "bedrock-converse"))
    assert [s.text for s in prompt.segments if s.kind == "text"] == ["Be kind.", "hi"]
    assert [s.text for s in prompt.segments if s.breakpoint] == ["hi"] or prompt.segments[0].breakpoint


def test_breakpoints_are_no_text() -> None:
    body = {"system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "messages": [{"role": "user", "content": "b"}], "max_tokens": 3}  # fmt: skip
    segments = render(request_of(json.dumps(body).encode(), "anthropic")).segments
    assert [(s.text, s.breakpoint) for s in segments] == [("a", "1h"), ("user", ""), ("b", "")]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
        {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}},
    ],
)
def test_images_are_told_by_the_hash_of_their_bytes(block: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": [block]}]}
    # sha256 of b"hello" begins with 2cf24dba5fb0a30e
    assert [t for _, t in texts(body, "openai-chat", "image")] == ["<image 2cf24dba5fb0a30e>"]


def test_numbers_and_keys_keep_their_spelling_and_order() -> None:
    line = b'{"model": "m", "tools": [{"name": "f", "parameters": {"z": 1.50, "a": 1e2, "b": -0}}], "messages": []}'
    joined = "".join(s.text for s in render(request_of(line, "openai-chat")).segments)
    assert joined == '{"name":"f","parameters":{"z":1.50,"a":1e2,"b":-0}}'


def test_an_unknown_api_lists_the_known_ones() -> None:
    request = request_of(b'{"model": "m", "messages": []}', "openai-chat")
    with pytest.raises(ConfigError, match="anthropic"):
        render(request, api="antropic")
