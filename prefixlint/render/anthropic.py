"""Send order of the Anthropic Messages API (also through Bedrock InvokeModel and Vertex)."""

from __future__ import annotations

from prefixlint.elements import Element, PromptPart
from prefixlint.model import Json
from prefixlint.render import _base

NAME = "anthropic"
EXACT = False
PARTS = (
    PromptPart("tools", "tools", "list"),
    PromptPart("system", "system", "list"),
    PromptPart("setting", "tool_choice"),
    PromptPart("setting", "thinking"),
    PromptPart("setting", "output_config"),
    PromptPart("setting", "output_format"),
    PromptPart("message", "messages", "list"),
)


def element(part: PromptPart, value: Json) -> Element:
    """Arrange a tool, a system block, a setting or a message."""
    if part.part == "tools":
        return _base.tool(value)
    if part.part == "system":
        return _base.block(value)
    return _base.message(value) if part.part == "message" else _base.setting(value)
