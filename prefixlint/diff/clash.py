"""Describe a fork while it is being named: the two sides, the place, and what a named cause leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prefixlint.diff.fork import Difference, Place
from prefixlint.diff.sequence import ASSISTANT_ROLES, Sequence
from prefixlint.diff.store import Store
from prefixlint.model import ForkKind, Part

SHOWN_CHARS = 40
ID_KEYS = frozenset(("id", "tool_call_id", "tool_use_id", "toolUseId", "call_id", "callId"))
MaskKind = Literal["span", "leaf", "element", "shift", "part", "rest"]


@dataclass(frozen=True, slots=True)
class Mask:
    """Say what to leave out of both sides to see past a cause.

    ``span``: of the string at the fork, up to ``end_left`` and ``end_right``. ``leaf``: the whole string. ``element``:
    the rest of the element. ``shift``: ``end_left`` and ``end_right`` elements. ``part``: the rest of the part.
    ``rest``: all. ``equal`` says that what is left out has equal meaning, so that its tokens could be shared.
    """

    kind: MaskKind
    end_left: int = 0
    end_right: int = 0
    equal: bool = False


@dataclass(frozen=True, slots=True)
class Cause:
    """Hold a named cause with its place and what differs; ``sure`` says that it was recognised, not left over."""

    rule: str
    pointer: str
    kind: ForkKind
    char_offset: int | None
    left: str
    right: str
    mask: Mask
    sure: bool = True
    also: tuple[str, ...] = ()
    found: Difference | None = None
    context: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Clash:
    """Hold two sequences and the place at which they part; ``grown`` says that one is the other's next turn."""

    store: Store
    before: Sequence
    after: Sequence
    place: Place
    grown: bool

    @property
    def part(self) -> Part:
        """Return the part; system messages at the start of the conversation are the system prompt."""
        if self.place.part is None:
            return "setting"
        return "system" if self.in_lead else self.place.part.part

    @property
    def in_lead(self) -> bool:
        """Say whether the fork lies in a system message at the start."""
        is_talk = self.place.part is self.after.layout.PARTS[-1]
        return is_talk and self.place.index < max(self.before.lead, self.after.lead)

    @property
    def in_history(self) -> bool:
        """Say whether the fork lies in the conversation itself."""
        return self.place.part is self.after.layout.PARTS[-1] and not self.in_lead

    @property
    def is_unparted(self) -> bool:
        """Say whether the fork lies in a raw text without turns: a prompt, for all one knows."""
        side = self.place.after
        return side is not None and bool(side.starts) and len(side.ids) == 1

    @property
    def generated(self) -> bool:
        """Say whether the model wrote what differs, so that no label in it speaks of the client."""
        return self.in_history and self.store.role(self.place.pair[1]) in ASSISTANT_ROLES

    @property
    def asked(self) -> bool:
        """Say whether the user, or the client in the user's name, wrote what differs."""
        return self.in_history and self.store.role(self.place.pair[1]) == "user"
