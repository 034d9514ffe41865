"""Find the places of a template that are filled in at run time, and say what fills them.

Jinja, Mustache and Handlebars ``{{x}}``, format strings ``{x}`` and ``%(x)s``, ``${x}``, ERB ``<%= x %>``, shell
``$(date)``.
Escaped forms are none: ``{{!x}}``, ``{{{{x}}}}``, ``\\{{x}}``, ``$${x}``, raw blocks, comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from prefixlint import cards
from prefixlint.checks._lazy import lazy
from prefixlint.checks._passage import Passage

RULES = (
    "timestamp", "epoch", "date", "relative-time-phrase", "uuid", "random-id", "counter", "commit-hash", "git-status",
    "temp-path", "user-or-host", "cwd-or-env",
)  # fmt: skip
_SLOT = lazy(
    r"\{\{(?P<double>[^{}\n]{1,200})\}\}"
    r"|\$\{(?P<dollar>[^{}\n]{1,200})\}"
    r"|\{(?P<single>[A-Za-z_][\w.]{0,60}(?:\([^(){}\n]{0,60}\)(?:\.\w{1,40}){0,3}){0,3}(?:\[[\w'\"]{1,40}\])?(?:![rsa])?(?::[^{}\n]{0,40})?)\}"
    r"|\{%-?[ ]*(?P<tag>(?:now|set|if)\b(?:[^%\n]|%[^}\n]){1,200})%\}"
    r"|<%[=-]{0,2}(?P<erb>[^%\n#](?:[^%\n]|%[^>\n]){0,200})%>"
    r"|%\((?P<percent>[A-Za-z_]\w{0,60})\)s"
    r"|\$\((?P<shell>[a-z][^()\n]{1,80})\)"
    r"|!`(?P<command>[^`\n]{1,80})`"
)
_OPENINGS = ("{", "<%", "%(", "$(", "!`")
_CLOCK_FORMAT = lazy(
    r"%-?[HIMSpfsXcTrRs]|%-?d.{0,8}%H|\b[hHk]{1,2}:?m{2}|\bHH?\b|\bmm\b|\bss\b|[HhgG]:i|\bLT\b|\bLLLL?\b|toISOString|isoformat|iso8601|15:04|0?3:04|RFC3339|Kitchen"
)
_DATE_FORMAT = lazy(
    r"%-?[YymdBbAaejUWDFx]|\bY{2,4}\b|\bD{1,2}\b|\bd{1,2}\b|\bM{2,4}\b|[jdDlNSwz][ ,./-]{0,2}[FmMn]|date\(\)"
    r"|toDateString|toLocaleDateString|to_date|Date\.today|\.date\b|\.year\b|2006-01-02|Jan 2"
)
_CLOCK_CALL = lazy(
    r"\b(?:(?:datetime\.)?datetime\.(?:utc)?now|datetime\.now|(?:utc|local)?now|Date\.now|Time\.(?:now|current)"
    r"|new Date|time\.time|strftime_now|timezone\.now|moment|dayjs|DateTime\.(?:now|utc)|Instant\.now"
    r"|current_timestamp)\b"
)
_ID_CALL = lazy(
    r"\b(?:uuid\.)?uuid[14]\b ?\(|\bcrypto\.randomUUID\b|\bSecureRandom\.|\bMath\.random\b|\brand(?:om|int)?\b ?\("
    r"|\bnanoid\b ?\(|\b\$?RANDOM\b"
)
_SHELL = {
    "timestamp": lazy(r"^date\b"),
    "uuid": lazy(r"^uuidgen\b"),
    "commit-hash": lazy(r"^git (?:rev-parse|describe|log)\b"),
    "git-status": lazy(r"^git (?:status|branch|diff|symbolic-ref|stash)\b"),
    "user-or-host": lazy(r"^(?:whoami|hostname|id -un|logname|uname -n)\b"),
    "cwd-or-env": lazy(r"^(?:pwd|ls|tree|find|env|printenv|uptime|free|df|uname|nproc)\b"),
    "temp-path": lazy(r"^mktemp\b"),
}
_NAME = lazy(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_CAMEL = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOW_WORDS = frozenset("current now today todays utc iso local system sys server wall present this".split())
_RUN_WORDS = frozenset(
    "session request trace run conversation correlation message thread span job invocation execution turn chat".split()
)
_PATH_WORDS = frozenset("dir directory folder path file root".split())
_COUNTED_WORDS = frozenset("tokens token steps turns messages budget iterations requests calls credits quota".split())
_NO_VALUE = frozenset("zone format column field type limit max min label name description template prompt per".split())
# Words of a name and the rule that they speak for; a name needs one word of each set that is not empty.
_WORDS: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    ("timestamp", frozenset(("now", "datetime", "timestamp", "clock")), _NOW_WORDS),
    ("timestamp", frozenset(("time",)), _NOW_WORDS),
    ("date", frozenset(("date", "day", "weekday")), _NOW_WORDS),
    ("uuid", frozenset(("uuid", "guid")), frozenset()),
    ("random-id", frozenset(("id",)), _RUN_WORDS),
    ("random-id", frozenset(("nonce",)), frozenset()),
    ("git-status", frozenset(("git",)), frozenset(("status", "branch", "diff", "log", "state"))),
    ("commit-hash", frozenset(("git", "commit", "head")), frozenset(("sha", "hash", "rev", "revision"))),
    ("temp-path", frozenset(("tmp", "temp", "temporary", "scratch")), _PATH_WORDS),
    ("counter", frozenset(("remaining", "left", "used")), _COUNTED_WORDS),
    ("cwd-or-env", frozenset(("working", "cwd", "workdir")), _PATH_WORDS),
)
_KEYWORDS = frozenset(
    "if else elif end endif for endfor set and or not in is true false none null each unless with this".split()
)


@dataclass(frozen=True, slots=True)
class Slot:
    """Hold one place that is filled in: its bounds, the expression inside, and the rule that its value falls under.

    ``is_sure`` is False for names that only may hold such a value (``{time}``); ``rule`` is empty for all others.
    ``is_day`` says that the value changes once a day at most.
    """

    start_char: int
    end_char: int
    expression: str
    name: str
    rule: str = ""
    is_sure: bool = False
    is_day: bool = False
    syntax: str = ""


def slots(text: str, passage: Passage, syntax: str = "") -> Iterator[Slot]:
    """Yield the places that are filled in, in order; those in raw blocks, comments and escaped ones are left out."""
    if not any(opening in text for opening in _OPENINGS):
        return
    for found in _SLOT.finditer(text):
        kind = found.lastgroup or ""
        if _is_escaped(text, found, kind, syntax) or passage.is_silent(found.start()):
            continue
        yield from _slot(found, kind)


def _slot(found: re.Match[str], kind: str) -> Iterator[Slot]:
    expression = found[kind].strip(" ~-")
    if kind == "double" and expression[:1] == expression[-1:] == "#":
        expression = expression.strip("#")  # Dify writes {{#sys.query#}}
    if kind == "double" and (expression[:1] in "#/^>!*&" or expression.split(" ")[0] in _KEYWORDS):
        expression = expression[1:].strip() if expression[:1] == "&" else ""
    if not expression:
        return
    rule, is_sure, is_day = judge(expression, kind)
    if kind == "tag" and rule not in ("timestamp", "date", "uuid"):
        return
    yield Slot(found.start(), found.end(), expression, _name(expression), rule, is_sure, is_day, kind)


def _is_escaped(text: str, found: re.Match[str], kind: str, syntax: str) -> bool:
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if before == "\\" or (before == "$" and kind in ("dollar", "shell")) or (before == "@" and kind == "double"):
        return True
    if kind == "double":
        four = text[found.start() - 2 : found.start()] == "{{" and text[found.end() : found.end() + 2] == "}}"
        return four or syntax in ("f-string", "dollar", "erb")
    if kind == "single":
        return (before == "{" and after == "}") or syntax in ("jinja", "mustache", "dollar", "erb")
    return False


def judge(expression: str, kind: str = "") -> tuple[str, bool, bool]:
    """Return (rule, is sure, changes daily at most) for what fills a place; no rule where nothing is known."""
    if kind in ("shell", "command"):
        return _of_command(expression)
    if kind == "tag" and expression.startswith("if"):
        return "", False, False
    head, _, rest = expression.partition("|") if kind != "single" else expression.partition(":")
    if _CLOCK_CALL.search(head) and ("(" in head or kind == "tag" or " " in head.strip()):
        is_day = bool(_DATE_FORMAT.search(expression)) and not _CLOCK_FORMAT.search(expression)
        return ("date" if is_day else "timestamp"), True, is_day
    if _ID_CALL.search(head):
        return ("uuid" if "uuid" in head.lower() else "random-id"), True, False
    rule, is_sure = _of_name(_name(head if kind != "tag" else expression))
    return _resolved(rule, is_sure, rest or head)


def _resolved(rule: str, is_sure: bool, arguments: str) -> tuple[str, bool, bool]:
    """Let a filter or format decide between clock and date."""
    if rule == "timestamp" and _DATE_FORMAT.search(arguments) and not _CLOCK_FORMAT.search(arguments):
        return "date", is_sure, True
    if rule == "date" and ":" in arguments and _CLOCK_FORMAT.search(arguments):
        return "timestamp", is_sure, False
    return rule, is_sure, rule == "date"


def _of_command(command: str) -> tuple[str, bool, bool]:
    for rule, pattern in _SHELL.items():
        if pattern.search(command):
            is_day = rule == "timestamp" and bool(
                re.search(r"\+['\"]?%[^HMSTsXcIR]*$|\+['\"]?%F|-I(?:date)?$", command)
            )
            return ("date" if is_day else rule), True, is_day
    return "", False, False


def _name(expression: str) -> str:
    """Return the variable that an expression prints, in snake case: ``user.firstName`` is user.first_name."""
    found = _NAME.search(expression)
    if found is None or (expression[:1] in ("'", '"') and found[0] not in ("now", "today")):
        return ""  # a string constant; Liquid writes {{ "now" | date: "%H:%M" }}
    return _CAMEL.sub("_", found[0].lstrip("$")).lower().replace("-", "_").strip("_")


def _of_name(name: str) -> tuple[str, bool]:
    sure, weak = _names()
    last = name.rpartition(".")[2]
    for candidate in (name.replace(".", "_"), last):
        if candidate in sure:
            return sure[candidate], True
    if name in weak:
        return weak[name], False
    rule = _of_words(frozenset(last.split("_")))
    return rule, bool(rule)
    return "", False


def _of_words(words: frozenset[str]) -> str:
    """Judge a name that no card lists by its words: ``utc_iso_datetime``, ``chat_session_id``, ``tokens_left``."""
    if words & _NO_VALUE:
        return ""
    for rule, first, second in _WORDS:
        if words & first and (not second or words & second):
            return rule
    return ""


@cache
def _names() -> tuple[dict[str, str], dict[str, str]]:
    sure: dict[str, str] = {}
    weak: dict[str, str] = {}
    for rule in RULES:
        strong, doubtful = cards.rule_names(rule)
        for name in strong:
            sure.setdefault(name, rule)
        for name in doubtful:
            weak.setdefault(name, rule)
    return sure, weak
