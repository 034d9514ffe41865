"""Send order of the OpenAI Chat Completions API, and of the many servers that speak it."""

from __future__ import annotations

from prefixlint.elements import Element, PromptPart
from prefixlint.model import Json
from prefixlint.render import _base

NAME = "openai-chat"
EXACT = False
PARTS = (
    PromptPart("tools", "tools", "list"),
    PromptPart("tools", "functions", "list"),
    PromptPart("setting", "response_format"),
    PromptPart("setting", "reasoning_effort"),
    PromptPart("setting", "reasoning"),
    PromptPart("setting", "thinking"),
    PromptPart("setting", "chat_template_kwargs"),
    PromptPart("setting", "tool_choice"),
    PromptPart("setting", "function_call"),
    PromptPart("message", "messages", "list"),
)


def element(part: PromptPart, value: Json) -> Element:
    """Arrange a tool, a setting or a message."""
    if part.part == "tools":
        return _base.tool(value)
    return _base.message(value) if part.part == "message" else _base.setting(value)
