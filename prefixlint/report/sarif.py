"""The SARIF 2.1.0 report, for GitHub code scanning and other viewers."""

from __future__ import annotations

import json
from typing import Any

from prefixlint import __version__, cards
from prefixlint.errors import CardError
from prefixlint.model import CheckResult, DiffResult, Finding, ReportOptions, Span
from prefixlint.report._results import message_of, of_diff, uri

NAME = "sarif"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0-rtm.5.json"
_LEVELS = {"info": "note", "warning": "warning", "error": "error"}


def check_report(result: CheckResult, options: ReportOptions) -> str:
    """Write the findings as one run."""
    rules = sorted({f.rule for f in result.findings})
    index = {rule: number for number, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {**_DRIVER, "rules": [_rule(rule) for rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(result)],
        "results": [_result(f, index[f.rule], options) for f in result.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def diff_report(result: DiffResult, options: ReportOptions) -> str:
    """Write the fork sites and findings of a log as one run."""
    return check_report(of_diff(result), options)


_DRIVER = {"name": "prefixlint", "version": __version__, "semanticVersion": __version__}


def _rule(rule: str) -> dict[str, Any]:
    try:
        card = cards.rule(rule)
    except CardError:  # a card of the user's own: its texts are in his repository
        return {"id": rule}
    return {
        "id": rule,
        "shortDescription": {"text": card.summary},
        "fullDescription": {"text": card.why},
        "help": {"text": card.instead, "markdown": f"{card.what}\n\n**Instead:** {card.instead}"},
        "defaultConfiguration": {"level": _LEVELS[card.severity]},
        "properties": {"tags": ["prompt-caching", card.group], "precision": card.confidence},
    }


def _invocation(result: CheckResult) -> dict[str, Any]:
    errors = [error for one in result.inputs for error in one.errors]
    notes = [{"level": "error", "message": {"text": error}} for error in errors]
    notes += [{"level": "note", "message": {"text": note}} for note in result.notes]
    return {"executionSuccessful": not errors, **({"toolExecutionNotifications": notes} if notes else {})}


def _result(finding: Finding, rule_index: int, options: ReportOptions) -> dict[str, Any]:
    properties: dict[str, Any] = {"confidence": finding.confidence}
    if finding.char_offset is not None:
        properties["charOffset"] = finding.char_offset
    found = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": message_of(finding, options)},
        "locations": [_location(finding.span, pointer=finding.pointer)],
        "properties": properties,
    }
    if finding.fingerprint:
        # GitHub matches alerts over commits by primaryLocationLineHash where a tool gives one.
        found["partialFingerprints"] = {
            "primaryLocationLineHash": finding.fingerprint,
            "prefixlint/v1": finding.fingerprint,
        }
    if finding.related:
        found["relatedLocations"] = [_location(span, number) for number, span in enumerate(finding.related, 1)]
    if finding.trace:
        found["codeFlows"] = [_code_flow(finding, options)]
    return found


def _location(span: Span, number: int = 0, *, pointer: str = "", text: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": uri(span.path)}, "region": _region(span)}}
    if number:
        found["id"] = number
    if pointer:
        found["logicalLocations"] = [{"fullyQualifiedName": pointer, "kind": "property"}]
    if text:
        found["message"] = {"text": text}
    return found


def _region(span: Span) -> dict[str, int]:
    """SARIF counts lines and columns from 1, the end column exclusive, as we do."""
    region = {"startLine": max(span.line, 1), "startColumn": max(span.column, 1)}
    if span.end_line >= span.line and (span.end_line, span.end_column) > (span.line, span.column):
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    return region


def _code_flow(finding: Finding, options: ReportOptions) -> dict[str, Any]:
    """Show the way of a value through source code, from where it is made to the prompt."""
    steps = [{"location": _location(step.span, text="" if options.redact else step.text)} for step in finding.trace]
    return {"threadFlows": [{"locations": steps}]}
