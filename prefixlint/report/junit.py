"""The JUnit report: a file is a test case when it is clean, and so is each finding, as a failed one."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as xml_escape

from prefixlint.display import escape
from prefixlint.model import CheckResult, DiffResult, Finding, InputFile, ReportOptions
from prefixlint.report._results import message_of, of_diff

NAME = "junit"


def check_report(result: CheckResult, options: ReportOptions) -> str:
    """Write one suite; findings of severity info do not fail their case."""
    cases = [case for one in _inputs(result) for case in _cases(one, result, options)]
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    body = "".join(cases)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="prefixlint" {counts}>\n'
        f'<testsuite name="prefixlint" {counts} skipped="0">\n{body}</testsuite>\n</testsuites>\n'
    )


def diff_report(result: DiffResult, options: ReportOptions) -> str:
    """Write the fork sites and findings of a log as one suite."""
    return check_report(of_diff(result), options)


def _inputs(result: CheckResult) -> Iterator[InputFile]:
    """Yield the inputs, and files that only a finding names."""
    yield from result.inputs
    known = {one.path for one in result.inputs}
    for path in dict.fromkeys(f.span.path for f in result.findings if f.span.path not in known):
        yield InputFile(path, "", 0)


def _cases(one: InputFile, result: CheckResult, options: ReportOptions) -> Iterator[str]:
    for error in one.errors:
        yield _case(one.path, "input", f"<error message={_attribute(error)}/>")
    found = [f for f in result.findings if f.span.path == one.path]
    for finding in found:
        yield _finding(finding, options)
    if not found and not one.errors:
        yield _case(one.path, "prefixlint", "")


def _finding(finding: Finding, options: ReportOptions) -> str:
    span = finding.span
    place = f"{span.path}:{span.line}:{span.column}"
    message = message_of(finding, options)
    name = f"{finding.rule} at line {span.line}, column {span.column}"
    if finding.severity == "info":
        return _case(span.path, name, f"<system-out>{_text(f'{place}: {message}')}</system-out>", span.line)
    body = _text(f"{place}: {finding.severity} {finding.rule}: {message}")
    inner = f"<failure type={_attribute(finding.rule)} message={_attribute(message)}>{body}</failure>"
    return _case(span.path, name, inner, span.line)


def _case(path: str, name: str, inner: str, line: int = 0) -> str:
    place = f' line="{line}"' if line else ""
    head = f'<testcase classname={_attribute(path)} name={_attribute(name)} file={_attribute(path)}{place} time="0"'
    return f"{head}>{inner}</testcase>\n" if inner else f"{head}/>\n"


def _text(text: str) -> str:
    # Escaped first: XML has no way to write most control characters.
    return xml_escape("".join(c if c == "\\" else escape(c) for c in text), quote=False)


def _attribute(text: str) -> str:
    shown = "".join(c if c == "\\" else escape(c) for c in text)
    return f'"{xml_escape(shown)}"'
