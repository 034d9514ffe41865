"""Run a prompt-building command under changed surroundings and say which change moves which token."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prefixlint.api import surroundings
from prefixlint.api.read import ReadOptions, open_log
from prefixlint.api.stable import moved
from prefixlint.api.surroundings import Surroundings, Variation
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import Fork, Request, Span
from prefixlint.names import suggestion

REPEAT = "random"  # what moves although nothing was changed
_CLOCK_CAUSES = {"timestamp", "date", "epoch", "relative-time-phrase"}


@dataclass(frozen=True, slots=True)
class Moved:
    """Hold what one variation did: no forks where the output stayed; ``note`` says why it was not tried."""

    variation: str
    forks: tuple[Fork, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class VaryResult:
    """Hold all variations in the order in which they were tried, and how many bodies the command printed."""

    command: tuple[str, ...]
    bodies: int
    moved: tuple[Moved, ...]

    @property
    def guilty(self) -> tuple[str, ...]:
        """Name the variations that move the output."""
        return tuple(m.variation for m in self.moved if m.forks)


def vary(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    only: Sequence[str] = (),
    timeout_s: float = 60.0,
    tokenizer: str | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> VaryResult:
    """Run ``command`` twice as it is, then once for each variation, and compare what it prints.

    The output may be one request body, several (JSON lines), or plain text. Raises InputError when the command fails.
    """
    with tempfile.TemporaryDirectory(prefix="prefixlint-") as name:
        scratch = Path(name)
        base = surroundings.pinned(environ, scratch)

        def printed(where: Surroundings) -> list[Request]:
            out = surroundings.run(command, where, scratch, folder, timeout_s=timeout_s)
            return bodies(out, scratch)

        first = printed(base)
        again = compare(first, printed(base), tokenizer)
        tried = list(_repeated(again))
        known = {_place(f) for f in again}
        variations = surroundings.variations(base, scratch, folder)
        _check_names(only, [v.name for v in variations])
        for variation in variations:
            if only and variation.name not in only:
                continue
            progress(variation.name)
            tried.append(_try(variation, base, first, printed, known, tokenizer))
    return VaryResult(tuple(command), len(first), tuple(_merged(tried)))


def _check_names(only: Sequence[str], known: list[str]) -> None:
    for name in only:
        if name not in known:
            raise ConfigError(f"unknown variation {name!r}: {suggestion(name, known)}")


def _try(
    variation: Variation,
    base: Surroundings,
    first: list[Request],
    printed: Callable[[Surroundings], list[Request]],
    known: set[tuple[str, int]],
    tokenizer: str | None,
) -> Moved:
    if variation.skipped:
        return Moved(variation.name, (), f"not tried: {variation.skipped}")
    try:
        control = first if variation.control is base else printed(variation.control)
        forks = compare(control, printed(variation.changed), tokenizer, variation.name)
    except InputError as error:
        return Moved(variation.name, (), f"not tried: {error}")
    fresh = tuple(f for f in forks if _place(f) not in known)
    note = "what comes behind the repeatedly moving place is hidden by it" if forks and not fresh else ""
    return Moved(variation.name, fresh, note)


def _place(fork: Fork) -> tuple[str, int]:
    return fork.pointer, fork.after.record


def _repeated(again: tuple[Fork, ...]) -> Iterator[Moved]:
    """Name what moves although nothing was changed: the clock by its shape, the rest is randomness."""
    clock = tuple(f for f in again if f.cause in _CLOCK_CAUSES)
    rest = tuple(f for f in again if f.cause not in _CLOCK_CAUSES)
    for name, forks in (("clock", clock), (REPEAT, rest)):
        if forks:
            yield Moved(name, forks, "moves although nothing was changed")


def _merged(moved: list[Moved]) -> Iterator[Moved]:
    """Join the two lines that ``clock`` and ``random`` may have, one found by repeating and one by changing."""
    for index, one in enumerate(moved):
        later = [m for m in moved[index + 1 :] if m.variation == one.variation]
        if any(m.variation == one.variation for m in moved[:index]):
            continue
        yield replace(one, forks=one.forks + sum((m.forks for m in later), ()))


def bodies(printed: bytes, scratch: Path) -> list[Request]:
    """Read what a command printed: request bodies if it is JSON, else one raw prompt.

    Raises InputError when nothing was printed.
    """
    if not printed.strip():
        raise InputError("the command printed nothing; it should print the request body or the prompt text")
    if printed.lstrip()[:1] in (b"{", b"["):
        path = scratch / "printed.json"
        path.write_bytes(printed)
        found = list(open_log([str(path)], ReadOptions()).requests())
        good = [r for r in found if isinstance(r, Request)]
        if good:
            return good
    text = printed.decode("utf-8", "surrogateescape")
    return [Request(id="0", provider="raw", span=Span("stdout", 0, 0, len(printed)), text=text)]


def compare(
    left: Sequence[Request], right: Sequence[Request], tokenizer: str | None = None, name: str = "changed"
) -> tuple[Fork, ...]:
    """Compare the k-th bodies of two runs; every difference counts, also one in the last user turn."""
    if len(left) != len(right):
        raise InputError(f"the command printed {len(left)} bodies, then {len(right)}: compare them with diff")
    out: list[Fork] = []
    for k, (before, after) in enumerate(zip(left, right, strict=True)):
        found = moved(before, after, until="end", tokenizer=tokenizer, name=name)
        if found:
            fork = found.fork
            out.append(replace(fork, after=replace(fork.after, record=k), before=replace(fork.before, record=k)))
    return tuple(out)
