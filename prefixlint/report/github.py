"""GitHub workflow commands: findings as annotations of a pull request.

Escaping as in actions/toolkit, packages/core/src/command.ts (2026): ``%``, CR and LF everywhere, ``:`` and ``,`` in
properties too, so that no text of a prompt can end the command or start another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.display import escape
from prefixlint.model import CheckResult, DiffResult, Finding, ReportOptions
from prefixlint.report._results import message_of, of_diff

NAME = "github"
_COMMANDS = {"info": "notice", "warning": "warning", "error": "error"}


def check_report(result: CheckResult, options: ReportOptions) -> str:
    """Write one workflow command for each finding and each broken input."""
    lines = [_command(f, options) for f in result.findings]
    lines += [f"::error title=prefixlint::{_data(error)}" for one in result.inputs for error in one.errors]
    lines += [f"::notice title=prefixlint::{_data(note)}" for note in result.notes]
    return "".join(f"{line}\n" for line in lines)


def diff_report(result: DiffResult, options: ReportOptions) -> str:
    """Write one workflow command for each fork site and finding."""
    return check_report(of_diff(result), options)


def _command(finding: Finding, options: ReportOptions) -> str:
    place = ",".join(f"{key}={_property(value)}" for key, value in _places(finding))
    message = _data(message_of(finding, options))
    return f"::{_COMMANDS[finding.severity]} {place}::{message}"


def _places(finding: Finding) -> Iterator[tuple[str, str]]:
    span = finding.span
    yield "file", span.path.replace("\\", "/").removeprefix("./")
    yield "line", str(span.line)
    if span.end_line > span.line:
        yield "endLine", str(span.end_line)  # GitHub takes columns only when the annotation is on one line
    else:
        yield "col", str(span.column)
        if span.end_column > span.column:
            yield "endColumn", str(span.end_column)
    yield "title", f"prefixlint {finding.rule}"


def _data(text: str) -> str:
    # What is not visible is spelled out first: a prompt may hold terminal controls that a log viewer would obey.
    shown = "".join(c if c == "\\" else escape(c) for c in text)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
