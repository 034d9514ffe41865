"""Validate the settings pair against its schemas: wrong types, values out of range, misspelt keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from prefixlint.model import Hit, Json, Settings, Tokenizer
from prefixlint.names import nearest
from prefixlint.pointers import escape_token

KINDS = ("generic-settings", "generic-config")

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_SPOKEN = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
}
# The keywords that the quick look understands.
_SIMPLE = {"type", "properties", "minimum", "maximum", "minLength", "additionalProperties", "description", "title"} | {
    "$schema", "$id",
}  # fmt: skip


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield what does not fit the schema. No message repeats a value: it may be a secret."""
    schema = _schema(settings.kind)
    if not _fits(settings.value, schema):
        yield from _faults(settings.value, schema)
    yield from _unknown_keys(settings.value, schema, "")


@cache
def _schema(kind: str) -> dict[str, Any]:
    path = Path(__file__).parent.parent / "schemas" / f"{kind}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _fits(value: Json, schema: Mapping[str, Any]) -> bool:
    """Say whether a value is certainly valid; False sends it to jsonschema, which takes 90 ms to import."""
    kind = schema.get("type")
    if not schema.keys() <= _SIMPLE or not isinstance(kind, str):
        return False
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if isinstance(value, str):
        return bool(len(value) >= schema.get("minLength", 0))
    if isinstance(value, int | float):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    if isinstance(value, dict):
        return all(_fits(v, schema["properties"][k]) for k, v in value.items() if k in schema.get("properties", {}))
    return False


def _faults(value: Json, schema: Mapping[str, Any]) -> Iterator[Hit]:
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema).iter_errors(value):
        if error.validator == "additionalProperties":
            continue
        pointer = "".join(f"/{escape_token(str(part))}" for part in error.absolute_path)
        yield Hit("invalid-setting", pointer, message=f"{_name(pointer)}: {_fault(error)}")


def _name(pointer: str) -> str:
    return pointer[1:].replace("/", ".") or "the file"


def _fault(error: Any) -> str:
    """Say what was expected and what kind of value is there, without the value."""
    if error.validator == "type":
        wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
        spoken = " or ".join(_SPOKEN[_TYPES[w][-1]] for w in wanted)
        return f"expected {spoken}, found {_SPOKEN.get(type(error.instance), 'null')}"
    if error.validator == "enum":
        return f"expected one of {', '.join(map(str, error.validator_value))}"
    if error.validator in ("minimum", "maximum"):
        word = "at least" if error.validator == "minimum" else "at most"
        return f"must be {word} {error.validator_value}"
    if error.validator in ("minLength", "minItems"):
        return "must not be empty"
    if error.validator == "pattern":
        return "expected an address that begins with http:// or https://"
    return "has a form that is not known here"


def _unknown_keys(value: Json, schema: Mapping[str, Any], pointer: str) -> Iterator[Hit]:
    """Yield misspelt keys; an open section may hold keys of its own, so there only a near miss counts."""
    known = schema.get("properties", {})
    if not isinstance(value, dict) or not known:
        return
    is_closed = schema.get("additionalProperties") is False
    for key, below in value.items():
        here = f"{pointer}/{escape_token(str(key))}"
        if key in known:
            yield from _unknown_keys(below, known[key], here)
            continue
        meant = nearest(str(key), [k for k in known if k not in value])
        if meant is None and not is_closed:
            continue
        hint = f"did you mean {meant!r}?" if meant else f"known: {', '.join(sorted(known))}"
        yield Hit("unknown-setting", here, message=f"unknown key {key!r} is ignored; {hint}", on_key=True)
