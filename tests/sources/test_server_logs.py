"""Logs of inference servers, and traces of block ids and lengths."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.read import open_log
from prefixlint.model import Request, Usage
from tests.sources.test_bodies import CHAT, dumped
from tests.sources.test_hostile import lines, read, write

AT = "INFO 03-02 09:00:00"


def vllm(*records: str) -> bytes:
    return "".join(f"(APIServer pid=1) {AT} [request_logger.py:9] {r}\n" for r in records).encode()


def noted(path: Path) -> tuple[list[Request], tuple[str, ...]]:
    log = open_log([str(path)])
    found = [r for r in log.requests() if isinstance(r, Request)]
    return found, log.notes()


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("'a\\nb'", "a\nb"),
        ('"it\'s"', "it's"),
        ("'caf\\xe9 \\u2713'", "café ✓"),
        ("'back\\\\slash \\'quoted\\''", "back\\slash 'quoted'"),
        ("'é'", "é"),
    ],
)
def test_vllm_prompt_is_a_python_string(tmp_path: Path, text: str, prompt: str) -> None:
    path = write(tmp_path, vllm(f"Request cmpl-1 details: prompt: {text}, prompt_token_ids: [1], x"), "server.log")
    assert [(r.text, r.truncated) for r in noted(path)[0]] == [(prompt, False)]


def test_vllm_older_line_holds_prompt_and_params(tmp_path: Path) -> None:
    line = "INFO 03-02 09:00:00 [logger.py:39] Received request cmpl-1: prompt: 'hi', params: SamplingParams(n=1)\n"
    assert [(r.id, r.text) for r in noted(write(tmp_path, line.encode(), "server.log"))[0]] == [("cmpl-1", "hi")]


def test_vllm_json_body_is_preferred_to_the_rendered_prompt(tmp_path: Path) -> None:
    data = vllm(
        f"Request c-1 JSON body: {json.dumps(CHAT)}", "Request c-1 details: prompt: 'x', y", "Received request c-1: p"
    )
    found, _ = noted(write(tmp_path, data, "server.log"))
    assert [(r.provider, list(r.members), r.text) for r in found] == [("openai-chat", ["model", "messages"], None)]


def test_vllm_cut_prompt_is_marked(tmp_path: Path) -> None:
    data = vllm("Request c-1 details: prompt: 'abcd', prompt_token_ids: [1, 2, 3, 4], x")
    assert [r.truncated for r in noted(write(tmp_path, data, "server.log"))[0]] == [True]


def test_vllm_at_info_says_what_to_switch_on(tmp_path: Path) -> None:
    data = vllm("Received request c-1: params: SamplingParams(n=1), lora_request: None.")
    data += b"INFO 03-02 09:00:09 [loggers.py:1] Engine 000: Avg prompt throughput: 1, Prefix cache hit rate: 45.3%\n"
    found, notes = noted(write(tmp_path, data, "server.log"))
    assert [r.no_prompt for r in found] == [True]
    assert "VLLM_LOGGING_LEVEL=DEBUG" in notes[0]
    assert notes[1].endswith("the server's last prefix cache hit rate is 45.3 %")


def test_vllm_year_is_the_last_one_before_the_file_was_written(tmp_path: Path) -> None:
    data = vllm("Received request c-1: p").replace(b"03-02", b"12-31") + vllm("Received request c-2: p")
    path = write(tmp_path, data, "server.log")
    written = datetime(2026, 3, 3, tzinfo=UTC).timestamp()
    os.utime(path, (written, written))
    times = [datetime.fromtimestamp(r.at_s or 0, UTC).date().isoformat() for r in noted(path)[0]]
    assert times == ["2025-12-31", "2026-03-02"]


def sglang(event: str, rid: str, obj: Any, **more: Any) -> bytes:
    return dumped({"timestamp": "2026-03-02T09:00:00+00:00", "event": event, "rid": rid, "obj": obj, **more})


def finished(rid: str, obj: Any, cached: int) -> bytes:
    out = {"text": "r", "meta_info": {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": cached}}
    return sglang("request.finished", rid, obj, out=out)


def test_sglang_requests_keep_the_order_in_which_they_came(tmp_path: Path) -> None:
    obj = {"text": "p", "sampling_params": {}}
    records = [sglang("request.received", "1", obj), sglang("request.received", "2", obj)]
    found, errors = read(write(tmp_path, lines(*records, finished("2", {}, 5), finished("1", {}, 0))))
    assert not errors
    assert [(r.id, r.usage) for r in found] == [("1", Usage(9, 0, None, 1)), ("2", Usage(9, 5, None, 1))]


def test_sglang_ids_openai_bodies_cuts_and_level_0(tmp_path: Path) -> None:
    cut = "a" * 1024 + " ... " + "b" * 1024
    records = [
        sglang("request.received", "1", {"input_ids": [1, 2], "sampling_params": {}, "extra_key": "tenant"}),
        sglang("request.received.openai", "2", CHAT),
        sglang("request.received", "2", {"text": "rendered", "sampling_params": {}}),
        sglang("request.received", "3", {"text": cut, "sampling_params": {}}),
        sglang("request.received", "4", {"sampling_params": {}}),
    ]
    found, notes = noted(write(tmp_path, lines(*records)))
    assert [r.provider for r in found] == ["token-trace", "openai-chat", "raw", "raw"]
    assert (found[0].tokens, found[0].scope) == ([1, 2], "tenant")
    assert (found[2].text, found[2].truncated) == ("a" * 1024, True)
    assert found[3].no_prompt
    assert "--log-requests-level 3" in notes[0]


def test_sglang_printed_log_says_how_to_get_json(tmp_path: Path) -> None:
    text = b"[2026-03-02 09:00:00] Receive: obj=GenerateReqInput(rid='1', text='hi')\n"
    _, errors = read(write(tmp_path, text, "server.log"))
    assert errors == ["server.log: this SGLang log is no JSON; start the server with --log-requests-format json"]


def test_llamacpp_older_spelling(tmp_path: Path) -> None:
    text = """slot launch_slot_: id  0 | task 5 | processing task
slot update_slots: id  0 | task 5 | new prompt, n_ctx_slot = 2048, n_keep = 0, n_prompt_tokens = 40
slot update_slots: id  0 | task 5 | kv cache rm [25, end)
slot print_timing: id  0 | task 5 |
slot      release: id  0 | task 5 | stop processing: n_past = 42, truncated = 0
"""
    found, _ = noted(write(tmp_path, text.encode(), "llama.log"))
    assert [r.usage for r in found] == [Usage(40, 25, None, None)]


def test_mooncake_and_bailian_blocks(tmp_path: Path) -> None:
    mooncake = {"timestamp": 3000, "input_length": 700, "output_length": 5, "hash_ids": [0, 7]}
    found, _ = read(write(tmp_path, dumped(mooncake)))
    assert [(r.at_s, r.blocks, r.block_size, r.usage) for r in found] == [(3.0, [0, 7], 512, Usage(700, None, None, 5))]
    asked = {"chat_id": 1, "parent_chat_id": -1, "timestamp": 1.5, "type": "text", "turn": 1}
    rows = [{**asked, "input_length": 30, "output_length": 2, "hash_ids": [1, 2]}]
    rows.append({**rows[0], "chat_id": 9, "parent_chat_id": 1, "timestamp": 2.5, "turn": 2})
    found, _ = read(write(tmp_path, lines(*map(dumped, rows))))
    assert [(r.at_s, r.block_size, r.session) for r in found] == [(1.5, 16, "1"), (2.5, 16, "1")]


def test_kv_cache_tester_sub_agents_run_beside_their_parent(tmp_path: Path) -> None:
    def call(at_s: float, *blocks: int) -> dict[str, Any]:
        return {"t": at_s, "type": "n", "in": 64 * len(blocks), "out": 1, "hash_ids": blocks, "model": "m"}

    agent = {"t": 10.0, "type": "subagent", "agent_id": "a", "requests": [call(0.0, 5), call(4.0, 5, 6)]}
    trace = {"id": "x", "block_size": 64, "hash_id_scope": "local", "requests": [call(0.0, 1), agent, call(12.0, 1, 2)]}
    found, _ = read(write(tmp_path, dumped(trace)))
    assert [(r.at_s, r.session) for r in found] == [(0.0, "x"), (10.0, "x/a"), (12.0, "x"), (14.0, "x/a")]
    assert {(r.scope, r.block_size, r.no_prompt) for r in found} == {("x", 64, True)}


def test_length_traces(tmp_path: Path) -> None:
    azure = b"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"
    burst = (
        b"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n"
    )
    first, second = write(tmp_path, azure, "a.csv"), write(tmp_path, burst, "b.csv")
    found, errors = read(first, second)
    assert not errors
    assert [(r.at_s, r.usage, r.model) for r in found] == [
        (5.0, Usage(472, None, None, 18), "ChatGPT"),
        (1700158623.97996, Usage(4808, None, None, 10), None),  # 2023-11-16T18:17:03.97996Z
    ]
