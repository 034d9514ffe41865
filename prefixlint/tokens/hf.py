"""Hugging Face ``tokenizer.json`` files, read from disk; the hub is never asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from prefixlint.errors import InputError
from prefixlint.model import Json
from prefixlint.tokens import _hf_boundaries
from prefixlint.tokens._counted import Counted, Engine, whole_characters

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HEAD_BYTES = 65_536


def claims(file: Path) -> bool:
    """Tell whether a JSON file is a serialized tokenizer."""
    if file.suffix != ".json" or not file.is_file():
        return False
    with file.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return file.name == "tokenizer.json" or (b'"added_tokens"' in head and b'"truncation"' in head)


def load_file(file: Path, *, pattern: str = "") -> Counted:
    """Return the tokenizer of a ``tokenizer.json``.

    Added tokens inside a text (``<|im_start|>``) become their own ids, as in the servers that use these files; the
    template of the post-processor (BOS and EOS) is not applied.
    """
    import orjson
    from tokenizers import Tokenizer

    data = file.read_bytes()
    try:
        tokenizer = Tokenizer.from_buffer(data)
        spec = orjson.loads(data)
    except Exception as error:  # tokenizers raises a bare Exception for every fault
        raise InputError(f"not a tokenizer.json that tokenizers can read: {error}", path=str(file)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    name = file.parent.name if file.name == "tokenizer.json" else file.stem
    engine = _engine(tokenizer, spec)
    return Counted(name or "tokenizer.json", lambda: engine, longest_piece=engine.longest_piece)


def _engine(tokenizer: Tokenizer, spec: Json) -> Engine:
    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(whole_characters(text), add_special_tokens=False).ids
        return ids

    return Engine(encode, _speller(tokenizer, spec), _hf_boundaries.boundaries_of(spec), _longest_piece(spec))


def _speller(tokenizer: Tokenizer, spec: Json) -> Callable[[list[int]], list[bytes]]:
    """Return a function that gives the bytes of tokens."""
    added = {token["id"]: token["content"].encode() for token in spec.get("added_tokens") or ()}
    spell = _spell_bytes if _hf_boundaries.is_byte_level(spec) else _spell_words

    def spelt(ids: list[int]) -> list[bytes]:
        return [added[i] if i in added else spell(tokenizer.id_to_token(i) or "") for i in ids]

    return spelt


def _spell_bytes(token: str) -> bytes:
    """Read a token of byte-level BPE, which writes each byte as one character."""
    table = _byte_of()
    return bytes(table[character] for character in token if character in table)


def _spell_words(token: str) -> bytes:
    """Read a token of SentencePiece, which writes a space as ``▁`` and lone bytes as ``<0xE6>``."""
    if re.fullmatch("<0x[0-9A-F]{2}>", token):
        return bytes([int(token[3:5], 16)])
    return token.replace(_hf_boundaries.SPACE, " ").encode()


@cache
def _byte_of() -> dict[str, int]:
    """Return the byte of each character of byte-level BPE (GPT-2's encoder.py): printable ones stand for themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


def _longest_piece(spec: Json) -> int:
    """Return the bytes of the longest token, 0 where a normalizer changes the length or other models are used."""
    if (
        _hf_boundaries.parts_of(spec.get("normalizer"))
        or spec["model"].get("type") != "BPE"
        or not _hf_boundaries.is_byte_level(spec)
    ):
        return 0
    added = (len(token["content"].encode()) for token in spec.get("added_tokens", ()))
    # a token of byte-level BPE is written with one character per byte
    return max(1, *map(len, spec["model"]["vocab"]), *added)
