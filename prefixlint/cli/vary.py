"""``prefixlint vary``: change the clock, the hash seed, the locale ... and see whether the prompt moves."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prefixlint.cli import _shared

if TYPE_CHECKING:
    from prefixlint.api.vary import Moved, VaryResult


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("command_line", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--only", multiple=True, metavar="NAME", help="Try only these variations (clock, hash-seed, locale ...).")
@click.option("--timeout", default=60.0, show_default=True, help="Seconds that one run may take.")
@click.option("--tokenizer", metavar="NAME|FILE", help="Count with this vocabulary.")
@click.option("--format", "report_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--redact", is_flag=True, help="Show lengths and hashes instead of text.")
def command(
    command_line: tuple[str, ...],
    only: tuple[str, ...],
    timeout: float,
    tokenizer: str | None,
    report_format: str,
    redact: bool,
) -> None:
    """Run a command that prints a request body or a prompt under changed surroundings: prefixlint vary -- CMD.

    Exits 0 when nothing moves the output, 1 when something does, 2 when the command fails.
    """
    from prefixlint.api.vary import vary

    result = vary(
        command_line,
        environ=dict(os.environ),
        folder=Path.cwd(),
        only=only,
        timeout_s=timeout,
        tokenizer=tokenizer,
        progress=lambda name: click.echo(f"trying {name}", err=True) if sys.stderr.isatty() else None,
    )
    text = _json(result, redact) if report_format == "json" else _text(result, redact)
    _shared.write_report(text, None)
    sys.exit(1 if result.guilty else 0)


def _text(result: VaryResult, redact: bool) -> str:
    lines = [f"{' '.join(result.command)}: {result.bodies} printed, {len(result.moved)} variations"]
    for moved in result.moved:
        lines += _lines(moved, redact)
    if not result.guilty:
        lines.append("nothing moves the prompt")
    return "\n".join(lines) + "\n"


def _lines(moved: Moved, redact: bool) -> list[str]:
    from prefixlint.display import shown

    if not moved.forks:
        return [f"  {moved.variation:16} {moved.note or 'stays'}"]
    lines = []
    for fork in moved.forks:
        place = f"token {fork.token} at {fork.pointer or 'the text'}"
        sides = f"{shown(fork.left, redact=redact)} -> {shown(fork.right, redact=redact)}"
        lines.append(f"  {moved.variation:16} MOVES {place} ({fork.cause}): {sides}")
    return lines


def _json(result: VaryResult, redact: bool) -> str:
    from prefixlint.report.json_v1 import fork_json

    moved = [
        {"variation": m.variation, "note": m.note, "forks": [fork_json(f, redact=redact) for f in m.forks]}
        for m in result.moved
    ]
    document = {"version": 1, "command": list(result.command), "bodies": result.bodies, "guilty": list(result.guilty)}
    return json.dumps({**document, "variations": moved}, ensure_ascii=False, indent=1) + "\n"
