"""Compile regular expressions when they are first used: a clean run needs few of them, and each costs up to 1 ms."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Compile, and keep the method where the next look-up finds it without coming here."""
        found = getattr(re.compile(self._pattern, self._flags), name)
        self.__dict__[name] = found
        return found


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves like the compiled pattern."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
