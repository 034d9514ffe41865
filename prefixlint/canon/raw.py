"""Work on raw prompts, in which turns are marked by the tokens of a chat template or by the names of speakers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prefixlint.canon.place import tagged

# The head of a user turn in the usual chat templates, and where such a turn ends.
_USER_TURN = re.compile(
    r"<\|im_start\|>user\n?|<\|start_header_id\|>user<\|end_header_id\|>\s*|<start_of_turn>user\n?|<\|turn>user\n?"
    r"|<\|start\|>user<\|message\|>|<\|user\|>\n?|<｜User｜>|\[INST\]|^(?:User|Human):[ ]?",
    re.MULTILINE,
)
_TURN_END = re.compile(
    r"<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<turn\|>|<\|end\|>|<\|assistant\|>|<｜Assistant｜>|\[/INST\]"
    r"|\n(?=(?:Assistant|AI|[A-Z][a-z]+):)"
)


@dataclass(slots=True)
class Insertions:
    """Hold what was inserted into a raw prompt: texts by their place in the prompt without them."""

    places: dict[int, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class RawLedger:
    """Follow raw prompts that grow; what was told in an earlier turn stays there."""

    known: list[tuple[str, Insertions]] = field(default_factory=list)

    def place(self, prompt: str, values: dict[str, str]) -> str:
        """Return the prompt with its moved values told at the end of the last user turn."""
        parent = next((told for text, told in reversed(self.known) if _continues(prompt, text)), Insertions())
        told = Insertions(dict(parent.places), dict(parent.values))
        fresh = [text for slot, text in values.items() if text and told.values.get(slot) != text]
        told.values.update(values)
        end = user_turn_end(prompt)
        if fresh and end is not None:
            told.places[end] = "\n".join(filter(None, (told.places.get(end), *fresh)))
        self.known.append((prompt, told))
        return _inserted(prompt, told.places)


def _continues(prompt: str, before: str) -> bool:
    return len(prompt) > len(before) and prompt.startswith(before.rstrip())


def user_turn_end(prompt: str) -> int | None:
    """Return where the text of the last user turn ends, or None without such a turn.

    >>> user_turn_end("<|im_start|>user\\nok?<|im_end|>\\n<|im_start|>assistant\\n")
    20
    """
    turns = list(_USER_TURN.finditer(prompt))
    if not turns:
        return None
    end = _TURN_END.search(prompt, turns[-1].end())
    return end.start() if end else len(prompt.rstrip())


def _inserted(prompt: str, places: dict[int, str]) -> str:
    pieces, at = [], 0
    for place in sorted(places):
        pieces += [prompt[at:place], "\n" + tagged(places[place])]
        at = place
    return "".join([*pieces, prompt[at:]])


def with_completion(prompt: str, completion: str, later: str) -> str:
    """Put back the blanks that a client trimmed from the end of a reply before it sent it again.

    >>> with_completion("Q:", " A. \\n", "Q: A.\\nQ:")
    'Q: A. \\nQ:'
    """
    trimmed = completion.rstrip()
    if trimmed == completion or not trimmed or not later.startswith(prompt + trimmed):
        return later
    if later.startswith(prompt + completion):
        return later
    tail, rest = completion[len(trimmed) :], later[len(prompt) + len(trimmed) :]
    overlap = next((n for n in range(min(len(tail), len(rest)), 0, -1) if tail.endswith(rest[:n])), 0)
    return prompt + completion + rest[overlap:]
