"""Move labelled values where no log proves that they change: in one body, one prompt file, one settings file."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.canon import move
from prefixlint.canon.agree import INSTRUCTIONS, TALK
from prefixlint.canon.body import DEVELOPER, is_developer
from prefixlint.canon.place import Ledger
from prefixlint.canon.values import at, with_value
from prefixlint.json_spans import split_pointer
from prefixlint.model import Json, Prompt, Segment


def offsets(prompt: Prompt) -> dict[str, dict[int, str]]:
    """Find values that surely change, by text: pointer -> first character -> rule. Security marks are left out."""
    from prefixlint.api.lint import hits

    texts = {s.pointer: s.text for s in prompt.segments if s.kind == "text"}
    found: dict[str, dict[int, str]] = {}
    for hit in hits(prompt):
        text = texts.get(hit.pointer, "")
        is_wanted = hit.rule in move.MOVABLE and (hit.confidence or "high") == "high" and hit.end_char <= len(text)
        if is_wanted and text and not move.is_security_mark(text, hit.start_char):
            found.setdefault(hit.pointer, {})[hit.start_char] = hit.rule
    return found


def moved_in_body(body: dict[str, Json], prompt: Prompt) -> tuple[dict[str, Json], dict[str, str]]:
    """Move labelled lines of developer text into the last user turn; return the causes by pointer."""
    new, values, causes = body, {}, {}
    for pointer, places in offsets(prompt).items():
        text = at(new, pointer)
        if not isinstance(text, str) or not _is_developer(new, pointer):
            continue
        kept, taken = move.take_units(text, places)
        if kept.strip():
            new = with_value(new, pointer, kept)
            values[pointer] = "\n".join(taken)
            causes[pointer] = next(iter(places.values()))
    if not values:
        return body, {}
    placed = Ledger().place(new, values, {})
    return (body, {}) if placed is new else (placed, causes)


def _is_developer(body: Json, pointer: str) -> bool:
    tokens = split_pointer(pointer)
    if tokens[0] in INSTRUCTIONS:
        return True
    return len(tokens) > 1 and tokens[0] in TALK and is_developer(at(body, f"/{tokens[0]}/{tokens[1]}"))


def moved_in_texts(prompt: Prompt, *, all_roles: bool) -> Iterator[tuple[Segment, str, str]]:
    """Yield (segment, its new text, rule) for each text of a file that has a labelled value before its end."""
    found = offsets(prompt)
    for segment in prompt.segments:
        places = found.get(segment.pointer)
        if not places or segment.kind != "text" or not (all_roles or segment.role in (*DEVELOPER, "")):
            continue
        new = move.to_the_end(segment.text, places)
        if new != segment.text:
            yield segment, new, next(iter(places.values()))
