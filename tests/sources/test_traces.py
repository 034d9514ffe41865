"""Spans, exports and captures: older names, JSON inside strings, cut attributes, what leaves prompts out."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.read import open_log
from prefixlint.model import Request, Usage
from prefixlint.sources import _json
from tests.sources.test_bodies import CHAT, MESSAGES, dumped
from tests.sources.test_hostile import lines, read, write


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": wrapped(value)}


def wrapped(value: Any) -> dict[str, Any]:
    """Wrap a value as OTLP JSON does."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [wrapped(v) for v in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [attribute(k, v) for k, v in value.items()]}}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value}


def span(attributes: dict[str, Any], *events: dict[str, Any]) -> dict[str, Any]:
    found = [attribute(k, v) for k, v in attributes.items()]
    return {
        "traceId": "t",
        "spanId": "s",
        "startTimeUnixNano": "1772442000000000000",
        "attributes": found,
        "events": events,
    }


def export(*spans: dict[str, Any]) -> bytes:
    return dumped({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})


def spans(folder: Path, *records: bytes) -> list[Request]:
    found, errors = read(write(folder, lines(*records)))
    assert not errors
    return found


def messages(request: Request) -> Any:
    return _json.loads(request.members["messages"])


def test_otel_structured_values_and_tool_parts(tmp_path: Path) -> None:
    given = [
        {"role": "user", "parts": [{"type": "text", "content": "a"}, {"type": "text", "content": "b"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "r"}]},
    ]
    found = spans(tmp_path, export(span({"gen_ai.request.model": "m", "gen_ai.input.messages": given})))
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    assert messages(found[0]) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]


def test_otel_flattened_older_names(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.system": "OpenAI",
        "gen_ai.request.model": "m",
        **{f"gen_ai.prompt.{n}.role": "user" for n in range(11)},
        **{f"gen_ai.prompt.{n}.content": str(n) for n in range(11)},
        "llm.request.functions.0.name": "f",
        "llm.request.functions.0.parameters": '{"type":"object"}',
        "gen_ai.usage.prompt_tokens": 10,
        "gen_ai.usage.completion_tokens": 2,
        "gen_ai.usage.cache_read_input_tokens": 8,
    }
    found = spans(tmp_path, export(span(attributes)))
    assert [m["content"] for m in messages(found[0])] == [str(n) for n in range(11)]  # 10 comes behind 9
    assert _json.loads(found[0].members["tools"])[0]["function"]["name"] == "f"
    assert found[0].usage == Usage(10, 8, None, 2)


@pytest.mark.parametrize(
    ("prompt", "key", "value"),
    [
        pytest.param('[{"role":"user","content":"a"}]', "messages", [{"role": "user", "content": "a"}], id="JSON"),
        pytest.param("once upon", "prompt", "once upon", id="text"),
    ],
)
def test_otel_single_prompt_attribute(tmp_path: Path, prompt: str, key: str, value: Any) -> None:
    found = spans(tmp_path, export(span({"gen_ai.request.model": "m", "gen_ai.prompt": prompt})))
    assert _json.loads(found[0].members[key]) == value


def test_otel_span_events_of_messages(tmp_path: Path) -> None:
    events = [
        {"name": "gen_ai.system.message", "attributes": [attribute("content", "S")]},
        {"name": "gen_ai.user.message", "attributes": [attribute("content", "U")]},
        {"name": "gen_ai.choice", "attributes": []},
    ]
    found = spans(tmp_path, export(span({"gen_ai.request.model": "m"}, *events)))
    assert messages(found[0]) == [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]


def test_otel_log_events_are_gathered_by_span(tmp_path: Path) -> None:
    def log(key: str, name: str, text: str) -> dict[str, Any]:
        return {"traceId": "t", "spanId": key, "eventName": name, "body": wrapped({"content": text})}

    records = [
        log("1", "gen_ai.user.message", "a"),
        log("2", "gen_ai.user.message", "b"),
        log("2", "gen_ai.choice", ""),
        log("1", "gen_ai.assistant.message", "c"),
        log("1", "gen_ai.choice", ""),
    ]
    found = spans(tmp_path, dumped({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}))
    assert [[m["content"] for m in messages(r)] for r in found] == [["b"], ["a", "c"]]


def test_otel_agents_and_tools_repeat_nothing(tmp_path: Path) -> None:
    given = '[{"role":"user","parts":[{"type":"text","content":"a"}]}]'
    kinds = ("chat", "invoke_agent", "execute_tool", "embeddings")
    made = [
        span({"gen_ai.operation.name": k, "gen_ai.input.messages": given, "gen_ai.request.model": "m"}) for k in kinds
    ]
    assert len(spans(tmp_path, export(*made))) == 1


def test_otel_cut_attribute_is_marked(tmp_path: Path) -> None:
    cut = '[{"role":"user","parts":[{"type":"text","content":"a very lo'
    found = spans(tmp_path, export(span({"gen_ai.request.model": "m", "gen_ai.input.messages": cut})))
    assert found[0].truncated


def test_otel_without_content_says_what_to_switch_on(tmp_path: Path) -> None:
    path = write(tmp_path, export(span({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5})))
    log = open_log([str(path)])
    found = [r for r in log.requests() if isinstance(r, Request)]
    assert (found[0].no_prompt, found[0].usage) == (True, Usage(5))
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in log.notes()[0]


def test_otel_input_without_cached_tokens_is_seen(tmp_path: Path) -> None:
    counts = {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.cache_read.input_tokens": 90}
    assert spans(tmp_path, export(span({"gen_ai.request.model": "m", **counts})))[0].usage == Usage(93, 90, None, None)


def test_otel_console_exporter_prints_plain_attributes(tmp_path: Path) -> None:
    given = '[{"role":"user","parts":[{"type":"text","content":"a"}]}]'
    attributes = {"gen_ai.request.model": "m", "gen_ai.input.messages": given}
    record = {
        "name": "chat",
        "context": {"span_id": "0x1"},
        "start_time": "2026-03-02T09:00:00Z",
        "attributes": attributes,
    }
    path = write(tmp_path, json.dumps(record, indent=4).encode() * 2, "spans.json")
    found, errors = read(path)
    assert not errors
    assert [(r.at_s, messages(r)[0]["content"]) for r in found] == [(1772442000.0, "a")] * 2


def test_openinference_flattened_messages(tmp_path: Path) -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m",
        "input.value": "cut {",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "a",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "f",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{}",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.tool_call_id": "c",
        "llm.input_messages.2.message.content": "r",
    }
    found = spans(tmp_path, export(span(attributes), span({"openinference.span.kind": "CHAIN"})))
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert [messages(r) for r in found] == [
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "r", "tool_call_id": "c"},
        ]
    ]


def generation(**more: Any) -> bytes:
    return dumped(
        {"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-03-02T09:00:00Z", "model": "m", **more}
    )


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        pytest.param(MESSAGES, "messages", MESSAGES, id="array"),
        pytest.param(json.dumps(MESSAGES), "messages", MESSAGES, id="array in a string"),
        pytest.param({"messages": MESSAGES}, "messages", MESSAGES, id="object"),
        pytest.param("tell", "prompt", "tell", id="text"),
        pytest.param({"q": 1}, "messages", [{"role": "user", "content": '{"q": 1}'}], id="other object"),
    ],
)
def test_langfuse_inputs(tmp_path: Path, given: Any, key: str, value: Any) -> None:
    found = spans(tmp_path, generation(input=given, usageDetails={}))
    assert _json.loads(found[0].members[key]) == value


@pytest.mark.parametrize(
    ("details", "usage"),
    [
        pytest.param(
            {"input": 35, "input_cached_tokens": 176, "output": 14, "total": 225}, Usage(211, 176, None, 14), id="less"
        ),
        pytest.param(
            {"input": 211, "input_cached_tokens": 176, "output": 14, "total": 225}, Usage(211, 176, None, 14), id="all"
        ),
        pytest.param(
            {"input": 3, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 4, "output": 1},
            Usage(15, 8, 4, 1),
            id="anthropic",
        ),
    ],
)  # fmt: skip
def test_langfuse_usage(tmp_path: Path, details: dict[str, int], usage: Usage) -> None:
    assert spans(tmp_path, generation(input="x", usageDetails=details))[0].usage == usage


def test_langfuse_csv_and_order(tmp_path: Path) -> None:
    head = "id,traceId,type,startTime,model,input,usageDetails\n"
    rows = [
        f'o{n},t,GENERATION,2026-03-02T09:00:0{n}Z,m,"[{{""role"":""user"",""content"":""a\nb""}}]","{{""input"":{n}}}"\n'
        for n in (2, 1)
    ]
    found, errors = read(write(tmp_path, (head + "".join(rows)).encode(), "export.csv"))
    assert not errors
    assert [(r.id, r.span.line, r.usage) for r in found] == [
        ("o1", 4, Usage(1, None, None, 0)),
        ("o2", 2, Usage(2, None, None, 0)),
    ]
    assert messages(found[0]) == [{"role": "user", "content": "a\nb"}]


def test_langsmith_role_dicts_and_sessions(tmp_path: Path) -> None:
    run = {
        "id": "r",
        "run_type": "llm",
        "trace_id": "t",
        "session_id": "the project",
        "start_time": "2026-03-02T09:00:00",
        "inputs": {"messages": MESSAGES},
        "outputs": {"usage_metadata": {"input_tokens": 9, "output_tokens": 1}},
        "extra": {"metadata": {"thread_id": "th", "ls_model_name": "m"}},
    }
    found = spans(tmp_path, dumped({**run, "run_type": "chain"}), dumped(run))
    assert [(r.session, r.model, r.usage, messages(r)) for r in found] == [
        ("th", "m", Usage(9, None, None, 1), MESSAGES)
    ]


def test_langsmith_tool_calls(tmp_path: Path) -> None:
    asked = {"id": ["langchain", "schema", "messages", "AIMessage"]}
    asked["kwargs"] = {"content": "", "tool_calls": [{"id": "c", "name": "f", "args": {"x": 1}}]}  # type: ignore[assignment]
    told = {"id": ["x", "ToolMessage"], "kwargs": {"content": "r", "tool_call_id": "c"}}
    run = {"id": "r", "run_type": "llm", "trace_id": "t", "inputs": {"messages": [[asked, told]]}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    assert messages(spans(tmp_path, dumped(run))[0]) == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "r", "tool_call_id": "c"},
    ]


def litellm(**more: Any) -> bytes:
    base = {"id": "x", "startTime": 1772442000.0, "model_parameters": {}, "hidden_params": {}, "model": "m"}
    return dumped({**base, "prompt_tokens": 9, "completion_tokens": 1, **more})


def test_litellm_redacted_prompts_and_own_cache(tmp_path: Path) -> None:
    path = write(tmp_path, lines(litellm(messages="redacted-by-litellm"), litellm(messages=MESSAGES, cache_hit=True)))
    log = open_log([str(path)])
    found = [r for r in log.requests() if isinstance(r, Request)]
    assert [(r.no_prompt, r.usage) for r in found] == [(True, Usage(9, None, None, 1)), (False, None)]
    assert "turn_off_message_logging" in log.notes()[0]


def test_litellm_spend_log_without_prompts(tmp_path: Path) -> None:
    row = {"request_id": "x", "call_type": "acompletion", "spend": 0.1, "startTime": "2026-03-02T09:00:00Z"}
    path = write(tmp_path, lines(dumped({**row, "messages": {}, "response": {}, "prompt_tokens": 4})))
    log = open_log([str(path)])
    assert [r.no_prompt for r in log.requests() if isinstance(r, Request)] == [True]
    assert "store_prompts_in_spend_logs" in log.notes()[0]


def entry(body: str, answer: dict[str, Any], url: str = "https://api.openai.com/v1/chat/completions") -> dict[str, Any]:
    request = {"method": "POST", "url": url, "headers": [], "postData": {"text": body}}
    return {"startedDateTime": "2026-03-02T09:00:00Z", "request": request, "response": {"content": answer}}


def test_har_streams_base64_and_other_entries(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}
    chunks = [json.dumps({"id": "c", "choices": []}), json.dumps({"id": "c", "usage": usage}), "[DONE]"]
    events = "".join(f"data: {chunk}\n\n" for chunk in chunks)
    packed = {"text": base64.b64encode(events.encode()).decode(), "encoding": "base64"}
    page = {"request": {"method": "GET", "url": "https://example.com/"}, "response": {}}
    doc = {"log": {"entries": [page, entry(json.dumps(CHAT), packed), entry(json.dumps(CHAT), {"text": events})]}}
    path = write(tmp_path, json.dumps(doc, indent=1).encode(), "x.har")
    log = open_log([str(path)])
    found = [r for r in log.requests() if isinstance(r, Request)]
    assert [(r.id, r.usage, r.at_s) for r in found] == [("c", Usage(9, 4, None, 1), 1772442000.0)] * 2
    assert log.notes() == (f"{path}: 1 entries are no model requests",)


@pytest.mark.parametrize(
    ("url", "key", "provider", "model"),
    [
        (
            "https://g.example/v1beta/models/gemini-2.5-pro:generateContent?key=x",
            "contents",
            "gemini",
            "gemini-2.5-pro",
        ),
        ("https://x.example/openai/deployments/prod/chat/completions?v=1", "messages", "openai-chat", "prod"),
        ("https://b.example/model/anthropic.claude/converse", "messages", "bedrock-converse", "anthropic.claude"),
        ("https://gateway.example/anthropic/v1/messages", "messages", "anthropic", "answered"),
    ],
)
def test_address_tells_api_and_model(tmp_path: Path, url: str, key: str, provider: str, model: str) -> None:
    answer = {"text": '{"id":"1","model":"answered"}'}
    doc = {"log": {"entries": [entry(json.dumps({key: [{}]}), answer, url)]}}
    found, _ = read(write(tmp_path, dumped(doc), "x.har"))
    assert [(r.provider, r.model) for r in found] == [(provider, model)]


def netstring(value: Any) -> bytes:
    """Encode a tnetstring, to its specification."""
    if isinstance(value, dict):
        inner, mark = b"".join(netstring(k) + netstring(v) for k, v in value.items()), b"}"
    elif isinstance(value, list):
        inner, mark = b"".join(map(netstring, value)), b"]"
    elif isinstance(value, bytes):
        inner, mark = value, b","
    elif isinstance(value, float):
        inner, mark = repr(value).encode(), b"^"
    elif value is None:
        inner, mark = b"", b"~"
    else:
        inner, mark = str(value).encode(), b";" if isinstance(value, str) else b"#"
    return b"%d:%s%s" % (len(inner), inner, mark)


def flow(body: bytes, headers: list[Any], kind: str = "http") -> bytes:
    request = {"host": "h", "path": b"/v1/chat/completions", "scheme": b"https", "headers": headers, "content": body}
    return netstring({"request": {**request, "timestamp_start": 5.5}, "response": None, "type": kind, "version": 21})


def test_mitmproxy_packed_body_other_flows_and_a_cut_end(tmp_path: Path) -> None:
    packed = flow(gzip.compress(dumped(CHAT)), [[b"Content-Encoding", b"gzip"]])
    plain = flow(dumped(CHAT), [[b"Session_Id", b"s"]])
    path = write(tmp_path, plain + packed + flow(b"{}", []) + flow(b"", [], "tcp") + plain[:-30], "x.flow")
    found, errors = read(path)
    assert [(r.session, r.at_s) for r in found] == [("s", 5.5), (None, 5.5)]
    assert len(errors) == 1
    assert "the last flow is cut off" in errors[0]


def test_bedrock_vendor_body_cloudwatch_and_s3(tmp_path: Path) -> None:
    def log(given: dict[str, Any], **more: Any) -> dict[str, Any]:
        base = {"schemaType": "ModelInvocationLog", "timestamp": "2026-03-02T09:00:00Z", "operation": "InvokeModel"}
        return {**base, "modelId": "arn:aws:bedrock:eu:1:inference-profile/eu.anthropic.claude", "input": given, **more}

    vendor = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 1, "system": "S", "messages": MESSAGES}
    records = [
        log({"inputBodyJson": vendor, "inputTokenCount": 3, "cacheReadInputTokenCount": 8}),
        {"timestamp": 1772442000000, "message": json.dumps(log({"inputBodyJson": vendor}))},
        log({"inputBodyS3Path": "s3://b/k", "inputTokenCount": 7}),
    ]
    log_ = open_log([str(write(tmp_path, lines(*map(dumped, records))))])
    found = [r for r in log_.requests() if isinstance(r, Request)]
    assert [(r.provider, r.body_pointer) for r in found[:2]] == [
        ("anthropic", "/input/inputBodyJson"),
        ("anthropic", "/message/input/inputBodyJson"),
    ]
    assert [r.usage for r in found] == [Usage(11, 8, None, None), None, Usage(7, None, None, None)]
    assert found[0].model == "eu.anthropic.claude"
    assert found[2].no_prompt
    assert "inputBodyS3Path" in log_.notes()[0]


def test_helicone_without_bodies(tmp_path: Path) -> None:
    row = {"request_id": "r", "signed_body_url": "https://x", "request_body": {}, "provider": "ANTHROPIC"}
    counts = {"prompt_tokens": 3, "prompt_cache_read_tokens": 8, "completion_tokens": 1}
    found = spans(tmp_path, dumped({**row, **counts, "request_created_at": "2026-03-02T09:00:00Z"}))
    assert [(r.no_prompt, r.usage) for r in found] == [(True, Usage(11, 8, None, 1))]


def test_mlflow_langchain_messages(tmp_path: Path) -> None:
    given = json.dumps([[{"content": "hi", "type": "human"}]])
    attributes = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": given}
    attributes["mlflow.chat.tokenUsage"] = '{"input_tokens": 5, "output_tokens": 1}'
    record = {"info": {"trace_id": "t"}, "data": {"spans": [{"span_id": "s", "attributes": attributes}]}}
    found = spans(tmp_path, dumped(record))
    assert [(messages(r), r.usage) for r in found] == [(MESSAGES, Usage(5, None, None, 1))]


def test_azure_rows_out_of_order_and_missing(tmp_path: Path) -> None:
    text = json.dumps(MESSAGES)

    def row(key: str, number: int, part: str) -> bytes:
        return dumped({"CorrelationId": key, "SequenceNumber": number, "RequestMessages": part, "TimeGenerated": key})

    first, second = "2026-03-02T09:00:00Z", "2026-03-02T09:00:01Z"
    records = [row(first, 2, text[10:]), row(second, 1, text[:10]), row(first, 1, text[:10])]
    found = spans(tmp_path, *records)
    assert [r.truncated for r in found] == [False, True]
    assert messages(found[0]) == MESSAGES


def test_promptfoo_text_prompts_and_its_own_cache(tmp_path: Path) -> None:
    def result(raw: str, cached: bool) -> dict[str, Any]:
        response = {"cached": cached, "tokenUsage": {"prompt": 5, "completion": 1, "cached": 6}}
        return {"id": "r", "prompt": {"raw": raw}, "provider": {"id": "openai:gpt-5"}, "response": response}

    doc = {"evalId": "e", "results": {"version": 3, "results": [result("say hi", False), result("say hi", True)]}}
    found, errors = read(write(tmp_path, json.dumps(doc, indent=1).encode(), "results.json"))
    assert not errors
    assert messages(found[0]) == [{"role": "user", "content": "say hi"}]
    assert [r.usage for r in found] == [Usage(5, None, None, 1), None]
