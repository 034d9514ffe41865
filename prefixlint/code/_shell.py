"""Recognise what a started program prints, by the words of its command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prefixlint.code import _expr
from prefixlint.code import _ir as ir
from prefixlint.code._lang import Source
from prefixlint.code._values import Value
from prefixlint.model import Confidence

if TYPE_CHECKING:
    from prefixlint.code._calls import Args
    from prefixlint.code._engine import Engine

CALLS = frozenset(
    "subprocess.run subprocess.check_output subprocess.Popen subprocess.getoutput subprocess.getstatusoutput os.popen "
    "exec.Command exec.CommandContext Command.new child_process.execSync child_process.exec Process.Start "
    "Open3.capture2 Open3.capture3 IO.popen Runtime.exec asyncio.create_subprocess_exec "
    "asyncio.create_subprocess_shell".split()
)
METHODS = frozenset("check_output execSync execFileSync spawnSync execaSync execa getoutput `".split())

_COMMANDS = (
    (re.compile(r"\bgit\b.*\b(?:rev-parse|log|describe|show|rev-list)\b"), "commit-hash"),
    (re.compile(r"\bgit\b"), "git-status"),
    (re.compile(r"(?:^|\s|/)date\b"), "timestamp"),
    (re.compile(r"(?:^|\s|/)(?:hostname|whoami|id|uname)\b"), "user-or-host"),
    (re.compile(r"(?:^|\s|/)pwd\b"), "cwd-or-env"),
    (re.compile(r"(?:^|\s|/)uuidgen\b"), "uuid"),
    (re.compile(r"(?:^|\s|/)mktemp\b"), "temp-path"),
    (re.compile(r"(?:^|\s|/)(?:find|rg|fd)\b"), "list-order"),
)


def run(engine: Engine, node: ir.Call, args: Args) -> Value | None:
    """Return the output of a program as a volatile value, None when the command says nothing."""
    words = " ".join(_words(args.plain))
    for pattern, rule in _COMMANDS:
        if pattern.search(words):
            confidence: Confidence = "low" if rule == "list-order" else "high"
            return _expr.taint_of(engine, Source(rule, "proc", confidence=confidence), node)
    return None


def _words(values: list[Value]) -> list[str]:
    found: list[str] = []
    for value in values:
        if value.const is not None:
            found.append(value.const)
        elif value.text and not value.items and value.size:
            found.append(value.text.replace("\x00", " "))
        found += _words(value.items or [])
    return found
