"""Places in TOML and YAML: every decoded character must point at its own spelling."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from prefixlint import toml_spans, yaml_spans
from prefixlint.errors import InputError
from prefixlint.json_spans import line_column

TOML = """# é comment
title = "a \\"b\\" \\u00e9 é x"
[server]
api_base = 'http://h/v1'  # comment
ports = [ 1, 2,
  3 ]
inline = { a = "x", "b c" = ["y", {d = "z"}] }
[[models]]
name = "one"
[models.sub]
text = \"\"\"
first é
  second \\
     joined\"\"\"
[[models]]
name = "two"
a.b."c.d" = 1979-05-27 07:32:00
lit = '''
raw \\n stays'''
"""


@pytest.mark.parametrize(
    ("pointer", "needle"),
    [
        ("/title", "é x"),
        ("/server/api_base", "/v1"),
        ("/server/inline/b c/1/d", "z"),
        ("/server/inline/b c/0", "y"),
        ("/models/0/sub/text", "first é"),
        ("/models/0/sub/text", "second "),
        ("/models/0/sub/text", "joined"),
        ("/models/1/name", "two"),
        ("/models/1/lit", "raw \\n"),
    ],
)
def test_toml_characters_have_their_byte(pointer: str, needle: str) -> None:
    data = TOML.encode()
    document = toml_spans.parse(data)
    node = document.node(pointer)
    assert node is not None
    offset = document.text(node).index(needle)
    first = document.byte_of(pointer, offset)
    assert data[first:].startswith(needle.encode())


def test_toml_values_agree_with_tomllib() -> None:
    document = toml_spans.parse(TOML.encode())
    assert document.value() == tomllib.loads(TOML)
    for pointer, node in document.walk():
        if node.kind == "string":
            value = tomllib.loads(TOML)
            for token in pointer.split("/")[1:]:
                value = value[int(token)] if isinstance(value, list) else value[token]
            assert document.text(node) == value, pointer


def test_toml_error_has_its_place() -> None:
    with pytest.raises(InputError) as caught:
        toml_spans.parse(b"a = 1\nb = = 2\n", path="x.toml")
    assert (caught.value.line, caught.value.column) == (2, 5)


YAML = """plain: one two
quoted: "a \\"b\\" \\u00e9 é \\
  joined x"
single: 'it''s é
  folded'
literal: |
  line é 1
    indented \x20

  end of literal
folded: >-
  fold one
  fold two

  next para
keep: |2+
   one more
list:
  - {role: system, content: "You are X"}
  - &anchor !!str plain multi
    line
again: *anchor
"""


@pytest.mark.parametrize("prefix", ["", "\ufeff"], ids=["bare", "bom"])
@pytest.mark.parametrize(
    ("pointer", "needle", "spelled"),
    [
        ("/plain", "two", "two"),
        ("/quoted", '"b"', '\\"b\\"'),
        ("/quoted", "é é", "\\u00e9 é"),
        ("/quoted", "joined", "joined"),
        ("/single", "'s é", "''s é"),
        ("/single", "folded", "folded"),
        ("/literal", "line é", "line é"),
        ("/literal", "indented", "indented"),
        ("/literal", "  \n\nend", "  \n\n  end of"),
        ("/literal", "end", "end of literal"),
        ("/folded", "fold two", "fold two"),
        ("/folded", "next", "next para"),
        ("/keep", "one more", "one more"),
        ("/list/0/content", "X", 'X"'),
        ("/list/1", "line", "line\nagain"),
        ("/again", "plain", "plain multi\n    line"),
    ],
)
def test_yaml_characters_have_their_byte(prefix: str, pointer: str, needle: str, spelled: str) -> None:
    data = (prefix + YAML).encode()
    document = yaml_spans.parse(data)
    node = document.node(pointer)
    assert node is not None
    offset = document.text(node).index(needle)
    assert data[document.byte_of(pointer, offset) :].decode().startswith(spelled)


def test_yaml_values_agree_with_pyyaml() -> None:
    assert yaml_spans.parse(YAML.encode()).value() == yaml.safe_load(YAML)


def test_yaml_every_visible_character_of_the_samples_is_found(tmp_path: Path) -> None:
    text = "a: |\n  x\ty\n\n\n  z \nb: >\n  q\n   more\n  r\nc: ' u\n\n  v '\n"
    document = yaml_spans.parse(text.encode())
    for pointer, node in document.walk():
        if node.kind != "string":
            continue
        for offset, char in enumerate(document.text(node)):
            if not char.isspace():
                assert text[document.byte_of(pointer, offset)] == char, (pointer, offset)


def test_yaml_block_starting_with_an_extra_indent_or_blank_line() -> None:
    text = "a: |2\n    deep\n  flat\nb: |\n\n  after blank\n"
    document = yaml_spans.parse(text.encode())
    assert text[document.byte_of("/a", 0) :].startswith("  deep")
    assert line_column(text.encode(), document.byte_of("/b", 1)) == (6, 3)


@pytest.mark.parametrize(
    ("text", "place"),
    [("a: [1\nb: 2\n", (2, 2)), ("a: &x [*x]\n", (0, 0)), ("a: \t- b\n\tc", (1, 5))],
    ids=["flow list not closed", "anchor that holds itself", "tab"],
)
def test_yaml_errors_have_their_place(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(InputError) as caught:
        yaml_spans.parse(text.encode())
    assert caught.value.line == place[0] or place == (0, 0)
