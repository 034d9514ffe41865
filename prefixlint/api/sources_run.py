"""Lint the source files of one run together: modules that several of them import are read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixlint.api import source
from prefixlint.api.files import Target
from prefixlint.api.lint import Linted, Linter
from prefixlint.errors import InputError
from prefixlint.model import Finding, InputFile


def lint(targets: Sequence[Target], linter: Linter, jobs: int) -> Iterator[Linted]:
    """Yield what each source file gives.

    A value may come from a module that was not asked for; its finding is filed under the file it lies in. Of files that
    a folder walk met, those that cannot be parsed are passed over.
    """
    by_names: dict[tuple[tuple[str, str], ...], list[Target]] = {}
    for target in targets:
        sinks = linter.configuration(target.path).prompt_sinks
        by_names.setdefault(tuple(sorted(sinks.items())), []).append(target)
    for names, group in by_names.items():
        options = source.SourceOptions(names=dict(names), jobs=jobs)
        found = list(source.check_sources([t.path for t in group], options))
        yield from _sorted_out(group, found, linter)


def _sorted_out(group: list[Target], found: list[Finding | InputError], linter: Linter) -> Iterator[Linted]:
    by_path: dict[str, list[Finding]] = {t.path: [] for t in group}
    errors = {item.path: str(item) for item in found if isinstance(item, InputError)}
    for item in found:
        if isinstance(item, Finding):
            by_path.setdefault(item.span.path, []).append(item)
    walked = {t.path for t in group if not t.named}
    for path, items in by_path.items():
        chosen = linter.choice(path)
        kept = tuple(f for f in items if chosen.keeps(f))
        error = errors.get(path, "")
        broken = (error,) if error and path not in walked else ()
        yield Linted(InputFile(path, "source", 0, broken), kept, used=frozenset(chosen.used), note=_note(error, walked))


def _note(error: str, walked: set[str]) -> str:
    """A grammar that is not installed is worth one note, however many files a walk met."""
    return error.partition(": ")[2] if "is not installed" in error and walked else ""
