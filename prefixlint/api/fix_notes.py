"""Say what ``fix`` left alone in a log, why, and what to do about it."""

from __future__ import annotations

from prefixlint.api.fix_files import advice_on
from prefixlint.canon import move
from prefixlint.model import Finding, FixNote, Fork

# Differences without meaning; which of them may be made equal without being asked is what their cards say.
SPELLINGS = frozenset(
    (
        *("newline-style", "trailing-whitespace", "unicode-normalization", "bom-or-zero-width", "escape-style"),
        *("number-format", "key-order", "content-shape", "tool-order", "blank-run"),
    )
)


def of_finding(finding: Finding) -> FixNote:
    """Say of a finding that no fork shows what to do."""
    span = finding.span
    message = f"{finding.message}; only a person can decide: {advice_on(finding.rule)}"
    return FixNote(span.path, message, finding.rule, span.record, finding.pointer)


def of_fork(fork: Fork, *, unsafe: bool, all_roles: bool) -> FixNote:
    """Say why a fork was left alone, and what to do about it."""
    movable = fork.cause in move.MOVABLE or fork.cause in ("list-order", "role-change", "tool-call-id")
    if movable and not unsafe:
        message = "changes from request to request; --unsafe tells it in the turn it belongs to"
    elif fork.cause in SPELLINGS and not all_roles:
        message = "is spelled in two ways in text that the developer did not write; --all-roles makes it equal"
    else:
        message = f"only a person can decide: {advice_on(fork.cause)}"
    return FixNote(fork.after.path, message, fork.cause, fork.after.record, fork.pointer)
