"""Join many literal words into one regular expression that shares their beginnings.

An alternation of 250 labels costs 250 comparisons at each word of a text, a tree of them as many as there are first
letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

Tree = dict[str, "Tree"]
_END = ""


def any_of(words: Iterable[str], spelled: Mapping[str, str]) -> str:
    """Return a pattern that matches the longest of the words; ``spelled`` replaces single characters by patterns.

    >>> any_of(["date", "day", "da"], {})
    'da(?:(?:te|y))?'
    """
    tree: Tree = {}
    for word in words:
        node = tree
        for character in word:
            node = node.setdefault(character, {})
        node[_END] = {}
    return _pattern(tree, spelled)


def _pattern(node: Tree, spelled: Mapping[str, str]) -> str:
    branches = [spelled.get(c, re.escape(c)) + _pattern(below, spelled) for c, below in sorted(node.items()) if c]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
    return f"(?:{joined})?" if _END in node else joined


def lowered(text: str) -> str:
    """Return the text in lower case with every character in its place (some, such as İ, would become two)."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
