"""What one language adds to the shared engine: its volatile sources, containers without order, and habits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prefixlint.model import Confidence


@dataclass(frozen=True, slots=True)
class Source:
    """One call or member whose value varies.

    ``when`` limits it: ``bare`` (no arguments), ``few`` (fewer than two), ``locale`` (no locale argument).
    ``kind`` is what the value then is (datetime, date, listing ...), which later methods refine.
    """

    rule: str
    kind: str = ""
    when: str = ""
    confidence: Confidence = "high"


@dataclass(frozen=True, slots=True)
class Lang:
    """Describe a language.

    Keys of ``calls`` and ``members`` are dotted suffixes; a key of one component matches a bare name only, one that
    starts with a dot matches a method of any receiver.
    """

    name: str
    comment: str = "//"
    calls: dict[str, Source] = field(default_factory=dict)
    members: dict[str, Source] = field(default_factory=dict)
    unordered_types: re.Pattern[str] | None = None
    unordered_calls: frozenset[str] = frozenset()
    json_calls: frozenset[str] = frozenset()
    json_safe: re.Pattern[str] | None = None
    map_json_only: bool = False
    joins_on_list: bool = True
    self_names: frozenset[str] = frozenset({"self", "this"})


def table(text: str) -> dict[str, Source]:
    """Read lines ``rule [kind=..] [when=..] [low]: name name ...``."""
    found: dict[str, Source] = {}
    for line in text.strip().splitlines():
        head, _, names = line.partition(": ")
        rule, *words = head.split()
        options = dict(w.split("=") for w in words if "=" in w)
        confidence: Confidence = "low" if "low" in words else "medium" if "medium" in words else "high"
        source = Source(rule, options.get("kind", ""), options.get("when", ""), confidence)
        for name in names.split():
            found[name] = source
    return found


def lookup(found: dict[str, Source], path: str) -> Source | None:
    """Find the longest matching suffix of a dotted path."""
    last = path.rsplit(".", 1)[-1]
    if last not in _last_words(id(found), found):
        return None
    if path in found:
        return found[path]
    at = path.find(".")
    while at >= 0:
        rest = path[at + 1 :]
        if "." in rest and rest in found:
            return found[rest]
        at = path.find(".", at + 1)
    return found.get(f".{last}") if "." in path else None


_lasts: dict[int, frozenset[str]] = {}


def _last_words(key: int, found: dict[str, Source]) -> frozenset[str]:
    # The tables are module constants, so their ids are stable; most calls end in a word that no source has.
    if key not in _lasts:
        _lasts[key] = frozenset(name.rsplit(".", 1)[-1] for name in found)
    return _lasts[key]


HAS_TIME = re.compile(r"%[-_0#^]?[HIMSfspcXTRrQLN]|[Hhms]{1,2}:|:[ms]{2}|\bss\b|T?HH|\bepoch\b|RFC|ISO|15:04|:05|3:04")
