"""Rules as a person meets them: list them, read one, try its examples on the product."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefixlint import cards
from prefixlint.errors import PrefixlintError
from prefixlint.model import Finding, Json, Rule

MARK = re.compile(r"«([^«»]*)»")
BULK = "«BULK»"  # stands for a text above the minimum of every provider
_BULK_TEXT = "You are a patient tutor of mathematics who never gives the answer away. " * 400
_PART = re.compile(r"^=====(?P<name>[^\n]*)\n", re.MULTILINE)
_FILE = {
    "prompt": "prompt.md",
    "template": "prompt.tmpl",
    "chat-template": "chat_template.jinja",
    "tools": "tools.json",
    "request": "request.json",
    "log": "log.jsonl",
    "replay": "log.jsonl",
}
_SUFFIX = {"jinja": ".jinja", "mustache": ".mustache", "erb": ".erb"}
_LEVEL = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Trial:
    """Hold what an example showed: an empty ``fault`` means that the rule behaved as its card says."""

    rule: str
    example: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold what the product said: rule, confidence, pointer, and the place in the file or string."""

    rule: str
    confidence: str
    pointer: str
    place: tuple[int, int] | None


def all_rules(paths: Iterable[Path] = ()) -> dict[str, Rule]:
    """Return every rule by id, the user's own included."""
    return cards.all_rules(paths)


def rule(rule_id: str, paths: Iterable[Path] = ()) -> Rule:
    """Return one rule with its examples."""
    found = cards.rule(rule_id, paths)
    return found if found.path else cards.full_rule(rule_id)


def try_card(card: Rule) -> Iterator[Trial]:
    """Run every example of a card through the part of the product that owns it."""
    for name, examples, judge in (("bad", card.bad, _judge_bad), ("good", card.good, _judge_good)):
        for number, example in enumerate(examples):
            yield Trial(card.id, f"{name}[{number}]", _tried(card, example, judge))


def _tried(card: Rule, example: Mapping[str, Any], judge: Callable[[Rule, Mapping[str, Any], list[Seen]], str]) -> str:
    with tempfile.TemporaryDirectory(prefix="prefixlint-card-") as folder:
        try:
            seen = list(_run(card, example, Path(folder)))
        except PrefixlintError as error:
            return f"cannot be run: {error}"
        fault = judge(card, example, seen)
        if fault or not example.get("fixed"):
            return fault
        return _judge_fixed(example, Path(folder))


def _judge_bad(card: Rule, example: Mapping[str, Any], seen: list[Seen]) -> str:
    mine = [s for s in seen if s.rule == card.id and _LEVEL[s.confidence] >= min(1, _LEVEL[card.confidence])]
    if not mine:
        others = ", ".join(sorted({s.rule for s in seen})) or "nothing"
        return f"not found (found: {others})"
    if "pointer" in example and example["pointer"] not in {s.pointer for s in mine}:
        return f"found at {sorted({s.pointer for s in mine})}, expected {example['pointer']}"
    wanted = sorted(_marked(example))
    found = sorted(s.place for s in mine if s.place is not None)
    if wanted and example["kind"] not in ("log", "text-log", "replay", "source") and found != wanted:
        return f"found at {found}, marked at {wanted}"
    if wanted and example["kind"] == "log" and not set(wanted) & set(found):
        return f"found at {found}, marked at {wanted}"
    return ""


def _judge_good(card: Rule, example: Mapping[str, Any], seen: list[Seen]) -> str:
    """A good example of a shipped card is silent altogether, one of a user's card is silent about that card."""
    loud = [s for s in seen if _LEVEL[s.confidence] >= 1 and (not card.path or s.rule == card.id)]
    return f"found {sorted({s.rule for s in loud})} in an example that must be silent" if loud else ""


def _judge_fixed(example: Mapping[str, Any], folder: Path) -> str:
    """Apply the safe fixes and compare with the card; twice, since a fix that moves on is none."""
    from prefixlint.api import fix

    path = folder / _name(example)
    wanted = str(example["fixed"])
    for _ in range(2):
        for fixed in fix.fix_paths([str(path)], fix.FixOptions()).files:
            Path(fixed.path).write_bytes(fixed.after)
        got = path.read_bytes().decode("utf-8")
        if got != wanted:
            return f"fixed to {got!r}, expected {wanted!r}"
    return ""


def _run(card: Rule, example: Mapping[str, Any], folder: Path) -> Iterator[Seen]:
    kind = example["kind"]
    text = str(example["text"]).replace(BULK, _BULK_TEXT)
    plain = MARK.sub(r"\1", text)
    if kind in ("log", "text-log"):
        yield from _diffed(_written(plain, example, folder))
        return
    if kind == "replay":
        yield from _replayed(_written(plain, example, folder))
        return
    yield from _checked(card, example, _written(plain, example, folder))


def _name(example: Mapping[str, Any]) -> str:
    kind = example["kind"]
    if "file" in example:
        return str(example["file"])
    if kind == "template":
        return "prompt" + _SUFFIX.get(str(example.get("syntax", "")), ".tmpl")
    return _FILE.get(kind, "prompt.txt")


def _written(plain: str, example: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write an example; ``=====name`` begins a further file (of a text log: a further prompt)."""
    parts = _PART.split(plain)
    names = [_name(example) if example["kind"] != "text-log" else "1.txt"]
    names += [n or f"{i + 2}.txt" for i, n in enumerate(parts[1::2])]
    paths = []
    for name, text in zip(names, parts[::2], strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        paths.append(path)
    return paths


def _checked(card: Rule, example: Mapping[str, Any], paths: list[Path]) -> Iterator[Seen]:
    from prefixlint.api import check

    config = paths[0].parent / "prefixlint.toml"
    config.write_text(f"rule-paths = [{json.dumps(card.path)}]\n" if card.path else "", encoding="utf-8")
    options = check.CheckOptions(min_confidence="low", config_file=str(config))
    names = [str(p) for p in paths] if example["kind"] == "settings" else [str(paths[0])]
    result = check.check_paths(names, options)
    if errors := [e for i in result.inputs for e in i.errors]:
        raise PrefixlintError("; ".join(errors))
    starts = {str(paths[0]): _line_starts(paths[0])}
    for found in result.findings:
        if found.span.path in starts or example["kind"] != "settings":
            yield Seen(found.rule, found.confidence, found.pointer, _place(found, starts))


def _line_starts(path: Path) -> list[int]:
    """Return the character at which each line of a file begins; a lone CR ends no line."""
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    return [0, *(m.end() for m in re.finditer(r"\n", text))]


def _place(found: Finding, starts: Mapping[str, list[int]]) -> tuple[int, int] | None:
    span = found.span
    lines = starts.get(span.path)
    if lines is None or not span.end_line:
        return None
    return lines[span.line - 1] + span.column - 1, lines[span.end_line - 1] + span.end_column - 1


def _diffed(paths: list[Path]) -> Iterator[Seen]:
    from prefixlint.api import diff, read

    result = diff.diff(read.open_log([str(p) for p in paths], read.ReadOptions()).requests())
    if errors := [e for i in result.inputs for e in i.errors]:
        raise PrefixlintError("; ".join(errors))
    for fork in (f for f in result.forks if not f.wanted):
        for name in (fork.cause, *fork.also):
            yield Seen(name, "high", fork.pointer, (fork.char_offset or 0, fork.char_offset or 0))
    for found in result.findings:
        yield Seen(found.rule, found.confidence, found.pointer, None)


def _replayed(paths: list[Path]) -> Iterator[Seen]:
    from prefixlint.api import replay, replay_options

    result = replay.replay([str(p) for p in paths], replay_options.ReplayOptions())
    if result.blame.get("rounded"):
        yield Seen("block-boundary", "low", "", None)


def _marked(example: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield the marked places: characters of the first file, or of a log the offset inside its string."""
    text = str(example["text"]).replace(BULK, "")
    if example["kind"] == "log":
        yield from _marked_in_log(text)
        return
    first = _PART.split(text)[0]
    for number, mark in enumerate(MARK.finditer(first)):
        start = mark.start() - 2 * number
        yield start, start + len(mark[1])


def _marked_in_log(text: str) -> Iterator[tuple[int, int]]:
    """Yield (offset, offset) for every place inside a marked value at which the two sides may part."""
    for line in text.splitlines():
        for value in _strings(json.loads(line)):
            for number, mark in enumerate(MARK.finditer(value)):
                start = mark.start() - 2 * number
                yield from ((at, at) for at in range(start, start + len(mark[1]) + 1))


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(below)
