"""Check base URLs: a slash, a version path or a query at their end, and two spellings of one address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from prefixlint import kinds
from prefixlint.model import Hit, Settings, Severity, Tokenizer

KINDS = ("generic-settings", "generic-config", "codex", "continue", "librechat", "litellm")

_VERSION = re.compile(r"/v\d{1,3}(?:(?:alpha|beta)\d{0,3})?(?=/*\Z)")
_ENDPOINT = re.compile(r"/(?:chat/completions|completions|responses|messages|embeddings|models)(?=/*\Z)")
_QUERY = re.compile(r"[?#].*\Z", re.S)
_BLANKS = re.compile(r"\s+\Z")


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield the faults of every base URL of a settings file."""
    kind = next(k for k in kinds.KINDS if k.name == settings.kind)
    for pattern in kind.urls:
        for pointer, url in kinds.select(settings.value, pattern):
            if isinstance(url, str) and "://" in url:
                yield from _faults(settings.kind, pointer, url)
    yield from _mismatch(settings)


def _faults(kind: str, pointer: str, url: str) -> Iterator[Hit]:
    # Other programs ask for /v1 in their base URL and cut slashes themselves, so there it is worth a note at most.
    is_pair = kind in ("generic-settings", "generic-config")
    loud: Severity | None = None if is_pair or kind == "codex" else "info"
    query = _QUERY.search(url)
    path_end = query.start() if query else len(url)
    path = url[:path_end].rstrip()
    if query:
        yield _hit("base-url-suffix", pointer, query.start(), len(url), loud, f"{_where(pointer)} ends in a query")
    elif _BLANKS.search(url):
        start = len(url.rstrip())
        yield _hit("base-url-suffix", pointer, start, len(url), loud, f"{_where(pointer)} ends in a blank")
    if path.endswith("/"):
        start = len(path.rstrip("/"))
        yield _hit("base-url-slash", pointer, start, len(path), loud, f"{_where(pointer)} ends in a slash")
    endpoint = _ENDPOINT.search(path)
    if endpoint and not path.rstrip("/").endswith("://" + urlsplit(url).netloc):
        what = f"{_where(pointer)} holds the path of one endpoint, {endpoint[0]!r}"
        yield _hit("base-url-suffix", pointer, *endpoint.span(), loud, what)
    yield from _version(kind, pointer, path, loud)


def _version(kind: str, pointer: str, path: str, loud: Severity | None) -> Iterator[Hit]:
    version = _VERSION.search(path)
    if version is None or kind in ("continue", "librechat", "litellm"):
        return
    if kind == "codex" and not path[: version.start()].endswith(version[0]):
        note = f"{_where(pointer)} ends in {version[0]!r}: right for Codex, wrong for clients that add it themselves"
        yield _hit("base-url-suffix", pointer, *version.span(), "info", note)
        return
    what = f"{_where(pointer)} ends in {version[0]!r}, which clients add themselves"
    yield _hit("base-url-suffix", pointer, *version.span(), loud, what)


def _hit(rule: str, pointer: str, start: int, end: int, severity: Severity | None, message: str) -> Hit:
    return Hit(rule, pointer, start, end, severity=severity, message=message)


def _where(pointer: str) -> str:
    return pointer.rpartition("/")[2]


def _mismatch(settings: Settings) -> Iterator[Hit]:
    """Compare both spellings of the pair; two spellings of one address are two cache scopes in most routers."""
    if settings.partner is None or not settings.kind.startswith("generic-"):
        return
    mine = next(_urls(settings), None)
    theirs = next(_urls(settings.partner), None)
    if mine is None or theirs is None or mine[1] == theirs[1]:
        return
    how = _difference(mine[1], theirs[1])
    message = f"api_base is not spelled as in {settings.partner.path}: {how}"
    place = f"{settings.partner.path}#{theirs[0]}"
    yield Hit("base-url-mismatch", mine[0], 0, len(mine[1]), message=message, related=(place,))


def _urls(settings: Settings) -> Iterator[tuple[str, str]]:
    pattern = "/api_base" if settings.kind == "generic-settings" else "/server/api_base"
    return ((p, u) for p, u in kinds.select(settings.value, pattern) if isinstance(u, str))


def _difference(mine: str, theirs: str) -> str:
    """Say in which part two addresses differ, without showing a user name, password or query."""
    if mine.rstrip("/") == theirs.rstrip("/"):
        return "one ends in a slash"
    if mine.strip() == theirs.strip():
        return "blanks differ"
    if mine.lower() == theirs.lower():
        return "capitals differ"
    try:
        left, right = urlsplit(mine), urlsplit(theirs)
        ports = left.port != right.port
    except ValueError:
        return "one is no valid address"
    if left.scheme != right.scheme:
        return f"{left.scheme} here, {right.scheme} there"
    if left.hostname != right.hostname:
        return f"host {left.hostname!r} here, {right.hostname!r} there"
    if ports:
        return f"port {left.port} here, {right.port} there"
    return "the paths differ" if left.path != right.path else "the queries differ"
