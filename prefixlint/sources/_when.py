"""Read the times that logs write, as seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*(Z|UTC|[+-]\d\d:?(?:\d\d)?)?$", re.I
)
# Numbers are seconds, milliseconds, microseconds or nanoseconds; 1e11 s lies in the year 5138, 1e11 ms in 1973.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


def seconds(value: object) -> float | None:
    """Convert an ISO 8601 text (without a zone: UTC) or a number of seconds, ms, µs or ns; None when it is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _scaled(float(value))
    if not isinstance(value, str):
        return None
    value = value.strip()
    try:
        return _scaled(float(value))
    except ValueError:
        return _iso(value)


def _scaled(value: float) -> float | None:
    if value - value != 0:
        return None
    for limit, unit in _UNITS:
        if abs(value) >= limit:
            return value / unit
    return value


def _iso(value: str) -> float | None:
    found = _ISO.match(value)
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        whole = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=_zone(zone)
        )
    except ValueError:
        return None
    return whole.timestamp() + float(f"0.{fraction or 0}")


def _zone(zone: str | None) -> timezone:
    if not zone or zone.upper() in ("Z", "UTC"):
        return UTC
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))
