"""Send order of the Gemini generateContent API, in both spellings of its members."""

from __future__ import annotations

from prefixlint.elements import Element, PromptPart
from prefixlint.model import Json
from prefixlint.render import _base

NAME = "gemini"
EXACT = False
PARTS = (
    PromptPart("system", "systemInstruction", "list", ("parts",)),
    PromptPart("system", "system_instruction", "list", ("parts",)),
    PromptPart("tools", "tools", "list"),
    PromptPart("setting", "toolConfig"),
    PromptPart("setting", "tool_config"),
    PromptPart("message", "contents", "list"),
)


def element(part: PromptPart, value: Json) -> Element:
    """Arrange a part of the system instruction, a tool, a setting or a content."""
    if part.part == "system":
        return _base.block(value)
    if part.part == "tools":
        return _base.tool(value)
    return content(value) if part.part == "message" else _base.setting(value)


def content(value: Json) -> Element:
    """Arrange one content; without a role it is the user's."""
    if not isinstance(value, dict):
        return _base.block(value, role="user")
    return _base.message({"role": "user"} | value)
