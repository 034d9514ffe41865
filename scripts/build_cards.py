"""Write the index of the rule cards (`prefixlint/data/cards.json`), so that a run need not parse seventy TOML files.

Usage: python scripts/build_cards.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import cards  # noqa: E402

TARGET = ROOT / "prefixlint" / "data" / "cards.json"
KEPT = (*cards.REQUIRED, "labels", "names", "weak_names", "references", "patterns")


def index() -> dict[str, dict[str, Any]]:
    """Read every shipped card, without its examples."""
    read = [cards.read_toml(path) for path in cards.card_files(ROOT / "rules")]
    return {card["id"]: {name: card[name] for name in KEPT if name in card} for card in read}


def text() -> str:
    """Render the index: one rule per line, so that a change of a card is a change of its line."""
    parts = cards.read_toml(ROOT / "rules" / "_parts.toml")
    rows = [f"{json.dumps(key)}: {json.dumps(card, ensure_ascii=False)}" for key, card in index().items()]
    body = ",\n".join(rows)
    return f'{{"parts": {json.dumps(parts, ensure_ascii=False)},\n"cards": {{\n{body}\n}}}}\n'


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
