"""What is special in the logs of coding agents: trees, increments, usage that is written more than once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prefixlint.api.read import open_log
from prefixlint.model import Request, Usage
from prefixlint.sources import _json
from tests.sources.test_bodies import dumped
from tests.sources.test_hostile import lines, read, write


def texts(request: Request, key: str = "messages") -> list[str]:
    """Return the text of each message, blocks joined with +."""
    found = []
    for message in _json.loads(request.members[key]):
        content = message.get("content", message.get("parts", message.get("output")))
        if isinstance(content, list):
            content = "+".join(str(b.get("text") or b.get("type") or next(iter(b))) for b in content)
        found.append(content)
    return found


def line(uuid: str, parent: str | None, kind: str, message: Any, **more: Any) -> bytes:
    """Build one line of a Claude Code transcript."""
    base = {"sessionId": "s", "uuid": uuid, "parentUuid": parent, "type": kind, "isSidechain": False}
    return dumped({**base, "timestamp": "2026-03-02T09:00:00Z", "message": message, **more})


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def answer(key: str, text: str, output: int = 1) -> dict[str, Any]:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 9, "cache_creation_input_tokens": 0, "output_tokens": output}
    return {
        "id": key,
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": text}],
        "usage": usage,
    }


def claude(folder: Path, *records: bytes) -> list[Request]:
    found, errors = read(write(folder, lines(*records)))
    assert not errors
    return found


def test_usage_of_an_answer_counts_once_and_its_last_line_wins(tmp_path: Path) -> None:
    found = claude(
        tmp_path,
        line("u1", None, "user", user("q")),
        line("a1", "u1", "assistant", answer("m1", "thinks", output=3)),
        line("a2", "a1", "assistant", answer("m1", "says", output=80)),
    )
    assert [r.usage for r in found] == [Usage(10, 9, 0, 80)]


def test_rewound_branch_does_not_see_the_other(tmp_path: Path) -> None:
    found = claude(
        tmp_path,
        line("u1", None, "user", user("q")),
        line("a1", "u1", "assistant", answer("m1", "first")),
        line("u2", "a1", "user", user("wrong way")),
        line("a2", "u2", "assistant", answer("m2", "second")),
        line("u3", "a1", "user", user("other way")),
        line("a3", "u3", "assistant", answer("m3", "third")),
    )
    assert texts(found[2]) == ["q", "first", "other way"]


def test_compaction_starts_a_new_root(tmp_path: Path) -> None:
    found = claude(
        tmp_path,
        line("u1", None, "user", user("q")),
        line("a1", "u1", "assistant", answer("m1", "first")),
        line("c1", None, "system", None, subtype="compact_boundary", logicalParentUuid="a1"),
        line("u2", "c1", "user", user("This session is being continued"), isCompactSummary=True),
        line("a2", "u2", "assistant", answer("m2", "second")),
    )
    assert texts(found[1]) == ["This session is being continued"]


def test_sub_agents_are_sessions_of_their_own(tmp_path: Path) -> None:
    found = claude(
        tmp_path,
        line("u1", None, "user", user("q")),
        line("a1", "u1", "assistant", answer("m1", "calls an agent")),
        line("s1", None, "user", user("sub task"), isSidechain=True),
        line("s2", "s1", "assistant", answer("m2", "sub answer"), isSidechain=True),
        line("u2", "a1", "user", user("result")),
        line("a2", "u2", "assistant", answer("m3", "done")),
    )
    by_session = {r.session: texts(r) for r in found}
    assert by_session == {"s": ["q", "calls an agent", "result"], "s/s1": ["sub task"]}


def test_agent_files_carry_their_id(tmp_path: Path) -> None:
    more = {"agentId": "a1b2", "isSidechain": True}
    found = claude(
        tmp_path, line("x1", None, "user", user("t"), **more), line("x2", "x1", "assistant", answer("m", "r"), **more)
    )
    assert [r.session for r in found] == ["s/a1b2"]


def test_errors_and_synthetic_answers_are_no_requests(tmp_path: Path) -> None:
    failed = {**answer("e1", "API Error: 529"), "model": "<synthetic>"}
    found = claude(
        tmp_path,
        line("u1", None, "user", user("q")),
        line("e1", "u1", "assistant", failed, isApiErrorMessage=True),
        line("u2", "e1", "user", user("again")),
        line("a1", "u2", "assistant", answer("m1", "ok")),
    )
    assert [texts(r) for r in found] == [["q+again"]]


def test_resumed_session_does_not_repeat_its_history(tmp_path: Path) -> None:
    records = [line("u1", None, "user", user("q")), line("a1", "u1", "assistant", answer("m1", "first"))]
    copies = [r.replace(b'"u1"', b'"u1b"').replace(b'"a1"', b'"a1b"') for r in records]
    more = [line("u2", "a1b", "user", user("next")), line("a2", "u2", "assistant", answer("m2", "second"))]
    found = claude(tmp_path, *records, *copies, *more)
    assert [r.id for r in found] == ["m1", "m2"]
    assert texts(found[1]) == ["q", "first", "next"]


def test_resumed_session_in_another_file_counts_once(tmp_path: Path) -> None:
    records = [line("u1", None, "user", user("q")), line("a1", "u1", "assistant", answer("m1", "first"))]
    more = [line("u2", "a1", "user", user("next")), line("a2", "u2", "assistant", answer("m2", "second"))]
    first = write(tmp_path, lines(*records), "one.jsonl")
    second = write(
        tmp_path, lines(*[r.replace(b'"sessionId": "s"', b'"sessionId": "t"') for r in records + more]), "two.jsonl"
    )
    found, _ = read(first, second)
    assert [(r.id, r.session) for r in found] == [("m1", "s"), ("m2", "t")]
    assert texts(found[1]) == ["q", "first", "next"]


def rollout(kind: str, **payload: Any) -> bytes:
    return dumped({"timestamp": "2026-03-02T09:00:00Z", "type": kind, "payload": payload})


def item(role: str, text: str) -> bytes:
    kind = "output_text" if role == "assistant" else "input_text"
    return rollout("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def counted(total: int, last: int) -> bytes:
    info = {
        "total_token_usage": {"input_tokens": total},
        "last_token_usage": {"input_tokens": last, "output_tokens": 1},
    }
    return rollout("event_msg", type="token_count", info=info)


META = rollout("session_meta", id="c", base_instructions={"text": "I"})


def test_codex_repeated_token_counts_count_once(tmp_path: Path) -> None:
    records = [META, item("user", "q"), item("assistant", "a"), counted(10, 10), counted(10, 10)]
    records += [rollout("event_msg", type="token_count", info=None), item("user", "r"), item("assistant", "b")]
    found, errors = read(write(tmp_path, lines(*records, counted(25, 15))))
    assert not errors
    assert [r.usage.input_tokens for r in found if r.usage] == [10, 15]
    assert [texts(r, "input") for r in found] == [["q"], ["q", "a", "r"]]


def test_codex_call_without_new_input_is_a_call_of_its_own(tmp_path: Path) -> None:
    records = [
        META,
        item("user", "q"),
        item("assistant", "a"),
        counted(10, 10),
        item("assistant", "b"),
        counted(21, 11),
    ]
    found, _ = read(write(tmp_path, lines(*records)))
    assert [texts(r, "input") for r in found] == [["q"], ["q", "a"]]


def test_codex_compaction_and_rollback(tmp_path: Path) -> None:
    kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "summary"}]}]
    records = [META, item("user", "q"), item("assistant", "a"), counted(10, 10)]
    records += [rollout("compacted", message="", replacement_history=kept), item("user", "r"), item("assistant", "b")]
    records += [counted(20, 10), rollout("event_msg", type="thread_rolled_back", num_turns=1)]
    records += [item("user", "s"), item("assistant", "c"), counted(30, 10)]
    found, _ = read(write(tmp_path, lines(*records)))
    assert [texts(r, "input") for r in found] == [["q"], ["summary", "r"], ["summary", "s"]]


def test_gemini_cli_tool_calls_rewind_and_repeated_lines(tmp_path: Path) -> None:
    head = {"sessionId": "g", "projectHash": "h", "startTime": "2026-03-02T09:00:00Z"}
    call = {"id": "t", "name": "ls", "args": {"dir": "."}, "result": [{"functionResponse": {"name": "ls"}}]}
    asked = {"id": "1", "type": "user", "content": "list"}
    first = {
        "id": "2",
        "type": "gemini",
        "content": "",
        "tokens": {"input": 5, "output": 1, "cached": 0, "thoughts": 2},
    }
    second = {"id": "3", "type": "gemini", "content": "done", "tokens": {"input": 9, "output": 1, "cached": 5}}
    wrong = {"id": "4", "type": "user", "content": "wrong"}
    right = {"id": "5", "type": "user", "content": "right"}
    third = {"id": "6", "type": "gemini", "content": "ok"}
    records = [head, asked, first, {**first, "toolCalls": [call]}, second, wrong, {"$rewindTo": "4"}, right, third]
    found, errors = read(write(tmp_path, lines(*map(dumped, records))))
    assert not errors
    assert [texts(r, "contents") for r in found] == [
        ["list"],
        ["list", "functionCall", "functionResponse"],
        ["list", "functionCall", "functionResponse", "done", "right"],
    ]
    assert [r.usage for r in found] == [Usage(5, 0, None, 3), Usage(9, 5, None, 1), None]


def test_gemini_cli_older_document(tmp_path: Path) -> None:
    messages = [
        {"id": "1", "type": "user", "content": "q"},
        {"id": "2", "type": "gemini", "content": "a", "model": "g"},
    ]
    doc = {"sessionId": "g", "projectHash": "h", "startTime": "2026-03-02T09:00:00Z", "messages": messages}
    found, _ = read(write(tmp_path, json.dumps(doc, indent=1).encode(), "session-1.json"))
    assert [(texts(r, "contents"), r.model) for r in found] == [(["q"], "g")]


def test_cline_usage_alone(tmp_path: Path) -> None:
    said = json.dumps({"tokensIn": 3, "tokensOut": 2, "cacheWrites": 4, "cacheReads": 8})
    shown = [{"ts": 1772442000000, "type": "say", "say": "api_req_started", "text": said}]
    found, _ = read(write(tmp_path, json.dumps(shown, indent=1).encode(), "ui_messages.json"))
    assert [(r.no_prompt, r.usage) for r in found] == [(True, Usage(15, 8, 4, 2))]


def test_swe_agent_exact_queries_win_over_the_history(tmp_path: Path) -> None:
    steps = [
        {"query": [{"role": "system", "content": "S", "agent": "main"}]},
        {"query": [{"role": "user", "content": "U"}]},
    ]
    record = {"environment": "e", "trajectory": steps, "history": [{"role": "assistant", "content": "no"}], "info": {}}
    found, _ = read(write(tmp_path, dumped(record), "x.traj"))
    assert [_json.loads(r.members["messages"]) for r in found] == [
        [{"role": "system", "content": "S"}],
        [{"role": "user", "content": "U"}],
    ]


def test_mini_swe_agent_drops_what_it_does_not_send(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "q", "extra": {"raw": 1}},
        {"role": "assistant", "content": "a", "extra": {"response": {"usage": {"prompt_tokens": 4}}}},
        {"role": "user", "content": "r"},
        {"role": "assistant", "content": "b"},
        {"role": "exit", "content": "Submitted"},
    ]
    record = {"info": {}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    found, _ = read(write(tmp_path, dumped(record), "x.traj.json"))
    assert [_json.loads(r.members["messages"]) for r in found][1] == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "r"},
    ]
    assert [r.usage for r in found] == [Usage(4), None]


def test_aider_messages_are_split_at_rules_and_roles(tmp_path: Path) -> None:
    text = "TO LLM 2026-03-02T09:00:00\n-------\nSYSTEM Be brief.\nSYSTEM \nSYSTEM   indented\n"
    text += "-------\nUSER a\n-------\nUSER b\n"
    text += "LLM RESPONSE 2026-03-02T09:00:01\nASSISTANT c\n"
    log = open_log([str(write(tmp_path, text.encode(), ".aider.llm.history"))])
    found = [r for r in log.requests() if isinstance(r, Request)]
    assert [_json.loads(r.members["messages"]) for r in found] == [
        [
            {"role": "system", "content": "Be brief.\n\n  indented"},
            {"role": "user", "content": "a"},
            {"role": "user", "content": "b"},
        ]
    ]
