"""Spans of JSON and JSONC: exact places, duplicates, comments, deep nesting, and errors with line and column."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixlint.errors import InputError
from prefixlint.json_spans import line_column, parse

SAMPLE = (
    b'\xef\xbb\xbf{\r\n // note "x": 1,\n "a": 1e2,\n "b": {"x": [1, 2,], "x": "\\u00e9\\/\\ud83d\\ude00\xc3\xa9z"},'
    b" /* t */ }  // end"
)

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    leaves, lambda below: st.lists(below, max_size=5) | st.dictionaries(st.text(max_size=6), below, max_size=5)
)


def test_jsonc_sample() -> None:
    document = parse(SAMPLE)
    assert document.value() == {"a": 100.0, "b": {"x": "é/😀éz"}}
    assert [SAMPLE[a:b] for a, b in document.comments()] == [b'// note "x": 1,', b"/* t */", b"// end"]
    assert [SAMPLE[c : c + 2] for c in document.trailing_commas()] == [b",]", b", "]
    assert [(pointer, SAMPLE[b.key_start_byte : b.end_byte][:5]) for pointer, _, b in document.duplicates()] == [
        ("/b", b'"x": ')
    ]
    assert document.raw(document.root.children[0]) == b"1e2"


@pytest.mark.parametrize(
    ("char", "raw"),
    [(0, b"\\u00e9"), (1, b"\\/"), (2, b"\\ud83d\\ude00"), (3, "éz".encode()), (4, b'z"'), (5, b'"}'), (9, b'"}')],
)
def test_byte_of_each_character(char: int, raw: bytes) -> None:
    document = parse(SAMPLE)
    assert SAMPLE[document.byte_of("/b/x", char) :].startswith(raw)


def test_char_of_is_the_inverse_of_byte_of() -> None:
    document = parse(SAMPLE)
    node = document.node("/b/x")
    assert node is not None
    assert [document.char_of(node, document.byte_of("/b/x", n)) for n in range(6)] == list(range(6))


def test_lone_surrogate_is_one_character() -> None:
    data = rb'["a\ud800b", "\ude00\ud83d"]'
    document = parse(data)
    assert document.value() == ["a\ud800b", "\ude00\ud83d"]
    assert data[document.byte_of("/0", 2) :].startswith(b'b"')
    assert data[document.byte_of("/1", 1) :].startswith(rb"\ud83d")


def test_line_and_column_count_code_points() -> None:
    data = '{\r\n "é😀": 1\n}'.encode()
    at = data.index(b"1")
    assert parse(data).line_column(at) == line_column(data, at) == (2, 8)


def test_pointer_tokens_are_escaped() -> None:
    document = parse(b'{"a/b": {"~": [10, 20]}}')
    node = document.node("/a~1b/~0/1")
    assert node is not None and document.raw(node) == b"20"
    assert [p for p, _ in document.walk()] == ["", "/a~1b", "/a~1b/~0", "/a~1b/~0/0", "/a~1b/~0/1"]
    assert document.node("/a~1b/~0/01") is None
    assert document.node("/a~1b/nothing/1") is None


@pytest.mark.parametrize("text", [b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000])
def test_ten_thousand_levels(text: bytes) -> None:
    document = parse(text)
    assert document.root.end_byte == len(text)
    document.value()


def test_number_beyond_the_limit_of_int() -> None:
    assert parse(b"[" + b"9" * 5000 + b", 1e400]").value()[0] == 10**5000 - 1


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b"", "f: ", "is empty"),
        (b" // only\n", "f: ", "is empty"),
        (b"{", "f:1:2: ", "the file ends here"),
        (b'{"a" 1}', "f:1:6: ", "expected ':'"),
        (b'{\n"a":}', "f:2:5: ", "expected a JSON value"),
        (b"[1 2]", "f:1:4: ", "expected ',' or ']'"),
        (b"{a:1}", "f:1:2: ", "expected a key in double quotes"),
        (rb'["\x"]', "f:1:3: ", "unknown escape"),
        (b'["a\nb"]', "f:1:4: ", "control character 0x0a"),
        (b'"abc', "f:1:1: ", "the string has no end"),
        (b"[01]", "f:1:2: ", "expected a JSON value"),
        (b"[,]", "f:1:2: ", "expected a JSON value"),
        (b'{"a":1}}', "f:1:8: ", "unexpected text"),
        ('{"é":'.encode() + b"\xff}", "f:1:6: ", "byte 0xff is not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "f: ", "is UTF-16"),
    ],
)
def test_errors_have_a_place(data: bytes, place: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(data, path="f")
    assert str(caught.value).startswith(place)
    assert message in str(caught.value)


@given(values, st.sampled_from([None, 1]), st.booleans())
def test_agrees_with_the_standard_library(value: object, indent: int | None, ascii_only: bool) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    document = parse(data)
    assert document.value() == json.loads(data)
    for pointer, node in document.walk():
        assert document.node(pointer) is node
        assert json.loads(document.raw(node)) == document.value(node)


@given(st.text(), st.booleans())
def test_every_character_is_found(text: str, ascii_only: bool) -> None:
    data = json.dumps([text], ensure_ascii=ascii_only).encode()
    document = parse(data)
    places = [document.byte_of("/0", n) for n in range(len(text) + 1)]
    pieces = [data[a:b] for a, b in itertools.pairwise(places)]
    assert [json.loads(b'"' + piece + b'"') for piece in pieces] == list(text)
