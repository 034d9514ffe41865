"""Give equal elements of a log equal bytes: what is spelled in two ways gets one, what is spelled in one stays.

A log proves what moves. Nothing that all requests agree on is touched, so a healthy log comes back byte for byte.
The form of an element is that in which it was seen first, with canonical text, numbers and escapes in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from prefixlint.canon import inner, text
from prefixlint.canon.body import Options, Walk, is_developer
from prefixlint.canon.tools import place_marks, tool_name
from prefixlint.elements import Number
from prefixlint.model import Json

TOOLS = ("tools", "functions")
TALK = ("messages", "input", "contents")
INSTRUCTIONS = ("system", "instructions", "systemInstruction", "system_instruction")


@dataclass(slots=True)
class Group:
    """Hold the spellings of one element: digests of all, the first one, and whether one carries a cache marker."""

    first: Json
    spellings: set[bytes] = field(default_factory=set)
    marked: bool = False
    final: Json = None


@dataclass(slots=True)
class Agreement:
    """Learn from all bodies of a log, then rewrite each of them."""

    options: Options
    groups: dict[bytes, Group] = field(default_factory=dict)
    tool_orders: dict[frozenset[str], tuple[str, ...]] = field(default_factory=dict)
    lines: dict[tuple[str, str], str] = field(default_factory=dict)
    dirty: set[str] = field(default_factory=set)
    ends: dict[tuple[str, str], str] = field(default_factory=dict)
    open_ends: set[str] = field(default_factory=set)
    seen: set[tuple[str, str]] = field(default_factory=set)
    # By identity: equal elements of a log are one object, and the bodies that are learned from keep them alive.
    keys: dict[tuple[str, int], bytes] = field(default_factory=dict)
    finals: dict[tuple[str, int], Json] = field(default_factory=dict)

    def learn(self, body: dict[str, Json]) -> None:
        """Take in the spellings of one body."""
        for key, element in self._elements(body):
            self._learn_element(key, element)
        for pointer, prose in developer_texts(body):
            self._learn_text(pointer, prose)
        for tools in _tool_lists(body):
            names = [tool_name(t) for t in tools]
            self.tool_orders.setdefault(frozenset(names), tuple(names))

    def rewrite(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return the body in the forms that the log agreed on; parts that stay are the same objects."""
        return {key: self._member(key, value, body) for key, value in body.items()}

    def _elements(self, body: dict[str, Json]) -> Iterator[tuple[str, Json]]:
        for tools in _tool_lists(body):
            yield from (("tool", tool) for tool in tools)
        for key in TALK:
            if isinstance(body.get(key), list):
                yield from (("message", m) for m in body[key] if self._covers(m))
        for key in INSTRUCTIONS:
            if key in body:
                yield key, body[key]

    def _covers(self, message: Json) -> bool:
        return isinstance(message, dict) and (self.options.all_roles or is_developer(message))

    def _key(self, kind: str, element: Json) -> bytes:
        place = (kind, id(element))
        found = self.keys.get(place)
        if found is None:
            found = self.keys[place] = self._key_of(kind, element)
        return found

    def _key_of(self, kind: str, element: Json) -> bytes:
        walk = Walk(replace(self.options, markers=False), None)
        bare = without_marks(element)
        if kind == "tool":
            form = walk.tool(bare)
        elif kind == "message":
            form = _without_no_content(walk.message(bare))
        else:
            form = walk.member(kind, bare)
        return digest([kind, form])

    def _learn_element(self, kind: str, element: Json) -> None:
        if (kind, id(element)) in self.keys:
            return
        group = self.groups.setdefault(self._key(kind, element), Group(element))
        group.spellings.add(digest(without_marks(element)))
        group.marked = group.marked or has_mark(element)

    def _learn_text(self, pointer: str, prose: str) -> None:
        """Notice a line that one text of this place spells in other ways than another text does."""
        if (pointer, prose) in self.seen:
            return
        self.seen.add((pointer, prose))
        spelled: dict[str, str] = {}
        for line in prose.split("\n"):
            form = self._text(line + "\n")
            spelled[form] = "\n".join(sorted({line, *filter(None, (spelled.get(form),))}))
        for form, spelling in spelled.items():
            if form.strip() and self.lines.setdefault((pointer, form), spelling) != spelling:
                self.dirty.add(pointer)
        form = self._text(prose)
        body = form.rstrip("\n")
        end = form[len(body) :]
        if self.ends.setdefault((pointer, body), end) != end:
            self.dirty.add(pointer)
            self.open_ends.add(pointer)

    def _member(self, key: str, value: Json, body: dict[str, Json]) -> Json:
        if key in TOOLS and isinstance(value, list):
            return self._tools(value)
        if key == "toolConfig" and isinstance(value, dict) and isinstance(value.get("tools"), list):
            tools = self._tools(value["tools"])
            return value if tools is value["tools"] else {**value, "tools": tools}
        if key in TALK and isinstance(value, list):
            new = [self._element("message", m) if self._covers(m) else m for m in value]
            new = [self._message_text(f"/{key}/{i}", m) for i, m in enumerate(new)]
            return value if all(a is b for a, b in zip(value, new, strict=True)) else new
        if key in INSTRUCTIONS:
            return self._developer_text(f"/{key}", self._element(key, value))
        return value

    def _element(self, kind: str, element: Json) -> Json:
        place = (kind, id(element))
        if place not in self.keys:  # not learned from, so nothing keeps it alive
            return self._form(kind, element)
        if place not in self.finals:
            self.finals[place] = self._form(kind, element)
        return self.finals[place]

    def _form(self, kind: str, element: Json) -> Json:
        group = self.groups.get(self._key(kind, element))
        if group is None or len(group.spellings) < 2:
            return element
        if group.final is None:
            group.final = self._agreed(kind, group)
        return with_marks_of(element, group.final)

    def _agreed(self, kind: str, group: Group) -> Json:
        """Choose the form of a group: the first spelling, made canonical, in its own key order."""
        bare = without_marks(group.first)
        walk = Walk(replace(self.options, markers=False), None)
        if kind == "tool":
            form = walk.tool(bare)
        elif kind == "message":
            form = walk.message(bare)
        else:
            form = walk.member(kind, bare)
        form = like(form, bare)
        if kind == "message" and isinstance(form, dict) and isinstance(form.get("content"), str) and group.marked:
            form["content"] = [{"type": "text", "text": form["content"]}]
        return form

    def _tools(self, tools: list[Json]) -> list[Json]:
        new = [self._declared(self._element("tool", t)) for t in tools]
        names = [tool_name(t) for t in new]
        wanted = self.tool_orders.get(frozenset(names), ())
        if sorted(wanted) == sorted(names) and list(wanted) != names:
            places = {name: [i for i, n in enumerate(names) if n == name] for name in set(names)}
            ordered = [new[places[name].pop(0)] for name in wanted]
            return place_marks_by_index(new, ordered)
        return tools if all(a is b for a, b in zip(tools, new, strict=True)) else new

    def _declared(self, tool: Json) -> Json:
        """Put the declarations inside a Gemini tool in order."""
        for key in ("functionDeclarations", "function_declarations"):
            if isinstance(tool, dict) and isinstance(tool.get(key), list):
                new = self._tools(tool[key])
                tool = tool if new is tool[key] else {**tool, key: new}
        return tool

    def _message_text(self, pointer: str, message: Json) -> Json:
        if not is_developer(message) or "content" not in message:
            return message
        new = self._developer_text(f"{pointer}/content", message["content"])
        return message if new is message["content"] else {**message, "content": new}

    def _developer_text(self, pointer: str, value: Json) -> Json:
        """Make the text of a place canonical where the log spells one of its lines in two ways."""
        if isinstance(value, str):
            new = self._cleaned(pointer, value) if pointer in self.dirty else value
            return value if new == value else new
        if isinstance(value, list):
            items = [self._developer_text(f"{pointer}/{i}", v) for i, v in enumerate(value)]
            return value if all(a is b for a, b in zip(value, items, strict=True)) else items
        if isinstance(value, dict):
            for key in ("text", "parts"):
                if key in value:
                    changed = self._developer_text(f"{pointer}/{key}", value[key])
                    value = value if changed is value[key] else {**value, key: changed}
        return value

    def _cleaned(self, pointer: str, prose: str) -> str:
        new = self._text(prose)
        return new.rstrip("\n") if pointer in self.open_ends else new

    def _text(self, prose: str) -> str:
        return text.canonical(prose, all_blanks=self.options.all_blanks, unsafe=self.options.unsafe)


def developer_texts(body: dict[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield (pointer, text) of what the developer wrote outside of tools."""
    for key in INSTRUCTIONS:
        if key in body:
            yield from texts(f"/{key}", body[key])
    for key in TALK:
        for i, message in enumerate(body[key] if isinstance(body.get(key), list) else ()):
            if is_developer(message) and "content" in message:
                yield from texts(f"/{key}/{i}/content", message["content"])


def texts(pointer: str, value: Json) -> Iterator[tuple[str, str]]:
    """Yield the texts of content in any provider's form."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from texts(f"{pointer}/{i}", item)
    elif isinstance(value, dict):
        for key in ("text", "parts"):
            if key in value:
                yield from texts(f"{pointer}/{key}", value[key])


def like(form: Json, first: Json) -> Json:
    """Give a canonical value the key order of a spelling of it, and JSON in strings that of its text.

    ``like({"a": 1, "b": 2}, {"b": 2, "a": 1})`` is ``{"b": 2, "a": 1}``.
    """
    if isinstance(form, dict) and isinstance(first, dict):
        return {key: like(form[key], first[key]) for key in first if key in form}
    if isinstance(form, list) and isinstance(first, list) and len(form) == len(first):
        return [like(a, b) for a, b in zip(form, first, strict=True)]
    if isinstance(form, str) and isinstance(first, list):  # content that was one block
        return [{**first[0], "text": form}]
    if type(form) is str and type(first) is str and form != first and inner.document(first) is not None:
        return inner.plain(first)
    return form


def digest(value: Json) -> bytes:
    """Hash a value with the order of its keys and the spelling of its numbers."""
    spelled = json.dumps(value, default=repr, ensure_ascii=True)
    return hashlib.blake2b(_numbers(value).encode() + spelled.encode(), digest_size=16).digest()


def _numbers(value: Json) -> str:
    """Tell numbers from strings of the same characters: json writes a Number as a string."""
    found: list[str] = []
    todo = [value]
    while todo:
        item = todo.pop()
        if type(item) is Number:
            found.append(str.__str__(item))
        elif isinstance(item, dict):
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
    return ",".join(found)


def has_mark(value: Json) -> bool:
    """Return whether a cache marker stands anywhere in an element."""
    if isinstance(value, dict):
        return "cache_control" in value or any(map(has_mark, value.values()))
    return isinstance(value, list) and any(map(has_mark, value))


def without_marks(value: Json) -> Json:
    """Return an element without cache markers, which are no prompt text."""
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [without_marks(v) for v in value] if isinstance(value, list) else value


def with_marks_of(element: Json, form: Json) -> Json:
    """Give the agreed form of an element the cache markers that it carries itself."""
    if isinstance(element, dict) and isinstance(form, dict):
        new = {key: with_marks_of(element.get(key), form[key]) for key in form}
        if "cache_control" in element:
            new["cache_control"] = element["cache_control"]
        return element if list(new) == list(element) and all(new[k] is element[k] for k in new) else new
    if isinstance(element, list) and isinstance(form, list) and len(element) == len(form):
        items = [with_marks_of(a, b) for a, b in zip(element, form, strict=True)]
        return element if all(a is b for a, b in zip(element, items, strict=True)) else items
    return element if type(element) is type(form) and element == form and not isinstance(form, dict | list) else form


def _without_no_content(message: Json) -> Json:
    """Take ``null``, an empty string and nothing for one content, where a message is there for its tool calls."""
    if isinstance(message, dict) and message.get("tool_calls") and message.get("content") in (None, "", []):
        return {k: v for k, v in message.items() if k != "content"}
    return message


def place_marks_by_index(before: list[Json], after: list[Json]) -> list[Json]:
    """Keep cache markers at their places in a list that is put in order."""
    return place_marks(before, after) if any(map(has_mark, before)) else after


def _tool_lists(body: dict[str, Json]) -> Iterator[list[Json]]:
    config = body.get("toolConfig")
    for tools in (*(body.get(k) for k in TOOLS), config.get("tools") if isinstance(config, dict) else None):
        if isinstance(tools, list):
            yield tools
            for tool in tools:
                for inside in ("functionDeclarations", "function_declarations"):
                    if isinstance(tool, dict) and isinstance(tool.get(inside), list):
                        yield tool[inside]
