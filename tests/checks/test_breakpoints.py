"""Cache markers of one request. Limits: Anthropic's documentation (four markers, 20 blocks, 1 h before 5 min)."""

from __future__ import annotations

from typing import Any

import pytest

from prefixlint.api import render
from prefixlint.api.read import request_of
from prefixlint.checks import breakpoints

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
LONG = "You are a patient tutor who never gives the answer away. " * 400


def text(value: str, mark: dict[str, str] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": value} | ({"cache_control": mark} if mark else {})


def found(**members: Any) -> list[tuple[str, str]]:
    body = {"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]} | members
    return [(h.rule, h.pointer) for h in breakpoints.check_prompt(render.render(request_of(body)))]


def test_a_healthy_request_is_silent() -> None:
    talk = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": [text("c", MARK)]},
    ]
    assert found(system=[text(LONG, MARK)], messages=talk) == []


def test_no_markers_are_no_fault() -> None:
    assert found(system="Be brief.") == []


def test_five_markers() -> None:
    system = [text(LONG, MARK), *(text(str(i), MARK) for i in range(4))]
    assert found(system=system) == [("too-many-breakpoints", "/system/4/cache_control")]


def test_an_automatic_marker_counts() -> None:
    system = [text(LONG, MARK), *(text(str(i), MARK) for i in range(3))]
    assert found(system=system, cache_control=MARK) == [("too-many-breakpoints", "/system/3/cache_control")]


def test_an_hour_behind_five_minutes() -> None:
    assert found(system=[text(LONG, MARK), text("b", HOUR)]) == [("ttl-order", "/system/1/cache_control")]
    assert found(system=[text(LONG, HOUR), text("b", MARK)]) == []


def test_below_the_minimum() -> None:
    assert found(system=[text("Be brief.", MARK)]) == [("below-minimum", "/system/0/cache_control")]


def test_an_unknown_model_is_not_judged() -> None:
    assert found(model="my-model", system=[text("Be brief.", MARK)]) == []


@pytest.mark.parametrize(
    ("system", "pointers"),
    [
        ([text(LONG), text("Current time: 2026-08-10 16:16:11", MARK)], ["/system/1/cache_control"]),
        ([text(LONG, MARK), text("Current time: 2026-08-10 16:16:11")], []),
        ([text("Current time: 2026-08-10 16:16:11 " + LONG, MARK)], []),
        ([text(LONG, MARK), text("Current time: 2026-08-10 16:16:11", MARK)], []),
    ],
    ids=["on the clock", "before the clock", "no block before", "a marker before it"],
)
def test_a_marker_on_a_clock(system: list[dict[str, Any]], pointers: list[str]) -> None:
    assert [p for r, p in found(system=system) if r == "breakpoint-misplaced"] == pointers


@pytest.mark.parametrize(("blocks", "is_found"), [(19, False), (20, True)], ids=["AN3: 19 back", "AN2: 20 back"])
def test_lookback(blocks: int, is_found: bool) -> None:
    """The entry of the turn before ends one block before the newest assistant message (cache-facts, AN2 and AN3)."""
    results = [text(str(i)) for i in range(blocks - 2)] + [text("last", MARK)]
    talk = [
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": results},
    ]
    assert [r for r, _ in found(messages=talk)] == (["lookback-exceeded"] if is_found else [])


def test_a_marker_in_between_carries_on() -> None:
    results = [text(str(i), MARK if i == 14 else None) for i in range(24)] + [text("last", MARK)]
    talk = [
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": results},
    ]
    assert found(messages=talk) == []
