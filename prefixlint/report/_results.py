"""What the reports for other programs share: forks as findings, paths as URIs, messages that show no text."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.model import CheckResult, DiffResult, Finding, Fix, ReportOptions


def of_diff(result: DiffResult) -> CheckResult:
    """Turn the sites of a ``diff`` into findings, placed at the later request of their example fork."""
    found = (*_sites(result), *result.findings)
    return CheckResult(result.inputs, found, result.notes)


def _sites(result: DiffResult) -> Iterator[Finding]:
    for site in result.sites:
        fork = result.forks[site.example]
        if fork.wanted:
            continue
        where = f" at {fork.pointer}" if fork.pointer else ""
        message = f"{site.requests:,} requests fork{where}: {site.lost_tokens:,} tokens are computed again"
        if site.requests == 1:
            message = f"this request forks{where}: {site.lost_tokens:,} tokens are computed again"
        yield Finding(
            site.cause,
            "warning",
            "high",
            message,
            fork.after,
            fork.pointer,
            fork.char_offset,
            (fork.before,),
            site.lost_tokens,
            Fix(site.cause, fork.fix),
            fingerprint=f"{site.cause}:{fork.pointer}",
        )


def message_of(finding: Finding, options: ReportOptions) -> str:
    """Return the message; with ``--redact`` it may show no text of the file."""
    if not options.redact:
        return finding.message
    return f"{finding.rule} at {finding.pointer}" if finding.pointer else finding.rule


def uri(path: str) -> str:
    """Write a path as a URI reference: forward slashes, everything else that is no URI character escaped.

    >>> uri("a dir/b#c.md")
    'a%20dir/b%23c.md'
    """
    from urllib.parse import quote

    slashed = path.replace("\\", "/")
    if slashed.startswith("/"):
        return "file://" + quote(slashed, errors="surrogateescape")
    return quote(slashed.removeprefix("./"), safe="/", errors="surrogateescape")
