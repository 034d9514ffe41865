"""Ask git which lines changed since a revision."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from prefixlint.errors import ConfigError
from prefixlint.model import Finding

_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_ALL = range(1, 1 << 31)

Lines = dict[str, list[range]]


def changed_lines(revision: str, folder: str = ".") -> Lines:
    """Map each changed file (absolute path) to its changed lines; a file that git does not know is new as a whole.

    Raises ConfigError when this is no repository or the revision does not exist.
    """
    if revision.startswith("-"):
        raise ConfigError(f"{revision!r} is no git revision")
    top = Path(_git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "replace").strip())
    diff = _git(
        folder, "-c", "core.quotepath=off", "diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames",
        "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", revision, "--",
    )  # fmt: skip
    found = _parse(diff, top)
    for name in _git(str(top), "ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        if name:
            found[str(top / os.fsdecode(name))] = [_ALL]
    return found


def _git(folder: str, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise ConfigError("--diff-base needs git, which is not installed") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ConfigError(f"--diff-base: git says {said[0] if said else 'nothing'!r}")
    return done.stdout


def _parse(diff: bytes, top: Path) -> Lines:
    found: Lines = {}
    current: list[range] = []
    for line in diff.split(b"\n"):
        if line.startswith(b"+++ "):
            current = []
            name = _name(line[4:])
            if name:
                found[str(top / name)] = current
        elif hunk := _HUNK.match(line):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            current.append(range(start, start + count))
    return found


def _name(raw: bytes) -> str:
    """Decode the name of the new side; git quotes names with control characters, quotes or backslashes."""
    raw = raw.rstrip(b"\t\r")
    if raw.startswith(b'"'):
        raw = raw[1:-1].decode("unicode_escape").encode("latin-1")
    return os.fsdecode(raw.removeprefix(b"b/")) if raw != b"/dev/null" else ""


def on_changed_lines(findings: Iterable[Finding], lines: Lines) -> tuple[Finding, ...]:
    """Keep the findings that touch a changed line."""
    return tuple(f for f in findings if _touches(f, lines.get(os.path.realpath(f.span.path), [])))


def _touches(finding: Finding, changed: list[range]) -> bool:
    first, last = finding.span.line, max(finding.span.end_line, finding.span.line)
    return any(r.start <= last and first < r.stop for r in changed)
