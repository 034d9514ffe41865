"""Bodies bare and wrapped, the API they are for, and what stands around them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.read import ReadOptions, open_log, request_of
from prefixlint.model import Request, Usage
from prefixlint.sources import _json, _provider, _usage, _when
from tests.sources.test_hostile import lines, read, write

MESSAGES = [{"role": "user", "content": "hi"}]
CHAT = {"model": "gpt-5", "messages": [{"role": "system", "content": "S"}, *MESSAGES]}


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def one(folder: Path, record: Any, name: str = "log.jsonl") -> Request:
    found, errors = read(write(folder, dumped(record) + b"\n", name))
    assert not errors
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("body", "provider"),
    [
        pytest.param(CHAT, "openai-chat", id="system role"),
        pytest.param({"messages": MESSAGES}, "openai-chat", id="bare messages"),
        pytest.param({"model": "kimi-k2", "max_tokens": 5, "messages": MESSAGES}, "openai-chat", id="max_tokens alone"),
        pytest.param({"model": "or/claude", "messages": CHAT["messages"]}, "openai-chat", id="claude by a router"),
        pytest.param(
            {"model": "claude-x", "max_tokens": 9, "messages": CHAT["messages"]},
            "openai-chat",
            id="claude, system role",
        ),
        pytest.param(
            {"messages": MESSAGES, "tools": [{"type": "function", "function": {"name": "f"}}]},
            "openai-chat",
            id="nested tools",
        ),
        pytest.param(
            {"messages": MESSAGES, "thinking": {"type": "enabled"}, "seed": 1}, "openai-chat", id="thinking, seed"
        ),
        pytest.param(
            {"model": "claude-x", "max_tokens": 9, "messages": MESSAGES}, "anthropic", id="claude with max_tokens"
        ),
        pytest.param({"model": "m", "system": "S", "messages": MESSAGES}, "anthropic", id="system member"),
        pytest.param(
            {"messages": MESSAGES, "tools": [{"name": "f", "input_schema": {"type": "object"}}]},
            "anthropic",
            id="input_schema",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]},
            "anthropic",
            id="tool_result block",
        ),
        pytest.param(
            {"anthropic_version": "bedrock-2023-05-31", "messages": MESSAGES, "max_tokens": 1},
            "anthropic",
            id="bedrock",
        ),
        pytest.param({"model": "m", "input": "hi"}, "openai-responses", id="input text"),
        pytest.param({"input": [{"role": "user", "content": "hi"}]}, "openai-responses", id="input items"),
        pytest.param({"model": "m", "instructions": "I", "input": []}, "openai-responses", id="instructions"),
        pytest.param({"contents": [{"parts": [{"text": "hi"}]}]}, "gemini", id="contents"),
        pytest.param({"prompt": "once", "n_predict": 4}, "raw", id="prompt"),
        pytest.param({"text": "once", "sampling_params": {}}, "raw", id="sglang generate"),
        pytest.param({"inputs": "once", "parameters": {}}, "raw", id="tgi generate"),
        pytest.param({"prompt": [1, 2, 3]}, "token-trace", id="prompt ids"),
        pytest.param({"tokens": [1, 2]}, "token-trace", id="tokens"),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "inferenceConfig": {}},
            "bedrock-converse",
            id="inferenceConfig",
        ),
        pytest.param(
            {"system": [{"text": "S"}, {"cachePoint": {"type": "default"}}], "messages": MESSAGES},
            "bedrock-converse",
            id="converse system",
        ),
    ],
)
def test_api_of_a_body(tmp_path: Path, body: dict[str, Any], provider: str) -> None:
    assert one(tmp_path, body).provider == provider
    assert request_of(body).provider == provider


@pytest.mark.parametrize(
    "members",
    [{"foo": 1}, {"messages": "none"}, {"model": "text-embedding-3", "input": "x", "encoding_format": "float"}, {}],
)
def test_no_body(members: dict[str, Any]) -> None:
    assert not _provider.candidates(_json.members(dumped(members)))


def test_strong_signs_of_two_apis_ask_the_user(tmp_path: Path) -> None:
    body = {"system": "S", "messages": MESSAGES, "frequency_penalty": 0.5}
    path = write(tmp_path, dumped(body))
    _, errors = read(path)
    assert errors == ["log.jsonl: this can be anthropic and openai-chat; say which with --input-format"]
    found, errors = read(path, options=ReadOptions(input_format="anthropic"))
    assert (found[0].provider, errors) == ("anthropic", [])


def test_two_formats_that_claim_a_file_are_named(tmp_path: Path) -> None:
    attributes = [
        {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}},
        {"key": "gen_ai.request.model", "value": {"stringValue": "m"}},
    ]
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1", "attributes": attributes}]}]}]}
    _, errors = read(write(tmp_path, dumped(export)))
    assert errors == ["log.jsonl: this can be openinference and otel-genai; say which with --input-format"]


def test_unknown_file_says_what_was_seen_and_what_is_known(tmp_path: Path) -> None:
    _, errors = read(write(tmp_path, b'{"colour":"red","size":3}\n'))
    assert errors[0].startswith(
        "log.jsonl: no known log format: JSON with the members colour, size; known formats: aider"
    )


@pytest.mark.parametrize(
    ("record", "pointer"),
    [
        *((({k: CHAT}), f"/{k}") for k in ("body", "request", "params", "kwargs", "input", "payload", "data")),
        pytest.param({"request": {"method": "POST", "body": CHAT}}, "/request/body", id="two levels"),
        pytest.param({"body": json.dumps(CHAT)}, "/body", id="JSON inside a string"),
        pytest.param({"event": {"llm/call": 1, "call": 2}, "llm/call": CHAT}, "/llm~1call", id="the only body"),
        pytest.param({"id": 7, "response": {"body": CHAT}, "request": CHAT}, "/request", id="not the answer"),
    ],
)
def test_wrapped_bodies(tmp_path: Path, record: dict[str, Any], pointer: str) -> None:
    found = one(tmp_path, {"level": "info", **record})
    assert found.body_pointer == pointer
    assert _json.loads(found.members["messages"]) == CHAT["messages"]


def test_two_bodies_in_one_record_are_not_guessed(tmp_path: Path) -> None:
    _, errors = read(write(tmp_path, lines(dumped(CHAT), dumped({"left": CHAT, "right": CHAT}))))
    assert errors == [
        "log.jsonl:2:1: two request bodies in one record, at '/left' and '/right'; write one request per line"
    ]


def test_members_keep_order_and_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"request": {"z": 1.50, "messages": [ {"role" : "user"} ], "a": "\\u00e9"}}')
    members = read(path)[0][0].members
    assert list(members.items()) == [("z", b"1.50"), ("messages", b'[ {"role" : "user"} ]'), ("a", b'"\\u00e9"')]


def test_span_is_the_record(tmp_path: Path) -> None:
    data = b"[\n " + dumped(CHAT) + b",\n " + dumped(CHAT) + b"\n]\n"
    found, _ = read(write(tmp_path, data, "bodies.json"))
    assert [data[r.span.start_byte : r.span.end_byte] for r in found] == [dumped(CHAT)] * 2
    assert [(r.span.line, r.span.column, r.span.end_line) for r in found] == [(2, 2, 2), (3, 2, 3)]


def test_pretty_printed_bodies_one_behind_the_other(tmp_path: Path) -> None:
    found, errors = read(write(tmp_path, json.dumps(CHAT, indent=1).encode() * 2, "bodies.json"))
    assert (len(found), errors) == (2, [])


@pytest.mark.parametrize(
    ("around", "session"),
    [
        ({"session": "s1"}, "s1"),
        ({"conversation_id": 17}, "17"),
        ({"metadata": {"thread_id": "t"}}, "t"),
        ({"headers": {"X-Session-Id": "h"}}, "h"),
        ({"session": None}, None),
        ({"user": "u"}, None),
    ],
)
def test_session(tmp_path: Path, around: dict[str, Any], session: str | None) -> None:
    assert one(tmp_path, {**around, "request": CHAT}).session == session


@pytest.mark.parametrize(
    ("user_id", "session"),
    [
        ("user_0a_account_1b_session_5f3e2d1c-0000-4000-8000-000000000001", "5f3e2d1c-0000-4000-8000-000000000001"),
        ('{"device_id":"d","session_id":"abc"}', "abc"),
        ("5b1d7c1e-2222-4444-8888-aaaaaaaaaaaa", None),
    ],
)
def test_session_of_claude_code_requests(tmp_path: Path, user_id: str, session: str | None) -> None:
    body = {"model": "claude-x", "max_tokens": 1, "metadata": {"user_id": user_id}, "messages": MESSAGES}
    assert one(tmp_path, body).session == session


@pytest.mark.parametrize(
    ("value", "at_s"),
    [
        ("2026-03-02T09:00:00Z", 1772442000.0),
        ("2026-03-02T09:00:00.250+00:00", 1772442000.25),
        ("2026-03-02T10:00:00+01:00", 1772442000.0),
        ("2026-03-02 09:00:00", 1772442000.0),
        ("2026-03-02T09:00:00.123456789Z", 1772442000.123456789),
        (1772442000, 1772442000.0),
        (1772442000000, 1772442000.0),
        ("1772442000000000000", 1772442000.0),
        ("soon", None),
        ("2026-13-02T09:00:00Z", None),
        (None, None),
        (True, None),
    ],
)
def test_times(value: object, at_s: float | None) -> None:
    assert _when.seconds(value) == at_s


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        pytest.param(
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}},
            Usage(10, 8, None, 2),
            id="openai includes",
        ),
        pytest.param(
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 4}},
            Usage(10, 0, 4, None),
            id="openai write",
        ),
        pytest.param(
            {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 8}},
            Usage(10, 8, None, 2),
            id="responses include",
        ),
        pytest.param(
            {"input_tokens": 3, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 4, "output_tokens": 2},
            Usage(15, 8, 4, 2),
            id="anthropic excludes",
        ),
        pytest.param(
            {"inputTokens": 3, "cacheReadInputTokens": 8, "cacheWriteInputTokens": 4, "outputTokens": 2},
            Usage(15, 8, 4, 2),
            id="converse excludes",
        ),
        pytest.param(
            {"promptTokenCount": 10, "candidatesTokenCount": 1}, Usage(10, 0, None, 1), id="gemini: absent is 0"
        ),
        pytest.param(
            {"promptTokenCount": 10, "cachedContentTokenCount": 8, "candidatesTokenCount": 1, "thoughtsTokenCount": 5},
            Usage(10, 8, None, 6),
            id="gemini thoughts",
        ),
        pytest.param(
            {"prompt_tokens": 10, "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2, "completion_tokens": 1},
            Usage(10, 8, None, 1),
            id="deepseek",
        ),
        pytest.param(
            {"prompt_tokens": 10, "cached_tokens": 8, "completion_tokens": 1}, Usage(10, 8, None, 1), id="sglang, kimi"
        ),
        pytest.param({"cache_n": 8, "prompt_n": 2, "predicted_n": 1}, Usage(10, 8, None, 1), id="llama.cpp excludes"),
        pytest.param({"prompt_eval_count": 10, "eval_count": 1}, Usage(10, None, None, 1), id="ollama"),
        pytest.param(
            {"input_tokens": 10, "output_tokens": 1, "input_token_details": {"cache_read": 8}},
            Usage(10, 8, None, 1),
            id="langchain includes",
        ),
        pytest.param({"total": 3}, None, id="unknown"),
    ],
)
def test_usage(counts: dict[str, Any], usage: Usage | None) -> None:
    assert _usage.usage_of(counts) == usage


def test_answer_beside_the_request(tmp_path: Path) -> None:
    answer = {"id": "chatcmpl-1", "created": 1772442000, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    found = one(tmp_path, {"request": CHAT, "response": answer})
    assert (found.id, found.at_s, found.usage) == ("chatcmpl-1", 1772442000.0, Usage(9, None, None, 1))


def test_streamed_answer_of_anthropic_adds_up(tmp_path: Path) -> None:
    start = {"message": {"id": "msg_1", "usage": {"input_tokens": 3, "cache_read_input_tokens": 8, "output_tokens": 1}}}
    events = f"event: message_start\ndata: {json.dumps(start)}\n\ndata: " + json.dumps({"usage": {"output_tokens": 40}})
    found = one(tmp_path, {"request": {**CHAT, "max_tokens": 1}, "response": events + "\n\ndata: [DONE]\n"})
    assert (found.id, found.usage) == ("msg_1", Usage(11, 8, None, 40))


def test_completion_is_kept_for_raw_prompts_only(tmp_path: Path) -> None:
    assert one(tmp_path, {"request": {"prompt": "a"}, "response": {"content": " b \n"}}).completion == " b \n"
    assert one(tmp_path, {"request": {"prompt": "a"}, "response": {"choices": [{"text": "c"}]}}).completion == "c"
    assert one(tmp_path, {"request": CHAT, "response": {"content": "b"}}).completion is None


def test_token_trace(tmp_path: Path) -> None:
    record = {"tokens": [5, 6, 7], "output_tokens": [8], "salt": "tenant", "at_s": 2.5, "session": "s"}
    found = one(tmp_path, record)
    assert (found.tokens, found.output, found.scope, found.at_s, found.session) == ([5, 6, 7], [8], "tenant", 2.5, "s")


def test_token_trace_with_text_inside_is_an_error(tmp_path: Path) -> None:
    _, errors = read(write(tmp_path, lines(b'{"tokens":[1]}', b'{"tokens":[1,"x"]}')))
    assert errors == ["log.jsonl:2:1: broken JSON: token ids must be whole numbers"]


def test_responses_chain_is_put_together(tmp_path: Path) -> None:
    def turn(number: int, text: str, earlier: str | None) -> bytes:
        body = {"model": "m", "input": text, **({"previous_response_id": earlier} if earlier else {})}
        answer = [{"type": "message", "role": "assistant", "content": f"answer {number}"}]
        return dumped({"request": body, "response": {"id": f"resp_{number}", "object": "response", "output": answer}})

    path = write(tmp_path, lines(turn(1, "one", None), turn(2, "two", "resp_1"), turn(3, "three", "resp_2")))
    found, errors = read(path)
    assert not errors
    contents = [[i["content"] for i in _json.loads(r.members["input"])] for r in found[1:]]
    assert contents == [["one", "answer 1", "two"], ["one", "answer 1", "two", "answer 2", "three"]]
    assert not any(r.truncated for r in found)


def test_responses_chain_without_its_beginning_is_marked(tmp_path: Path) -> None:
    found = one(tmp_path, {"model": "m", "input": "x", "previous_response_id": "resp_elsewhere"})
    assert found.truncated


def test_prompt_files_are_one_prompt_each_in_the_order_given(tmp_path: Path) -> None:
    later, earlier = write(tmp_path, b"\xef\xbb\xbfBe kind.", "b.txt"), write(tmp_path, b"Be nice.\r\n", "a.md")
    found, errors = read(later, earlier)
    assert not errors
    assert [(r.text, r.provider) for r in found] == [("\ufeffBe kind.", "raw"), ("Be nice.\r\n", "raw")]


def test_text_with_lines_of_json_is_still_a_prompt(tmp_path: Path) -> None:
    found, errors = read(write(tmp_path, b'# Tools\n{"name": "read"}\n{"name": "bash"}\nUse them.\nWell.\n', "p.txt"))
    assert (len(found), errors) == (1, [])


def test_unknown_log_lines_do_not_pass_as_a_prompt(tmp_path: Path) -> None:
    _, errors = read(write(tmp_path, b"12:00 started\n12:01 done\n", "server.log"))
    assert errors[0].startswith("server.log: no known log format: a file that begins with '12:00 started")


def timed(at: str, name: str) -> bytes:
    return dumped({"ts": at, "request": {"model": name, "messages": MESSAGES}})


def test_files_are_merged_by_time_not_by_name(tmp_path: Path) -> None:
    write(tmp_path, lines(timed("2026-03-02T09:00:03Z", "d"), timed("2026-03-02T09:00:05Z", "f")), "a.jsonl")
    write(tmp_path, lines(timed("2026-03-02T09:00:04Z", "e")), "b.jsonl")
    write(tmp_path, lines(timed("2026-03-02T09:00:01Z", "c"), timed("2026-03-02T09:00:06Z", "g")), "c.jsonl")
    found, _ = read(tmp_path / "c.jsonl", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert "".join(r.model or "" for r in found) == "cdefg"
    folder = [r for r in open_log([str(tmp_path)]).requests() if isinstance(r, Request)]
    assert "".join(r.model or "" for r in folder) == "cdefg"


def test_files_without_times_follow_one_another_naturally(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        write(tmp_path, dumped({"model": str(number), "messages": MESSAGES}), f"run-{number}.json")
    found = [r for r in open_log([str(tmp_path / "run-*.json")]).requests() if isinstance(r, Request)]
    assert [r.model for r in found] == ["1", "9", "10"]


def test_newest_first_is_turned_round(tmp_path: Path) -> None:
    found, _ = read(write(tmp_path, lines(*(timed(f"2026-03-02T09:00:0{n}Z", str(n)) for n in (5, 4, 3, 2)))))
    assert [r.model for r in found] == ["2", "3", "4", "5"]


def test_order_of_the_file_stays_when_times_go_up_and_down(tmp_path: Path) -> None:
    found, _ = read(write(tmp_path, lines(*(timed(f"2026-03-02T09:00:0{n}Z", str(n)) for n in (5, 2, 4, 3)))))
    assert [r.model for r in found] == ["5", "2", "4", "3"]


def test_other_files_of_a_folder_are_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, lines(dumped(CHAT)))
    write(tmp_path, b"# About these logs\n", "README.md")
    write(tmp_path, b"a: 1\n", "meta.yaml")
    log = open_log([str(tmp_path)])
    assert len(list(log.requests())) == 1
    assert [Path(i.path).name for i in log.inputs()] == ["log.jsonl"]
    assert len([n for n in log.notes() if n.endswith("left out, since it is no log of a known format")]) == 2


def test_folder_of_prompts_is_read(tmp_path: Path) -> None:
    write(tmp_path, b"one", "a.txt")
    write(tmp_path, b"two", "b.txt")
    found = [r for r in open_log([str(tmp_path)]).requests() if isinstance(r, Request)]
    assert [r.text for r in found] == ["one", "two"]


@pytest.mark.parametrize(
    ("options", "models"),
    [
        (ReadOptions(since="2026-03-02T09:00:02Z"), "23"),
        (ReadOptions(until="2026-03-02T09:00:02Z"), "1"),
        (ReadOptions(since=1772442002, until=1772442003), "2"),
        (ReadOptions(models=("1", "3")), "13"),
        (ReadOptions(sessions=("none",)), ""),
    ],
)
def test_filters(tmp_path: Path, options: ReadOptions, models: str) -> None:
    path = write(tmp_path, lines(*(timed(f"2026-03-02T09:00:0{n}Z", str(n)) for n in (1, 2, 3))))
    found, _ = read(path, options=options)
    assert "".join(r.model or "" for r in found) == models
    assert [r.span.record for r in found] == [int(m) - 1 for m in models]


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = write(tmp_path, lines(*[dumped(CHAT)] * 1000))
    read(path, options=ReadOptions(progress=lambda done, total: seen.append((done, total))))
    assert seen[-1] == (path.stat().st_size,) * 2


def test_one_body_in_memory() -> None:
    found = request_of(b'{"model":"m","messages":[],"temperature":1.0}')
    assert (found.members["temperature"], found.provider, found.span.path) == (b"1.0", "openai-chat", "")
    assert request_of({"messages": []}, "anthropic").provider == "anthropic"
