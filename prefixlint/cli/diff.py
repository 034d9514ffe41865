"""``prefixlint diff``: find where the prefixes of a log fork, why, and what it costs."""

from __future__ import annotations

import sys
from typing import Any

import click

from prefixlint.cli import _shared


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--input-format", metavar="NAME", help="Read the inputs as this format instead of detecting it.")
@click.option("--format", "report_format", default="text", show_default=True, metavar="NAME", help="text, json, ...")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the report to this file.")
@click.option("--tokenizer", metavar="NAME|FILE", help="Count with this vocabulary instead of the model's own.")
@click.option("--render", metavar="API", help="Take the send order of this API instead of the detected one.")
@click.option("--chat-template", type=click.Path(dir_okay=False), help="Render through this chat template.")
@click.option("--date", metavar="YYYY-MM-DD", help="The date that strftime_now() of a chat template sees.")
@click.option("--head", type=click.IntRange(1), metavar="N", help="Print the first N tokens of each request instead.")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Show so many sites; 0 shows all.")
@click.option("--session", multiple=True, help="Only these sessions.")
@click.option("--model", multiple=True, help="Only requests to these models.")
@click.option("--since", metavar="TIME", help="Only requests at or after this ISO time.")
@click.option("--until", metavar="TIME", help="Only requests before this ISO time.")
@click.option("--redact", is_flag=True, help="Show lengths and hashes instead of text.")
@click.option("--max-lost", type=click.IntRange(0), default=0, metavar="N", help="Tolerate N lost tokens in all.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever was found.")
def command(logs: tuple[str, ...], report_format: str, output: str | None, **options: Any) -> None:
    """Read request logs (or two request, settings or prompt files; - is standard input) and rank their forks.

    A folder that `prefixlint index` wrote is answered from its fingerprints, without causes.

    Exits 0 without unwanted forks, 1 with some, 2 on bad input, 3 on both.
    """
    code = _shared.index_report(logs, "diff", report_format=report_format, output=output, **options)
    if code is not None:
        sys.exit(code)
    from prefixlint.api import diff_log
    from prefixlint.model import ReportOptions

    report = _shared.reporter(report_format, "diff")
    color, width = _shared.wants_color() and not output, _shared.width(output)
    show = ReportOptions(redact=options["redact"], top=options["top"], color=color, width=width)
    wanted = diff_log.LogOptions(
        input_format=options["input_format"],
        tokenizer=options["tokenizer"],
        render=options["render"],
        chat_template=options["chat_template"],
        date=options["date"],
        sessions=options["session"],
        models=options["model"],
        since=options["since"],
        until=options["until"],
    )
    if options["head"]:
        _shared.write_report(diff_log.heads(logs, wanted, tokens=options["head"], show=show), output)
        return
    with _shared.progress_bar("reading") as progress:
        result = diff_log.diff_log(logs, wanted, progress=progress)
    _shared.write_report(report(result, show), output)
    lost = sum(fork.lost_tokens for fork in result.forks if not fork.wanted)
    forked = any(not fork.wanted for fork in result.forks) and (not options["max_lost"] or lost > options["max_lost"])
    found = any(finding.severity != "info" for finding in result.findings)
    code = _shared.exit_code(result.inputs, problems=forked or found)
    sys.exit(0 if options["exit_zero"] else code)
