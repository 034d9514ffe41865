from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from prefixlint.display import money
from prefixlint.model import CheckResult, DiffResult, Finding, Fork, InputFile, ReportOptions, Site, Span, Step, Usage
from prefixlint.report import json_v1, text

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "prefixlint" / "schemas" / "report-v1.json").read_text(encoding="utf-8")
)
FORK = Fork(
    before=Span("log.jsonl", record=0, line=1),
    after=Span("log.jsonl", record=1, line=2),
    pointer="/messages/0/content",
    char_offset=28,
    kind="string",
    token=9,
    cause="timestamp",
    wanted=False,
    fix="unsafe",
    left="2026-03-02 09:14:03",
    right="2026-03-02 09:14:41",
    shared_tokens=9,
    lost_tokens=840,
    recoverable_tokens=840,
    also=("date",),
    context=("You are a clerk.\nTime: ", ""),
)
RESULT = DiffResult(
    inputs=(InputFile("log.jsonl", "openai-chat", 2, ("log.jsonl:3:7: broken JSON",)),),
    tokenizer="o200k_base",
    exact=True,
    requests=2,
    sessions=1,
    prompt_tokens=1700,
    shared_tokens=9,
    recoverable_tokens=840,
    usage=Usage(1700, 0, None, 20),
    forks=(FORK,),
    sites=(Site("/messages/0/content", "timestamp", 1, 840, 840, 0, 0.0021),),
    findings=(),
)


def test_the_report_is_read_in_ten_seconds() -> None:
    from prefixlint import cards

    advice = " ".join(cards.rule("timestamp").instead.split()).split(". ")[0]
    assert text.diff_report(RESULT, ReportOptions(width=0)) == (
        "log.jsonl (openai-chat, 2 requests)\n"
        "  log.jsonl:3:7: broken JSON\n"
        "\n"
        "  2 requests in 1 session, 1,700 prompt tokens (o200k_base, exact)\n"
        "  shared today       0.5 %  9 tokens\n"
        "  without forks     49.9 %  849 tokens, 840 more than today\n"
        "  the log recorded   0.0 %  0 of 1,700 input tokens read from cache\n"
        "  1 unwanted fork at 1 site: 840 tokens lost, about $0.0021\n"
        "\n"
        "  1. timestamp at /messages/0/content  1 request, 840 tokens lost, about $0.0021\n"
        "     log.jsonl:1 -> log.jsonl:2, token 9, character 28, also date\n"
        "     - You are a clerk.\\nTime: 2026-03-02 09:14:03\n"
        "     + You are a clerk.\\nTime: 2026-03-02 09:14:41\n"
        "                                                ^^\n"
        f"     do: {advice} (prefixlint fix --unsafe does it)\n"
    )


def test_redacted_reports_hold_no_text() -> None:
    for report in (text, json_v1):
        shown = report.diff_report(RESULT, ReportOptions(redact=True))
        assert "09:14" not in shown
        assert "clerk" not in shown


def test_estimates_say_so() -> None:
    shown = text.diff_report(replace(RESULT, tokenizer="estimate", exact=False), ReportOptions())
    assert "(estimated; --tokenizer makes it exact" in shown.splitlines()[3]


def test_a_healthy_log_says_so_in_one_line() -> None:
    healthy = replace(RESULT, forks=(), sites=(), recoverable_tokens=0, inputs=())
    assert "no unwanted fork" in text.diff_report(healthy, ReportOptions())


def test_a_log_without_prompts_is_not_called_healthy() -> None:
    bare = replace(RESULT, forks=(), sites=(), recoverable_tokens=0, inputs=(), prompt_tokens=0, shared_tokens=0)
    shown = text.diff_report(bare, ReportOptions())
    assert "nothing to compare" in shown
    assert "no unwanted fork" not in shown


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "\ufeff", "\r"])
def test_captured_text_cannot_reach_the_terminal(hostile: str) -> None:
    bad = replace(RESULT, forks=(replace(FORK, left=hostile + "a", right=hostile + "b", context=(hostile, "")),))
    assert hostile not in text.diff_report(bad, ReportOptions())


def test_json_follows_its_schema() -> None:
    document = json.loads(json_v1.diff_report(RESULT, ReportOptions()))
    jsonschema.validate(document, SCHEMA)
    assert document["forks"][0]["before"] == {"path": "log.jsonl", "record": 0}


def test_findings_are_one_line_each_with_their_path() -> None:
    step = Step(Span("a.py", line=3, column=5), "now = datetime.now()")
    finding = Finding(
        "timestamp", "warning", "high", "clock in a prompt", Span("a.py", line=9, column=7), trace=(step,)
    )
    result = CheckResult((InputFile("a.py", "python", 0),), (finding,))
    assert text.check_report(result, ReportOptions()) == (
        "a.py:9:7: warning timestamp: clock in a prompt\n    a.py:3:5: now = datetime.now()\n1 finding in 1 file\n"
    )
    jsonschema.validate(json.loads(json_v1.check_report(result, ReportOptions())), SCHEMA)


def test_nothing_found_prints_nothing() -> None:
    assert text.check_report(CheckResult((), ()), ReportOptions()) == ""


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("color", [False, True])
def test_narrow_terminals(width: int, color: bool) -> None:
    long = replace(FORK, left="Zürich\u200b" + "x" * 90, right="Zürich" + "y" * 90, context=("word " * 20, ""))
    report = text.diff_report(replace(RESULT, forks=(long,)), ReportOptions(width=width, color=color))
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in report.splitlines()]
    assert max(len(line) for line in plain) <= width
    unfolded = text.diff_report(replace(RESULT, forks=(long,)), ReportOptions(width=0))
    advice = next(line for line in unfolded.splitlines() if "do:" in line)
    assert " ".join(advice.split()) in " ".join(" ".join(plain).split())
    first = next(n for n, line in enumerate(plain) if line.startswith("     - "))
    minus, plus, carets = plain[first : first + 3]
    at = carets.index("^")
    assert minus[7:at] == plus[7:at] and minus[at] != plus[at]


def test_one_request_is_not_called_healthy() -> None:
    alone = replace(RESULT, requests=1, sessions=1, forks=(), sites=(), shared_tokens=0, recoverable_tokens=0)
    shown = text.diff_report(alone, ReportOptions())
    assert "one request: nothing to compare it with" in shown
    assert "no unwanted fork" not in shown


def test_small_amounts_are_not_called_nothing() -> None:
    assert [money(usd) for usd in (0.004, 0.00002, 1234.5)] == ["$0.0040", "<$0.0001", "$1,234.50"]


def test_pipes_are_not_folded() -> None:
    report = text.diff_report(RESULT, ReportOptions(width=0))
    assert max(len(line) for line in report.splitlines()) > 120
