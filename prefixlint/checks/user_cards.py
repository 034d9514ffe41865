"""Search the patterns of cards that a user wrote, in the texts that requests are meant to share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prefixlint import shapes
from prefixlint.checks._passage import Passage, shared_segments
from prefixlint.model import Hit, Prompt, Rule, Segment

LABEL_CHARS = 60  # a label stands at most this far in front of its value, on the same line


def check_cards(prompt: Prompt, cards: Iterable[Rule]) -> Iterator[Hit]:
    """Yield every match of the cards' patterns; a card with labels only counts behind one of them."""
    segments = shared_segments(prompt)
    for card in cards:
        labels = [label.lower() for label in card.labels]
        for regex in card.patterns:
            pattern = shapes.Pattern(card.id, re.compile(regex, re.ASCII), card.confidence)
            for segment in segments:
                yield from _matches(pattern, segment, labels, card)


def _matches(pattern: shapes.Pattern, segment: Segment, labels: list[str], card: Rule) -> Iterator[Hit]:
    text, passage = segment.text, Passage(segment.text)
    for shape in shapes.matches(pattern, text, 0, len(text)):
        if labels and not _is_labelled(text, shape.start_char, labels):
            continue
        if not passage.is_silent(shape.start_char):
            yield Hit(card.id, segment.pointer, shape.start_char, shape.end_char, confidence=card.confidence)


def _is_labelled(text: str, at_char: int, labels: list[str]) -> bool:
    start = max(text.rfind("\n", 0, at_char) + 1, at_char - LABEL_CHARS)
    before = text[start:at_char].lower()
    return any(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", before) for label in labels)
