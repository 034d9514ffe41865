"""Say whether a fork costs nothing: it stands behind the last marker, and the provider caches only up to markers."""

from __future__ import annotations

from prefixlint.diff.fork import Place
from prefixlint.diff.sequence import Sequence


def is_behind_markers(before: Sequence, after: Sequence, place: Place) -> bool:
    """Say whether both requests mark what they cache, and all of it stands before a fork in the system prompt.

    A request without any marker caches nothing yet; its forks are told, since they count once markers are set. So are
    those of settings and conversations: what is meant to be cached there is marked with the next turn.
    """
    if place.part is None or not (after.layout.NAME == "anthropic" or "claude" in after.model.lower()):
        return False
    is_lead = place.part is after.layout.PARTS[-1] and place.index < min(before.lead, after.lead)
    if place.part.part != "system" and not is_lead:
        return False
    at = after.layout.PARTS.index(place.part), place.index
    return all(last is not None and last < at for last in map(_last_marker, (before, after)))


def _last_marker(sequence: Sequence) -> tuple[int, int] | None:
    """Return the number of the part and of the element that carry the last marker."""
    number = sequence.layout.PARTS.index
    marked = [p for p in (*sequence.front, sequence.talk) if p.marks]
    return max(((number(p.part), p.marks[-1][0]) for p in marked), default=None)
