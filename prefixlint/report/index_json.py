"""Write what an index says as JSON."""

from __future__ import annotations

from dataclasses import asdict

import orjson

from prefixlint.indexes import IndexReport
from prefixlint.model import ReportOptions

NAME = "json"


def index_report(report: IndexReport, options: ReportOptions) -> str:
    """Write version 1; ``top`` bounds the partings and branches."""
    document = {"version": 1, **asdict(report)}
    for name in ("partings", "branches") if options.top else ():
        document[name] = document[name][: options.top]
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"
