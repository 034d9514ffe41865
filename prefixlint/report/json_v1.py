"""The JSON report, ``"version": 1``: the contract with other programs (schema ``schemas/report-v1.json``)."""

from __future__ import annotations

import json
from typing import Any

from prefixlint import __version__
from prefixlint.display import LIMIT, redacted
from prefixlint.model import CheckResult, DiffResult, Finding, Fork, InputFile, ReportOptions, Site, Span, Usage

NAME = "json"


def diff_report(result: DiffResult, options: ReportOptions) -> str:
    """Write the whole result of ``diff`` as one JSON document."""
    return _dump(
        {
            **_head(result.inputs),
            "tokenizer": {"name": result.tokenizer, "exact": result.exact},
            "summary": {
                "requests": result.requests,
                "sessions": result.sessions,
                "prompt_tokens": result.prompt_tokens,
                "shared_tokens": result.shared_tokens,
                "recoverable_tokens": result.recoverable_tokens,
            },
            "usage": _usage(result.usage),
            "forks": [fork_json(f, redact=options.redact) for f in result.forks],
            "sites": [_site(s) for s in result.sites],
            "findings": [_diff_finding(f, options) for f in result.findings],
            "notes": list(result.notes),
        }
    )


def check_report(result: CheckResult, options: ReportOptions) -> str:
    """Write the findings of ``check`` in the same envelope."""
    findings = [_finding(f, options) for f in result.findings]
    return _dump({**_head(result.inputs), "findings": findings, "notes": list(result.notes)})


def _dump(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _head(inputs: tuple[InputFile, ...]) -> dict[str, Any]:
    files = [{"path": i.path, "format": i.format, "requests": i.requests, "errors": list(i.errors)} for i in inputs]
    return {"version": 1, "tool": {"name": "prefixlint", "version": __version__}, "inputs": files}


def _usage(usage: Usage) -> dict[str, int | None]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output_tokens": usage.output_tokens,
    }


def _record(span: Span) -> dict[str, Any]:
    return {"path": span.path, "record": span.record}


def fork_json(fork: Fork, *, redact: bool) -> dict[str, Any]:
    """Write one fork as the contract has it."""
    show = redacted if redact else _bounded
    return {
        "before": _record(fork.before),
        "after": _record(fork.after),
        "pointer": fork.pointer,
        "char_offset": fork.char_offset,
        "kind": fork.kind,
        "token": fork.token,
        "cause": fork.cause,
        "also": list(fork.also),
        "wanted": fork.wanted,
        "fix": fork.fix,
        "left": show(fork.left),
        "right": show(fork.right),
        "shared_tokens": fork.shared_tokens,
        "lost_tokens": fork.lost_tokens,
        "recoverable_tokens": fork.recoverable_tokens,
    }


def _bounded(text: str) -> str:
    return text[:LIMIT]


def _site(site: Site) -> dict[str, Any]:
    return {
        "pointer": site.pointer,
        "cause": site.cause,
        "requests": site.requests,
        "lost_tokens": site.lost_tokens,
        "recoverable_tokens": site.recoverable_tokens,
        "cost_usd": site.cost_usd,
        "example": site.example,
    }


def _diff_finding(finding: Finding, options: ReportOptions) -> dict[str, Any]:
    return {**_common(finding, options), **_record(finding.span)}


def _finding(finding: Finding, options: ReportOptions) -> dict[str, Any]:
    span = finding.span
    place = {
        "path": span.path,
        "record": span.record,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line or span.line,
        "end_column": span.end_column or span.column,
    }
    return {**_common(finding, options), **place}


def _common(finding: Finding, options: ReportOptions) -> dict[str, Any]:
    message = finding.rule if options.redact else finding.message
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": message,
        "pointer": finding.pointer,
        "char_offset": finding.char_offset,
        "fix": finding.fix.trust if finding.fix else None,
    }
