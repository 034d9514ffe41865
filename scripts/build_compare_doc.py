"""Write our column of the table in `docs/compare.md` from `benchmarks/compare.py`.

Usage: python scripts/build_compare_doc.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import compare  # noqa: E402

PATH = ROOT / "docs" / "compare.md"


def updated(text: str) -> str:
    """Return the page with the second column of the detection table written anew."""
    named = dict(compare.rows())
    lines = text.splitlines()
    for number, line in enumerate(lines):
        cells = line.split("|")
        if len(cells) > 3 and cells[1].strip() in named:
            cells[2] = f" {named.pop(cells[1].strip())} "
            lines[number] = "|".join(cells)
    assert not named, f"no row for {', '.join(named)}"
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PATH.write_text(updated(PATH.read_text(encoding="utf-8")), encoding="utf-8")
