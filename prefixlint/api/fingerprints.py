"""Give findings a hash that survives moved lines: rule, pointer and the line's text, never its number."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from prefixlint.model import Finding


def with_fingerprints(findings: Iterable[Finding], contents: Mapping[str, bytes]) -> Iterator[Finding]:
    """Yield the findings with their fingerprints; equal ones in one file are numbered in their order.

    ``contents`` overrides what is on disk.
    """
    read: dict[str, bytes] = dict(contents)
    seen: Counter[str] = Counter()
    for finding in findings:
        path = finding.span.path
        if path not in read:
            read[path] = _bytes(path)
        base = _hash(finding, read[path])
        key = f"{path}\0{base}"
        seen[key] += 1
        yield replace(finding, fingerprint=f"{base}:{seen[key]}")


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def _hash(finding: Finding, data: bytes) -> str:
    """Hash what is flagged and the line around it, blanks at its ends left out."""
    span = finding.span
    flagged = b"" if finding.rule == "literal-key" else data[span.start_byte : span.end_byte]
    start = data.rfind(b"\n", 0, span.start_byte) + 1
    end = data.find(b"\n", span.start_byte)
    line = b" ".join(data[start : end if end >= 0 else len(data)][:4096].split())
    # In JSON, YAML and TOML the pointer says where; a minified file is one long line, which changes all the time.
    context = b"" if finding.pointer else line
    parts = (finding.rule.encode(), finding.pointer.encode("utf-8", "surrogatepass"), flagged[:4096], context)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
