"""Real sessions of coding agents; the counts are those of TraceLab's own derivation of the same two files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from prefixlint.sources import _json
from tests.sources.test_samples import at, requests_of

SESSIONS = Path(__file__).parent.parent / "data" / "sessions"


def test_claude_session() -> None:
    found = requests_of(SESSIONS / "tracelab-claude-session.jsonl")
    # 25 assistant lines are 10 answers; input_tokens_total and prefix_tokens of round_trace.jsonl.
    totals = [(r.usage.input_tokens, r.usage.cache_read) for r in found if r.usage]
    assert totals == [
        (32272, 27217), (35740, 29380), (38592, 35738), (41131, 38590), (41589, 41129), (42876, 41587),
        (44901, 42874), (45279, 44770), (47508, 45277), (48305, 47506),
    ]  # fmt: skip
    assert all(r.partial and r.rebuilt for r in found)


def test_claude_prompts_only_grow() -> None:
    found = [_json.items(r.members["messages"]) for r in requests_of(SESSIONS / "tracelab-claude-session.jsonl")]
    for before, after in pairwise(found):
        assert after[: len(before)] == before


def test_claude_results_of_parallel_tools_are_all_there() -> None:
    second = requests_of(SESSIONS / "tracelab-claude-session.jsonl")[1]
    assert [b["type"] for b in at(second, "/messages/1/content")] == ["thinking", "text", "tool_use", "tool_use"]
    assert [b["type"] for b in at(second, "/messages/2/content")] == ["tool_result", "tool_result"]


def test_codex_session() -> None:
    found = requests_of(SESSIONS / "tracelab-codex-session.jsonl")
    totals = [(r.usage.input_tokens, r.usage.cache_read) for r in found if r.usage]
    # The differences of total_token_usage, for example 19241 - 9324 = 9917 input tokens of the second call.
    assert totals == [
        (9324, 6912), (9917, 9600), (10058, 9856), (10152, 3456), (10472, 10240), (10436, 9216), (11636, 10624),
        (11727, 10368), (12097, 9216),
    ]  # fmt: skip


def test_codex_input_only_grows_and_ends_with_what_was_answered() -> None:
    found = requests_of(SESSIONS / "tracelab-codex-session.jsonl")
    inputs = [_json.items(r.members["input"]) for r in found]
    for before, after in pairwise(inputs):
        assert after[: len(before)] == before
    # Three tools ran after the first answer, whose reasoning, text and three calls stand before their results.
    assert [at(found[1], f"/input/{i}/type") for i in range(4, 12)] == [
        "reasoning", "message", *["function_call"] * 3, *["function_call_output"] * 3,
    ]  # fmt: skip


def test_transcript_without_links_follows_the_lines() -> None:
    found = requests_of(SESSIONS / "simonw-sample-session.jsonl")
    assert [len(_json.items(r.members["messages"])) for r in found] == [1, 3, 5]


def test_swe_agent_history_becomes_one_request_per_step() -> None:
    found = requests_of(SESSIONS / "ctf__pwn__warmup.traj.gz")
    lengths = [len(_json.items(r.members["messages"])) for r in found]
    assert lengths == sorted(lengths)
    assert {m.split(b",")[0] for r in found for m in _json.items(r.members["messages"])[:1]} == {b'{"role":"system"'}
