"""Values under labels: what is found with which confidence, and what stays silent."""

from __future__ import annotations

import pytest

from prefixlint.checks import labelled
from prefixlint.model import Prompt, PromptKind, Request, Segment, Span


def prompt(text: str, kind: PromptKind = "prompt-file", role: str = "system") -> Prompt:
    part = "system" if role == "system" else "message"
    segment = Segment("system" if part == "system" else "message", "", text, role)
    return Prompt(Request("0", "raw", Span("x")), (segment,), "", False, kind)


def found(text: str, least: str = "medium") -> list[tuple[str, str]]:
    """Return (rule, flagged text) of what is at least so sure."""
    levels = ["low", "medium", "high"]
    hits = labelled.check_prompt(prompt(text))
    sure = [h for h in hits if levels.index(h.confidence or "medium") >= levels.index(least)]
    return [(h.rule, text[h.start_char : h.end_char]) for h in sure]


@pytest.mark.parametrize(
    ("text", "rule", "flagged"),
    [
        ("Generated at 2026-08-22T10:04:11Z", "timestamp", "2026-08-22T10:04:11Z"),
        ("The current time is 2024-05-15 15:00:00 EST.", "timestamp", "2024-05-15 15:00:00 EST"),
        (
            "Current time: Tuesday, September 01, 2026 at 10:37 AM",
            "timestamp",
            "Tuesday, September 01, 2026 at 10:37 AM",
        ),
        ("Current Date and Time (UTC): 2025-01-01 10:00:00", "timestamp", "2025-01-01 10:00:00"),
        ("It is now 10:37 AM on Tuesday.", "timestamp", "10:37 AM"),
        ("As of 2026-03-01 10:11:12 UTC the stock is low", "timestamp", "2026-03-01 10:11:12 UTC"),
        ("<time>2026-03-01 10:11</time>", "timestamp", "2026-03-01 10:11"),
        ("当前时间：2026-03-01 10:22:33", "timestamp", "2026-03-01 10:22:33"),
        ("Heute ist Dienstag, der 3. März 2026", "date", "Dienstag, der 3. März 2026"),
        ("Today's date is 2026-03-01.", "date", "2026-03-01"),
        ("**Current date:** March 3, 2026", "date", "March 3, 2026"),
        ("<current_date>2026-03-01</current_date>", "date", "2026-03-01"),
        ("Today is Monday", "date", "Monday"),
        ("今日は2026年3月1日（日）です。", "date", "2026年3月1日（日）"),
        ("timestamp: 1767225600", "epoch", "1767225600"),
        ('{"generated_at_ms": 1767225600123}', "epoch", "1767225600123"),
        ('"session_id": "7f9c24e5-1d3b-4c8a-9f60-2b7d8e1a5c43"', "uuid", "7f9c24e5-1d3b-4c8a-9f60-2b7d8e1a5c43"),
        ("session_id: 9f2c41d07be3", "random-id", "9f2c41d07be3"),
        ("Request-ID = req_8fk2mZ01qa", "random-id", "req_8fk2mZ01qa"),
        ("nonce=9b27f81c", "random-id", "9b27f81c"),
        ("Index (last updated: 5 minutes ago)", "relative-time-phrase", "5 minutes ago"),
        ("The current working directory is '/tmp/wk-a81x9'.", "temp-path", "/tmp/wk-a81x9"),
        ("Current branch: feature/login", "git-status", "feature/login"),
    ],
)
def test_found(text: str, rule: str, flagged: str) -> None:
    assert found(text) == [(rule, flagged)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Policy effective 2026-01-15", id="a date that is part of the matter"),
        pytest.param("## 2.3.0 (2025-11-02)\n- Version 2024.01.15", id="changelog"),
        pytest.param(
            "The base image is pinned at commit 9fceb02d0ae598e95dc970b74767f19372d61af8.", id="pinned commit"
        ),
        pytest.param("Palette: #a1b2c3, #0f0f0f80", id="colours"),
        pytest.param("UUID of the order, for example 123e4567-e89b-12d3-a456-426614174000", id="example"),
        pytest.param("session_id: 123e4567-e89b-12d3-a456-426614174000", id="the example uuid of RFC 4122"),
        pytest.param("session_id: abc123def456", id="made-up id"),
        pytest.param("For example, current time: 2026-03-01 10:00:00", id="introduced as example"),
        pytest.param("Example:\ncurrent time: 2026-03-01 10:00:00", id="introduced on the line before"),
        pytest.param("<example>\nThe current time is 10:37 AM.\n</example>", id="example element"),
        pytest.param("Show `current time: 10:37:00` in the corner", id="inline code"),
        pytest.param("```\ncurrent time: 10:37:00\n```", id="fenced code"),
        pytest.param("{# current time: 10:37:00 #}", id="template comment"),
        pytest.param("If the current time is 10:00, close the shop", id="condition"),
        pytest.param("Assume today is 2024-05-01", id="pinned on purpose"),
        pytest.param("Ask for the current time if you need it. Step 2 follows.", id="prose"),
        pytest.param("His birth date is April 23, 1995", id="another date"),
        pytest.param("Today: Monday through Friday", id="opening days"),
        pytest.param("Last updated: 2026-03-01", id="day of an edit"),
        pytest.param("The token is gpt4o2024 and the hash is md5", id="names"),
        pytest.param("Every request needs a session id. 10 digits are enough.", id="words"),
        pytest.param("Create a feature branch before 10:00.", id="branch as a word"),
    ],
)
def test_silent(text: str) -> None:
    assert found(text) == []


def test_a_first_line_that_is_a_clock() -> None:
    text = "2026-08-10 16:16:11\nYou are a patient tutor of mathematics and never give the answer away."
    assert found(text) == [("timestamp", "2026-08-10 16:16:11")]


def test_a_value_alone_is_no_prompt() -> None:
    assert found("2024-10-27 14:10:53") == []


def test_turns_of_the_user_are_fresh_input() -> None:
    assert list(labelled.check_prompt(prompt("Current time: 10:37:11", "body", "user"))) == []


def test_a_raw_prompt_counts_up_to_its_last_user_turn() -> None:
    text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nCurrent time: 10:37:11<|im_end|>"
    raw = Prompt(Request("0", "raw", Span("x")), (Segment("message", "", text),), "", True)
    assert list(labelled.check_prompt(raw)) == []


@pytest.mark.parametrize("seed", ["session id: 9f2c41d0 ", "`now: 10:00` ", "today is ", "e.g. time: 1:11 "])
def test_a_long_line_takes_linear_time(seed: str) -> None:
    import time

    spent = []
    for size in (50_000, 400_000):
        text = (seed * (size // len(seed) + 1))[:size]
        started = time.process_time()
        assert all(h.end_char <= size for h in labelled.check_prompt(prompt(text)))
        spent.append(time.process_time() - started)
    assert spent[1] < 20 * max(spent[0], 0.01)


def test_offsets_survive_letters_that_grow_in_lower_case() -> None:
    text = "İİİİ Current time: 10:37:11"
    assert found(text) == [("timestamp", "10:37:11")]
