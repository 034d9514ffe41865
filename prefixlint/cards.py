"""Rule cards: one TOML file per rule is its definition, its documentation and its test cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from prefixlint.errors import CardError
from prefixlint.model import Rule

REQUIRED = ("id", "group", "summary", "why", "what", "instead", "message", "severity", "confidence", "fix")
TUPLES = ("labels", "references", "bad", "good")


def rules_dir() -> Path:
    """Return the folder of the shipped cards: inside a wheel, or beside ``pyproject.toml`` in a checkout or sdist."""
    here = Path(__file__).parent
    packed = here / "_rules"
    if packed.is_dir():
        return packed
    beside = here.parent / "rules"
    if (here.parent / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise CardError(f"the rule cards are missing: neither {packed} nor {beside} is a folder; reinstall prefixlint")


def rule(rule_id: str, paths: Iterable[Path] = ()) -> Rule:
    """Return the card of one rule.

    The shipped cards come from the index, without their examples: ``full_rule`` reads those.
    """
    found = _shipped(rule_id)
    if found is not None:
        return found
    known = all_rules(paths)
    if rule_id not in known:
        raise CardError(f"unknown rule {rule_id!r}{_nearest(rule_id, known)}; `prefixlint rules` lists them")
    return known[rule_id]


def all_rules(paths: Iterable[Path] = ()) -> dict[str, Rule]:
    """Return every rule by id, sorted: the shipped ones, and those of the user's card files or folders."""
    found = {rule_id: rule(rule_id) for rule_id in _index()}
    for path in paths:
        for file in card_files(path):
            card = load_card(file)
            if card.id in found and not found[card.id].path:
                raise CardError(f"{file}: /id: {card.id!r} is a shipped rule; choose another id")
            found[card.id] = card
    return dict(sorted(found.items()))


def rule_patterns(rule_id: str) -> tuple[Any, ...]:
    """Return the ``patterns`` entries of a shipped card as they stand: strings, or tables with their attributes."""
    return tuple(_index()[rule_id].get("patterns", ()))


def rule_names(rule_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of template variables that hold such a value: those that say so, and those that may."""
    card = _index()[rule_id]
    return tuple(card.get("names", ())), tuple(card.get("weak_names", ()))


def full_rule(rule_id: str) -> Rule:
    """Return a shipped rule with its examples, read from its card."""
    rule(rule_id)
    return _rule(read_toml(rules_dir() / f"{rule_id}.toml"), path="")


def card_files(path: Path) -> list[Path]:
    """List the cards at a path: the file itself, or the ``*.toml`` of a folder; names with ``_`` are parts."""
    if not path.exists():
        raise CardError(f"{path}: no such file or folder; check `rule-paths`")
    if path.is_file():
        return [path]
    return sorted(f for f in path.glob("*.toml") if not f.name.startswith("_"))


def load_card(path: Path) -> Rule:
    """Read and validate a card that a user wrote; the error names the file and the place inside the card."""
    data = read_toml(path)
    for place, fault in faults(data):
        raise CardError(f"{path}: {place}: {fault}")
    return _rule(data, path=str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a card file, with the parser's line and column in the error."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CardError(f"{path}: {error}") from error


def faults(data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield what is wrong with a card as (JSON path, fault), outermost first."""
    import json

    from jsonschema import Draft202012Validator

    schema = json.loads((Path(__file__).parent / "schemas" / "card.json").read_text(encoding="utf-8"))
    for error in sorted(Draft202012Validator(schema).iter_errors(data), key=lambda e: [str(p) for p in e.path]):
        yield "/" + "/".join(str(part) for part in error.path), error.message
    for number, pattern in enumerate(data.get("patterns", ())):
        if fault := _pattern_fault(regex_of(pattern)):
            yield f"/patterns/{number}", fault


def regex_of(pattern: str | Mapping[str, Any]) -> str:
    """Return the regular expression of a ``patterns`` entry, with its shared parts in place."""
    raw = pattern if isinstance(pattern, str) else str(pattern.get("regex", ""))
    return both_cases(expand(raw))


def expand(regex: str) -> str:
    """Put the shared parts in place of ``<<name>>``."""
    known = parts() if "<<" in regex else {}
    for name, part in known.items():
        regex = regex.replace(f"<<{name}>>", part)
    return regex


def both_cases(regex: str) -> str:
    """Spell out both cases of cased letters beyond ASCII where ``(?i`` is in force.

    ``re`` with ASCII classes folds ASCII only, RE2 folds all; so ``(?i:märz)`` becomes ``(?i:m[äÄ]rz)`` for both.
    """
    if "(?i" not in regex or regex.isascii():
        return regex
    return "".join(
        f"[{c.lower()}{c.upper()}]" if not c.isascii() and c.lower() != c.upper() and len(c.upper()) == 1 else c
        for c in regex
    )


def _pattern_fault(regex: str) -> str:
    import re

    try:
        re.compile(regex, re.ASCII)
    except re.error as error:
        return f"the pattern does not compile: {error}"
    for construct in ("(?=", "(?!", "(?<=", "(?<!", "(?P="):
        if construct in regex:
            return f"{construct}...) is not in the common subset of re and RE2"
    return ""


def parts() -> dict[str, str]:
    """Return the pieces that patterns share, by name."""
    found: dict[str, str] = _read_index()["parts"]
    return found


def _index() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = _read_index()["cards"]
    return found


@cache
def _read_index() -> dict[str, Any]:
    """Read the index that scripts/build_cards.py makes; a tenth of the time of parsing the cards."""
    import json

    found: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "cards.json").read_bytes())
    return found


@cache
def _shipped(rule_id: str) -> Rule | None:
    card = _index().get(rule_id)
    return None if card is None else _rule(card, path="")


def _rule(card: Mapping[str, Any], *, path: str) -> Rule:
    fields: dict[str, Any] = {name: card[name] for name in REQUIRED}
    fields |= {name: str(card[name]).strip() for name in ("why", "what", "instead")}
    fields |= {name: tuple(card.get(name, ())) for name in TUPLES}
    patterns = tuple(regex_of(p) for p in card.get("patterns", ()))
    return Rule(**fields, patterns=patterns, path=path)


def _nearest(rule_id: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(rule_id, list(known), 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
