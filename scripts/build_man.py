"""Write `docs/man/prefixlint.1` from the commands.

Usage: python scripts/build_man.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import __version__  # noqa: E402
from prefixlint.cli._main import group  # noqa: E402

PATH = ROOT / "docs" / "man" / "prefixlint.1"
EXITS = (("0", "clean"), ("1", "findings"), ("2", "bad input"), ("3", "findings and bad input"))


def text() -> str:
    """Return the whole page."""
    return "\n".join(lines()) + "\n"


def lines() -> Iterator[str]:
    """Yield the page line by line: head, one section for all commands, exit codes."""
    context = click.Context(group, info_name="prefixlint", **group.context_settings)
    yield '.\\" written by scripts/build_man.py; do not edit'
    yield f'.TH PREFIXLINT 1 "" "prefixlint {__version__}" "User Commands"'
    yield from (".SH NAME", f"prefixlint \\- {roff(first(group.help))}")
    yield from (".SH SYNOPSIS", ".B prefixlint", ".I COMMAND", "[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]")
    yield from (".SH OPTIONS", ".TP", ".B \\-h, \\-\\-help", "Show the help of prefixlint, or of a command.")
    yield from (".TP", ".B \\-\\-version", "Show the version.", ".SH COMMANDS")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield from section(name, command, context)
    yield ".SH EXIT STATUS"
    for code, meaning in EXITS:
        yield from (".TP", f".B {code}", meaning)
    yield from (".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "Write no colours.")


def section(name: str, command: click.Command, parent: click.Context) -> Iterator[str]:
    """Yield one command: how it is called, what it does, its options."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f".SS prefixlint {roff(name)} {roff(usage)}", *paragraphs(command.help or ""))
    for parameter in command.params:  # without --help, which click makes anew for each way of calling
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record:
            yield from (".TP", f".B {roff(record[0])}", roff(" ".join(record[1].split())) or "\\&")


def paragraphs(help_text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text."""
    for part in help_text.strip().split("\n\n"):
        yield from (".PP", roff(" ".join(part.replace("\b", "").split())))


def first(help_text: str | None) -> str:
    """Return the first sentence."""
    return (help_text or "").strip().split("\n")[0].rstrip(".")


def roff(plain: str) -> str:
    """Escape what roff would read as its own."""
    escaped = plain.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(text(), encoding="utf-8")
