"""Lint one file: read it, find its prompts, run the checks on them, place what they hit."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from prefixlint import cards, config, registry
from prefixlint.api import findings, texts
from prefixlint.api.files import Target, wants
from prefixlint.api.places import Places, TextPlaces
from prefixlint.errors import InputError
from prefixlint.model import Confidence, Finding, Hit, InputFile, Prompt, PromptKind, Request, Rule, Segment, Span

if TYPE_CHECKING:
    from prefixlint.api.documents import Loaded

_CHAT_TEMPLATE = r"(?i)chat[_-]?template|(?:^|/)template\.jinja$"

Check = Callable[[Prompt], Iterator[Hit]]


@dataclass(frozen=True, slots=True)
class LintOptions:
    """Say how files are linted; empty fields leave the choice to the configuration of each file."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence | None = None
    config_file: str | None = None


@dataclass(frozen=True, slots=True)
class Linted:
    """Hold what one file gave: ``refers`` are prompt files that it names, ``settings`` its kind if it has settings.

    ``used`` names the entries of the configuration that suppressed something.
    """

    input: InputFile
    findings: tuple[Finding, ...] = ()
    refers: tuple[str, ...] = ()
    settings: str = ""
    used: frozenset[str] = frozenset()
    note: str = ""


class Linter:
    """Lint files one by one; keeps what they share (configuration, checks)."""

    def __init__(self, options: LintOptions) -> None:
        self.options = options
        self.folders: dict[str, config.Config] = {}
        self.checked: set[str] = set()

    def configuration(self, path: str) -> config.Config:
        """Return the configuration of a file, its rule names checked."""
        folder = os.path.dirname(path)  # noqa: PTH120 - once for every file of a walk
        if folder not in self.folders:
            self.folders[folder] = self._checked(config.load(Path(folder or "."), self.options.config_file))
        return self.folders[folder]

    def _checked(self, found: config.Config) -> config.Config:
        if found.path and found.path not in self.checked:
            findings.check_names(found)
            self.checked.add(found.path)
        return found

    def choice(self, path: str) -> findings.Choice:
        """Say which rules count for a file."""
        settings = self.configuration(path)
        options = {
            "select": self.options.select,
            "ignore": self.options.ignore,
            "min_confidence": self.options.min_confidence,
        }
        return findings.choice(settings, path, options, set())

    def lint(self, target: Target, data: bytes | None = None) -> Linted | None:
        """Lint one file; None means that its content shows it to be nothing to lint."""
        try:
            if data is None:
                data = b"" if target.sort == "log" else _read(target.path)  # a log is read as a stream
            if not wants(target, lambda: data):
                return None
            return self._lint(target, data)
        except InputError as error:
            if not target.named:
                return None  # met in a walk: what cannot be parsed is not a file of ours
            return Linted(InputFile(target.path, target.sort, 0, (_placed(error, target.path),)))

    def _lint(self, target: Target, data: bytes) -> Linted | None:
        if target.sort in ("prompt", "template"):
            return self._text(target, data)
        if target.sort == "source":
            return self._source(target, data)
        if target.sort == "log":
            return self._log(target)
        return self._document(target, data)

    def _text(self, target: Target, data: bytes) -> Linted | None:
        text = _decode(data, target)
        if text is None:
            return None
        parts = texts.split(target.path, text, kind=_prompt_kind(target), syntax=target.syntax)
        places = TextPlaces(target.path, text, parts.bases)
        prompt = _prompt(target.path, parts.kind, parts.segments)
        found, used = self._findings(target.path, [(prompt, places)])
        refers = tuple(texts.imports(target.path, text))
        return Linted(InputFile(target.path, parts.kind, 1), found, refers, "", used)

    def _document(self, target: Target, data: bytes) -> Linted:
        from prefixlint.api import documents

        document = documents.load(target.path, target.sort, data)
        pointers = self.configuration(target.path).pointers_for(target.path)
        prompts = documents.prompts(document, pointers)
        found, used = self._findings(target.path, prompts)
        found = (*found, *self._repeated(target.path, document))
        refers = tuple(name for _, name in documents.referred(document))
        return Linted(InputFile(target.path, document.kind.name, len(prompts)), found, refers, document.settings, used)

    def _repeated(self, path: str, document: Loaded) -> Iterator[Finding]:
        """Yield keys that an object has twice: decoders keep the last one, and say nothing."""
        from prefixlint.api import documents

        chosen = self.choice(path)
        for hit, places in documents.repeated_keys(document):
            found = findings.finding(hit, places, {}, chosen.settings.rule_paths)
            if chosen.keeps(found):
                yield found

    def _source(self, target: Target, data: bytes) -> Linted:
        from prefixlint.api import source

        chosen = self.choice(target.path)
        options = source.SourceOptions(names=chosen.settings.prompt_sinks, jobs=1)
        found = tuple(f for f in source.check_source(target.path, data, options) if chosen.keeps(f))
        return Linted(InputFile(target.path, "source", 0), found, used=frozenset(chosen.used))

    def _log(self, target: Target) -> Linted:
        """Lint every request of a log; what one request shows at a place is not repeated for the others."""
        from prefixlint.api import bodies

        chosen, kept, errors, count = self.choice(target.path), [], [], 0
        first: dict[tuple[str, str], int] = {}
        for found in bodies.of_log(target.path):
            if isinstance(found, str):
                errors.append(found)
                continue
            count += 1
            for one in self._of_prompt(*found, chosen):
                if first.setdefault((one.rule, one.pointer), one.span.record) == one.span.record:
                    kept.append(one)
        return Linted(InputFile(target.path, "log", count, tuple(errors)), tuple(kept), used=frozenset(chosen.used))

    def _findings(self, path: str, prompts: list[tuple[Prompt, Places]]) -> tuple[tuple[Finding, ...], frozenset[str]]:
        chosen = self.choice(path)
        kept = [found for prompt, places in prompts for found in self._of_prompt(prompt, places, chosen)]
        return tuple(sorted(findings.unique(kept), key=findings.sort_key)), frozenset(chosen.used)

    def of_prompt(self, prompt: Prompt, places: Places) -> tuple[Finding, ...]:
        """Lint one prompt that is not in a file."""
        return tuple(self._of_prompt(prompt, places, self.choice("")))

    def _of_prompt(self, prompt: Prompt, places: Places, chosen: findings.Choice) -> Iterator[Finding]:
        by_pointer: dict[str, str] = {}
        for hit in chain(hits(prompt), own_hits(prompt, chosen.settings.rule_paths)):
            by_pointer = by_pointer or {s.pointer: s.text for s in prompt.segments if s.kind == "text"}
            found = findings.finding(hit, places, by_pointer, chosen.settings.rule_paths)
            if chosen.keeps(found):
                yield found


def hits(prompt: Prompt) -> Iterator[Hit]:
    """Run every check on one prompt."""
    for check in _checks():
        yield from check(prompt)


def own_hits(prompt: Prompt, rule_paths: tuple[Path, ...]) -> Iterator[Hit]:
    """Search the patterns of the user's own cards."""
    if rule_paths:
        from prefixlint.checks import user_cards

        yield from user_cards.check_cards(prompt, _own_cards(rule_paths))


@cache
def _own_cards(rule_paths: tuple[Path, ...]) -> tuple[Rule, ...]:
    return tuple(r for r in cards.all_rules(rule_paths).values() if r.path and r.patterns)


@cache
def _checks() -> tuple[Check, ...]:
    """Import the checks on prompts; those on settings stay out, a run on prompt files does not need them."""
    modules = [registry.module("checks", n) for n in registry.names("checks") if not n.startswith("settings_")]
    return tuple(m.check_prompt for m in modules if hasattr(m, "check_prompt"))


def _prompt(path: str, kind: PromptKind, segments: tuple[Segment, ...]) -> Prompt:
    return Prompt(Request("0", "raw", Span(path)), segments, "", False, kind)


def _prompt_kind(target: Target) -> PromptKind:
    if target.sort == "template":
        return "chat-template" if re.search(_CHAT_TEMPLATE, target.path) else "template"
    return "prompt-file"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - half the time of Path.read_bytes on small files
            return file.read()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def _decode(data: bytes, target: Target) -> str | None:
    """Decode a text file; in a walk one that is no text is passed over."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not target.named:
            return None
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError("is UTF-16, expected UTF-8; save it again as UTF-8", path=target.path) from error
        from prefixlint.json_spans import line_column

        line, column = line_column(data, error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise InputError(message, path=target.path, line=line, column=column) from error


def _placed(error: InputError, path: str) -> str:
    return str(error) if error.path else f"{path}: {error}"
