"""Estimates are marked, follow the dated factor, and are the same everywhere."""

from __future__ import annotations

import pytest

from prefixlint.tokens import estimate, tiktoken_packed


def test_names_are_those_of_the_table() -> None:
    assert sorted(estimate.table()["estimate"]) == list(estimate.NAMES)


def test_every_rule_of_the_table_has_a_source() -> None:
    table = estimate.table()
    assert table["as_of"].isoformat() >= "2026-12-01"
    assert all(entry["source"] for entry in [*table["model"], *table["estimate"].values()])


@pytest.mark.parametrize(
    ("name", "tokens", "expected"),
    [  # 120 % and 140 % of the tokens of o200k_base, rounded to the nearest
        ("claude-estimate", 10, 12),
        ("claude-estimate", 1, 1),
        ("claude-estimate", 3, 4),
        ("claude-opus-4-7-estimate", 10, 14),
        ("gemini-estimate", 10, 10),
        ("estimate", 0, 0),
    ],
)
def test_counts_are_scaled(name: str, tokens: int, expected: int) -> None:
    counted = estimate.load(name)
    text = " a" * tokens  # " a" is one token of o200k_base
    assert counted.count(text) == expected
    assert not counted.exact and counted.encode(text) == [261] * tokens


def test_forks_are_scaled_like_counts() -> None:
    counted = estimate.load("claude-estimate")
    assert counted.fork(" a" * 10 + " b", " a" * 10 + " c", 21) == 12
    assert tiktoken_packed.load("o200k_base").fork(" a" * 10 + " b", " a" * 10 + " c", 21) == 10
