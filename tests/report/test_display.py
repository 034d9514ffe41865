from __future__ import annotations

import pytest

from prefixlint.display import redacted, shown, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="plain text stays"),
        pytest.param("a\nb\r\n\t", "a\\nb\\r\\n\\t", id="line ends and tabs"),
        pytest.param("end  ", "end\\x20\\x20", id="trailing blanks are what differs"),
        pytest.param("\ufeffhi\u200b", "\\ufeffhi\\u200b", id="bom and zero-width space"),
        pytest.param("e\u0301", "e\\u0301", id="a combining accent, else NFD looks like NFC"),
        pytest.param("\u202egnp", "\\u202egnp", id="right-to-left override"),
        pytest.param("\x1b[31mred", "\\x1b[31mred", id="terminal escape"),
        pytest.param("\ud800", "\\ud800", id="lone surrogate"),
        pytest.param("\U000e0041", "\\U000e0041", id="tag character"),
        pytest.param("x" * 41, "x" * 40 + "…", id="bounded"),
        pytest.param("日本 é 😀", "日本 é 😀", id="other scripts stay readable"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_redacted_keeps_equality_only() -> None:
    # sha256("secret") = 2bb80d53..., a published vector
    assert redacted("secret") == "<6 chars 2bb80d53>"
    assert shown("secret", redact=True) == redacted("secret")
