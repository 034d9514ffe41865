"""Raw prompts, as a completion endpoint or a local server takes them: the text is the prompt, token for token."""

from __future__ import annotations

import re

from prefixlint.elements import Element, Piece, PromptPart
from prefixlint.model import Json

NAME = "raw"
EXACT = True
PARTS = (PromptPart("message", "prompt", "text"),)

# Where a turn begins: the special tokens of the usual chat templates (no text crosses one when it is tokenized). Only
# where a prompt has none, the name of a speaker at the start of a line.
TURN = re.compile(
    r"<\|im_start\|>(?P<chatml>\w+)"
    r"|<\|start_header_id\|>(?P<llama>\w+)<\|end_header_id\|>"
    r"|<start_of_turn>(?P<gemma>\w+)"
    r"|<\|turn>(?P<gemma4>\w+)"
    r"|<\|start\|>(?P<harmony>\w+)"
    r"|<\|START_OF_TURN_TOKEN\|><\|(?P<command>\w+?)_TOKEN\|>"
    r"|<\|(?P<phi>system|user|assistant|observation)\|>"
    r"|<｜(?P<deepseek>User|Assistant)｜>"
    r"|\[(?P<inst>/?INST)\]"
)
SPEAKER = re.compile(r"(?:^|(?<=\n))(?P<line>System|User|Human|Assistant|AI):")
ROLES = {
    "model": "assistant", "chatbot": "assistant", "ai": "assistant", "/inst": "assistant", "inst": "user",
    "human": "user", "observation": "tool", "ipython": "tool", "developer": "system",
}  # fmt: skip


def element(part: PromptPart, value: Json) -> Element:
    """Take a stretch of the prompt as it is."""
    text = value if isinstance(value, str) else repr(value)
    return Element(text, (Piece("", text),), role_of(text))


def role_of(text: str) -> str:
    """Say who speaks in a stretch of a prompt; text before the first turn belongs to the system."""
    found = TURN.match(text) or SPEAKER.match(text)
    name = (found[found.lastgroup] if found and found.lastgroup else "").lower()
    return ROLES.get(name, name) or "system"


def split(text: str) -> list[int]:
    """Return where the stretches of a prompt begin, 0 first.

    >>> split("<|im_start|>system\\nA<|im_end|>\\n<|im_start|>user\\nB")
    [0, 31]
    """
    starts = [found.start() for found in TURN.finditer(text)] or [found.start() for found in SPEAKER.finditer(text)]
    return [0, *(start for start in starts if start)]
