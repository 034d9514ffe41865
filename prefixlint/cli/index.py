"""``prefixlint index``: write fingerprints of logs, for logs larger than memory or than one machine."""

from __future__ import annotations

from typing import Any

import click

from prefixlint.cli import _shared


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Folder of the index.")
@click.option("--block", type=click.IntRange(16), default=256, show_default=True, metavar="N", help="Bytes per block.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes to use; all cores when left out.")
@click.option("--engine", default="local", show_default=True, metavar="NAME", help="local or spark.")
@click.option("--master", metavar="URL", help="Spark master, such as spark://host:7077 or local-cluster[2,1,1200].")
@click.option("--input-format", metavar="NAME", help="Read the inputs as this format instead of detecting it.")
@click.option("--merge", is_flag=True, help="The inputs are indexes; copy them into one.")
def command(logs: tuple[str, ...], output: str, **options: Any) -> None:
    """Write block fingerprints of request logs, or bring them up to date.

    `prefixlint diff`, `replay` and `tree` take the folder in place of a log. A log that grew is read from where it
    ended; a run that was stopped goes on. Exits 0, or 2 when a part of the input could not be read.
    """
    import sys

    from prefixlint.api import index
    from prefixlint.display import count, plural

    if options["merge"]:
        done = index.merge(logs, output)
    else:
        with _shared.progress_bar("indexing") as progress:
            asked = index.IndexOptions(
                block_bytes=options["block"],
                jobs=options["jobs"] or 0,
                engine=options["engine"],
                master=options["master"],
                input_format=options["input_format"],
                progress=progress,
            )
            done = index.index(logs, output, asked)
    for note in done.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(
        f"{output}: {plural(done.requests, 'request')} of {plural(done.files, 'file')}, "
        f"{plural(done.blocks, 'block')}; read {count(done.read_bytes)} bytes, kept {count(done.kept_bytes)}"
    )
    if done.errors:
        click.echo(f"{plural(done.errors, 'record')} could not be read; prefixlint diff {output} lists them", err=True)
    sys.exit(2 if done.errors else 0)
