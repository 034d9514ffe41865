"""Write `rules/README.md` and `docs/rules/*.md` from the rule cards.

Usage: python scripts/build_rule_docs.py
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import cards  # noqa: E402
from prefixlint.api import rules  # noqa: E402
from prefixlint.cli.rules import GROUPS  # noqa: E402
from prefixlint.model import Rule  # noqa: E402

NOTE = "<!-- written by scripts/build_rule_docs.py from the cards in rules/; do not edit -->\n"
SHOWN = {
    "log": "json",
    "text-log": "text",
    "replay": "json",
    "request": "json",
    "tools": "json",
    "chat-template": "jinja",
}


def files() -> dict[Path, str]:
    """Return every generated file with its text."""
    known = {rule_id: cards.full_rule(rule_id) for rule_id in rules.all_rules()}
    found = {ROOT / "docs" / "rules" / f"{card.id}.md": page(card) for card in known.values()}
    found[ROOT / "docs" / "rules" / "README.md"] = index(known, "", "Rules")
    found[ROOT / "rules" / "README.md"] = index(known, "../docs/rules/", "Rule cards") + HOW
    return found


HOW = """
## How to write a card

A card is one TOML file: the definition of a rule, its documentation and its test cases. Its schema is
`prefixlint/schemas/card.json`.

* Examples of `[[bad]]` mark the place that is found `«like this»`; `[[good]]` ones must be silent, and there are more.
* `kind` says what reads the example: prompt, template, chat-template, settings, tools, request, log, text-log, replay
  or source.
* `fixed` is the text after `prefixlint fix`; the test applies the fix twice.
* `patterns` are regular expressions that `re` and RE2 both know: no look-around, no back-references, bounded
  repetition. Group 1 is the value if there is one. `<<name>>` stands for a piece in `_parts.toml`.
* After a change run `python scripts/build_cards.py` and `python scripts/build_rule_docs.py`.

Cards of your own go into any folder that `rule-paths` names in `[tool.prefixlint]`. Their patterns are searched in the
texts that requests share, behind one of their labels if they have any. `prefixlint rules --test FILE` runs their
examples.
"""


def index(known: Mapping[str, Rule], folder: str, title: str) -> str:
    """Write the table of all rules by group."""
    lines = [f"{NOTE}\n# {title}\n"]
    for group in GROUPS:
        mine = [r for r in known.values() if r.group == group]
        if mine:
            lines.append(f"## {group.capitalize()}\n\n| rule | severity | fix | finds |\n|---|---|---|---|")
            lines += [f"| [{r.id}]({folder}{r.id}.md) | {r.severity} | {r.fix} | {_cell(r.summary)} |" for r in mine]
            lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(card: Rule) -> str:
    """Write the page of one rule."""
    parts = [
        f"{NOTE}\n# {card.id}\n\n{card.summary[0].upper()}{card.summary[1:]}.",
        f"Group: {card.group}. Severity: {card.severity}. Confidence: {card.confidence}. Fix: {card.fix}.",
        f"## Why\n\n{card.why}",
        f"## What it finds\n\n{card.what}",
        f"## Instead\n\n{card.instead}",
        "## Examples",
        *(_example("Found", e) for e in card.bad),
        *(_example("Not found", e) for e in card.good),
    ]
    if card.references:
        parts.append("## References\n\n" + "\n".join(f"* <{url}>" for url in card.references))
    return "\n\n".join(parts) + "\n"


def _example(title: str, example: Mapping[str, Any]) -> str:
    """Write one example; characters that cannot be seen are shown as escapes."""
    text = _visible(str(example["text"]).strip("\n"))
    fence = "~~~~" if "```" in text else "```"
    kind, note = str(example["kind"]), example.get("note")
    named = f"{kind} `{example['file']}`" if "file" in example else kind
    language = Path(str(example.get("file", ""))).suffix.lstrip(".") or SHOWN.get(kind, "text")
    return f"{title} ({named}){f': {note}' if note else ''}\n\n{fence}{language}\n{text}\n{fence}"


def _visible(text: str) -> str:
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def main() -> None:
    """Write what differs, and remove the pages of rules that are gone."""
    wanted = files()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in (ROOT / "docs" / "rules").glob("*.md"):
        if path not in wanted:
            path.unlink()


if __name__ == "__main__":
    main()
