"""``prefixlint lock``: write down what the prefixes are, so that a change of one is approved and not found later."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("paths", nargs=-1)
@click.option("--lock", "lock_path", default="prefixlint.lock", show_default=True, help="The lock file to write.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if the lock is not up to date.")
@click.option("--tokenizer", metavar="NAME", help="Count with this vocabulary.  [default: that of the lock]")
def command(paths: tuple[str, ...], lock_path: str, only_check: bool, tokenizer: str | None) -> None:
    """Write prefixlint.lock: hash, token count and first tokens of each canonical prefix, and the order of tools.

    Without PATHS the files that are locked already are locked again. `prefixlint check` then fails when a locked
    prefix changes; running this command approves the change, and the diff of the lock file shows what it costs.
    """
    from prefixlint.api import lock_files

    result = lock_files.update(paths, lock_path, tokenizer=tokenizer, write=not only_check)
    for line in result.lines:
        click.echo(line)
    sys.exit(int(only_check and result.changed))
