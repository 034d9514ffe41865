"""Mistral's Tekken files (``tekken.json``): ranks and the pattern in one file."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from prefixlint.errors import InputError
from prefixlint.tokens._counted import Counted, Engine

HEAD_BYTES = 65_536


def claims(file: Path) -> bool:
    """Tell whether a JSON file holds tokens as Tekken writes them."""
    if file.suffix != ".json" or not file.is_file():
        return False
    with file.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return b'"token_bytes"' in head and b'"config"' in head


def load_file(file: Path, *, pattern: str = "") -> Counted:
    """Return the vocabulary of a Tekken file; ids begin behind the special tokens, as in mistral-common."""
    try:
        data = json.loads(file.read_bytes())
        config = data["config"]
        special = int(config["default_num_special_tokens"])
        tokens = data["vocab"][: int(config["default_vocab_size"]) - special]
        ranks = {base64.b64decode(token["token_bytes"]): int(token["rank"]) for token in tokens}
        split = str(config["pattern"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"not a Tekken file: {error!r}", path=str(file)) from error
    return Counted(file.stem, lambda: _engine(file.stem, split, ranks, special))


def _engine(name: str, pattern: str, ranks: dict[bytes, int], special: int) -> Engine:
    from prefixlint.tokens import _tiktoken

    engine = _tiktoken.engine(name, pattern, ranks)
    return Engine(
        lambda text: [rank + special for rank in engine.encode(text)],
        lambda ids: engine.spell([token - special for token in ids]),
        engine.boundaries,
        engine.longest_piece,
    )
