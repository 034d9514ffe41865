"""Bring one request body to the form that every body of equal meaning shares, as plain Python values.

Keys are sorted by code point at every level, as ``json.dumps(sort_keys=True)`` does, with one exception. The order of
a tool's ``properties`` is the order in which a model fills the arguments in, so reasoning comes first, then what the
list ``required`` names (an author's own order, and an order of values, not of keys), then the rest by name. Schemas of
structured output keep their ``properties`` as they are: there the order is the order of the answer. Lists keep their
order, except tool lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import orjson

from prefixlint.canon import inner, number, text
from prefixlint.canon.fixed import FIXED
from prefixlint.canon.tools import DECLARATIONS, bare, has_inner_mark, place_marks, tool_name
from prefixlint.elements import Number
from prefixlint.model import Json

SCHEMA_KEYS = frozenset(
    ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "outputSchema", "output_schema", "schema")
)
SCHEMA_MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
SCHEMA_LISTS = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
SCHEMA_VALUES = frozenset(
    ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "additionalItems")
)
PROSE = frozenset(("description", "title"))  # a tool's own words; names, enums and patterns have an exact meaning
STRUCTURED = frozenset(("response_format", "text", "output_config", "output_format", "generationConfig"))
DEVELOPER = frozenset(("system", "developer"))
TEXT_TYPES = ("text", "input_text", "output_text")
MEMO_BYTES = 16_000_000
_REASONING = re.compile(r"reason|thought|thinking|rationale|analysis|scratchpad|chain_of|explanation", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """Say how far canonicalization goes; ``markers`` says that text messages stay lists, since some carry a mark."""

    all_roles: bool = False
    all_blanks: bool = False
    unsafe: bool = False
    markers: bool = False


@dataclass(slots=True)
class Memo:
    """Remember elements by their spelling with sorted keys, so that a history is not walked again at each turn."""

    known: dict[Options, dict[bytes, bytes]] = field(default_factory=dict)
    size: int = 0

    def spellings(self, options: Options) -> dict[bytes, bytes]:
        """Return the canonical spellings of the elements that were seen before."""
        return self.known.setdefault(options, {})

    def add(self, options: Options, raw: bytes, canonical: bytes) -> None:
        """Remember an element; the memo starts anew when it is full."""
        if self.size > MEMO_BYTES:
            for spellings in self.known.values():
                spellings.clear()
            self.size = 0
        spellings = self.spellings(options)
        spellings[raw] = spellings[canonical] = canonical
        self.size += len(raw) + len(canonical) + 200


def canonical(body: Mapping[str, Json], options: Options, memo: Memo | None = None) -> dict[str, Json]:
    """Return the canonical body; parts that are canonical already are shared with the input, which never changes.

    Without a memo numbers may be ``Number``, which keep their spelling; orjson takes those for text.
    """
    walk = Walk(options, memo)
    return {key: walk.member(key, body[key]) for key in sorted(body)}


def is_developer(message: Json) -> bool:
    """Return whether a message speaks for the developer."""
    return isinstance(message, dict) and message.get("role") in ("system", "developer")


def has_markers(messages: Json) -> bool:
    """Return whether a part of any message carries a cache marker."""
    if not isinstance(messages, list):
        return False
    contents = (m.get("content") for m in messages if isinstance(m, dict))
    return any("cache_control" in p for c in contents if isinstance(c, list) for p in c if isinstance(p, dict))


def data(value: Json) -> Json:
    """Sort the keys of plain data and spell its numbers plainly."""
    if type(value) is str:
        return value
    if isinstance(value, FIXED):
        return value
    if isinstance(value, dict):
        return {key: data(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [data(item) for item in value]
    if type(value) is float:
        return number.integral(value)
    return Number(number.canonical(value)) if type(value) is Number else value


@dataclass(slots=True)
class Walk:
    """Walk one body; each method returns the canonical form of one kind of value."""

    options: Options
    memo: Memo | None
    orders: Mapping[frozenset[str], Sequence[str]] = field(default_factory=dict)

    def member(self, key: str, value: Json) -> Json:
        """Canonicalize one top-level member by what it means in any provider's body."""
        if key in ("tools", "functions") and isinstance(value, list):
            return self.tools(value)
        if key == "toolConfig" and isinstance(value, dict) and isinstance(value.get("tools"), list):
            return {k: self.tools(value[k]) if k == "tools" else data(value[k]) for k in sorted(value)}
        if key in ("messages", "input", "contents") and isinstance(value, list):
            return [self.settled(m, self.message) for m in value]
        if key in ("system", "instructions"):
            return self.content(value, touch=True)
        if key in ("systemInstruction", "system_instruction"):
            return self.parts(value, touch=True)
        if key in ("prompt", "input") and isinstance(value, str):
            return self.text(value, open_end=True) if self.options.all_roles else value
        if key in STRUCTURED and isinstance(value, dict):
            return self.structured(value)
        return data(value)

    def settled(self, element: Json, walk: Callable[[Json], Json]) -> Json:
        """Canonicalize one element, from the memo where it was seen in any key order."""
        if self.memo is None:
            return walk(element)
        try:
            plain = orjson.dumps(element)
        except TypeError:  # integers beyond 64 bits, lone surrogates
            return walk(element)
        spellings = self.memo.spellings(self.options)
        if spellings.get(plain) == plain:
            return element
        raw = orjson.dumps(element, option=orjson.OPT_SORT_KEYS)
        found = spellings.get(raw)
        if found is None or b"null" in raw:  # orjson writes NaN as null, and may not decide what that was
            new = walk(element)
            found = orjson.dumps(new)
            self.memo.add(self.options, raw, found)
        else:
            new = None
        if plain == found:
            return element
        return orjson.loads(found) if new is None else new

    def text(self, value: str, *, open_end: bool = False) -> str:
        """Canonicalize prose."""
        options = self.options
        return text.canonical(value, all_blanks=options.all_blanks, unsafe=options.unsafe, open_end=open_end)

    def tools(self, tools: list[Json]) -> list[Json]:
        """Sort a tool list by name, or as ``orders`` has it; one cache marker stays behind the whole list."""
        if isinstance(tools, FIXED):
            return tools
        new = [self.settled(t, self.tool) for t in tools]
        names = [tool_name(t) for t in new]
        locked = self.orders.get(frozenset(names)) if self.orders else None
        if locked is not None and len(locked) == len(names):
            by_name = dict(zip(names, new, strict=True))
            return new if list(locked) == names else place_marks(new, [by_name[name] for name in locked])
        if all(a < b for a, b in pairwise(names)) and not has_inner_mark(new):
            return new
        order = sorted(range(len(new)), key=lambda i: (names[i], bare(new[i])))
        return place_marks(new, [new[i] for i in order])

    def tool(self, tool: Json) -> Json:
        """Canonicalize one tool definition of any provider."""
        if not isinstance(tool, dict) or isinstance(tool, FIXED):
            return data(tool)
        return {key: self.tool_member(key, tool[key]) for key in sorted(tool)}

    def tool_member(self, key: str, value: Json) -> Json:
        """Canonicalize one member of a tool definition."""
        if key in PROSE and isinstance(value, str):
            return self.text(value)
        if key in SCHEMA_KEYS:
            return self.schema(value)
        if key in DECLARATIONS and isinstance(value, list):
            return self.tools(value)
        if key in ("function", "toolSpec", "custom", "json"):
            return self.tool(value)
        return data(value)

    def schema(self, schema: Json, *, keep: bool = False) -> Json:
        """Canonicalize a JSON Schema; ``keep`` leaves the order of ``properties``."""
        if not isinstance(schema, dict) or isinstance(schema, FIXED):
            return data(schema)
        required = schema.get("required")
        new: dict[str, Json] = {}
        for key in sorted(schema):
            value = schema[key]
            if type(value) is str:
                new[key] = self.text(value) if key in PROSE else value
            elif key in SCHEMA_MAPS and isinstance(value, dict) and not isinstance(value, FIXED):
                names = property_order(value, required if key == "properties" else None)
                names = list(value) if keep and key == "properties" else names
                new[key] = {name: self.schema(value[name], keep=keep) for name in names}
            elif key in SCHEMA_LISTS and isinstance(value, list):
                new[key] = [self.schema(item, keep=keep) for item in value]
            elif key in SCHEMA_VALUES or key == "json":
                new[key] = self.schema(value, keep=keep)
            else:
                new[key] = data(value)
        return new

    def structured(self, value: dict[str, Json]) -> dict[str, Json]:
        """Canonicalize the settings of structured output around its schema."""
        new: dict[str, Json] = {}
        for key in sorted(value):
            item = value[key]
            if key in SCHEMA_KEYS or key in ("responseSchema", "responseJsonSchema", "response_schema"):
                new[key] = self.schema(item, keep=True)
            elif isinstance(item, dict):
                new[key] = self.structured(item)
            else:
                new[key] = data(item)
        return new

    def message(self, message: Json) -> Json:
        """Canonicalize one message or item of the history."""
        if not isinstance(message, dict) or isinstance(message, FIXED):
            return data(message)
        touch = self.options.all_roles or is_developer(message)
        return {key: self.message_member(key, message[key], touch=touch) for key in sorted(message)}

    def message_member(self, key: str, value: Json, *, touch: bool) -> Json:
        """Canonicalize one member of a message."""
        if key == "content":
            return self.content(value, touch=touch)
        if key == "parts":
            return self.parts({"parts": value}, touch=touch)["parts"]
        if key == "arguments" and isinstance(value, str):
            return inner.canonical(value) if self.options.all_roles else value
        if key == "output" and touch:
            return self.content(value, touch=touch)
        if key in ("tool_calls", "function_call"):
            return self.calls(value)
        return data(value)

    def calls(self, value: Json) -> Json:
        """Canonicalize tool calls; their arguments are the model's own text, touched with ``all_roles`` only."""
        if isinstance(value, list):
            return [self.calls(v) for v in value]
        if not isinstance(value, dict):
            return data(value)
        return {
            key: self.calls(value[key])
            if key in ("function", "custom")
            else self.message_member(key, value[key], touch=False)
            for key in sorted(value)
        }

    def content(self, value: Json, *, touch: bool) -> Json:
        """Canonicalize text that is a string or a list of blocks, and give it one of the two shapes."""
        if isinstance(value, str):
            new = self.text(value) if touch else value
            return [{"text": new, "type": "text"}] if self.options.markers and new else new
        if not isinstance(value, list):
            return data(value)
        blocks = [self.block(b, touch=touch) for b in value]
        return blocks if self.options.markers else one_text(blocks)

    def block(self, block: Json, *, touch: bool) -> Json:
        """Canonicalize one content block; thinking, images and documents keep every character."""
        if not isinstance(block, dict) or isinstance(block, FIXED):
            return data(block)
        new: dict[str, Json] = data(block)
        kind = block.get("type")
        if touch and (kind is None or kind in TEXT_TYPES) and isinstance(block.get("text"), str):
            new["text"] = self.text(block["text"])
        if kind == "tool_result" and "content" in block:
            new["content"] = Walk(self._unmarked(), self.memo).content(block["content"], touch=self.options.all_roles)
        return new

    def parts(self, value: Json, *, touch: bool) -> Json:
        """Canonicalize the parts of a Gemini turn or instruction."""
        if isinstance(value, str):
            return self.text(value) if touch else value
        if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
            return data(value)
        new: dict[str, Json] = data(value)
        for part in new["parts"] if touch else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str) and not part.get("thought"):
                part["text"] = self.text(part["text"])
        return new

    def _unmarked(self) -> Options:
        options = self.options
        return Options(options.all_roles, options.all_blanks, options.unsafe)


def property_order(properties: Mapping[str, Json], required: Json) -> list[str]:
    """Order property names: reasoning first, then those of ``required`` in its order, then the others by name.

    A model fills arguments in in this order, and reasoning that comes behind the answer is no reasoning.

    >>> property_order({"b": {}, "a": {}, "z": {}, "thought": {}}, ["z"])
    ['thought', 'z', 'a', 'b']
    """
    listed = [n for n in required if isinstance(n, str) and n in properties] if isinstance(required, list) else []
    known = dict.fromkeys(listed)
    rest = sorted(n for n in properties if n not in known)
    if len(rest) == 1 and not known:
        return rest
    first = [n for n in rest if _REASONING.search(n)]
    return [*first, *known, *(n for n in rest if n not in first)] if first else [*known, *rest]


def one_text(blocks: list[Json]) -> Json:
    """Return the text of a list that is one plain text block, and any other list as it is."""
    if len(blocks) != 1 or not isinstance(blocks[0], dict) or set(blocks[0]) != {"type", "text"}:
        return blocks
    plain = blocks[0]["type"] in ("text", "input_text") and isinstance(blocks[0]["text"], str)
    return blocks[0]["text"] if plain else blocks
