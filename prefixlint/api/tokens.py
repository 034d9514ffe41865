"""Choose a tokenizer by model name, by its own name, or by file; nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from prefixlint import registry
from prefixlint.errors import ConfigError, InputError

if TYPE_CHECKING:
    from prefixlint.tokens._counted import Counted

UNKNOWN_MODEL = "estimate"


def tokenizer_for(model: str | None, name: str | None = None, *, cache_dir: str | None = None) -> Counted:
    """Return the tokenizer of a model, or the one that ``name`` says: a known name, a file, or a folder with one.

    A model that no table knows gets an estimate (``exact`` is False). ``cache_dir`` is the user's TIKTOKEN_CACHE_DIR,
    where further vocabularies of tiktoken may lie. Raises ConfigError for an unknown name, InputError for a bad file.

    >>> tokenizer_for("gpt-4o").name, tokenizer_for(None, "cl100k_base").name, tokenizer_for("claude-opus-4-5").exact
    ('o200k_base', 'cl100k_base', False)
    """
    chosen = name or tokenizer_name(model)
    path = Path(chosen.partition("=")[2] or chosen)
    changed = path.stat().st_mtime_ns if path.exists() else 0
    return _loaded(chosen, cache_dir or "", changed)


@lru_cache(maxsize=16)  # a vocabulary takes 300 ms and 60 MB: one object per process, and its counts are remembered
def _loaded(chosen: str, cache_dir: str, changed: int) -> Counted:
    for backend in registry.modules("tokens", "NAMES"):
        if chosen in backend.NAMES:
            options = {"cache_dir": cache_dir} if getattr(backend, "NEEDS_CACHE_DIR", False) else {}
            tokenizer: Counted = backend.load(chosen, **options)
            return tokenizer
    return _from_file(chosen)


def _from_file(chosen: str) -> Counted:
    """Load a file, or the first file of a folder, that a backend claims."""
    pattern, _, behind = chosen.partition("=")
    path = Path(behind or chosen)
    if not path.exists():
        message = f"tokenizer {chosen!r} is neither known nor a file; known: {', '.join(names())}"
        raise ConfigError(message)
    for file in _candidates(path):
        for backend in registry.modules("tokens", "claims"):
            if backend.claims(file):
                tokenizer: Counted = backend.load_file(file, pattern=pattern if behind else "")
                return tokenizer
    raise InputError("no tokenizer in it; use tokenizer.json, tekken.json or a .tiktoken file", path=str(path))


def _candidates(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else [path]


def names() -> list[str]:
    """List the names that ``tokenizer_for`` knows, sorted."""
    return sorted(name for backend in registry.modules("tokens", "NAMES") for name in backend.NAMES)


def tokenizer_name(model: str | None) -> str:
    """Return the name of the tokenizer of a model, ``estimate`` where the table does not know it.

    >>> tokenizer_name("azure/gpt-4o-2024-08-06"), tokenizer_name("ft:gpt-3.5-turbo:acme::x"), tokenizer_name("qwen3")
    ('o200k_base', 'cl100k_base', 'estimate')
    """
    from fnmatch import fnmatchcase

    from prefixlint.tokens import estimate

    spellings = tuple(_spellings((model or "").lower()))
    for entry in estimate.table()["model"]:
        if any(fnmatchcase(spelling, name) for name in entry["names"] for spelling in spellings):
            return str(entry["tokenizer"])
    return UNKNOWN_MODEL


def _spellings(model: str) -> Iterator[str]:
    """Yield a model's name with and without what gateways put before it (``openai/``, ``models/``, ``ft:``)."""
    yield model
    bare = model.rpartition("/")[2].removeprefix("ft:").removeprefix("openai.")
    if bare != model:
        yield bare
