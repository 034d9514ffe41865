"""Differences without meaning, lists in another order, and edits of the system prompt, both ways round."""

# ruff: noqa: E501 - one row of a table is one line

from __future__ import annotations

import unicodedata

import pytest

from tests.diff.conftest import PROVIDERS, RULES, SYSTEM_AT, Compare, body, named, place

FORMS = [
    ("newline-style", "A\nB\nC\n" + RULES, "A\nB\r\nC\r\n" + RULES),
    ("trailing-whitespace", "Rules. \n" + RULES, "Rules.\n" + RULES),
    ("trailing-whitespace", RULES + "\n", RULES),
    ("blank-run", "Rules.\n\n\nNext\n" + RULES, "Rules.\n\nNext\n" + RULES),
    ("blank-run", "Be  brief.\n" + RULES, "Be brief.\n" + RULES),
    ("unicode-normalization", "Datei: Müller\n" + RULES, "Datei: " + unicodedata.normalize("NFD", "Müller") + "\n" + RULES),
    ("unicode-normalization", "파일: 한글\n" + RULES, "파일: " + unicodedata.normalize("NFD", "한글") + "\n" + RULES),
    ("bom-or-zero-width", "\ufeffRules\n" + RULES, "Rules\n" + RULES),
    ("bom-or-zero-width", "Ru\u200bles\n" + RULES, "Rules\n" + RULES),
    ("key-order", 'Config: {"b": 1, "a": [1, 2]}\n' + RULES, 'Config: {"a": [1, 2], "b": 1}\n' + RULES),
    ("number-format", 'Config: {"t": 1.0, "a": 3}\n' + RULES, 'Config: {"t": 1, "a": 3}\n' + RULES),
    ("escape-style", 'Config: {"t": "caf\\u00e9"}\n' + RULES, 'Config: {"t": "café"}\n' + RULES),
    ("list-order", "- likes tea\n- has cats\n- is in Oslo\n" + RULES, "- is in Oslo\n- likes tea\n- has cats\n" + RULES),
    ("list-order", "Tags: red, green, blue\n" + RULES, "Tags: blue, red, green\n" + RULES),
    ("list-order", "1. one thing\n2. two things\n" + RULES, "1. two things\n2. one thing\n" + RULES),
    ("list-order", "## A\ntext a\n\n## B\ntext b\n\n" + RULES, "## B\ntext b\n\n## A\ntext a\n\n" + RULES),
    ("tool-order", '<tools>\n{"name": "a"}\n{"name": "b"}\n</tools>\n' + RULES,
     '<tools>\n{"name": "b"}\n{"name": "a"}\n</tools>\n' + RULES),
    ("cwd-or-env", "<files>\n  a.py\n  b.py\n  main.py\n</files>\n" + RULES,
     "<files>\n  a.py\n  aa.py\n  b.py\n  main.py\n</files>\n" + RULES),
    ("cwd-or-env", "src/\n├── app.ts\n└── index.ts\n" + RULES, "src/\n├── app.ts\n├── db.ts\n└── index.ts\n" + RULES),
    ("git-status", "Git status:\nM src/app.py\n" + RULES, "Git status:\nM src/app.py\nM src/db.py\n" + RULES),
    ("retrieved-context", "<document>Refunds take 14 days.</document>\n" + RULES,
     "<document>Shipping costs 4 EUR.</document>\n" + RULES),
    ("retrieved-context", "Context:\nRefunds take 14 days.\n\nRules:\n" + RULES,
     "Context:\nShipping costs 4 EUR.\n\nRules:\n" + RULES),
    ("instructions-edited", RULES + "\n<human>Name: Ada.</human>", RULES + "\n<human>Name: Ada. City: Oslo.</human>"),
    ("instructions-edited", "Be brief.\n" + RULES, "Be brief and kind.\n" + RULES),
    ("instructions-edited", RULES, RULES + "\nAlways answer in rhyme."),
]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("rule", "first", "second"), FORMS, ids=[f"{f[0]} {f[1][:12]!r}" for f in FORMS])
def test_form(provider: str, swap: bool, rule: str, first: str, second: str, compare: Compare) -> None:
    ours, theirs = (second, first) if swap else (first, second)
    before = body(provider, ours, [("user", "hi there")])
    after = body(provider, theirs, [("user", "hi there"), ("assistant", "hello"), ("user", "go on")])
    at = place(provider, before, after, ours, theirs, SYSTEM_AT[provider])
    assert named(compare(before, after)) == [(rule, *at)]


def test_escapes_of_the_wire_are_no_difference(compare: Compare, tmp_path: object) -> None:
    import json
    from pathlib import Path

    from prefixlint.api.diff import diff
    from prefixlint.api.read import open_log

    assert isinstance(tmp_path, Path)
    bodies = [body("chat", "Café <b> 你好", [("user", "oui")]), body("chat", "Café <b> 你好", [("user", "non")])]
    lines = [json.dumps(bodies[0], ensure_ascii=True), json.dumps(bodies[1], ensure_ascii=False, separators=(",", ":"))]
    (tmp_path / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert not named(diff(open_log([str(tmp_path / "log.jsonl")]).requests()))
