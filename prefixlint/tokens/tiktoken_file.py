"""Rank files of tiktoken: a ``.tiktoken`` file that the user names, or the user's own cache folder of tiktoken."""

from __future__ import annotations

import base64
import binascii
import hashlib
from pathlib import Path

from prefixlint.errors import ConfigError, InputError
from prefixlint.tokens import _patterns
from prefixlint.tokens._counted import Counted, Engine

HOME = "https://openaipublic.blob.core.windows.net/encodings/"
# sha256 pinned in tiktoken 0.14.0 (tiktoken_ext/openai_public.py, 2026-08); a test compares them.
PINS = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
}
PATTERNS = {
    "cl100k_base": _patterns.CL100K,
    "llama3": _patterns.LLAMA3,
    "o200k_base": _patterns.O200K,
    "p50k_base": _patterns.R50K,
    "qwen": _patterns.QWEN,
    "r50k_base": _patterns.R50K,
}
NAMES = ("p50k_base", "r50k_base")  # the others are packed in the package
NEEDS_CACHE_DIR = True


def load(name: str, *, cache_dir: str = "") -> Counted:
    """Return a vocabulary from the user's TIKTOKEN_CACHE_DIR, if its hash is the pinned one.

    Unlike tiktoken, a file with another hash is left where it is and nothing is fetched from the network.
    """
    file = Path(cache_dir) / hashlib.sha1(f"{HOME}{name}.tiktoken".encode()).hexdigest()
    if not cache_dir or not file.is_file():
        raise ConfigError(f"{name} is not in the package; set TIKTOKEN_CACHE_DIR or use --tokenizer {name}.tiktoken")
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != PINS[name]:
        raise InputError(f"the file is not the {name} that tiktoken pins", path=str(file))
    return _tokenizer(name, PATTERNS[name], data, file)


def claims(file: Path) -> bool:
    """Tell whether a file is a rank file by its name (``o200k_base.tiktoken``, ``tiktoken.model``)."""
    return file.suffix == ".tiktoken" or file.name == "tiktoken.model"


def load_file(file: Path, *, pattern: str = "") -> Counted:
    """Return the vocabulary of a rank file.

    Ranks do not say how text is split, so the pattern comes from the content's hash, the file's name, or from the user
    as ``--tokenizer cl100k_base=FILE``.
    """
    data = file.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    pinned = next((name for name, pin in PINS.items() if pin == digest), "")
    chosen = pattern or pinned or file.stem
    if chosen not in PATTERNS:
        known = ", ".join(PATTERNS)
        raise ConfigError(f"{file}: ranks without a known pattern; write --tokenizer NAME={file}, NAME one of {known}")
    return _tokenizer(pinned or file.stem, PATTERNS[chosen], data, file)


def _tokenizer(name: str, pattern: str, data: bytes, file: Path) -> Counted:
    ranks = _ranks(data, file)

    def engine() -> Engine:
        from prefixlint.tokens import _tiktoken

        return _tiktoken.engine(name, pattern, ranks)

    return Counted(name, engine)


def _ranks(data: bytes, file: Path) -> dict[bytes, int]:
    """Read ``base64 rank`` lines."""
    ranks = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            token, rank = line.split() if line.strip() else (b"", b"-1")
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise InputError("not a base64 token and its rank", path=str(file), line=number) from error
    ranks.pop(b"", None)
    return ranks
