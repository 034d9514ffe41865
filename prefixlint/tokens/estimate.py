"""Estimates for models whose tokenizer is not public: the count of a public vocabulary times a dated factor."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from prefixlint.tokens import tiktoken_packed
from prefixlint.tokens._counted import Counted

TABLE = Path(__file__).parent.parent / "data" / "tokenizers.toml"
NAMES = ("claude-estimate", "claude-opus-4-7-estimate", "estimate", "gemini-estimate")


@cache
def table() -> dict[str, Any]:
    """Read the dated table of models and estimates."""
    import tomllib

    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def load(name: str) -> Counted:
    """Return a tokenizer marked as not exact; the same text gives the same count everywhere and always."""
    rule = table()["estimate"][name]
    base = tiktoken_packed.load(rule["base"])
    return Counted(
        name,
        lambda: base.engine,
        exact=False,
        percent=rule["percent"],
        longest_piece=tiktoken_packed.LONGEST_PIECE,
    )
