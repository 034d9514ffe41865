"""Load a JSON, YAML or TOML file: its value at once, the places of its values only when something is found."""

# os.path is enough here: these paths are shown as they were given.
# ruff: noqa: PTH100, PTH111, PTH113, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from prefixlint import kinds
from prefixlint.api import extract
from prefixlint.api.places import DocumentPlaces, Places
from prefixlint.kinds import Kind
from prefixlint.model import Hit, Json, Prompt, Request, Span
from prefixlint.pointers import escape_token

if TYPE_CHECKING:
    from prefixlint.json_spans import Document

_BOM = b"\xef\xbb\xbf"
_BODY_MARKS = ("messages", "contents", "input")
_WRAPPERS = ("body", "request", "params", "request_body", "proxy_server_request")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Hold one decoded file; ``parse`` gives the spans of its values."""

    path: str
    data: bytes
    kind: Kind
    value: Json
    parse: Callable[[], Document]
    repeats_keys: bool = False

    @property
    def settings(self) -> str:
        """Name the kind when rules about settings apply, else ''."""
        return self.kind.name if isinstance(self.value, dict | list) and body_pointer(self) is None else ""


def load(path: str, sort: str, data: bytes) -> Loaded:
    """Decode a file. Raises InputError with line and column."""
    if sort == "toml":
        from prefixlint import toml_spans

        value = toml_spans.load(data, path=path)
        return Loaded(path, data, kinds.detect(path, value), value, partial(toml_spans.parse, data, path=path))
    if sort == "yaml":
        from prefixlint import yaml_spans

        document = yaml_spans.parse(data, path=path)
        value = document.value()
        return Loaded(path, data, kinds.detect(path, value), value, lambda: document, True)
    return _load_json(path, data)


def _load_json(path: str, data: bytes) -> Loaded:
    """Decode strict JSON in C; comments, trailing commas and faults take the slower way with places."""
    objects: list[bool] = []

    def build(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) < len(pairs):
            objects.append(True)
        return found

    try:
        value = json.loads(data.removeprefix(_BOM), object_pairs_hook=build)
    except (ValueError, RecursionError):
        document = _parse_json(data, path)
        value = document.value()
        return Loaded(path, data, kinds.detect(path, value), value, lambda: document, True)
    return Loaded(path, data, kinds.detect(path, value), value, partial(_parse_json, data, path), bool(objects))


def _parse_json(data: bytes, path: str) -> Document:
    from prefixlint import json_spans  # its expressions take 6 ms to compile, and a clean file needs no places

    return json_spans.parse(data, path=path)


def prompts(document: Loaded, pointers: tuple[str, ...] = ()) -> list[tuple[Prompt, Places]]:
    """List the prompts of a document, each with the way back to its places."""
    root = body_pointer(document)
    if root is not None:
        from prefixlint.api import bodies

        found = bodies.of_value(document, root)
        if found:
            return found
    places = DocumentPlaces(document.path, document.data, document.parse)
    drafts = extract.drafts(document.kind, document.value, pointers)
    return [(prompt_of(document.path, d), places) for d in drafts]


def repeated_keys(document: Loaded) -> Iterator[tuple[Hit, Places]]:
    """Yield a hit for every key that an object has twice; TOML refuses such files itself."""
    if not document.repeats_keys:
        return
    places = DocumentPlaces(document.path, document.data, document.parse)
    tree = document.parse()
    for pointer, earlier, member in tree.duplicates():
        key, whole = str(member.key), tree.node(pointer)
        # Keys that YAML merges in (``<<``) are written elsewhere, and overriding them is what merging is for.
        is_own = whole is not None and whole.start_byte <= earlier.key_start_byte < whole.end_byte
        if key != "<<" and is_own:
            yield Hit("duplicate-key", f"{pointer}/{escape_token(key)}", values=(key,), on_key=True), places


def prompt_of(path: str, draft: extract.Draft) -> Prompt:
    """Wrap a draft in a prompt that the checks can read."""
    return Prompt(Request("0", "raw", Span(path)), draft.segments, "", False, draft.kind)


def body_pointer(document: Loaded) -> str | None:
    """Return the pointer of the request body in a JSON document ('' for the whole), None when it is none."""
    if not document.path.endswith((".json", ".jsonc")) or document.kind.name not in ("unknown", "openai-assistant"):
        return None
    if _is_body(document.value):
        return ""
    value = document.value
    wrappers = (k for k in _WRAPPERS if isinstance(value, dict) and _is_body(value.get(k)))
    return next((f"/{k}" for k in wrappers), None)


def _is_body(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    if extract.is_messages(value.get("messages")) or extract.is_messages(value.get("contents")):
        return True
    contents = value.get("contents")
    if isinstance(contents, list) and contents and all(isinstance(c, dict) and "parts" in c for c in contents):
        return True
    return isinstance(value.get("input"), str | list) and "model" in value


def referred(document: Loaded) -> Iterator[tuple[str, str]]:
    """Yield (pointer, path) of the existing prompt files that a settings file names."""
    for pointer, name in extract.references(document.kind, document.value):
        found = resolve(document.path, name)
        if found is not None:
            yield pointer, found


def resolve(path: str, name: str) -> str | None:
    """Find a file named in settings: beside them, or in the workspace when they lie in a dotted folder."""
    name = os.path.expanduser(name) if name.startswith("~") else name
    folder = os.path.dirname(path)
    candidates = [os.path.join(folder, name)]
    if re.match(r"\.\w", os.path.basename(os.path.abspath(folder or "."))):
        candidates.append(os.path.join(os.path.dirname(folder), name))
    return next((os.path.normpath(c) for c in candidates if os.path.isfile(c)), None)


def files_of(document: Loaded) -> dict[str, str | None]:
    """Read the prompt files that a settings file names: pointer -> text, None when there is no such file."""
    return {p: _read(resolve(document.path, n)) for p, n in extract.references(document.kind, document.value)}


def _read(path: str | None) -> str | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")
