"""Random texts that are hard for token boundaries, shared by the property tests of this folder."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

POOLS = [
    *(
        "abc",
        "XYZ",
        "abcXYZ",
        "éÉßſİıǅǈ",
        "日本語中文字符",
        "，。！「」",
        "한국어",
        "عربى",
        "हिन्दी",
        "Привет",
        "שלום",
        "ไทย",
    ),
    *("\u0301\u0308\u0338\u200d\ufe0f", "😀👩‍👧🏳️", " ", "  ", " \t\n\r", "\n", "\n\n", "\r\n", "▁"),
    *(
        "\t\x0b\x0c\x1c\x1d\x85\xa0\u2003\u2028\u3000\ufeff\u200b",
        "\x00\x01\x7f\x80",
        "\ud800",
        "\udc00",
        "\ud83d\ude00",
    ),
    *("0123456789", "٣²½Ⅷ", "''''", "'s", "'re", "'ll", "'ſ", '!?.,;:\\|<>[]{}()=+-*_"', "/", "//", "./\n", "ʰªº"),
    *("<|im_start|>", "<s>", "▁▁"),
]
PROSE = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.parent.glob("*.py")))
FUZZ = int(os.environ.get("PREFIXLINT_FUZZ", "0"))


def text(rnd: random.Random, least: int, most: int) -> str:
    """Make a text of the pools, or cut one from real source code."""
    if rnd.random() < 0.3:
        start = rnd.randrange(len(PROSE) - 200)
        return PROSE[start : start + rnd.randrange(least, most) * 6]
    return "".join(_word(rnd) for _ in range(rnd.randrange(least, most)))


def _word(rnd: random.Random) -> str:
    if rnd.random() < 0.4:
        return rnd.choice(POOLS)
    return "".join(rnd.choice(rnd.choice(POOLS)) for _ in range(rnd.randrange(1, 5)))


def pairs(count: int, seed: int) -> Iterator[tuple[random.Random, str, str]]:
    """Yield texts and others that begin with a part of them; one in twenty only drops the end."""
    rnd = random.Random(seed)
    for _ in range(count):
        left = text(rnd, 1, 25)
        kept = left[: rnd.randrange(len(left) + 1)]
        yield rnd, left, kept if rnd.random() < 0.05 else kept + text(rnd, 0, 12)


def first_difference(left: list[int], right: list[int]) -> int:
    """Count the equal tokens at the start of two lists."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
