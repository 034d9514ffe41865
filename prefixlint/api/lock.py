"""``prefixlint.lock``: what each canonical prefix is, so that a change of it is seen in review and not on the bill."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prefixlint.api.files import Target, syntax_of
from prefixlint.canon import body as canon_body
from prefixlint.canon.tools import tool_name
from prefixlint.display import plural, shown
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import Finding, Fix, Json, Severity, Span

NAME = "prefixlint.lock"
VERSION = 1
FIRST_TOKENS = 12
_NOTE = "Written by `prefixlint lock`. Every change here is one cold cache for the prefix it belongs to."


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold one canonical prefix: its hash, its tokens, its first tokens as text, and the order of its tools."""

    sha256: str
    tokens: int
    first: tuple[str, ...]
    tools: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return the entry as it is written."""
        tools = {"tools": list(self.tools)} if self.tools else {}
        return {"first": list(self.first), "sha256": self.sha256, "tokens": self.tokens, **tools}


@dataclass(frozen=True, slots=True)
class Lock:
    """Hold a lock file; ``prefixes`` maps ``path#pointer`` (relative to the lock file, forward slashes) to entries."""

    path: str
    tokenizer: str
    prefixes: dict[str, Entry] = field(default_factory=dict)

    def tool_orders(self) -> dict[frozenset[str], tuple[str, ...]]:
        """Return the order of each set of tools that is locked."""
        return {frozenset(e.tools): e.tools for e in self.prefixes.values() if e.tools}

    def folder(self) -> Path:
        """Return the folder that the names in the file start from."""
        return Path(self.path).parent


def find(start: str) -> str | None:
    """Return the lock file beside a path or in a folder above it."""
    place = Path(os.path.abspath(start))  # noqa: PTH100 - links stay
    for folder in (place if place.is_dir() else place.parent, *place.parents):
        if (folder / NAME).is_file():
            return str(folder / NAME)
        if (folder / ".git").exists():
            return None
    return None


def load(path: str) -> Lock:
    """Read a lock file. Raises ConfigError when it is not one."""
    try:
        value = json.loads(Path(path).read_bytes())
        found = {name: _entry(item) for name, item in value["prefixes"].items()}
        if value["version"] != VERSION:
            raise ConfigError(f"{path}: lock version {value['version']} is not known; expected {VERSION}")
        return Lock(path, str(value["tokenizer"]), found)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: is no lock file ({error}); run `prefixlint lock` to write it again") from error


def _entry(item: Json) -> Entry:
    return Entry(str(item["sha256"]), int(item["tokens"]), tuple(item["first"]), tuple(item.get("tools", ())))


def make(paths: Sequence[str], lock_path: str, tokenizer: str | None = None) -> Lock:
    """Work out the lock of prompt files, settings, tool lists and request bodies. Raises InputError on a bad one."""
    name = tokenizer or "o200k_base"
    folder = Path(lock_path).parent
    found: dict[str, Entry] = {}
    for target in _targets(paths):
        found |= {_name(target.path, p, folder): _of(t, tools, name) for p, t, tools in prefixes(target)}
    return Lock(lock_path, name, found)


def dump(lock: Lock) -> bytes:
    """Write a lock as sorted JSON that has one line for each value, so that a merge shows what changed."""
    prefixes = {name: entry.as_json() for name, entry in sorted(lock.prefixes.items())}
    value = {"note": _NOTE, "prefixes": prefixes, "tokenizer": lock.tokenizer, "version": VERSION}
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _targets(paths: Sequence[str]) -> Iterator[Target]:
    from prefixlint import config
    from prefixlint.api import files

    for found in files.find(paths, settings=lambda p: config.load(Path(p))):
        if isinstance(found, InputError):
            raise found
        if found.sort not in ("source", "log") and files.wants(found, lambda path=found.path: Path(path).read_bytes()):  # type: ignore[misc]
            yield found


def _name(path: str, pointer: str, folder: Path) -> str:
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return f"{relative}#{pointer}" if pointer else relative


def _of(text: str, tools: tuple[str, ...], tokenizer: str) -> Entry:
    from prefixlint.api.tokens import tokenizer_for

    counted = tokenizer_for(None, tokenizer)
    head = counted.encode(text[: FIRST_TOKENS * 16])[:FIRST_TOKENS]
    first = tuple(counted.pieces(head, text))
    return Entry(_hash(text), counted.count(text), first, tools)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prefixes(target: Target) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (pointer, canonical text, names of tools) of every prefix in a file. Raises InputError."""
    from prefixlint.api.fix import FixOptions, Run, read
    from prefixlint.api.fix_files import canonical_text, decode

    data = read(target.path)
    if target.sort in ("prompt", "template"):
        yield "", canonical_text(Run(FixOptions()), target, decode(data, target.path)), ()
        return
    yield from _of_document(target, data)


def _of_document(target: Target, data: bytes) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    from prefixlint.api import documents
    from prefixlint.canon import text

    loaded = documents.load(target.path, target.sort, data)
    root = documents.body_pointer(loaded)
    if root is not None:
        body = loaded.value
        for token in filter(None, root.split("/")):
            body = body[token]
        yield root, *_front(body)
        return
    for pointer, tools in _tool_lists(loaded.value):
        new = canon_body.Walk(canon_body.Options(), None).tools(tools)
        yield pointer, json.dumps(new, ensure_ascii=False), tuple(map(tool_name, new))
    for prompt, _ in documents.prompts(loaded):
        for segment in prompt.segments:
            if segment.kind == "text" and segment.part == "system":
                yield segment.pointer, text.canonical(segment.text), ()


def _front(body: dict[str, Json]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a body's canonical tools and instructions, and the names of its tools."""
    from prefixlint.api.library import canonicalize
    from prefixlint.api.read import request_of
    from prefixlint.api.render import render

    new = canonicalize(body).body
    segments = render(request_of(new)).segments
    front = [s.text for s in segments if s.part in ("tools", "system") or s.role in ("system", "developer")]
    return "\n".join(front), tuple(map(tool_name, new.get("tools") or ()))


def _tool_lists(value: Json, pointer: str = "", depth: int = 0) -> Iterator[tuple[str, list[Json]]]:
    from prefixlint.api.extract import is_tool_list
    from prefixlint.json_spans import escape_token

    if is_tool_list(value):
        yield pointer, value
    elif isinstance(value, dict) and depth < 20:
        for key, below in value.items():
            yield from _tool_lists(below, f"{pointer}/{escape_token(str(key))}", depth + 1)


def verify(paths: Sequence[str], lock_path: str | None = None) -> Iterator[Finding]:
    """Yield a finding for each locked prefix in these files or folders that is not what the lock says.

    Without a lock file above a path there is nothing to verify. Raises ConfigError for a broken lock file.
    """
    locks = {lock_path} if lock_path else {find(path) for path in paths}
    for found in sorted(filter(None, locks)):
        yield from _verify(load(found), [os.path.abspath(p) for p in paths])  # noqa: PTH100


def _verify(lock: Lock, paths: list[str]) -> Iterator[Finding]:
    by_file: dict[str, dict[str, Entry]] = {}
    for name, entry in lock.prefixes.items():
        path, _, pointer = name.partition("#")
        by_file.setdefault(path, {})[pointer] = entry
    for name, entries in sorted(by_file.items()):
        path = os.path.normpath(lock.folder() / name)
        if any(os.path.abspath(path) == p or os.path.abspath(path).startswith(p + os.sep) for p in paths):  # noqa: PTH100
            yield from _verify_file(lock, path, entries)


def _verify_file(lock: Lock, path: str, entries: dict[str, Entry]) -> Iterator[Finding]:
    from prefixlint.api.files import sort_of

    if not Path(path).is_file():
        for pointer, entry in entries.items():
            yield _finding(path, pointer, f"the file is gone; its prefix had {plural(entry.tokens, 'token')}")
        return
    target = Target(path, sort_of(path) or "prompt", True, syntax_of(path))
    now = {pointer: (text, tools) for pointer, text, tools in prefixes(target)}
    for pointer, entry in entries.items():
        if pointer not in now:
            yield _finding(path, pointer, f"the prefix of {plural(entry.tokens, 'token')} is gone")
        elif _hash(now[pointer][0]) != entry.sha256:  # only a changed prefix is worth loading a tokenizer for
            changed = _of(*now[pointer], lock.tokenizer)
            yield _finding(path, pointer, _difference(entry, changed), lost=changed.tokens)


def _difference(old: Entry, new: Entry) -> str:
    at = next((i for i, (a, b) in enumerate(zip(old.first, new.first, strict=False)) if a != b), None)
    if at is None:
        where = f"somewhere behind its first {len(old.first)} tokens"
    else:
        where = f"at token {at}: {shown(new.first[at], redact=False)!r} for {shown(old.first[at], redact=False)!r}"
    return f"{old.tokens} tokens became {new.tokens}, {where}"


def _finding(path: str, pointer: str, what: str, *, lost: int | None = None) -> Finding:
    severity: Severity = "error"
    message = f"a locked prefix changed: {what}; every cache computes it anew once; run `prefixlint lock` to approve"
    fix = Fix("run `prefixlint lock` and commit the result", "display")
    return Finding("prefix-changed", severity, "high", message, Span(path), pointer, lost_tokens=lost, fix=fix)
