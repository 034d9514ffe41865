"""Find the prompts in a decoded JSON, YAML or TOML document: by kind, by key names and by configured pointers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prefixlint import kinds
from prefixlint.kinds import Kind
from prefixlint.model import Json, PromptKind, Segment
from prefixlint.pointers import escape_token

# Folded key names (no case, no '_', '-', '.', ' '): a key that is or ends with one of these holds prompt text.
_PROMPT_KEY = (
    r"(?:^|[a-z0-9])(?:systemprompt|systemmessage|systeminstructions?|promptprefix|promptsuffix|prompttemplate"
    r"|instructions?|prompts?|preamble)$|^(?:system|persona|developermessage|systemtext|sharedprefix)$"
)
_FOLD = str.maketrans("", "", "_-. ")
_MESSAGE_KEYS = ("messages", "contents", "input", "prompt", "system", "examples")
_TOOL_KEYS = ("tools", "functions", "functionDeclarations", "function_declarations")
_SCHEMA_TEXT = ("description", "title")
# Values of such keys that are names, paths or switches rather than text.
_NO_TEXT = r"\S*\Z"
_HAS_PLACEHOLDER = r"\{\{?[^{}\s]|\$\{|<%|\{%"
_FILE_VALUE = ("file://", "{file:")
_SYNTAX = {
    "jinja2": "jinja",
    "jinja": "jinja",
    "mustache": "mustache",
    "f-string": "f-string",
    "handlebars": "mustache",
}
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """Hold the segments of one prompt of a document."""

    kind: PromptKind
    segments: tuple[Segment, ...]


def drafts(kind: Kind, value: Json, pointers: tuple[str, ...] = ()) -> Iterator[Draft]:
    """Yield every prompt of a document once, in the order: configured pointers, kind, key names."""
    seen: set[str] = set()
    for draft in _all(kind, value, pointers):
        fresh = tuple(s for s in draft.segments if s.pointer not in seen)
        seen.update(s.pointer for s in fresh)
        if fresh:
            yield Draft(draft.kind, fresh)


def _all(kind: Kind, value: Json, pointers: tuple[str, ...]) -> Iterator[Draft]:
    for pattern in pointers:
        for pointer, found in kinds.select(value, pattern):
            yield from _texts(pointer, found)
    if kind.name == "tokenizer-config":
        yield from chat_templates(value)
        return
    if is_tool_list(value):
        yield Draft("tools", tuple(tool_segments("", value)))
        return
    syntax = _SYNTAX.get(str(value.get("template_format", "")), "") if isinstance(value, dict) else ""
    for pattern in kind.prompts:
        for pointer, found in kinds.select(value, pattern):
            if isinstance(found, str) and not found.startswith(_FILE_VALUE):
                yield _draft(pointer, found, syntax)
    quiet = {pointer for pattern in kind.quiet for pointer, _ in kinds.select(value, pattern)}
    yield from _by_name("", value, quiet, 0)


def _draft(pointer: str, text: str, syntax: str = "") -> Draft:
    return Draft("settings", (Segment("system", pointer, text, "system", syntax=syntax),))


def _by_name(pointer: str, value: Json, quiet: set[str], depth: int) -> Iterator[Draft]:
    """Walk over the document; what lies below a prompt key is taken whole."""
    if pointer in quiet or depth > _MAX_DEPTH:
        return
    if is_messages(value):
        yield Draft("settings", tuple(message_segments(pointer, value)))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _by_name(f"{pointer}/{index}", below, quiet, depth + 1)
    elif isinstance(value, dict):
        for key, below in value.items():
            here = f"{pointer}/{escape_token(str(key))}"
            if key in _TOOL_KEYS and is_tool_list(below):
                yield Draft("tools", tuple(tool_segments(here, below)))
            elif (
                here not in quiet
                and re.search(_PROMPT_KEY, str(key).lower().translate(_FOLD))
                and not is_messages(below)
            ):
                yield from _texts(here, below)
                if not isinstance(below, str):
                    yield from _by_name(here, below, quiet, depth + 1)
            else:
                yield from _by_name(here, below, quiet, depth + 1)


def _texts(pointer: str, value: Json) -> Iterator[Draft]:
    """Yield the text of a value that is known to be a prompt: a string, a list of strings or of text blocks."""
    if isinstance(value, str):
        if _is_text(value):
            yield _draft(pointer, value)
    elif is_messages(value):
        yield Draft("settings", tuple(message_segments(pointer, value)))
    elif isinstance(value, list):
        segments = [s for i, below in enumerate(value) for s in _blocks(f"{pointer}/{i}", below, "system")]
        if segments:
            yield Draft("settings", tuple(segments))
    elif isinstance(value, dict):
        segments = list(_blocks(pointer, value, "system"))
        if segments:
            yield Draft("settings", tuple(segments))


def _is_text(value: str) -> bool:
    """Tell prompt text from a name, a path or a switch."""
    if value.startswith(_FILE_VALUE):
        return False
    return not re.match(_NO_TEXT, value) or bool(re.search(_HAS_PLACEHOLDER, value))


def _blocks(pointer: str, value: Json, role: str) -> Iterator[Segment]:
    """Yield the text of content in any provider's form: string, ``text``, ``content``, ``parts``."""
    part = "system" if role in ("system", "developer") else "message"
    if isinstance(value, str):
        if value:
            yield Segment("system" if part == "system" else "message", pointer, value, role)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _blocks(f"{pointer}/{index}", below, role)
    elif isinstance(value, dict):
        for key in ("text", "content", "parts"):
            if key in value and isinstance(value[key], str | list):
                yield from _blocks(f"{pointer}/{key}", value[key], role)


def is_messages(value: Json) -> bool:
    """Say whether a value is a list of chat messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in value)
        and any("content" in m or "parts" in m for m in value)
    )


def message_segments(pointer: str, messages: Json) -> Iterator[Segment]:
    """Yield the texts of chat messages with their roles."""
    for index, message in enumerate(messages):
        for key in ("content", "parts"):
            if key in message:
                yield from _blocks(f"{pointer}/{index}/{key}", message[key], message["role"])


def is_tool_list(value: Json) -> bool:
    """Say whether a value is a list of tool definitions in the form of any provider or of MCP."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(t, dict) for t in value)
        and any(map(_is_tool, value))
    )


def _is_tool(tool: dict[str, Json]) -> bool:
    if isinstance(tool.get("function"), dict):
        return "name" in tool["function"]
    if any(isinstance(tool.get(k), list) for k in ("functionDeclarations", "function_declarations")):
        return True
    schemas = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
    return isinstance(tool.get("name"), str) and any(isinstance(tool.get(s), dict) for s in schemas)


def tool_segments(pointer: str, value: Json, depth: int = 0) -> Iterator[Segment]:
    """Yield the texts of tool definitions that a person wrote: descriptions, titles, at any depth."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for index, below in enumerate(value):
            yield from tool_segments(f"{pointer}/{index}", below, depth + 1)
    elif isinstance(value, dict):
        for key, below in value.items():
            here = f"{pointer}/{escape_token(str(key))}"
            if isinstance(below, str):
                if key in _SCHEMA_TEXT or (key == "name" and depth <= 4):  # the name, for tools that share one
                    yield Segment("tools", here, below, "system")
            else:
                yield from tool_segments(here, below, depth + 1)


def chat_templates(value: Json) -> Iterator[Draft]:
    """Yield the templates of a ``tokenizer_config.json``: one string, or a list of named ones."""
    for pattern in ("/chat_template", "/chat_template/*/template", "/chat_template/*"):
        for pointer, text in kinds.select(value, pattern):
            if isinstance(text, str) and not pointer.endswith("/name"):
                yield Draft("chat-template", (Segment("system", pointer, text, "system", syntax="jinja"),))


def references(kind: Kind, value: Json) -> Iterator[tuple[str, str]]:
    """Yield (pointer, file name) of the prompt files that a settings file names."""
    for pattern in kind.refers:
        for pointer, found in kinds.select(value, pattern):
            name = _file_name(kind, found)
            if name:
                yield pointer, name


def _file_name(kind: Kind, value: Json) -> str:
    if not isinstance(value, str):
        return ""
    if value.startswith("{file:"):
        return value[6:].partition("}")[0].strip()
    if value.startswith("file://"):
        return value[7:].partition(":")[0]
    if kind.name == "generic-settings":
        return value
    # These two write prompts and file names into the same member; there only the marked form is a file.
    is_marked = kind.name in ("promptfoo", "continue")
    looks_like_file = re.fullmatch(r"[^\s*?{}]+\.\w{1,8}", value) and "://" not in value
    return value if looks_like_file and not is_marked else ""
