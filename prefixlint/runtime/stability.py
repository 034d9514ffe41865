"""What the fixtures of the pytest plugin do: build again and again, and compare; store a prefix, and compare."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from prefixlint.api.stable import Until, built, moved, stored
from prefixlint.display import plural, shown
from prefixlint.errors import ConfigError
from prefixlint.model import Request
from prefixlint.names import suggestion
from prefixlint.runtime import in_process

HASH_SEED = "hash-seed"
REPEAT = "repeat"


class Trial:
    """Build one prompt in many surroundings."""

    def __init__(self, build: Callable[[], object], scratch: Path, until: Until, tokenizer: str | None) -> None:
        """Keep what to build and how to compare."""
        self._build, self._scratch, self._until, self._tokenizer = build, scratch, until, tokenizer
        self._places = in_process.variations(scratch)
        self._base = in_process.base(scratch)

    def problems(self, names: tuple[str, ...] | None) -> Iterator[str]:
        """Yield a report for each variation that moves the prefix; what moves by itself is told once."""
        known = [*self._places, HASH_SEED]
        for name in names or ():
            if name not in known:
                raise ConfigError(f"unknown variation {name!r}: {suggestion(name, known)}")
        try:
            yield from self._tried(names)
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)  # its links must not be found by a later collection

    def _tried(self, names: tuple[str, ...] | None) -> Iterator[str]:
        first = self._built(self._base)
        again = list(self._compare(first, self._built(self._base), REPEAT))
        if again:
            yield from again
            return
        for name, place in self._places.items():
            if names is None or name in names:
                yield from self._compare(first, self._built(place), name)
        if names is None or HASH_SEED in names:
            yield from self._other_seed(must=names is not None)

    def _built(self, place: in_process.Place) -> list[Request]:
        with in_process.inside(place):
            value = self._build()
            if inspect.isawaitable(value):
                value = _run(value)
        return built(value)

    def _compare(self, before: list[Request], after: list[Request], name: str) -> Iterator[str]:
        if len(before) != len(after):
            yield f"{self._title(name)}: {plural(len(before), 'body')} become {len(after)}"
            return
        for one, other in zip(before, after, strict=True):
            found = moved(one, other, until=self._until, tokenizer=self._tokenizer, name=name)
            if found:
                yield f"{self._title(name)} at token {found.fork.token} ({found.fork.cause})\n\n{found.report}"

    @staticmethod
    def _title(name: str) -> str:
        return "the prefix moves although nothing changed" if name == REPEAT else f"the prefix moves with {name}"

    def _other_seed(self, *, must: bool) -> Iterator[str]:
        """Compare two new processes with other hash seeds; a builder that none can import is passed over."""
        try:
            one, other = in_process.in_children(self._build, ("0", "4242"), self._scratch)
        except ValueError as error:
            if must:
                raise ConfigError(f"{HASH_SEED} cannot be tried: {error}") from error
            return
        yield from self._compare(built(one), built(other), HASH_SEED)


def _run(awaitable: Awaitable[Any]) -> Any:
    """Wait for an async builder, in a thread where this one has a running loop (pytest-asyncio)."""

    async def whole() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(whole())
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, whole()).result()


def snapshot(request: Request, path: Path, *, until: Until, tokenizer: str | None, update: bool) -> str:
    """Compare a prefix with the stored one and say what is wrong, nothing if all is well; ``update`` stores it."""
    found = stored(request, until=until, tokenizer=tokenizer)
    if update:
        _write(path, found)
        return ""
    if not path.exists():
        return f"no prefix is stored in {path}; run pytest --prefixlint-update and commit the file"
    known = json.loads(path.read_text(encoding="utf-8"))
    if known["prefix"] == found["prefix"] and known["model"] == found["model"]:
        return ""
    return f"{_difference(known, found)}\nif this was meant, run pytest --prefixlint-update and commit {path}"


def _difference(known: dict[str, Any], found: dict[str, Any]) -> str:
    counts = f"{known['tokens']:,} tokens were stored, now there are {found['tokens']:,} ({found['tokenizer']})"
    if known["model"] != found["model"]:
        return f"the model was {known['model']}, now it is {found['model']}; {counts}"
    ours, theirs = known["prefix"], found["prefix"]
    at = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    sides = [s[at] if at < len(s) else {"at": "", "text": ""} for s in (ours, theirs)]
    before, after = ({"messages": [{"role": "system", "content": s["text"]}]} for s in sides)
    change = moved(built(before)[0], built(after)[0], until="end")
    where = sides[1]["at"] or sides[0]["at"] or "the prompt"
    if change is None:
        return f"the stored prefix has changed at {where}; {counts}"
    left, right = (shown(s, redact=False) for s in (change.fork.left, change.fork.right))
    return f"the stored prefix has changed at {where} ({change.fork.cause}): {left} -> {right}; {counts}"


def _write(path: Path, found: dict[str, Any]) -> None:
    """Write the file in one step, so that no other process sees half of it; leave it alone when it is the same."""
    data = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(data, encoding="utf-8")
    draft.replace(path)
