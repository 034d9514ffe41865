"""Rank files, Tekken files and the cache folder of tiktoken, with ranks small enough to count by hand."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from prefixlint.errors import ConfigError, InputError
from prefixlint.tokens import tekken, tiktoken_file

# 256 single bytes, then three merges: "ab" 256, "abc" 257, " a" 258
TOKENS = [bytes([value]) for value in range(256)] + [b"ab", b"abc", b" a"]
RANKS = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(TOKENS))


@pytest.mark.parametrize(
    ("pattern", "text", "ids"),
    [
        ("cl100k_base", "abcab", [257, 256]),
        ("cl100k_base", "ab ab a", [256, 32, 256, 258]),
        ("cl100k_base", "1234", [49, 50, 51, 52]),
        ("cl100k_base", "", []),
    ],
)
def test_rank_file_with_a_named_pattern(tmp_path: Path, pattern: str, text: str, ids: list[int]) -> None:
    file = tmp_path / "mine.tiktoken"
    file.write_bytes(RANKS.replace(b"\n", b"\r\n") + b"\r\n")
    assert tiktoken_file.claims(file)
    counted = tiktoken_file.load_file(file, pattern=pattern)
    assert (counted.name, counted.encode(text), counted.count(text)) == ("mine", ids, len(ids))


def test_the_file_name_may_tell_the_pattern(tmp_path: Path) -> None:
    (tmp_path / "qwen.tiktoken").write_bytes(RANKS)
    assert tiktoken_file.load_file(tmp_path / "qwen.tiktoken").encode("abc") == [257]


def test_ranks_without_a_known_pattern_list_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "mine.tiktoken").write_bytes(RANKS)
    with pytest.raises(ConfigError, match="cl100k_base, llama3, o200k_base"):
        tiktoken_file.load_file(tmp_path / "mine.tiktoken")


@pytest.mark.parametrize("line", [b"YWI=", b"YWI= x", b"**** 1", b"YWI= 1 2"], ids=ascii)
def test_a_broken_line_is_named(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "qwen.tiktoken").write_bytes(RANKS + line)
    with pytest.raises(InputError, match=r"qwen\.tiktoken:260: not a base64 token"):
        tiktoken_file.load_file(tmp_path / "qwen.tiktoken")


def test_a_cache_file_with_another_hash_is_refused_and_kept(tmp_path: Path) -> None:
    url = "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"
    file = tmp_path / hashlib.sha1(url.encode()).hexdigest()
    file.write_bytes(RANKS)
    with pytest.raises(InputError, match="not the r50k_base that tiktoken pins"):
        tiktoken_file.load("r50k_base", cache_dir=str(tmp_path))
    assert file.read_bytes() == RANKS


@pytest.mark.parametrize("folder", ["", "nowhere"])
def test_no_cache_file_says_what_to_do(folder: str) -> None:
    with pytest.raises(ConfigError, match="set TIKTOKEN_CACHE_DIR"):
        tiktoken_file.load("p50k_base", cache_dir=folder)


def tekken_file(folder: Path) -> Path:
    """Write a Tekken file with 10 special tokens; the last rank lies outside the default size."""
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate([*TOKENS, b"zz"])
    ]
    config = {
        "pattern": r"\p{N}| ?[^\s\p{N}]+|\s+(?!\S)|\s+",
        "default_vocab_size": len(TOKENS) + 10,
        "default_num_special_tokens": 10,
        "version": "v3",
    }
    file = folder / "tekken.json"
    file.write_text(json.dumps({"config": config, "vocab": vocab}))
    return file


def test_tekken_ids_begin_behind_the_special_tokens(tmp_path: Path) -> None:
    file = tekken_file(tmp_path)
    assert tekken.claims(file)
    assert tekken.load_file(file).encode("abc zz") == [267, 42, 132, 132]


def test_a_broken_tekken_file_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_text('{"config": {}, "vocab": [{"token_bytes": ""}]}')
    assert tekken.claims(tmp_path / "tekken.json")
    with pytest.raises(InputError, match=r"not a Tekken file: KeyError\('default_num_special_tokens'\)"):
        tekken.load_file(tmp_path / "tekken.json")
