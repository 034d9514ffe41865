"""Shapes of volatile values; spans are those that the case collection names as the whole value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint import shapes

CASES = Path(__file__).parent / "cases"


def best(text: str, at: str | int) -> tuple[str, str]:
    """Return (rule, value) of the most specific shape at an offset, or where a text begins."""
    offset = at if isinstance(at, int) else text.index(at)
    first = shapes.covering(text, offset)[0]
    return first.rule, text[first.start_char : first.end_char]


@pytest.mark.parametrize(
    ("text", "at", "rule", "value"),
    [
        ("It is 2025-05-04 14:02:11.", "11", "timestamp", "2025-05-04 14:02:11"),
        ("generatedAt: 2026-04-25T09:00:14.201Z", "14.", "timestamp", "2026-04-25T09:00:14.201Z"),
        ("run 20260301T101112Z", "12Z", "timestamp", "20260301T101112Z"),
        ("Sun, 01 Mar 2026 10:11:12 +0100", "12 +", "timestamp", "Sun, 01 Mar 2026 10:11:12 +0100"),
        ("Tue Jun 16 10:11:12 2026", "12 2", "timestamp", "Tue Jun 16 10:11:12 2026"),
        ("Tuesday, September 01, 2026 at 10:37 AM", "37", "timestamp", "Tuesday, September 01, 2026 at 10:37 AM"),
        ("am 3. März 2026 um 10:37 Uhr", "37", "timestamp", "3. März 2026 um 10:37"),
        ("03/01/2026 10:37", "37", "timestamp", "03/01/2026 10:37"),
        ("2026年3月1日 10時37分", "37", "timestamp", "2026年3月1日 10時37分"),
        ("at 10:37 AM", "37", "timestamp", "10:37 AM"),
        ("Today: Tue Jun 16 2026", "Tue", "date", "Tue Jun 16 2026"),
        ("le 3 août 2026", "août", "date", "3 août 2026"),
        ("3 марта 2026", "марта", "date", "3 марта 2026"),
        ("2026年3月1日（日）", "3月", "date", "2026年3月1日（日）"),
        ("01.03.2026", "03.", "date", "01.03.2026"),
        ("created: 1767225600123", "5600", "epoch", "1767225600123"),
        ("seen 5 minutes ago", "5", "relative-time-phrase", "5 minutes ago"),
        ("id 6be9410c-7e19-4c0b-9a55-0c2f3d1be811", "7e19", "uuid", "6be9410c-7e19-4c0b-9a55-0c2f3d1be811"),
        ("chk=9b27f;", "9b27f", "random-id", "9b27f"),
        ("with req_8fk2mZ01qa", "8fk", "random-id", "req_8fk2mZ01qa"),
        ("Step 1 of 25.", "1", "counter", "1"),
        ("3 messages left", "3", "counter", "3"),
        ("issue #17 is open", "17", "counter", "17"),
        ("image dev:sha-1d20c77", "1d2", "commit-hash", "1d20c77"),
        ("git: branch main, HEAD 8ab03e1, 0 changed", "8ab", "git-status", "8ab03e1"),
        ("git: branch main, HEAD 8ab03e1, 0 changed", "0 c", "git-status", "0"),
        ("Current branch: feature/x", "feature", "git-status", "feature/x"),
        ("directory is '/tmp/wk-a81'.", "a81", "temp-path", "/tmp/wk-a81"),
        ("You are in area Kitchen (floor 1)", "Kitchen", "user-or-host", "Kitchen"),
        ("User name: Ann Lee", "Ann", "user-or-host", "Ann Lee"),
        ("files in /Users/ann/src", "ann", "user-or-host", "ann"),
        ("<files>\n  cart.go\n  main.go\n</files>", "main", "cwd-or-env", "main.go"),
        ("Platform: linux 6.1", "linux", "cwd-or-env", "linux 6.1"),
    ],
)
def test_covering(text: str, at: str, rule: str, value: str) -> None:
    assert best(text, at) == (rule, value)


def test_a_value_that_ends_at_the_offset_counts() -> None:
    assert best("turn 1", 6) == ("counter", "1")
    assert best("turn 10", 6) == ("counter", "10")


def test_prose_has_no_shape() -> None:
    text = "You are a patient tutor who never gives the answer away."
    assert [shapes.covering(text, i) for i in range(len(text))] == [()] * len(text)


def test_find_resolves_overlaps() -> None:
    text = "On 2025-05-04 14:02:11 by ann@example.com"
    found = [(s.rule, text[s.start_char : s.end_char]) for s in shapes.find(text)]
    assert found == [("timestamp", "2025-05-04 14:02:11"), ("user-or-host", "ann@example.com")]


def test_covering_is_local() -> None:
    """Only the surroundings are searched, so that a fork in a large prompt costs what one in a small prompt does."""
    text = "x " * 500_000 + "session id: 9f2c41d07be3"
    assert best(text, len(text) - 5) == ("random-id", "9f2c41d07be3")


def _value_cases() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*/expect.json")):
        expected = json.loads(path.read_text(encoding="utf-8"))
        token = (expected.get("fork") or {}).get("token")
        if token and expected["cause"] in shapes.ORDER:
            found.append(pytest.param(path.parent, expected, id=expected["id"]))
    return found


@pytest.mark.parametrize(("folder", "expected"), _value_cases())
def test_value_of_a_case(folder: Path, expected: dict[str, Any]) -> None:
    fork = expected["fork"]
    for side, number in zip(("left", "right"), fork["request"], strict=True):
        text = _string_at(_bodies(folder, expected["inputs"])[number], expected.get("body", "") + fork["pointer"])
        shape = shapes.covering(text, fork["offset"])[0]
        assert (shape.rule, text[shape.start_char : shape.end_char]) == (expected["cause"], fork["token"][side])
        assert shape.start_char == fork["token"]["start"]


def _bodies(folder: Path, inputs: list[str]) -> list[Any]:
    found: list[Any] = []
    for name in inputs:
        raw = (folder / name).read_text(encoding="utf-8")
        found += [json.loads(x) for x in raw.splitlines()] if name.endswith(".jsonl") else []
        found += [json.loads(raw)] if name.endswith(".json") else []
        found += [raw] if name.endswith(".txt") else []
    return found


def _string_at(value: Any, pointer: str) -> str:
    for token in pointer.split("/")[1:]:
        value = value[int(token)] if isinstance(value, list) else value[token]
    assert isinstance(value, str)
    return value
