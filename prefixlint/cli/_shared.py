"""What several commands share: colour, progress, writing a report, the exit code of DESIGN section 1."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import click

from prefixlint import registry
from prefixlint.errors import ConfigError
from prefixlint.model import InputFile, Progress, ReportOptions

Reporter = Callable[[Any, ReportOptions], str]


def exit_code(inputs: tuple[InputFile, ...], *, problems: bool) -> int:
    """Return 0 for clean, 1 for problems, 2 for bad input, 3 for both."""
    return int(problems) + 2 * any(i.errors for i in inputs)


def formats(verb: str) -> list[str]:
    """List the report formats that can write the result of ``verb`` (``diff`` or ``check``)."""
    return [m.NAME for m in registry.modules("report", f"{verb}_report")]


def reporter(name: str, verb: str) -> Reporter:
    """Find the report function of a format; an unknown name lists the known ones."""
    near = [n for n in registry.names("report") if n.split("_")[0] == name]  # spares importing all the others
    first = (registry.module("report", n) for n in near)
    for module in chain(first, registry.modules("report", f"{verb}_report")):
        if getattr(module, "NAME", "") == name and hasattr(module, f"{verb}_report"):
            found: Reporter = getattr(module, f"{verb}_report")
            return found
    raise ConfigError(f"unknown format {name!r}; known: {', '.join(formats(verb))}")


def index_report(logs: tuple[str, ...], view: Literal["diff", "replay", "tree"], **options: Any) -> int | None:
    """Report on folders that ``prefixlint index`` wrote and return the exit code; None where the inputs are logs."""
    known = [(Path(log) / "manifest.json").is_file() and (Path(log) / "shards").is_dir() for log in logs]
    if not any(known):
        return None
    if not all(known):
        raise ConfigError("some of the inputs are indexes and some are logs; give one kind, or index the logs too")
    from prefixlint.api import index_report as api

    write = reporter(options["report_format"], "index")
    found = api.report(logs, view)
    write_report(write(found, ReportOptions(redact=options["redact"], top=options["top"])), options["output"])
    return exit_code(found.inputs, problems=False)


def wants_color(stream: Any = None) -> bool:
    """Colour only a terminal, and never against ``NO_COLOR`` (https://no-color.org)."""
    stream = stream or sys.stdout
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and bool(stream.isatty())


def width(output: str | None = None) -> int:
    """Return the columns of the terminal; 0 (fold nothing) for pipes and files."""
    return shutil.get_terminal_size().columns if not output and sys.stdout.isatty() else 0


def write_report(text: str, output: str | None) -> None:
    """Write a report to a file or to standard output; what UTF-8 cannot carry is written as an escape."""
    if output:
        Path(output).write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` closed the pipe: not our failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """Show a progress bar on standard error when it is a terminal; yield None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def move(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield move
