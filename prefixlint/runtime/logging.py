"""Filters for the standard ``logging``: what the guard saw on every record, and no warning twice."""

from __future__ import annotations

import logging
from collections import OrderedDict

from prefixlint.runtime.guard import Checked, latest, log_fields

_NOTHING = log_fields(Checked(b""))
MOST_SITES = 10_000


class PrefixFilter(logging.Filter):
    """Give each record the outcome of the latest check in its thread or task; lets every record pass.

    The attributes are ``prefix_session``, ``prefix_forks``, ``prefix_cause``, ``prefix_pointer``, ``prefix_tokens``,
    ``prefix_shared_tokens`` and ``prefix_lost_tokens``; none holds text of a prompt.

    >>> handler = logging.StreamHandler()
    >>> handler.addFilter(PrefixFilter())
    >>> handler.setFormatter(logging.Formatter("%(message)s shared=%(prefix_shared_tokens)d cause=%(prefix_cause)s"))
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the attributes that the record does not have yet."""
        checked = latest.get()
        for name, value in (log_fields(checked) if checked else _NOTHING).items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


class OncePerSite(logging.Filter):
    """Let the guard warn once for each place and cause; then at the 10th, 100th ... time, with the count.

    >>> logging.getLogger("prefixlint.guard").addFilter(OncePerSite())
    """

    def __init__(self) -> None:
        """Start with no site known."""
        super().__init__()
        self._seen: OrderedDict[tuple[object, object], int] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a record is to be written; records of other origin always are."""
        site = (getattr(record, "prefix_pointer", None), getattr(record, "prefix_cause", None))
        if not site[1] or not record.name.startswith("prefixlint"):
            return True
        count = self._seen[site] = self._seen.pop(site, 0) + 1
        if len(self._seen) > MOST_SITES:
            self._seen.popitem(last=False)
        if count > 1 and str(count).strip("0") == "1":
            record.msg, record.args = f"{record.getMessage()} ({count} times so far)", ()
        return str(count).strip("0") == "1"
