"""Send order of the Bedrock Converse API; its cache points are blocks of their own."""

from __future__ import annotations

from prefixlint.elements import Element, PromptPart
from prefixlint.model import Json
from prefixlint.render import _base

NAME = "bedrock-converse"
EXACT = False
PARTS = (
    PromptPart("tools", "toolConfig", "list", ("tools",)),
    PromptPart("system", "system", "list"),
    PromptPart("message", "messages", "list"),
)


def element(part: PromptPart, value: Json) -> Element:
    """Arrange a tool, a system block or a message."""
    if part.part == "tools":
        return _base.tool(value)
    return _base.block(value) if part.part == "system" else _base.message(value)
