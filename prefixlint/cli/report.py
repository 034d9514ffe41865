"""``prefixlint report``: one page that shows where prefixes fork, session by session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from prefixlint.cli import _shared


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("-o", "--output", default="report.html", show_default=True, type=click.Path(dir_okay=False))
@click.option("--input-format", metavar="NAME", help="Read the inputs as this format instead of detecting it.")
@click.option("--tokenizer", metavar="NAME|FILE", help="Count with this vocabulary instead of the model's own.")
@click.option("--render", metavar="API", help="Take the send order of this API instead of the detected one.")
@click.option("--cache", default="vllm", show_default=True, metavar="NAME", help="The cache model of the curves.")
@click.option("--capacity", multiple=True, metavar="N|NGiB", help="Points of the capacity curve; may be repeated.")
@click.option("--session", multiple=True, help="Only these sessions.")
@click.option("--model", multiple=True, help="Only requests to these models.")
@click.option("--since", metavar="TIME", help="Only requests at or after this ISO time.")
@click.option("--until", metavar="TIME", help="Only requests before this ISO time.")
@click.option("--title", default="prefixlint report", show_default=True)
@click.option("--redact", is_flag=True, help="Show lengths and hashes instead of text.")
def command(logs: tuple[str, ...], output: str, **given: Any) -> None:
    """Write a self-contained HTML page about request logs; nothing in it asks for anything outside."""
    from prefixlint.api.diff_log import LogOptions
    from prefixlint.api.report import PageOptions, report

    wanted = LogOptions(
        input_format=given["input_format"],
        tokenizer=given["tokenizer"],
        render=given["render"],
        sessions=given["session"],
        models=given["model"],
        since=given["since"],
        until=given["until"],
    )
    options = PageOptions(wanted, given["cache"], given["capacity"], given["redact"], given["title"])
    with _shared.progress_bar("reading") as progress:
        text = report(logs, options, progress=progress)
    Path(output).write_text(text, encoding="utf-8")
    click.echo(f"{output}: {len(text.encode()) / 1e6:.2f} MB", err=True)
