"""Report entries of the configuration that suppress nothing any more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from prefixlint import config
from prefixlint.api.findings import entry, expand


def unused(
    configs: Iterable[tuple[str, config.Config]], used: set[str], paths: Sequence[str], select: frozenset[str]
) -> Iterator[str]:
    """Yield a note for each entry that could have suppressed something in this run and did not.

    ``configs`` pairs each linted file with its configuration. An entry that speaks of one file is judged when that file
    was linted; one with wildcards, or for all files, only when the folder of the configuration was walked.
    """
    by_path: dict[str, tuple[config.Config, list[str]]] = {}
    for path, settings in configs:
        if settings.path:
            by_path.setdefault(settings.path, (settings, []))[1].append(settings.relative(path))
    for settings, files in by_path.values():
        for name in _candidates(settings, files, _is_walked(settings, paths), select):
            if name not in used:
                yield f"{name} suppresses nothing; remove it"


def _is_walked(settings: config.Config, paths: Sequence[str]) -> bool:
    root = os.path.realpath(settings.root)
    walked = [os.path.realpath(p) for p in paths if os.path.isdir(p)]  # noqa: PTH112
    return any(os.path.commonpath([root, w]) == w for w in walked)


def _candidates(settings: config.Config, files: list[str], is_walked: bool, select: frozenset[str]) -> Iterator[str]:
    def runs(rule: str) -> bool:
        return not select or rule in select

    if is_walked:
        single = [n for n in settings.ignore if list(expand([n], settings.rule_paths)) == [n]]
        yield from (entry(settings, "ignore", n) for n in single if runs(n))
    for glob, rules in settings.per_path.items():
        if _is_judged(glob, files, is_walked):
            yield from (entry(settings, "per-path", r, glob) for r in rules if runs(r))
    for allow in settings.allow:
        if _is_judged(allow.glob, files, is_walked):
            yield from (entry(settings, "allow", r, allow.entry) for r in allow.rules if runs(r))


def _is_judged(glob: str, files: list[str], is_walked: bool) -> bool:
    if set(glob) & set("*?[") or glob.endswith("/"):
        return is_walked
    return is_walked or any(config.matches(f, glob) for f in files)
