"""Send order of the OpenAI Responses API; ids and states of items are bookkeeping, call ids are prompt text."""

from __future__ import annotations

from prefixlint.elements import Element, PromptPart
from prefixlint.model import Json
from prefixlint.render import _base

NAME = "openai-responses"
EXACT = False
PARTS = (
    PromptPart("tools", "tools", "list"),
    PromptPart("setting", "text"),
    PromptPart("setting", "reasoning"),
    PromptPart("setting", "tool_choice"),
    PromptPart("system", "instructions"),
    PromptPart("message", "input", "list"),
)
ORDER = ("type", "role", "call_id", "name", "arguments", "input", "summary", "content", "output", "encrypted_content")
CALLS = frozenset(("reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call"))


def element(part: PromptPart, value: Json) -> Element:
    """Arrange a tool, a setting, the instructions or an input item."""
    if part.part == "tools":
        return _base.tool(value)
    if part.part == "setting":
        return _base.setting(value)
    return _base.block(value) if part.part == "system" else item(value)


def item(value: Json) -> Element:
    """Arrange one input item; a plain string is what a user says."""
    if not isinstance(value, dict):
        return _base.block(value, role="user")
    kind = value.get("type", "message" if "role" in value else "")
    name = kind if isinstance(kind, str) else ""
    bookkeeping = {"status"} | ({"id"} if name != "item_reference" else set())
    arranged = {"type": kind} | {k: v for k, v in value.items() if k not in bookkeeping}
    found = _base.message(arranged, ORDER)
    role = found.role or ("assistant" if name in CALLS or name.endswith("_call") else "tool")
    return Element(found.value, found.pieces, role, found.marks)
