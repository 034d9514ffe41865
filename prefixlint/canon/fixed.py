"""Containers that keep their order: comments stand between their members, or a key comes twice."""

from __future__ import annotations

from prefixlint.model import Json


class FixedDict(dict[str, Json]):
    """Hold an object whose members stay in their places."""

    __slots__ = ()


class FixedList(list[Json]):
    """Hold a list whose elements stay in their places."""

    __slots__ = ()


FIXED = (FixedDict, FixedList)
