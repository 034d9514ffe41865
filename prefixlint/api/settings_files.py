"""Run the rules about settings: pair files up, read what they refer to, compare files of one kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import ModuleType

from prefixlint import registry
from prefixlint.api import documents, extract, findings
from prefixlint.api.documents import Loaded
from prefixlint.api.files import sort_of
from prefixlint.api.lint import Linted, Linter
from prefixlint.api.places import DocumentPlaces
from prefixlint.errors import InputError
from prefixlint.model import Finding, Settings, Tokenizer

_OTHER = {
    "generic-settings": ("generic-config", ("config.toml",)),
    "generic-config": ("generic-settings", ("settings.json",)),
}
_MODEL = {"generic-settings": ("default_model",), "generic-config": ("model", "name")}


def check(linted: Sequence[Linted], linter: Linter, contents: Mapping[str, bytes]) -> tuple[list[Finding], set[str]]:
    """Return the findings of all settings rules on the files of one run, and the configuration entries that were used.

    ``contents`` overrides what is on disk.
    """
    loaded = {one.input.path: _load(one.input.path, contents) for one in linted}
    known = {path: _settings(document) for path, document in loaded.items()}
    found: list[Finding] = []
    used: set[str] = set()
    for path, settings in known.items():
        partner = _partner(settings, known)
        peers = tuple(s for p, s in known.items() if p != path and s.kind == settings.kind)
        given = partner is not None and partner.path in known
        whole = replace(settings, partner=partner, partner_given=given, peers=peers)
        chosen = linter.choice(path)
        found += _of_file(whole, loaded[path], chosen)
        used |= chosen.used
    return found, used


def _load(path: str, contents: Mapping[str, bytes]) -> Loaded:
    data = contents.get(path)
    if data is None:
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read()
    return documents.load(path, sort_of(path) or "json", data)


def _settings(document: Loaded) -> Settings:
    drafts = extract.drafts(document.kind, document.value)
    prompts = {s.pointer: s.text for draft in drafts for s in draft.segments}
    return Settings(document.path, document.kind.name, document.value, prompts, documents.files_of(document))


def _partner(settings: Settings, known: Mapping[str, Settings]) -> Settings | None:
    """Find the other half: in the same folder (given or not), else the only one that was given."""
    if settings.kind not in _OTHER:
        return None
    kind, names = _OTHER[settings.kind]
    given = [s for s in known.values() if s.kind == kind]
    folder = os.path.dirname(os.path.abspath(settings.path))  # noqa: PTH100, PTH120
    beside = [s for s in given if os.path.dirname(os.path.abspath(s.path)) == folder]  # noqa: PTH100, PTH120
    if beside:
        return beside[0]
    for name in names:
        path = os.path.join(os.path.dirname(settings.path), name)  # noqa: PTH118, PTH120
        found = _on_disk(path)
        if found is not None and found.kind == kind:
            return found
    halves = [s for s in known.values() if s.kind == settings.kind]
    return given[0] if len(given) == 1 and len(halves) == 1 else None


def _on_disk(path: str) -> Settings | None:
    if not os.path.isfile(path):  # noqa: PTH113
        return None
    try:
        return _settings(_load(path, {}))
    except InputError:
        return None  # its own run reports that


def _of_file(settings: Settings, document: Loaded, chosen: findings.Choice) -> Iterator[Finding]:
    places = DocumentPlaces(settings.path, document.data, document.parse)
    tokenizer = partial(_tokenizer, _model(settings) or _model(settings.partner))
    for module in _checks(settings.kind):
        check_settings: Callable[[Settings, Callable[[], Tokenizer]], Iterator] = module.check_settings  # type: ignore[type-arg]
        for hit in check_settings(settings, tokenizer):
            found = findings.finding(hit, places, {}, chosen.settings.rule_paths)
            if chosen.keeps(found):
                yield found


@cache
def _checks(kind: str) -> tuple[ModuleType, ...]:
    """Import the checks for a kind: ``settings_all_*`` run on every file, the others name their kinds."""
    names = [n for n in registry.names("checks") if n.startswith("settings_")]
    if kind == "unknown":
        names = [n for n in names if n.startswith("settings_all_")]
    modules = (registry.module("checks", name) for name in names)
    return tuple(m for m in modules if m.__name__.rpartition(".")[2].startswith("settings_all_") or kind in m.KINDS)


def _model(settings: Settings | None) -> str | None:
    """Return the model that the settings name; it chooses the tokenizer."""
    value = settings.value if settings else None
    for key in _MODEL.get(settings.kind, ()) if settings else ():
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


@cache
def _tokenizer(model: str | None) -> Tokenizer:
    from prefixlint.api import tokens

    return tokens.tokenizer_for(model)
