"""Write a lock file and say what changed in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefixlint.api import lock
from prefixlint.api.write import replace_file
from prefixlint.display import plural
from prefixlint.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Update:
    """Say whether a lock file is new or changed, and what changed, line by line."""

    changed: bool
    lines: tuple[str, ...]


def update(paths: Sequence[str], lock_path: str, *, tokenizer: str | None = None, write: bool = True) -> Update:
    """Lock files anew; those of the old lock that are not named stay as they are in it."""
    old = lock.load(lock_path) if Path(lock_path).exists() else None
    if not paths and old is None:
        raise ConfigError(f"{lock_path} does not exist; name the files to lock")
    chosen = tokenizer or (old.tokenizer if old else None)
    new = lock.make(paths or locked_files(old), lock_path, chosen)
    if old and paths and old.tokenizer == new.tokenizer:
        made = {name.partition("#")[0] for name in new.prefixes}
        kept = {name: e for name, e in old.prefixes.items() if name.partition("#")[0] not in made}
        new = lock.Lock(new.path, new.tokenizer, {**kept, **new.prefixes})
    data = lock.dump(new)
    changed = not Path(lock_path).exists() or Path(lock_path).read_bytes() != data
    if changed and write:
        replace_file(lock_path, data)
    return Update(changed, tuple(_lines(old, new, changed=changed, written=changed and write)))


def locked_files(old: lock.Lock | None) -> list[str]:
    """List the files of a lock that still exist."""
    names = dict.fromkeys(name.partition("#")[0] for name in old.prefixes) if old else {}
    paths = (str(old.folder() / name) for name in names) if old else ()
    return [p for p in paths if Path(p).is_file()]


def _lines(old: lock.Lock | None, new: lock.Lock, *, changed: bool, written: bool) -> Iterator[str]:
    before = old.prefixes if old else {}
    for name, entry in sorted(new.prefixes.items()):
        if name not in before:
            yield f"+ {name}: {plural(entry.tokens, 'token')}"
        elif before[name] != entry:
            yield f"~ {name}: {before[name].tokens} -> {plural(entry.tokens, 'token')}, one cold cache"
    for name in sorted(before.keys() - new.prefixes.keys()):
        yield f"- {name}"
    total = sum(e.tokens for e in new.prefixes.values())
    count = len(new.prefixes)
    state = "written" if written else "changed, not written" if changed else "up to date"
    yield f"{new.path}: {count} {'prefix' if count == 1 else 'prefixes'}, {plural(total, 'token')}, {state}"
