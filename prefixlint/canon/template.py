"""Take the clock out of a chat template: the date becomes a variable that the caller may pin."""

from __future__ import annotations

import re

_CLOCK = re.compile(r"strftime_now\(\s*([\"'])(?P<format>[^\"'\n]*)\1\s*\)")
_SET = re.compile(r"set\s+(?P<name>\w+)\s*=\s*$")
# From the first directive of a time of day on, with the separator before it.
_TIME = re.compile(r"[\s,T]*(?:at\s+)?%[-#]?[HIMSpfXcTRrzZ].*$")


def pinned(text: str) -> str:
    """Replace calls of ``strftime_now`` by the variable ``date_string`` with the template's own fixed date.

    ``date_string`` is the name that published templates use for it (Llama 3.1 and later). A template without a fixed
    date keeps its clock, cut to the day.

    >>> pinned('{% set d = strftime_now("%d %b") %}{% set d = "26 Jul" %}')
    '{% set d = date_string | default("26 Jul") %}{% set d = "26 Jul" %}'
    >>> pinned('{{ strftime_now("%Y-%m-%d %H:%M") }}')
    '{{ strftime_now("%Y-%m-%d") }}'
    """

    def replacement(match: re.Match[str]) -> str:
        before = _SET.search(text, max(0, match.start() - 80), match.start())
        fixed = _fixed(text, before["name"]) if before else ""
        if fixed:
            return f"date_string | default({fixed})"
        quote, form = match[1], _TIME.sub("", match["format"])
        return f"strftime_now({quote}{form}{quote})" if form and form != match["format"] else match[0]

    return _CLOCK.sub(replacement, text)


def _fixed(text: str, name: str) -> str:
    """Find the date that a template sets where it has no clock."""
    found = re.search(rf"set\s+{re.escape(name)}\s*=\s*([\"'][^\"'\n{{}}]+[\"'])", text)
    return found[1] if found else ""
