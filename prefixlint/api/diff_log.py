"""``diff`` on files: open them as one log, compare, say what was read; ``heads`` prints the first tokens instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from prefixlint.api.diff import DiffOptions, diff
from prefixlint.api.read import Log, ReadOptions, open_log
from prefixlint.api.render import render
from prefixlint.api.tokens import tokenizer_for
from prefixlint.display import escape, redacted
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import DiffResult, Progress, ReportOptions, Request, Span

_CHARS_PER_TOKEN = 16  # how much text is tokenized at first for each wished token; grown until it is enough


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Say what to read and how to compare; empty fields leave the choice to detection."""

    input_format: str | None = None
    tokenizer: str | None = None
    render: str | None = None
    chat_template: str | None = None
    date: str | None = None
    sessions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None


def diff_log(paths: Sequence[str], options: LogOptions, *, progress: Progress | None = None) -> DiffResult:
    """Compare the requests of files, folders, globs or standard input (``-``) as one log in the order of time."""
    log = opened(paths, options, progress)
    found = diff(_templated(log, options), DiffOptions(tokenizer=options.tokenizer, render=options.render))
    return replace(found, inputs=log.inputs(), notes=(*log.notes(), *found.notes))


def opened(paths: Sequence[str], options: LogOptions, progress: Progress | None = None) -> Log:
    """Open the inputs with the filters of the options."""
    wanted = ReadOptions(
        input_format=options.input_format,
        since=options.since,
        until=options.until,
        models=options.models,
        sessions=options.sessions,
        progress=progress,
    )
    return open_log(paths, wanted)


def _templated(log: Log, options: LogOptions) -> Iterator[Request | InputError]:
    """Replace each body by the text that the chat template makes of it, if one is given."""
    if not options.chat_template:
        yield from log.requests()
        return
    from prefixlint.api.template import rendered, template

    form = template(options.chat_template)
    for item in log.requests():
        yield rendered(item, form, date=options.date) if isinstance(item, Request) else item


def heads(paths: Sequence[str], options: LogOptions, *, tokens: int, show: ReportOptions) -> str:
    """Print the first ``tokens`` tokens of each request one under the other, ``‖`` where it leaves the one before."""
    log = opened(paths, options)
    lines: list[str] = []
    before: list[str] = []
    for item in _templated(log, options):
        if isinstance(item, InputError):
            lines.append(f"{item}")
            continue
        pieces = _first(item, tokens, options)
        lines.append(f"{_place(item.span)}  {_marked(before, pieces, show)}")
        before = pieces
    if not lines:
        raise ConfigError("no request was read")
    return "\n".join(lines) + "\n"


def _place(span: Span) -> str:
    return f"{span.path}:{span.line}"


def _first(request: Request, tokens: int, options: LogOptions) -> list[str]:
    """Return the text of the first tokens, piece by piece as the provider gets them."""
    tokenizer = tokenizer_for(request.model, options.tokenizer)
    out: list[str] = []
    for segment in render(request, api=options.render).segments:
        want = tokens - len(out)
        if want <= 0:
            break
        size = want * _CHARS_PER_TOKEN
        ids = tokenizer.encode(segment.text[:size])
        while len(ids) <= want and size < len(segment.text):
            size *= 4
            ids = tokenizer.encode(segment.text[:size])
        out += tokenizer.pieces(ids[:want], segment.text)
    return out


def _marked(before: list[str], pieces: list[str], show: ReportOptions) -> str:
    same = 0
    while same < min(len(before), len(pieces)) and before[same] == pieces[same]:
        same += 1
    if show.redact:
        return f"{len(pieces)} tokens, {same} as before, then {redacted(''.join(pieces[same:]))}"
    shown = [escape(piece) for piece in pieces]
    fork = [] if not before or same == len(pieces) == len(before) else ["‖"]
    if show.color and fork:
        fork = ["\x1b[31m‖\x1b[0m"]
    return "|".join(shown[:same]) + "".join(fork) + "|".join(shown[same:])
