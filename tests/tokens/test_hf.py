"""Counting by parts against tiny tokenizers trained here, one for every kind whose boundaries are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import token_cases as cases
import token_properties as properties
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from prefixlint.errors import InputError
from prefixlint.prefix import NoBoundaries, PairRules, PieceTable, WordStarts
from prefixlint.tokens import _patterns, hf

SPECIALS = ["<|im_start|>", "<|im_end|>", "<s>"]
TRAINING = [cases.PROSE[i : i + 500] for i in range(0, 60_000, 500)] + [
    "日本語の文字。\n中文字符，한국어 it's 12345 'll\r\n\r\n"
] * 20


def byte_level(pattern: str, normalizer: Any = None, *before: Any) -> Tokenizer:
    """Train byte-level BPE behind a pre-tokenizer pattern; the empty pattern is ByteLevel's own."""
    tokenizer = Tokenizer(models.BPE())
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not pattern)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*before, *splits, last])
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1500, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TRAINING, trainer)
    return tokenizer


def sentence_piece(normalizer: Any, pre_tokenizer: Any = None) -> Tokenizer:
    """Train BPE that sees spaces as ``▁``; unknown characters become bytes as in Llama 2 and Gemma."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()  # pieces end at spaces, as SentencePiece trains them
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>", *SPECIALS], show_progress=False)
    trained.train_from_iterator(TRAINING, trainer)
    spec = json.loads(trained.to_str())
    size = len(spec["model"]["vocab"])
    spec["model"]["vocab"] |= {f"<0x{value:02X}>": size + value for value in range(256)}
    tokenizer = Tokenizer.from_str(json.dumps(spec | {"pre_tokenizer": None}))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def unigram(pre_tokenizer: Any) -> Tokenizer:
    """Train Unigram behind Metaspace, as T5 and XLM-R have it."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.UnigramTrainer(
        vocab_size=800, special_tokens=["<unk>", *SPECIALS], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(TRAINING, trainer)
    return tokenizer


def no_prefix() -> Any:
    return normalizers.Replace(" ", "▁")


def prefix() -> Any:
    return normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


def deepseek() -> Tokenizer:
    words = (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"""
        "\r\n"
        r"""\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
    )
    splits = [pre_tokenizers.Split(Regex(p), "isolated") for p in (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+")]
    return byte_level(words, None, *splits)


KINDS = {
    "gpt2": (lambda: byte_level(""), PairRules),
    "starcoder-digits": (lambda: byte_level("", None, pre_tokenizers.Digits(individual_digits=True)), PairRules),
    "llama3": (lambda: byte_level(_patterns.LLAMA3), PairRules),
    "qwen-nfc": (lambda: byte_level(_patterns.QWEN, normalizers.NFC()), PairRules),
    "o200k-nfkc": (lambda: byte_level(_patterns.O200K, normalizers.NFKC()), PairRules),
    "deepseek": (deepseek, PairRules),
    "gemma": (lambda: sentence_piece(no_prefix()), PieceTable),
    "llama2": (lambda: sentence_piece(prefix()), PieceTable),
    "mistral": (
        lambda: sentence_piece(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)),
        PieceTable,
    ),
    "t5": (lambda: unigram(pre_tokenizers.Metaspace()), WordStarts),
    "metaspace-first": (lambda: unigram(pre_tokenizers.Metaspace(prepend_scheme="first")), WordStarts),
    "xlmr": (
        lambda: unigram(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])),
        WordStarts,
    ),
    "unigram-whole": (lambda: unigram(pre_tokenizers.Metaspace(split=False)), NoBoundaries),
    "unknown-pattern": (lambda: byte_level(r"[a-f]+|[^a-f]+"), NoBoundaries),
    "prefix-space": (lambda: byte_level("", normalizers.Prepend("x")), NoBoundaries),
}


@pytest.mark.parametrize("kind", KINDS)
def test_parts_equal_the_whole(kind: str, tmp_path: Path) -> None:
    make, boundaries = KINDS[kind]
    file = tmp_path / kind / "tokenizer.json"
    file.parent.mkdir()
    make().save(str(file))
    assert hf.claims(file)
    counted = hf.load_file(file)
    assert counted.name == kind and counted.exact
    assert isinstance(counted.engine.boundaries, boundaries)
    tried = properties.check(counted.engine, max(400, cases.FUZZ), seed=2)
    assert tried > 600 or boundaries is NoBoundaries


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_added_tokens_that_look_at_their_neighbours_are_not_torn(flag: str, tmp_path: Path) -> None:
    tokenizer = byte_level(_patterns.LLAMA3)
    tokenizer.add_tokens([AddedToken("<sep>", **{flag: True}), AddedToken("abc", **{flag: True})])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    properties.check(hf.load_file(tmp_path / "tokenizer.json").engine, 400, seed=3)


def test_specials_inside_a_text_become_their_ids(tmp_path: Path) -> None:
    tokenizer = byte_level(_patterns.QWEN)
    tokenizer.enable_truncation(4)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    counted = hf.load_file(tmp_path / "tokenizer.json")
    ids = counted.encode("<|im_start|>user\nhello there, how are you?<|im_end|>\n" * 3)
    assert ids[0] == tokenizer.token_to_id("<|im_start|>") and ids.count(tokenizer.token_to_id("<|im_end|>")) == 3
    low, high = counted.bounds("hello there")
    assert low <= counted.count("hello there") <= high == 11


@pytest.mark.parametrize("content", [b"{}", b"\xff", b'{"version":"1.0","model":{}}'], ids=ascii)
def test_a_broken_file_is_an_input_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(InputError, match=r"tokenizer\.json: not a tokenizer\.json"):
        hf.load_file(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("kind", ["llama3", "gemma", "t5"])
def test_pieces_spell_the_text(kind: str, tmp_path: Path) -> None:
    KINDS[kind][0]().save(str(tmp_path / "tokenizer.json"))
    counted = hf.load_file(tmp_path / "tokenizer.json")
    text = "<|im_start|>def count(text):"
    spelt = counted.pieces(counted.encode(text))
    assert spelt[0] == "<|im_start|>" and "".join(spelt).replace("<|im_start|> ", "<|im_start|>") == text
    if kind != "t5":
        assert b"".join(counted.engine.spell(counted.encode("日本 é"))).decode() == "日本 é"
