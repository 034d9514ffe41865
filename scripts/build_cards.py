"""Write the index of the rule cards (`prefixlint/_cards.py`), so that a run need not parse seventy TOML files.

Usage: python scripts/build_cards.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path
from pprint import pformat
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import cards  # noqa: E402

TARGET = ROOT / "prefixlint" / "_cards.py"
HEAD = '''"""Index of the rule cards; written by scripts/build_cards.py, do not edit."""

# ruff: noqa
from __future__ import annotations

from typing import Any

'''
KEPT = (*cards.REQUIRED, "labels", "names", "weak_names", "references", "patterns")


def index() -> dict[str, dict[str, Any]]:
    """Read every shipped card, without its examples."""
    read = [cards.read_toml(path) for path in cards.card_files(ROOT / "rules")]
    return {card["id"]: {name: card[name] for name in KEPT if name in card} for card in read}


def text() -> str:
    """Render the module."""
    parts = cards.read_toml(ROOT / "rules" / "_parts.toml")
    body = f"CARDS: dict[str, dict[str, Any]] = {pformat(index(), width=110, sort_dicts=False)}\n"
    return HEAD + f"PARTS: dict[str, str] = {pformat(parts, width=110)}\n\n" + body


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
