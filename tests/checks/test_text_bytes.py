"""Bytes without meaning: what is fragile in one file, and what is spelling."""

from __future__ import annotations

import pytest

from prefixlint.checks import text_bytes
from prefixlint.model import Prompt, PromptKind, Request, Segment, Span


def hits(text: str, kind: PromptKind = "prompt-file") -> list[tuple[str, int, int]]:
    segment = Segment("system", "", text, "system")
    prompt = Prompt(Request("0", "raw", Span("x")), (segment,), "", False, kind)
    return [(h.rule, h.start_char, h.end_char) for h in text_bytes.check_prompt(prompt) if h.confidence != "low"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a \nb\n", [("trailing-whitespace", 1, 2)], id="one blank"),
        pytest.param("a\nb   ", [("trailing-whitespace", 3, 6)], id="end of the prompt"),
        pytest.param("a \r\nb\r\n", [("trailing-whitespace", 1, 2)], id="before CRLF"),
        pytest.param("a\r\nb\nc\n", [("newline-style", 1, 3)], id="CRLF is the rarer"),
        pytest.param("a\r\nb\r\nc\nd", [("newline-style", 7, 8)], id="LF is the rarer"),
        pytest.param("cafe\u0301 bar", [("unicode-normalization", 3, 5)], id="decomposed"),
        pytest.param("\u1112\u1161\u11ab", [("unicode-normalization", 0, 2)], id="conjoining jamo"),
        pytest.param("ok \ud83d", [("unicode-normalization", 3, 4)], id="half an emoji"),
        pytest.param("\ufeff# T", [("bom-or-zero-width", 0, 1)], id="byte order mark"),
        pytest.param("a\u200bb", [("bom-or-zero-width", 1, 2)], id="zero-width space in English"),
        pytest.param("a\u200db", [("bom-or-zero-width", 1, 2)], id="joiner in English"),
        pytest.param("pay\u202eload", [("bom-or-zero-width", 3, 4)], id="right-to-left override in English"),
        pytest.param("hi\U000e0041\U000e0042", [("bom-or-zero-width", 2, 3), ("bom-or-zero-width", 3, 4)], id="tags"),
    ],
)
def test_found(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert hits(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Roses are red,  \nviolets are blue.", id="Markdown line break"),
        pytest.param("```\na | b \n```\n", id="fenced code"),
        pytest.param("~~~~\na \n~~~\nb \n~~~~\n", id="a shorter fence does not close"),
        pytest.param("a\n   \nb", id="blank line with blanks"),
        pytest.param("a\r\nb\r\n", id="all CRLF"),
        pytest.param("café", id="composed"),
        pytest.param("\u0915\u093f\u0924\u093e\u092c", id="Devanagari vowel signs"),
        pytest.param("\u212b \ufa0e", id="no base and mark"),
        pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", id="family"),
        pytest.param("\u2764\ufe0f\u200d\U0001f525", id="heart on fire"),
        pytest.param("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", id="Persian"),
        pytest.param("\u0915\u094d\u200d\u0937", id="Hindi"),
        pytest.param("\u0e2a\u0e27\u0e31\u200b\u0e2a\u0e14\u0e35", id="Thai word break"),
        pytest.param("\u05d0 abc\u200f", id="bidi mark in Hebrew"),
        pytest.param("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", id="flag of England"),
    ],
)
def test_silent(text: str) -> None:
    assert hits(text) == []


def test_trailing_blanks_are_counted() -> None:
    prompt = Prompt(
        Request("0", "raw", Span("x")), (Segment("system", "", "a \nb \nc\n", "system"),), "", False, "template"
    )
    assert [h.values for h in text_bytes.check_prompt(prompt)] == [(" ", "2")]


def test_a_rendered_body_may_end_its_lines_as_it_likes() -> None:
    assert hits("a \nb", "body") == []
