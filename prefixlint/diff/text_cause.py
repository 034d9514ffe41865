"""Name the first difference of two strings."""

from __future__ import annotations

from dataclasses import replace

from prefixlint.diff import _forms, _history, _values
from prefixlint.diff._forms import Named
from prefixlint.diff.align import common_suffix
from prefixlint.diff.clash import Clash


def name_text(clash: Clash, left: str, right: str, offset: int) -> Named:
    """Name the first difference of two strings of a clash, the most specific cause first."""
    history, part = clash.in_history, clash.part
    tail = common_suffix(left, right, offset)
    found = (
        _forms.whole_form(left, right, offset, tail)
        or _forms.json_cause(left, right, offset)
        or _forms.order_cause(left, right, offset, tail)
        or _forms.local_form(left, right, offset)
        or (None if history else _values.git_cause(left, right, offset))
        or (_stripped_thought(left, right, offset) if history else None)
        or _forms.number_cause(left, right, offset)
        or _volatile(clash, left, right, offset)
        or _values.listing_cause(left, right, offset)
        or _values.inserted_cause(left, right, offset)
    )
    if found:
        return found
    if part in ("system", "message"):
        fetched = _values.fetched_cause(left, right, offset)
        if fetched and (not history or clash.asked):
            return replace(fetched, sure=False)
    _, end_left, end_right = _values.value_span(left, right, offset)
    is_told = history and not clash.is_unparted
    return Named(
        _values.part_rule("system" if history else part, history=is_told), offset, end_left, end_right, sure=False
    )


def _volatile(clash: Clash, left: str, right: str, offset: int) -> Named | None:
    """Name a value that changes; in tools and in history a bare number is rather an edit."""
    named = _values.value_cause(left, right, offset)
    if named:
        named = _values.labelled_id(named, left, right)
    if named is None or (named.rule == "counter" and not named.sure):
        named = _values.shape_cause(left, right, offset) or named
        named = _values.labelled_id(named, left, right) if named else None
    if named and not named.sure and (clash.part == "tools" or clash.in_history):
        return None
    if named and clash.generated and named.rule not in _values.PROVEN:
        return None
    return named


def _stripped_thought(left: str, right: str, offset: int) -> Named | None:
    """Name a thought that stands in one text and is gone from the other."""
    for found in _history.THINK_TEXT.finditer(left, max(0, offset - 40)):
        if found.start() <= offset < found.end() and right.startswith(
            left[found.end() : found.end() + 4], found.start()
        ):
            return Named("thinking-stripped", offset, found.end(), found.start())
    for found in _history.THINK_TEXT.finditer(right, max(0, offset - 40)):
        if found.start() <= offset < found.end() and left.startswith(
            right[found.end() : found.end() + 4], found.start()
        ):
            return Named("thinking-stripped", offset, found.start(), found.end())
    return None
