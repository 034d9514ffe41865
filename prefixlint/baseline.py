"""Accept the findings of today: a baseline file holds hashes of findings, never their text."""

from __future__ import annotations

import json
import os.path
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from prefixlint.errors import ConfigError
from prefixlint.model import Finding

VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold one accepted finding; ``path`` is relative to the baseline file."""

    path: str
    rule: str
    fingerprint: str


def load(path: Path) -> tuple[Entry, ...]:
    """Read a baseline. Raises ConfigError when it is missing or is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = tuple(Entry(e["path"], e["rule"], e["fingerprint"]) for e in document["findings"])
    except OSError as error:
        message = f"{path}: no such baseline; `prefixlint check --write-baseline --baseline {path}` makes one"
        raise ConfigError(message) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: this is no baseline file of prefixlint") from error
    if document.get("version") != VERSION:
        raise ConfigError(f"{path}: version {document.get('version')!r} of the baseline is not known; write it again")
    return entries


def dump(findings: Iterable[Finding], folder: Path) -> str:
    """Write the baseline that accepts these findings, sorted so that it merges well."""
    entries = sorted((relative(f.span.path, folder), f.rule, f.fingerprint) for f in findings)
    lines = [
        json.dumps(dict(zip(("path", "rule", "fingerprint"), e, strict=True)), ensure_ascii=False) for e in entries
    ]
    body = ",\n  ".join(lines)
    return (
        f'{{"version": {VERSION}, "findings": [\n  {body}\n]}}\n'
        if lines
        else f'{{"version": {VERSION}, "findings": []}}\n'
    )


def relative(path: str, folder: Path) -> str:
    """Write a path relative to a folder with forward slashes; one on another drive stays as it is."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace("\\", "/")


def split(
    findings: Iterable[Finding], entries: Iterable[Entry], folder: Path
) -> tuple[tuple[Finding, ...], tuple[Entry, ...]]:
    """Return (findings that no entry accepts, entries that accepted nothing); each entry accepts one finding."""
    left = Counter(entries)
    fresh = []
    for finding in findings:
        entry = Entry(relative(finding.span.path, folder), finding.rule, finding.fingerprint)
        if left[entry] > 0:
            left[entry] -= 1
        else:
            fresh.append(finding)
    return tuple(fresh), tuple((+left).elements())
