"""Turn what the engine found into findings: message, way from source to sink, and a fix where one is known."""

from __future__ import annotations

from collections.abc import Callable

from prefixlint.code import _fixes, _sinks
from prefixlint.code._places import Lines
from prefixlint.code._values import Place
from prefixlint.model import Finding, Severity, Step

_WHAT = {
    "timestamp": "the current time",
    "date": "today's date",
    "epoch": "the seconds of the clock",
    "uuid": "a new uuid",
    "random-id": "a random or process-bound value",
    "counter": "a counter",
    "commit-hash": "a commit hash",
    "git-status": "the state of the git work tree",
    "temp-path": "a temporary path",
    "user-or-host": "the name of the user or machine",
    "cwd-or-env": "the working directory or environment",
    "list-order": "items in an order that is not fixed",
    "tool-order": "tools in an order that is not fixed",
    "key-order": "JSON whose keys are not sorted",
    "number-format": "a number in the format of the locale",
    "image-reencode": "an image that is encoded anew",
    "tool-call-id": "a tool call whose id is made up anew each time the history is rebuilt",
    "sliding-window": "a history that is cut at the front",
    "tool-set-change": "a tool list that changes between calls",
    "param-change": "a setting that changes between calls",
    "model-switch": "a model that changes between calls",
    "instructions-edited": "a system message that is rebuilt between calls",
    "message-inserted": "a message put in front of the history between calls",
    "routing-key": "a cache key that changes although the prompt does not",
    "cached-tokens-dropped": "a token total that leaves out cached input tokens",
}
_PART = {
    "tools": "the tool list",
    "system": "the system prompt",
    "messages": "the messages",
    "prompt": "the prompt",
    "built": "a prompt",
    "setting": "the request settings",
}
_LOSS = {
    "cached-tokens-dropped": "cached reads and writes are billed but not counted",
    "routing-key": "equal prefixes are sent to different caches",
    "sliding-window": "after each cut the whole history is computed again",
    "date": "at midnight everything behind it is computed again",
}


def findings(
    found: list[_sinks.Found], lines: Callable[[str], Lines | None], severity: Callable[[str], Severity]
) -> list[Finding]:
    """Build the findings in order of their place; one for each rule and source expression."""
    made = []
    for item in found:
        source = lines(item.taint.place.path)
        if source is not None:
            made.append(_finding(item, source, lines, severity))
    return sorted(made, key=lambda f: (f.span.path, f.span.start_byte, f.rule))


def _finding(
    item: _sinks.Found, source: Lines, lines: Callable[[str], Lines | None], severity: Callable[[str], Severity]
) -> Finding:
    place = item.taint.place
    span = source.span(place.path, place.start, place.end)
    level: Severity = "info" if item.rule == "date" or item.confidence == "low" else severity(item.rule)
    steps = (*item.taint.steps, (item.sink, item.sink_text))
    trace = tuple(step for p, text in _distinct(steps) if (step := _step(p, text, lines)) is not None)
    return Finding(
        item.rule,
        level,
        item.confidence,
        _message(item),
        span,
        related=tuple(s.span for s in trace[1:]),
        fix=_fixes.fix(item, source.data),
        trace=trace,
    )


def _message(item: _sinks.Found) -> str:
    what = _WHAT.get(item.rule, item.rule)
    loss = _LOSS.get(item.rule, "everything behind it is computed again")
    if item.part == "shape":
        return f"{what} ({item.sink_text}): {loss}"
    where = _PART.get(item.part, "the prompt")
    return f"{what} reaches {where} ({item.sink_text}): {loss}"


def _distinct(steps: tuple[tuple[Place, str], ...]) -> list[tuple[Place, str]]:
    seen: dict[tuple[str, int, int], tuple[Place, str]] = {}
    for place, text in steps:
        seen.setdefault((place.path, place.start, place.end), (place, text))
    return list(seen.values())


def _step(place: Place, text: str, lines: Callable[[str], Lines | None]) -> Step | None:
    source = lines(place.path)
    return Step(source.span(place.path, place.start, place.end), text) if source is not None else None
