"""Values that change in a system prompt: named, with their place, through every API, in one session and across two."""

from __future__ import annotations

import pytest

from tests.diff.conftest import PROVIDERS, RULES, SYSTEM_AT, Compare, body, named, place

VALUES = [
    ("timestamp", "Now: {}", "2026-03-02T09:00:00Z", "2026-03-02T09:04:13Z"),
    ("timestamp", "Current date and time: {}", "Monday, March 2, 2026 at 9:00 AM", "Monday, March 2, 2026 at 9:04 AM"),
    ("timestamp", "Zeit: {} Uhr", "02.03.2026 09:00", "02.03.2026 09:04"),
    ("timestamp", "当前时间：{}", "2026年3月2日 09:00", "2026年3月2日 09:04"),
    ("timestamp", "الوقت الحالي: {}", "2026-03-02 09:00:11", "2026-03-02 09:05:40"),
    ("timestamp", "It is {} UTC.", "09:00", "09:31"),
    ("date", "Today is {}.", "2026-03-02", "2026-03-03"),
    ("date", "Heute ist {}.", "Montag, 2. März 2026", "Dienstag, 3. März 2026"),
    ("date", "今天是{}。", "2026年3月2日", "2026年3月3日"),
    ("date", "اليوم هو {}", "2 مارس 2026", "3 مارس 2026"),
    ("date", "Hoy es {}", "2 de marzo de 2026", "3 de marzo de 2026"),
    ("epoch", "ts={}", "1772441999", "1772445603"),
    ("epoch", "server_time: {}", "1772441999123", "1772445603456"),
    ("uuid", "session {}", "6be9410c-7e19-4c0b-9a55-0c2f3d1be811", "1f52ad8b-02d4-4b6c-8f1e-91ab37d2c6f4"),
    ("random-id", "request_id: {}", "req_8f3kd92ma1", "req_77dk20smx9"),
    ("random-id", "nonce: {}", "x7Kq2", "p9Lm4"),
    ("counter", "Turn {}.", "3", "4"),
    ("counter", "Messages so far: {}", "9", "10"),
    ("temp-path", "Scratch folder: {}", "/tmp/run-8fa3/out", "/tmp/run-1bc9/out"),
    ("user-or-host", "You are talking to {}.", "Alice", "Bob"),
    ("user-or-host", "Email: {}", "alice@example.com", "bob@example.com"),
    ("git-status", "Current branch: {}", "feature/login", "main"),
    ("cwd-or-env", "Working directory: {}", "/srv/shop", "/srv/blog"),
    ("commit-hash", "HEAD is at {}", "1d20c77", "8ab03e1"),
    ("relative-time-phrase", "Last message: {}", "5 minutes ago", "12 minutes ago"),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("rule", "form", "first", "second"), VALUES, ids=[f"{v[0]} {v[2]}" for v in VALUES])
def test_value(provider: str, rule: str, form: str, first: str, second: str, compare: Compare) -> None:
    ours, theirs = (f"{form.format(value)}\n{RULES}" for value in (first, second))
    before = body(provider, ours, [("user", "hi there")])
    grown = body(provider, theirs, [("user", "hi there"), ("assistant", "hello"), ("user", "go on")])
    other = body(provider, theirs, [("user", "a quite different question")])
    expected = [(rule, *place(provider, before, grown, ours, theirs, SYSTEM_AT[provider]))]
    assert named(compare(before, grown)) == expected
    assert named(compare(before, other)) == expected
    assert named(compare(before, grown, files=True)) == expected


def test_values_that_no_rule_knows_are_named_once_several_were_seen(compare: Compare) -> None:
    bodies = [body("chat", f"第{n}轮\n{RULES}", [("user", f"question {'abcdefg'[n]}")]) for n in range(1, 7)]
    assert {(cause, pointer) for cause, pointer, _ in named(compare(*bodies))} == {("counter", "/messages/0/content")}
    assert not named(compare(*bodies[:2]))


def test_a_value_that_never_changes_is_silent(compare: Compare) -> None:
    system = f"Now: 2026-03-02T09:00:00Z, session 6be9410c-7e19-4c0b-9a55-0c2f3d1be811\n{RULES}"
    assert not named(compare(*(body("chat", system, [("user", f"question {n}")]) for n in range(4))))


def test_left_and_right_are_the_whole_values(compare: Compare) -> None:
    before, after = (f"Now: 2026-03-02T09:{m}:00Z\n{RULES}" for m in ("00", "04"))
    fork = compare(body("chat", before, [("user", "a")]), body("chat", after, [("user", "b")])).forks[0]
    assert (fork.left, fork.right) == ("2026-03-02T09:00:00Z", "2026-03-02T09:04:00Z")


def test_what_a_clock_costs_is_what_stands_behind_it(compare: Compare) -> None:
    before, after = (f"Now: 2026-03-02T09:{m}:00Z\nAgree and go on." for m in ("00", "04"))
    fork = compare(body("chat", before, [("user", "a")]), body("chat", after, [("user", "a")])).forks[0]
    # shared: system | Now|:| |202|6|-|03|-|02|T|09|:   lost: the line end, Agree| and| go| on|. and "user", "a"
    assert (fork.token, fork.lost_tokens, fork.recoverable_tokens) == (13, 8, 8)


def test_a_second_value_behind_the_first_is_told_too(compare: Compare) -> None:
    form = "Now: {}\nsession {}\n" + RULES
    before = body("chat", form.format("2026-03-02T09:00:00Z", "6be9410c-7e19-4c0b-9a55-0c2f3d1be811"), [("user", "a")])
    after = body("chat", form.format("2026-03-02T09:09:00Z", "1f52ad8b-02d4-4b6c-8f1e-91ab37d2c6f4"), [("user", "a")])
    fork = compare(before, after).forks[0]
    assert (fork.cause, fork.also) == ("timestamp", ("uuid",))
    assert fork.recoverable_tokens < fork.lost_tokens
