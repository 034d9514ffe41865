"""Lead from a character of a rendered text back to the string of the body that it comes from."""

from __future__ import annotations

import bisect

from prefixlint.model import Place


def place_of(places: tuple[Place, ...], char_offset: int) -> tuple[str, int | None]:
    """Return the pointer, and the offset in its string, of a character of the rendered text.

    What the chat template itself wrote has the pointer ``""`` and no offset.

    >>> place_of((Place(5, 8, "/messages/0/content", 2),), 6)
    ('/messages/0/content', 3)
    """
    index = bisect.bisect_right(places, char_offset, key=lambda place: place.start_char) - 1
    if index < 0 or char_offset >= places[index].end_char:
        return "", None
    return places[index].pointer, places[index].char_offset + char_offset - places[index].start_char
