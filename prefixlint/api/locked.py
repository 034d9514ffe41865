"""Ask the lock file, where there is one, whether a prefix changed unannounced."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from prefixlint.api.lint import Linter
from prefixlint.model import Finding

_NAME = "prefixlint.lock"


def check(paths: Sequence[str], linter: Linter, used: set[str]) -> Iterator[Finding]:
    """Yield a finding for each locked prefix below the paths that is not what the lock says."""
    given = [path for path in paths if _has_lock(_folder(path))]
    if not given:
        return
    from prefixlint.api import lock  # brings the canonicalizer along

    for finding in lock.verify(given):
        path = _shown(finding.span.path)
        chosen = linter.choice(path)
        if chosen.keeps(finding):
            yield replace(finding, span=replace(finding.span, path=path))
        used |= chosen.used


def _folder(path: str) -> str:
    full = os.path.abspath(path)  # noqa: PTH100 - links stay
    return full if os.path.isdir(full) else os.path.dirname(full)  # noqa: PTH112, PTH120


@cache
def _has_lock(folder: str) -> bool:
    """Look for a lock file upwards, to the top of the repository."""
    if os.path.isfile(os.path.join(folder, _NAME)):  # noqa: PTH113, PTH118
        return True
    above = os.path.dirname(folder)  # noqa: PTH120
    return above != folder and not os.path.exists(os.path.join(folder, ".git")) and _has_lock(above)  # noqa: PTH110, PTH118


def _shown(path: str) -> str:
    """Write a path below the current folder relative to it, as those of the other findings are."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
