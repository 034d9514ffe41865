"""``prefixlint mcp``: diff, check, fix (dry) and explain as tools for coding agents, over standard input and output."""

from __future__ import annotations

from typing import Any

import click

from prefixlint.errors import ConfigError, PrefixlintError

LIMIT = 16_000  # characters that one answer may have: an agent pays for every one of them


@click.command()
@click.option("--redact", is_flag=True, help="Show lengths and hashes instead of text in every answer.")
def command(redact: bool) -> None:
    """Serve coding agents over standard input and output (needs prefixlint[mcp])."""
    server(redact=redact).run()


def server(*, redact: bool = False) -> Any:
    """Build the server; raises ConfigError when the extra is not installed."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        raise ConfigError("the MCP server needs an extra: pip install 'prefixlint[mcp]'") from None
    made = MCPServer("prefixlint")

    @made.tool()
    def diff(paths: list[str], top: int = 5) -> str:
        """Find where the prompt prefixes of request logs fork, why, and how many tokens that costs."""
        return _said(lambda: _diff(paths, top, redact=redact))

    @made.tool()
    def check(paths: list[str]) -> str:
        """Lint prompt files, templates, settings, tool lists, request bodies and source for unstable prefixes."""
        return _said(lambda: _check(paths, redact=redact))

    @made.tool()
    def fix(paths: list[str], unsafe: bool = False) -> str:
        """Show, as a unified diff, how prefixlint would make prompts canonical. Writes nothing."""
        return _said(lambda: _fix(paths, unsafe=unsafe, redact=redact))

    @made.tool()
    def explain(rule: str) -> str:
        """Explain a rule: what it finds, why it matters, and what to do instead."""
        return _said(lambda: _explain(rule))

    return made


def _said(answer: Any) -> str:
    """Return the answer or the error as text, cut at the limit and said to be so."""
    try:
        text = str(answer())
    except PrefixlintError as error:
        text = f"error: {error}"
    return text if len(text) <= LIMIT else text[:LIMIT] + f"\n... cut after {LIMIT} characters; ask for fewer paths"


def _diff(paths: list[str], top: int, *, redact: bool) -> str:
    from prefixlint.api.diff_log import LogOptions, diff_log
    from prefixlint.model import ReportOptions
    from prefixlint.report.text import diff_report

    return diff_report(diff_log(paths, LogOptions()), ReportOptions(redact=redact, top=top))


def _check(paths: list[str], *, redact: bool) -> str:
    from prefixlint.api.check import check_paths
    from prefixlint.model import ReportOptions
    from prefixlint.report.text import check_report

    return check_report(check_paths(paths), ReportOptions(redact=redact)) or "no findings"


def _fix(paths: list[str], *, unsafe: bool, redact: bool) -> str:
    from prefixlint.api.fix import preview

    return preview(paths, unsafe=unsafe, redact=redact) or "nothing to do"


def _explain(name: str) -> str:
    from prefixlint import cards

    rule = cards.rule(name)
    return f"{rule.id}: {rule.summary}\n\nWhat: {rule.what}\n\nWhy: {rule.why}\n\nInstead: {rule.instead}"
