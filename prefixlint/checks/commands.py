"""Find commands whose output a prompt file takes in (``!`git status``` in agents, skills and slash commands)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.checks._commands import volatile
from prefixlint.model import Hit, Prompt, Severity

# The folders whose files are run through the shell before they are sent (Claude Code, opencode, Gemini CLI).
_FOLDER = r"(?:^|/)(?:agents?|commands?|skills|output-styles|modes?)/"
_COMMAND = r"(?:^|(?<=\s))!`([^`\n]{1,500})`|!\{([^{}\n]{1,500})\}"


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield each command whose output differs from run to run.

    A slash command is part of the newest user message, where new text costs nothing: that is only worth a note.
    """
    path = prompt.request.span.path.replace("\\", "/")
    if prompt.kind != "prompt-file" or not re.search(_FOLDER, path):
        return
    severity: Severity | None = "info" if re.search(r"(?:^|/)commands?/", path) else None
    for segment in prompt.segments:
        for found in re.finditer(_COMMAND, segment.text) if "!" in segment.text else ():
            for rule, _, _ in volatile(found[1] or found[2]):
                message = "the output of this command is put into the prompt and differs from run to run"
                yield Hit(rule, segment.pointer, *found.span(), severity=severity, confidence="high", message=message)
                break
