"""The command group: one file per command, imported when it is called."""

from __future__ import annotations

import sys

import click

from prefixlint import registry
from prefixlint.errors import PrefixlintError

ALIASES = {"canonicalize": "fix"}


class Commands(click.Group):
    """Load ``cli/NAME.py`` when the command NAME is called; the module's ``command`` is the click command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands by file name."""
        return [name.replace("_", "-") for name in registry.names("cli")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command that was asked for."""
        name = ALIASES.get(cmd_name, cmd_name).replace("-", "_")
        if name not in registry.names("cli"):
            return None
        command = registry.module("cli", name).command
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="prefixlint", message="prefixlint %(version)s")
def group() -> None:
    """Find what breaks your prompt cache, and make prefixes match byte for byte."""


def run() -> None:
    """Run the group; errors that a user can cause become one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        group.main(standalone_mode=True)
    except PrefixlintError as error:
        click.echo(f"prefixlint: {error}", err=True)
        sys.exit(2)
