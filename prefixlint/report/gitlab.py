"""The GitLab code quality report (a subset of the Code Climate format, docs.gitlab.com, 2026-11)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from prefixlint.model import CheckResult, DiffResult, Finding, InputFile, ReportOptions
from prefixlint.report._results import message_of, of_diff

NAME = "gitlab"
_SEVERITIES = {"info": "info", "warning": "minor", "error": "major"}


def check_report(result: CheckResult, options: ReportOptions) -> str:
    """Write the findings and the broken inputs as one JSON list."""
    found = [_issue(f, options) for f in result.findings]
    found += [_broken(one, error) for one in result.inputs for error in one.errors]
    return json.dumps(found, indent=1) + "\n"


def diff_report(result: DiffResult, options: ReportOptions) -> str:
    """Write the fork sites and findings of a log as one JSON list."""
    return check_report(of_diff(result), options)


def _issue(finding: Finding, options: ReportOptions) -> dict[str, Any]:
    span = finding.span
    key = finding.fingerprint or f"{span.line}:{span.column}:{finding.message}"
    return {
        "description": message_of(finding, options),
        "check_name": finding.rule,
        "fingerprint": _hash(finding.rule, span.path, key),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": _path(span.path),
            "positions": {
                "begin": {"line": span.line, "column": span.column},
                "end": {"line": span.end_line or span.line, "column": span.end_column or span.column},
            },
        },
    }


def _broken(one: InputFile, error: str) -> dict[str, Any]:
    return {
        "description": error,
        "check_name": "input",
        "fingerprint": _hash("input", one.path, error),
        "severity": "critical",
        "location": {"path": _path(one.path), "lines": {"begin": 1}},
    }


def _path(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
