"""Find switches and hooks that put volatile text near the front of the context."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from prefixlint import kinds
from prefixlint.model import Hit, Settings, Tokenizer

KINDS = ("claude-code", "gemini-cli")

_COMMANDS = (
    ("git-status", re.compile(r"\bgit +(?:-C +\S+ +)?(?:status|log|diff|branch|rev-parse|describe|show|stash)\b")),
    ("timestamp", re.compile(r"(?:^|[;&|`(] *|\$\( *)date\b(?! +-r)")),
    ("uuid", re.compile(r"\buuidgen\b|/proc/sys/kernel/random/uuid")),
    ("user-or-host", re.compile(r"(?:^|[;&|`(] *|\$\( *)(?:whoami|hostname|id -u|uname -n)\b")),
    ("cwd-or-env", re.compile(r"(?:^|[;&|`(] *|\$\( *)(?:pwd|printenv|env)\b")),
    ("list-order", re.compile(r"(?:^|[;&|`(] *|\$\( *)(?:find|ls -t\w*)\b(?!.*\| *sort)")),
)


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield what differs from session to session; hooks of a user turn are new text anyway and stay silent."""
    if settings.kind == "gemini-cli":
        for pointer, value in kinds.select(settings.value, "/context/includeDirectoryTree"):
            if value is True:
                message = "the folder tree stands near the front of every prompt and changes with every new file"
                yield Hit("cwd-or-env", pointer, severity="info", confidence="medium", message=message)
        return
    for pointer, command in kinds.select(settings.value, "/hooks/SessionStart/*/hooks/*/command"):
        if isinstance(command, str):
            yield from _of_command(pointer, command)


def _of_command(pointer: str, command: str) -> Iterator[Hit]:
    for rule, pattern in _COMMANDS:
        found = pattern.search(command)
        if found:
            message = "the output of this hook stands at the front of the session and differs between sessions"
            yield Hit(rule, pointer, *found.span(), severity="info", confidence="medium", message=message)
