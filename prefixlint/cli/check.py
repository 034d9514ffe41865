"""``prefixlint check``: lint prompts, templates, settings, tool lists, request bodies and source, without traffic."""

from __future__ import annotations

import sys
from typing import Any

import click

from prefixlint import registry
from prefixlint.cli import _shared
from prefixlint.model import CheckResult, Finding, ReportOptions, Span

_LEVELS = click.Choice(["low", "medium", "high"])


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--format",
    "report_format",
    default="text",
    show_default=True,
    metavar="NAME",
    help="text, json, sarif, github, gitlab, junit.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the report to this file.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules or groups (comma-separated).")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these rules or groups (comma-separated).")
@click.option("--min-confidence", type=_LEVELS, help="Report findings of at least this confidence.  [default: medium]")
@click.option("--baseline", type=click.Path(dir_okay=False), help="Leave out the findings that this file accepts.")
@click.option("--write-baseline", is_flag=True, help="Accept all present findings: write them to the baseline.")
@click.option("--diff-base", metavar="REV", help="Only findings on lines changed since this git revision.")
@click.option("--stdin-filename", metavar="PATH", help="Lint standard input as if it were this file.")
@click.option("--config", "config_file", type=click.Path(dir_okay=False), help="Use this configuration file.")
@click.option("--discover", is_flag=True, help="Skip named files that a folder walk would skip (for hooks).")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever was found.")
@click.option("--redact", is_flag=True, help="Show rule names instead of messages with text.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes to use for many files.")
def command(paths: tuple[str, ...], report_format: str, output: str | None, **options: Any) -> None:
    """Lint files and folders (the current one without PATHS; - is standard input).

    Exits 0 without findings above info, 1 with some, 2 on bad input, 3 on both.
    """
    from prefixlint.api import check

    report = _reporter(report_format)
    wanted = check.CheckOptions(
        select=_split(options["select"]),
        ignore=_split(options["ignore"]),
        min_confidence=options["min_confidence"],
        config_file=options["config_file"],
        baseline=options["baseline"],
        write_baseline=options["write_baseline"],
        diff_base=options["diff_base"],
        discover=options["discover"],
        jobs=options["jobs"] or 0,
    )
    show = ReportOptions(redact=options["redact"], color=_shared.wants_color() and not output)
    streamed = None
    if options["stdin_filename"] or "-" in paths:
        name = options["stdin_filename"] or "<stdin>"
        result = check.check_bytes(name, sys.stdin.buffer.read(), wanted)
    else:
        streamed = _Streamed(show) if report_format == "text" and not output else None
        result = check.check_paths(paths or (".",), wanted, streamed)
    _shared.write_report(streamed.rest(result) if streamed else report(result, show), output)
    problems = any(finding.severity != "info" for finding in result.findings)
    sys.exit(0 if options["exit_zero"] else _shared.exit_code(result.inputs, problems=problems))


class _Streamed:
    """Show findings while a long run goes on, and at its end those that were not shown yet."""

    def __init__(self, show: ReportOptions) -> None:
        self.show = show
        self.seen: set[tuple[str, Span]] = set()

    def __call__(self, findings: tuple[Finding, ...]) -> None:
        """Write the findings of one file."""
        from prefixlint.report import text

        _shared.write_report(text.check_findings(findings, self.show), None)
        self.seen.update((f.rule, f.span) for f in findings)

    def rest(self, result: CheckResult) -> str:
        """Return the end of the report."""
        from prefixlint.report import text

        left = [f for f in result.findings if (f.rule, f.span) not in self.seen]
        return text.check_findings(left, self.show) + text.check_closing(result)


def _reporter(name: str) -> _shared.Reporter:
    """Import the one report module that is wanted: importing all of them takes longer than a clean run."""
    for module in (name, f"{name}_v1"):
        if module in registry.names("report"):
            found = registry.module("report", module)
            if getattr(found, "NAME", "") == name and hasattr(found, "check_report"):
                report: _shared.Reporter = found.check_report
                return report
    return _shared.reporter(name, "check")


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())
