"""Splicing: the document becomes the new value, and every byte that need not change stays."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixlint.canon import edits, splice
from prefixlint.elements import Number
from prefixlint.json_spans import parse
from tests.canon.bodies import bodies, seeds, shuffle_keys, shuffle_tools


def spliced(data: bytes, change: Any) -> bytes:
    document = parse(data)
    old = splice.decode(document, document.root)
    return edits.apply(data, splice.splice(document, document.root, old, change(old)))


@pytest.mark.parametrize(
    ("data", "change", "expected"),
    [
        pytest.param(
            b'{\n  "b": 1.50,\n  "a": [1,2]\n}\n',
            lambda v: {"a": v["a"], "b": v["b"]},
            b'{\n  "a": [1,2],\n  "b": 1.50\n}\n',
            id="members move, indentation stays",
        ),
        pytest.param(
            rb'{"t": "caf\u00e9\r\n\u003cb\u003e\r\n"}',
            lambda v: {"t": v["t"].replace("\r\n", "\n")},
            rb'{"t": "caf\u00e9\n\u003cb\u003e\n"}',
            id="other escapes stay",
        ),
        pytest.param(
            b'{\n  // why\n  "t": "a \\n", /* x */\n}',
            lambda v: {"t": "a\n"},
            b'{\n  // why\n  "t": "a\\n", /* x */\n}',
            id="comments and trailing comma stay",
        ),
        pytest.param(
            b'{\n  // b first\n  "b": 1,\n  "a": 2\n}', lambda v: {"a": v["a"], "b": v["b"]}, None, id="comments hold"
        ),
        pytest.param(
            b'{"c": "x\\u0041"}',
            lambda v: {"c": [{"type": "text", "text": v["c"]}]},
            b'{"c": [{"type": "text", "text": "x\\u0041"}]}',
            id="wrapped with its spelling",
        ),
        pytest.param(
            b'{"c": [ {"type": "text", "text": "x\\u0041"} ]}',
            lambda v: {"c": v["c"][0]["text"]},
            b'{"c": "x\\u0041"}',
            id="unwrapped with its spelling",
        ),
        pytest.param(b"[\n  1,\n  2\n]", lambda v: [*v, Number("3")], b"[\n  1,\n  2,\n  3\n]", id="appended"),
        pytest.param(b'[{"a":1},{"b":2},{"c":3}]', lambda v: [v[2], v[0]], b'[{"c":3},{"a":1}]', id="removed"),
        pytest.param(b'{"a":1}', lambda v: {"a": v["a"], "b": True}, b'{"a":1,"b":true}', id="new member"),
        pytest.param(b'{"a":1, "b":2}', lambda v: {"b": v["b"]}, b'{"b":2}', id="dropped member"),
    ],
)
def test_bytes(data: bytes, change: Any, expected: bytes | None) -> None:
    assert spliced(data, change) == (data if expected is None else expected)


@given(bodies, seeds, st.sampled_from([None, 2]), st.booleans())
def test_any_rearrangement_arrives(body: Any, seed: int, indent: int | None, ascii_only: bool) -> None:
    data = json.dumps(body, indent=indent, ensure_ascii=ascii_only).encode()
    draw = random.Random(seed)

    def change(value: Any) -> Any:
        return other_shape_of(shuffle_tools(shuffle_keys(value, draw), draw), draw)

    def other_shape_of(value: Any, draw: random.Random) -> Any:
        value["messages"].insert(1, {"role": "user", "content": "new é"})
        value["messages"][0]["content"] = "a\n" + str(value["messages"][0]["content"])
        return value

    document = parse(data)
    old = splice.decode(document, document.root)
    expected = change(old)
    new = edits.apply(data, splice.splice(document, document.root, old, expected))
    assert json.dumps(json.loads(new, parse_int=Number, parse_float=Number)) == json.dumps(expected)


@given(bodies)
def test_nothing_changes_for_nothing(body: Any) -> None:
    data = json.dumps(body, indent=1).encode()
    assert spliced(data, lambda v: v) == data
