"""``prefixlint tree``: draw the radix tree of a log."""

from __future__ import annotations

import sys
from typing import Any

import click

from prefixlint.cli import _shared


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--cache", metavar="NAME", default="none", show_default=True, help="Show what this cache still holds.")
@click.option("--capacity", metavar="SIZE", help="30000 (tokens), 500blocks or 40GiB; unbounded when left out.")
@click.option("--block-size", type=click.IntRange(1), metavar="N", help="Tokens per block.")
@click.option("--page-size", type=click.IntRange(1), metavar="N", help="Tokens per page.")
@click.option("--policy", metavar="NAME", help="How the cache evicts.")
@click.option("--kv-model", metavar="NAME", help="Model whose KV size counts for --capacity 40GiB.")
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="Edges with most tokens; 0: all.")
@click.option("--depth", type=click.IntRange(0), default=0, help="Levels to show; 0 shows all.")
@click.option("--input-format", metavar="NAME", help="Read the inputs as this format instead of detecting it.")
@click.option(
    "--format", "report_format", default="text", show_default=True, metavar="NAME", help="text, svg, html, json."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the report to this file.")
@click.option("--tokenizer", metavar="NAME|FILE", help="Count with this vocabulary instead of the model's own.")
@click.option("--session", multiple=True, help="Only these sessions.")
@click.option("--redact", is_flag=True, help="Show lengths and hashes instead of text.")
def command(logs: tuple[str, ...], report_format: str, output: str | None, **options: Any) -> None:
    """Show which prefixes the requests of a log share, and what stands where they part.

    Exits 0, or 2 when a part of the input could not be read.
    """
    code = _shared.index_report(logs, "tree", report_format=report_format, output=output, **options)
    if code is not None:
        sys.exit(code)
    from prefixlint.api import tree
    from prefixlint.api.replay import ReplayOptions
    from prefixlint.model import ReadOptions, ReportOptions

    report = _shared.reporter(report_format, "tree")
    same = ("cache", "capacity", "block_size", "page_size", "policy", "kv_model", "tokenizer")
    read = ReadOptions(input_format=options["input_format"], sessions=options["session"])
    asked = ReplayOptions(**{name: options[name] for name in same}, read=read)
    found = tree.tree(logs, tree.TreeOptions(asked, options["top"], options["depth"]))
    show = ReportOptions(redact=options["redact"], color=_shared.wants_color() and not output)
    _shared.write_report(report(found, show), output)
    sys.exit(_shared.exit_code(found.inputs, problems=False))
