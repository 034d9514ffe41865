"""Know shell commands whose output is volatile: their text goes into a prompt through hooks and ``!`command```."""

from __future__ import annotations

import re
from collections.abc import Iterator

_START = r"(?:^|[;&|`(] *|\$\( *)"
_COMMANDS = (
    ("git-status", r"\bgit +(?:-C +\S+ +)?(?:status|log|diff|branch|rev-parse|describe|show|stash)\b"),
    ("timestamp", rf"{_START}date\b(?! +-r)"),
    ("uuid", r"\buuidgen\b|/proc/sys/kernel/random/uuid"),
    ("user-or-host", rf"{_START}(?:whoami|hostname|id -u|uname -n)\b"),
    ("cwd-or-env", rf"{_START}(?:pwd|printenv|env)\b"),
    ("list-order", rf"{_START}(?:find|ls -t\w*)\b(?!.*\| *sort)"),
)


def volatile(command: str) -> Iterator[tuple[str, int, int]]:
    """Yield (rule, start, end) of each volatile command in a shell line."""
    for rule, pattern in _COMMANDS:
        found = re.search(pattern, command)
        if found:
            yield rule, found.start(), found.end()
