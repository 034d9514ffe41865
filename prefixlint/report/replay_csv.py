"""Write a replay as CSV: one row per request, or one per point of a sweep."""

from __future__ import annotations

from prefixlint.model import ReportOptions
from prefixlint.replays import ReplayResult
from prefixlint.report.replay_json import csv_text

NAME = "csv"


def replay_report(result: ReplayResult, options: ReportOptions) -> str:
    """Write the rows."""
    return csv_text(result)
