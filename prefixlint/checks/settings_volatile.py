"""Find switches and hooks that put volatile text near the front of the context."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prefixlint import kinds
from prefixlint.checks._commands import volatile
from prefixlint.model import Hit, Settings, Tokenizer

KINDS = ("claude-code", "gemini-cli")


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
    for rule, start, end in volatile(command):
        message = "the output of this hook stands at the front of the session and differs between sessions"
        yield Hit(rule, pointer, start, end, severity="info", confidence="medium", message=message)
