"""Turn the hits of checks into findings: card, message, place; and decide which of them are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prefixlint import cards, config
from prefixlint.api.places import Places
from prefixlint.display import visible
from prefixlint.errors import ConfigError
from prefixlint.model import Confidence, Finding, Fix, Hit, Span

_LEVEL = {"low": 0, "medium": 1, "high": 2}
DEFAULT_CONFIDENCE: Confidence = "medium"


@dataclass(frozen=True, slots=True)
class Choice:
    """Say which rules run on a file and which findings count; ``used`` collects the entries that suppressed one."""

    settings: config.Config
    name: str
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    min_confidence: Confidence = DEFAULT_CONFIDENCE
    used: set[str] = field(default_factory=set)

    def keeps(self, finding: Finding) -> bool:
        """Say whether a finding is reported."""
        if self.select and finding.rule not in self.select:
            return False
        if _LEVEL[finding.confidence] < _LEVEL[self.min_confidence]:
            return False
        if finding.rule in self.ignore:
            self.used.add(entry(self.settings, "ignore", finding.rule))
            return False
        return not self._ignored_here(finding) and not self._allowed(finding)

    def _ignored_here(self, finding: Finding) -> bool:
        for glob, rules in self.settings.per_path.items():
            if finding.rule in rules and config.matches(self.name, glob):
                self.used.add(entry(self.settings, "per-path", finding.rule, glob))
                return True
        return False

    def _allowed(self, finding: Finding) -> bool:
        for allow in self.settings.allow:
            if finding.rule in allow.rules and _is_at(allow, self.name, finding.pointer):
                self.used.add(entry(self.settings, "allow", finding.rule, allow.entry))
                return True
        return False


def entry(settings: config.Config, key: str, rule: str, place: str = "") -> str:
    """Name one entry of a configuration as it is shown to a person.

    >>> entry(config.Config(Path("."), "prefixlint.toml"), "allow", "date", "a.json#/system")
    'prefixlint.toml: allow "a.json#/system" = ["date"]'
    """
    shown = f'{key} "{place}" = ["{rule}"]' if place else f'{key} = ["{rule}"]'
    return f"{settings.path}: {shown}"


def _is_at(allow: config.Allow, name: str, pointer: str) -> bool:
    if not config.matches(name, allow.glob):
        return False
    if allow.pointer is None:
        return True
    wanted, given = allow.pointer.split("/"), pointer.split("/")
    return len(given) >= len(wanted) and all(w in ("*", g) for w, g in zip(wanted, given, strict=False))


def choice(settings: config.Config, path: str, options: Mapping[str, object], used: set[str]) -> Choice:
    """Join the command line with the configuration; the command line wins where both say something."""
    select = tuple(options.get("select") or ()) or settings.select  # type: ignore[arg-type]
    ignore = (*tuple(options.get("ignore") or ()), *settings.ignore)  # type: ignore[arg-type]
    confidence = options.get("min_confidence") or settings.min_confidence or DEFAULT_CONFIDENCE
    return Choice(
        settings,
        settings.relative(path) if settings.per_path or settings.allow else path,
        frozenset(expand(select, settings.rule_paths)),
        frozenset(expand(ignore, settings.rule_paths)),
        confidence,  # type: ignore[arg-type]
        used,
    )


def expand(names: Iterable[str], rule_paths: tuple[Path, ...] = ()) -> Iterator[str]:
    """Replace group names by their rules; an unknown name lists the nearest known one."""
    for name in names:
        known = cards.all_rules(rule_paths)
        group = [r.id for r in known.values() if r.group.replace(" ", "-") == name.replace(" ", "-")]
        if name in known:
            yield name
        elif group:
            yield from group
        elif name.lower() == "all":
            yield from known
        else:
            from prefixlint.names import suggestion

            raise ConfigError(f"unknown rule {name!r}: {suggestion(name, known)}")


def check_names(settings: config.Config) -> None:
    """Reject rule names in the configuration that no card has."""
    named = [r for rules in settings.per_path.values() for r in rules]
    named += [r for allow in settings.allow for r in allow.rules]
    for _ in expand((*settings.select, *settings.ignore, *named), settings.rule_paths):
        pass


def finding(hit: Hit, places: Places, texts: Mapping[str, str], rule_paths: tuple[Path, ...] = ()) -> Finding:
    """Build the finding of a hit; ``texts`` maps pointers to the text they stand for."""
    card = cards.rule(hit.rule, rule_paths)
    flagged = texts.get(hit.pointer, "")[hit.start_char : hit.end_char]
    return Finding(
        hit.rule,
        hit.severity or card.severity,
        hit.confidence or card.confidence,
        hit.message or message(card.message, flagged, hit.values),
        places.span(hit.pointer, hit.start_char, hit.end_char, on_key=hit.on_key),
        places.shown_pointer(hit.pointer),
        places.offset(hit.pointer, hit.start_char),
        tuple(_related(place) for place in hit.related),
        fix=Fix(card.summary, card.fix),
    )


def message(template: str, flagged: str, values: tuple[str, ...]) -> str:
    """Fill in a card's message: ``{value}`` is the flagged text, ``{0}`` ... what the check says.

    >>> message("clock time {value} changes", "10:04", ())
    "clock time '10:04' changes"
    """
    shown = template.replace("{value}", repr(visible(values[0] if values else flagged)))
    for index, value in enumerate(values):
        shown = shown.replace(f"{{{index}}}", visible(value))
    return shown


def _related(place: str) -> Span:
    return Span(place.partition("#")[0])


def sort_key(found: Finding) -> tuple[str, int, int, int, str]:
    """Order findings as a reader goes through files."""
    return (found.span.path, found.span.record, found.span.line, found.span.column, found.rule)


def unique(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Drop findings that repeat another one: same rule, same bytes (an alias, or a file given twice)."""
    seen: set[tuple[str, str, int, int, int]] = set()
    for found in findings:
        key = (found.rule, found.span.path, found.span.record, found.span.start_byte, found.span.end_byte)
        if key not in seen:
            seen.add(key)
            yield found
