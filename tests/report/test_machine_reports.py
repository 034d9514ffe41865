"""SARIF, GitHub, GitLab and JUnit reports: whole outputs, official schemas, and text that tries to break out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator

from prefixlint.api.check import check_bytes
from prefixlint.model import CheckResult, Finding, Fix, InputFile, ReportOptions, Span, Step
from prefixlint.report import github, gitlab, junit, sarif

PLAIN = ReportOptions()
SCHEMA = Path(__file__).parent.parent / "data" / "sarif" / "sarif-2.1.0-rtm.5.json"

TRACED = Finding(
    "timestamp",
    "warning",
    "high",
    "clock time 'datetime.now()' reaches the prompt",
    Span("src/a b.py", 0, 10, 24, 3, 8, 3, 22),
    related=(Span("src/c.py", 0, 0, 0, 9, 1, 9, 2),),
    fix=Fix("x", "display"),
    trace=(
        Step(Span("src/a b.py", 0, 10, 24, 3, 8, 3, 22), "the clock is read"),
        Step(Span("src/c.py", 0, 0, 5, 9, 1, 9, 6), "it becomes the system prompt"),
    ),
    fingerprint="0123456789abcdef:1",
)
NASTY = Finding(
    "random-id",
    "error",
    "medium",
    "id 'x\r\n::error::owned,a:b%0A' \x1b[31m]]> <b>&\"",
    Span("dir,a:b/%.md", 0, 0, 3, 1, 1, 2, 4),
    "/a/b",
    0,
    fingerprint="fedcba9876543210:1",
)
INFO = Finding("date", "info", "medium", "date '{{date}}' changes every day", Span("c.md", 0, 4, 8, 1, 5, 1, 9))
RESULT = CheckResult(
    (
        InputFile("src/a b.py", "source", 0),
        InputFile("clean.md", "prompt-file", 1),
        InputFile("broken.json", "json", 0, ("broken.json:1:2: expected a key",)),
    ),
    (TRACED, NASTY, INFO),
    ("one note",),
)


def validate(document: Any) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in Draft4Validator(schema).iter_errors(document)]
    assert errors == []


def test_sarif_follows_the_official_schema() -> None:
    validate(json.loads(sarif.check_report(RESULT, PLAIN)))
    validate(json.loads(sarif.check_report(CheckResult((), ()), PLAIN)))


def test_the_schema_does_reject_what_is_wrong() -> None:
    document = json.loads(sarif.check_report(RESULT, PLAIN))
    document["runs"][0]["results"][0]["level"] = "loud"
    with pytest.raises(AssertionError):
        validate(document)


def test_sarif_result() -> None:
    run = json.loads(sarif.check_report(RESULT, PLAIN))["runs"][0]
    first = run["results"][0]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "timestamp"
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "src/a%20b.py"},
                "region": {"startLine": 3, "startColumn": 8, "endLine": 3, "endColumn": 22},
            }
        }
    ]
    steps = first["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [s["location"]["message"]["text"] for s in steps] == ["the clock is read", "it becomes the system prompt"]
    assert [r["level"] for r in run["results"]] == ["warning", "error", "note"]
    assert run["invocations"] == [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [
                {"level": "error", "message": {"text": "broken.json:1:2: expected a key"}},
                {"level": "note", "message": {"text": "one note"}},
            ],
        }
    ]


def fingerprints(text: str) -> list[str]:
    report = json.loads(sarif.check_report(check_bytes("prompts/a.md", text.encode()), PLAIN))
    return [r["partialFingerprints"]["primaryLocationLineHash"] for r in report["runs"][0]["results"]]


def test_fingerprints_survive_moved_lines() -> None:
    text = "You help.\nCurrent time: {{now}}\nSession id: 7b3e88d1c05a4f21\n"
    before = fingerprints(text)
    assert len(before) == len(set(before)) == 2
    assert fingerprints("More.\n\nAnd more.\n" + text) == before
    assert fingerprints(text.replace("Current time", "  Current   time")) == before
    assert fingerprints(text.replace("7b3e88d1c05a4f21", "9c3e88d1c05a4f55"))[1] != before[1]


def test_equal_lines_have_fingerprints_of_their_own() -> None:
    found = fingerprints("Current time: {{now}}\nYou help.\nCurrent time: {{now}}\n")
    assert len(set(found)) == 2


def test_github_annotations_cannot_be_broken_out_of() -> None:
    assert github.check_report(RESULT, PLAIN).splitlines() == [
        "::warning file=src/a b.py,line=3,col=8,endColumn=22,title=prefixlint timestamp"
        "::clock time 'datetime.now()' reaches the prompt",
        "::error file=dir%2Ca%3Ab/%25.md,line=1,endLine=2,title=prefixlint random-id"
        "::id 'x\\r\\n::error::owned,a:b%250A' \\x1b[31m]]> <b>&\"",
        "::notice file=c.md,line=1,col=5,endColumn=9,title=prefixlint date::date '{{date}}' changes every day",
        "::error title=prefixlint::broken.json:1:2: expected a key",
        "::notice title=prefixlint::one note",
    ]


def test_gitlab_code_quality() -> None:
    issues = json.loads(gitlab.check_report(RESULT, PLAIN))
    assert [(i["check_name"], i["severity"]) for i in issues] == [
        ("timestamp", "minor"),
        ("random-id", "major"),
        ("date", "info"),
        ("input", "critical"),
    ]
    assert len({i["fingerprint"] for i in issues}) == 4
    assert issues[0]["location"] == {
        "path": "src/a b.py",
        "positions": {"begin": {"line": 3, "column": 8}, "end": {"line": 3, "column": 22}},
    }


def test_junit_is_well_formed_and_counts() -> None:
    text = junit.check_report(RESULT, PLAIN)
    root = ElementTree.fromstring(text)
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "2", "1")
    assert len(suite.findall("testcase")) == 5
    failure = suite.find("testcase/failure[@type='random-id']")
    assert failure is not None
    assert failure.get("message") == "id 'x\\r\\n::error::owned,a:b%0A' \\x1b[31m]]> <b>&\""
    clean = next(c for c in suite if c.get("classname") == "clean.md")
    assert list(clean) == []


def test_an_empty_result() -> None:
    empty = CheckResult((), ())
    assert github.check_report(empty, PLAIN) == ""
    assert json.loads(gitlab.check_report(empty, PLAIN)) == []
    assert ElementTree.fromstring(junit.check_report(empty, PLAIN))[0].get("tests") == "0"


def test_forks_of_a_log_in_every_report() -> None:
    from prefixlint.model import DiffResult, Fork, Site, Usage

    fork = Fork(
        Span("log.jsonl", 0, 0, 9, 1, 1), Span("log.jsonl", 1, 10, 19, 2, 1), "/messages/0/content", 4, "string",
        3, "timestamp", False, "unsafe", "a", "b", 3, 840, 840,
    )  # fmt: skip
    site = Site("/messages/0/content", "timestamp", 2, 1680, 1680, 0)
    result = DiffResult((), "o200k_base", True, 3, 1, 0, 0, 0, Usage(), (fork,), (site,), ())
    validate(json.loads(sarif.diff_report(result, PLAIN)))
    assert github.diff_report(result, PLAIN) == (
        "::warning file=log.jsonl,line=2,col=1,title=prefixlint timestamp"
        "::2 requests fork at /messages/0/content: 1,680 tokens are computed again\n"
    )
    assert json.loads(gitlab.diff_report(result, PLAIN))[0]["check_name"] == "timestamp"
    assert ElementTree.fromstring(junit.diff_report(result, PLAIN))[0].get("failures") == "1"
