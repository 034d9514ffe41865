"""``prefixlint rules``: list the rules, show one card, or try the examples of cards."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import click

from prefixlint.model import Rule

WIDTH, LINES = 92, 14
GROUPS = (
    "volatile values", "bytes", "order and form", "tools", "history", "settings of a request",
    "cache rules of the provider", "layout", "settings files", "lock file", "source",
)  # fmt: skip


@click.command()
@click.argument("rule_id", required=False, metavar="[ID]")
@click.option("--format", "report_format", default="text", show_default=True, type=click.Choice(["text", "json"]))
@click.option("--config", "config_file", type=click.Path(dir_okay=False), help="Use this configuration file.")
@click.option(
    "--test", "tested", type=click.Path(), metavar="FILE", help="Try the examples of the cards in FILE (or a folder)."
)
def command(rule_id: str | None, report_format: str, config_file: str | None, tested: str | None) -> None:
    """List the rules, or show the card of one: why it matters, what it sees, what to do instead.

    Cards of your own (`rule-paths` in the configuration) are listed too. Exits 1 when an example of --test fails.
    """
    from prefixlint import config
    from prefixlint.api import rules

    if tested:
        sys.exit(_try(Path(tested), report_format))
    paths = config.load(Path.cwd() / "x", config_file).rule_paths
    if rule_id:
        card = rules.rule(rule_id, paths)
        click.echo(json.dumps(as_json(card), ensure_ascii=False, indent=1) if report_format == "json" else page(card))
        return
    known = rules.all_rules(paths)
    if report_format == "json":
        click.echo(json.dumps([as_json(r) for r in known.values()], ensure_ascii=False, indent=1))
        return
    click.echo(listing(known), nl=False)


def _try(path: Path, report_format: str) -> int:
    from prefixlint import cards
    from prefixlint.api import rules

    trials = [t for file in cards.card_files(path) for t in rules.try_card(cards.load_card(file))]
    failed = [t for t in trials if t.fault]
    if report_format == "json":
        rows = [{"rule": t.rule, "example": t.example, "fault": t.fault} for t in trials]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        for trial in failed:
            click.echo(f"{trial.rule} {trial.example}: {trial.fault}")
        click.echo(f"{len(trials)} examples, {len(failed)} failed")
    return 1 if failed else 0


def listing(known: Mapping[str, Rule]) -> str:
    """Write the rules by group, one line each."""
    width = max(len(rule_id) for rule_id in known)
    lines = []
    for group in dict.fromkeys([*GROUPS, *(r.group for r in known.values())]):
        if not any(r.group == group for r in known.values()):
            continue
        lines.append(group)
        mine = (r for r in known.values() if r.group == group)
        lines += [f"  {r.id:{width}}  {r.severity:7}  {r.fix:7}  {r.summary}" for r in mine]
    return "\n".join(lines) + "\n"


def page(card: Rule) -> str:
    """Write one card for the terminal."""
    head = [
        f"{card.id}: {card.summary}",
        f"group {card.group}, severity {card.severity}, confidence {card.confidence}, fix {card.fix}",
    ]
    parts = [(title, text) for title, text in (("Why", card.why), ("What", card.what), ("Instead", card.instead))]
    body = [f"{title}\n{_wrapped(text)}" for title, text in parts]
    body += [f"{title}\n{_shown(str(example['text']))}" for title, example in _examples(card)]
    if card.references:
        body.append("References\n" + "\n".join(f"  {url}" for url in card.references))
    return "\n\n".join(["\n".join(head), *body])


def _examples(card: Rule) -> list[tuple[str, Mapping[str, object]]]:
    bad = [(f"Found ({e['kind']}; the place is in «»)", e) for e in card.bad[:2]]
    return bad + [(f"Not found ({e['kind']})", e) for e in card.good[:1]]


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent="  ", subsequent_indent="  ")


def _shown(text: str) -> str:
    """Indent an example, escaped so that a card cannot steer the terminal, and cut where lines are long."""
    from prefixlint.display import escape

    cut = [escape(line[:WIDTH]) + ("…" if len(line) > WIDTH else "") for line in text.strip("\n").split("\n")]
    return "\n".join(f"  {line}".rstrip() for line in cut[:LINES] + (["…"] if len(cut) > LINES else []))


def as_json(card: Rule) -> dict[str, object]:
    """Return the public part of a card."""
    names = ("id", "group", "summary", "why", "what", "instead", "message", "severity", "confidence", "fix")
    found: dict[str, object] = {name: getattr(card, name) for name in names}
    return found | {"references": list(card.references)} | ({"path": card.path} if card.path else {})
