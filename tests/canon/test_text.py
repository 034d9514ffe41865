"""Text: what carries no meaning goes, what does stays; names of the rules."""

from __future__ import annotations

import doctest
import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixlint.canon import inner, number, text


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        pytest.param("a\r\nb", "a\nb", "newline-style", id="CRLF"),
        pytest.param("a\r\r\nb", "a\nb", "newline-style", id="CRLF written twice through text mode"),
        pytest.param("10%\r20%", "10%\r20%", "", id="a progress line of a terminal stays"),
        pytest.param("a \nb", "a\nb", "trailing-whitespace", id="one blank"),
        pytest.param("a\t\n", "a\n", "trailing-whitespace", id="tab"),
        pytest.param("a  \nb", "a  \nb", "", id="line break in Markdown"),
        pytest.param("a    \nb", "a  \nb", "trailing-whitespace", id="one spelling of a line break"),
        pytest.param("a  \n\nb", "a\n\nb", "trailing-whitespace", id="no break before an empty line"),
        pytest.param("a  ", "a", "trailing-whitespace", id="no break at the end"),
        pytest.param(
            "~~~\na \n~~~~\nb ", "~~~\na \n~~~~\nb", "trailing-whitespace", id="code keeps, text behind it not"
        ),
        pytest.param("```\na \n", "```\na \n", "", id="an open fence"),
        pytest.param("use ``` a \n", "use ``` a\n", "trailing-whitespace", id="no fence inside a line"),
        pytest.param("\ufeffa", "a", "bom-or-zero-width", id="BOM"),
        pytest.param("a\u200bb\u2060c", "abc", "bom-or-zero-width", id="zero width"),
        pytest.param("ก\u200bข", "ก\u200bข", "", id="word border in Thai"),
        pytest.param(
            "👩\u200d💻 👨🏽\u200d🚀 ❤\ufe0f\u200d🔥",
            "👩\u200d💻 👨🏽\u200d🚀 ❤\ufe0f\u200d🔥",
            "",
            id="emoji sequences",
        ),
        pytest.param("क्\u200dष", "क्\u200dष", "", id="joiner in Devanagari"),
        pytest.param("e\u0301", "é", "unicode-normalization", id="NFC"),
        pytest.param(
            "see docs/Re\u0301sume\u0301.md", "see docs/Re\u0301sume\u0301.md", "", id="a path has exact characters"
        ),
        pytest.param("a\ud800b", "a\ufffdb", "unicode-normalization", id="lone surrogate"),
        pytest.param("\ud83d\ude00", "😀", "unicode-normalization", id="pair in two pieces"),
        pytest.param("    def f():\n        x", "    def f():\n        x", "", id="indentation"),
        pytest.param("a\u00a0b\u2028c", "a\u00a0b\u2028c", "", id="other blanks are text"),
    ],
)
def test_canonical(before: str, after: str, rule: str) -> None:
    assert text.canonical(before) == after
    found = list(text.edits(before, after))
    assert {e.rule for e in found} == ({rule} if rule else set())


def test_options() -> None:
    assert text.canonical("a  \nb\n```\nc \n```", all_blanks=True) == "a\nb\n```\nc\n```"
    assert text.canonical("docs/e\u0301.md", unsafe=True) == "docs/é.md"
    assert text.canonical("a \nNarrator: ", open_end=True) == "a\nNarrator: "


@given(st.text(st.sampled_from("ae\u0301\u200b\u200d\ufeff \t\r\n`~👩ก\ud83d\ude00/.")))
def test_canonical_is_stable_and_edits_lead_there(prose: str) -> None:
    new = text.canonical(prose)
    assert text.canonical(new) == new
    result, at = "", 0
    for edit in text.edits(prose, new):
        result += prose[at : edit.start_char] + edit.new
        at = edit.end_char
    assert result + prose[at:] == new


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ("105.0", "105"), ("1.05e2", "105"), ("1E2", "100"), ("-3.0", "-3"), ("0.0", "0"), ("0.10", "0.1"), ("7", "7"),
        ("-0.0", "-0.0"), ("1e400", "1e400"), ("9007199254740993.0", "9007199254740993.0"),
        ("0.1000000000000000055", "0.1000000000000000055"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ],
)  # fmt: skip
def test_numbers_never_lose_a_digit(raw: str, wanted: str) -> None:
    assert number.canonical(raw) == wanted
    assert number.canonical(wanted) == wanted


def test_json_in_a_string() -> None:
    assert inner.canonical('{"b": 1.0, "a": "\\u00e9\\/"}') == '{"a":"é/","b":1}'
    assert inner.plain('{ "b": 1.0,\n "\\u00e9": "\\ud800" }') == '{ "b": 1,\n "é": "\\ud800" }'
    for left_alone in ('{"a": 1, "a": 2}', '{"a": 1, // x\n}', "{not json}", '"text"', "5", ""):
        assert inner.canonical(left_alone) == left_alone


@pytest.mark.parametrize("name", ["adopt", "body", "edits", "inner", "move", "place", "raw", "template", "text"])
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"prefixlint.canon.{name}")).failed == 0
