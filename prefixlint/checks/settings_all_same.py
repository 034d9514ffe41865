"""Find prompts that differ between settings files only by bytes without meaning: two cold caches for one prompt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from prefixlint.model import Hit, Settings, Tokenizer

_INVISIBLE = re.compile("[\ufeff\u200b\u2060\u00ad]")
_TRAILING = re.compile(r"[ \t]+(?=\n|\Z)")
_BLANK_RUN = re.compile(r"\n{3,}")
_END = re.compile(r"\n+\Z")

# In this order; each step takes away one kind of difference that has no meaning to a reader.
STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("bom-or-zero-width", lambda text: _INVISIBLE.sub("", text)),
    ("newline-style", lambda text: text.replace("\r\n", "\n").replace("\r", "\n")),
    ("unicode-normalization", lambda text: unicodedata.normalize("NFC", text)),
    ("trailing-whitespace", lambda text: _TRAILING.sub("", text)),
    ("blank-run", lambda text: _END.sub("", _BLANK_RUN.sub("\n\n", text))),
)


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield each text that is not in plain form where another file has the same text in another spelling."""
    for pointer, text in _texts(settings):
        for peer in settings.peers:
            theirs = dict(_texts(peer)).get(pointer)
            if theirs is None or theirs == text or plain(theirs) != plain(text) or text == plain(text):
                continue
            yield _hit(settings, peer, pointer, text, theirs)
            break


def plain(text: str) -> str:
    """Take away all differences without meaning."""
    for _, step in STEPS:
        text = step(text)
    return text


def _texts(settings: Settings) -> Iterator[tuple[str, str]]:
    yield from settings.prompts.items()
    yield from ((pointer, text) for pointer, text in settings.files.items() if text)


def _hit(settings: Settings, peer: Settings, pointer: str, text: str, theirs: str) -> Hit:
    rule = _cause(text, theirs)
    at = next((i for i, (a, b) in enumerate(zip(text, theirs, strict=False)) if a != b), min(len(text), len(theirs)))
    message = f"differs from {peer.path} only by bytes without meaning; equal bytes would share one cache"
    is_file = pointer in settings.files
    start, end = (0, 0) if is_file else (min(at, len(text) - 1), min(at + 1, len(text)))
    return Hit(rule, pointer, start, end, confidence="high", message=message, related=(f"{peer.path}#{pointer}",))


def _cause(text: str, theirs: str) -> str:
    """Name the one step that makes both equal, else the first that changes the text."""
    alone = next((rule for rule, step in STEPS if step(text) == step(theirs)), None)
    return alone or next(rule for rule, step in STEPS if step(text) != text)
