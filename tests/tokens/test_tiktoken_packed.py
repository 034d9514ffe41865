"""The packed vocabularies are tiktoken's own, and counting by parts gives what tiktoken gives for the whole."""

from __future__ import annotations

import base64
import hashlib
import inspect
import re
from typing import Any

import pytest
import token_cases as cases
import token_properties as properties

from prefixlint.tokens import _patterns, tiktoken_file, tiktoken_packed

openai_public = pytest.importorskip("tiktoken_ext.openai_public")
FILES = ("o200k_base", "cl100k_base")


def installed(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Call tiktoken's own definition of an encoding without its rank file."""
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    definition: dict[str, Any] = getattr(openai_public, name)()
    return definition


@pytest.mark.parametrize("name", FILES)
def test_packed_ranks_give_back_the_pinned_file(name: str) -> None:
    ranks = tiktoken_packed.unpack((tiktoken_packed.RANKS / f"{name}.bin").read_bytes())
    text = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    pin = re.search(r'expected_hash="([0-9a-f]{64})"', inspect.getsource(getattr(openai_public, name)))
    assert pin and hashlib.sha256(text).hexdigest() == pin[1] == tiktoken_file.PINS[name]
    assert max(map(len, ranks)) == tiktoken_packed.LONGEST_PIECE


@pytest.mark.parametrize("name", tiktoken_packed.NAMES)
def test_patterns_are_those_of_the_installed_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tiktoken_packed.PACKED[name][1] == installed(name, monkeypatch)["pat_str"]


@pytest.mark.parametrize("name", ["p50k_base", "r50k_base"])
def test_cache_folder_patterns_are_those_of_the_installed_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tiktoken_file.PATTERNS[name] == installed(name, monkeypatch)["pat_str"]
    assert tiktoken_file.PINS[name] in inspect.getsource(getattr(openai_public, name))


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [  # from OpenAI's cookbook, "How to count tokens with tiktoken", and tiktoken's own test_encoding.py
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "rer", [38149]),
        ("o200k_base", "tiktoken is great!", [83, 8251, 2488, 382, 2212, 0]),
    ],
)
def test_published_vectors(name: str, text: str, ids: list[int]) -> None:
    assert tiktoken_packed.load(name).encode(text) == ids


@pytest.mark.parametrize(("name", "count"), [("o200k_base", 10_000), ("cl100k_base", 4_000)])
def test_parts_equal_the_whole(name: str, count: int) -> None:
    assert properties.check(tiktoken_packed.load(name).engine, count, seed=1) > 4 * count


@pytest.mark.slow
@pytest.mark.skipif(not cases.FUZZ, reason="make fuzz sets PREFIXLINT_FUZZ")
@pytest.mark.parametrize("name", FILES)
def test_parts_equal_the_whole_fuzz(name: str) -> None:
    properties.check(tiktoken_packed.load(name).engine, cases.FUZZ, seed=cases.FUZZ)


def test_giant_runs_of_white_space_do_not_panic() -> None:
    import tiktoken

    ranks = tiktoken_packed.unpack((tiktoken_packed.RANKS / "o200k_base.bin").read_bytes())
    reference = tiktoken.Encoding("x", pat_str=_patterns.O200K, mergeable_ranks=ranks, special_tokens={})
    tokenizer = tiktoken_packed.load("o200k_base")
    for blank in (" ", "\t", "\u3000", " \n"):
        text = f"x.{blank * (60_000 // len(blank))}y \ud800"
        assert tokenizer.encode(text) == reference.encode_ordinary(text), ascii(blank)
    assert tokenizer.count("a" + " " * 1_000_000 + "b") > 1000


def test_special_tokens_are_ordinary_text() -> None:
    assert tiktoken_packed.load("o200k_harmony").count("<|endoftext|>") > 1


def test_bounds_need_no_vocabulary() -> None:
    tokenizer = tiktoken_packed.load("o200k_base")
    assert tokenizer.bounds("a" * 1280) == (10, 1280)
    assert not tokenizer.reaches("short", 1024)
    assert tokenizer.reaches("x" * 128 * 1024, 1024)
    assert "engine" not in vars(tokenizer)
    assert tokenizer.reaches("hello world", 2) and not tokenizer.reaches("hello world", 3)


def test_pieces_show_every_byte() -> None:
    tokenizer = tiktoken_packed.load("o200k_base")
    ids = tokenizer.encode("héllo wörld 🫨")
    pieces = tokenizer.pieces(ids)
    assert pieces[:2] == ["hé", "llo"] and any(piece.startswith("\\x") for piece in pieces)
    assert b"".join(tokenizer.engine.spell(ids)).decode() == "héllo wörld 🫨"
