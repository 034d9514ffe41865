"""Spell equal numbers equally without losing a digit: ``105.0`` and ``1.05e2`` are ``105``."""

from __future__ import annotations

import re
from decimal import Decimal

EXACT = 2**53  # from here on a float no longer names one integer (IEEE 754 binary64)
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")


def canonical(raw: str) -> str:
    """Return the one spelling of a JSON number; a number that a float cannot hold exactly keeps its own."""
    if _PLAIN.match(raw):
        return raw
    value = float(raw)
    if value in (float("inf"), float("-inf")) or (raw.startswith("-0") and value == 0):
        return raw
    if value.is_integer() and abs(value) < EXACT:
        return str(int(value)) if Decimal(raw) == int(value) else raw
    shortest = repr(value)
    return shortest if Decimal(raw) == Decimal(shortest) else raw


def integral(value: float) -> float | int:
    """Return an integral float as an integer, and any other as it is."""
    if value.is_integer() and -EXACT < value < EXACT and (value or str(value)[0] != "-"):
        return int(value)
    return value
