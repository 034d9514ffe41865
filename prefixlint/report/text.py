"""The report for people: what is shared, where prefixes fork, what it costs, and what to do, most costly first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prefixlint import cards
from prefixlint.display import LIMIT, count, escape, money, plural, shown
from prefixlint.model import CheckResult, DiffResult, Finding, Fork, InputFile, ReportOptions, Site, Span
from prefixlint.report._fold import fold

NAME = "text"
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_MARGIN = 7  # columns before an excerpt: "     - "
_LEAST = 12  # code points of an excerpt that the narrowest terminal still gets
_FIX = {
    "safe": "prefixlint fix does it",
    "unsafe": "prefixlint fix --unsafe does it",
    "display": "needs a change in the client",
}


def diff_report(result: DiffResult, options: ReportOptions) -> str:
    """Write the result of ``diff``: a summary that can be read in ten seconds, then the ranked sites."""
    lines = [*_inputs(result.inputs, options), "", *_summary(result, options)]
    for rank, site in enumerate(_shown_sites(result, options), 1):
        lines += ["", *_site(rank, site, result.forks[site.example], options)]
    hidden = len(result.sites) - len(_shown_sites(result, options))
    if hidden > 0:
        lines += ["", f"  {plural(hidden, 'more site')} not shown; --top 0 shows all"]
    if result.findings:
        lines += ["", *_findings(result.findings, options, by_record=True)]
    return "\n".join(fold([*lines, *_notes(result.notes)], options.width)) + "\n"


def check_report(result: CheckResult, options: ReportOptions) -> str:
    """Write one line for each finding, ``path:line:column: severity rule message``, and a closing count."""
    return check_findings(result.findings, options) + check_closing(result)


def check_findings(findings: Iterable[Finding], options: ReportOptions) -> str:
    """Write the lines of some findings, so that a long run can show them as they come."""
    return "".join(f"{line}\n" for line in _findings(findings, options, by_record=False))


def check_closing(result: CheckResult) -> str:
    """Write what stands below the findings: broken inputs, the count, notes."""
    lines = [error for i in result.inputs for error in i.errors]
    if result.findings:
        lines.append(f"{plural(len(result.findings), 'finding')} in {plural(_files(result.findings), 'file')}")
    return "".join(f"{line}\n" for line in [*lines, *_notes(result.notes)])


def _style(text: str, name: str, options: ReportOptions) -> str:
    return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if options.color else text


def _inputs(inputs: tuple[InputFile, ...], options: ReportOptions) -> Iterator[str]:
    if len(inputs) > 3:
        formats = ", ".join(sorted({i.format for i in inputs}))
        total = sum(i.requests for i in inputs)
        yield _style(f"{plural(len(inputs), 'file')} ({formats}, {plural(total, 'request')})", "bold", options)
    else:
        for i in inputs:
            yield _style(f"{i.path} ({i.format}, {plural(i.requests, 'request')})", "bold", options)
    errors = [error for i in inputs for error in i.errors]
    for error in errors[:5]:
        yield _style(f"  {error}", "red", options)
    if len(errors) > 5:
        yield _style(f"  {plural(len(errors) - 5, 'more broken record')} left out", "red", options)


def _summary(result: DiffResult, options: ReportOptions) -> Iterator[str]:
    total = result.prompt_tokens
    yield (
        f"  {plural(result.requests, 'request')} in {plural(result.sessions, 'session')}, "
        f"{count(total)} prompt tokens ({_vocabulary(result)})"
    )
    yield f"  shared today     {_share(result.shared_tokens, total)}  {count(result.shared_tokens)} tokens"
    if result.recoverable_tokens:
        best = result.shared_tokens + result.recoverable_tokens
        yield (
            f"  without forks    {_share(best, total)}  {count(best)} tokens, "
            f"{count(result.recoverable_tokens)} more than today"
        )
    yield from _usage(result)
    unwanted = sum(not fork.wanted for fork in result.forks)
    if not unwanted and not total:
        yield "  nothing to compare: no request here holds prompt text"
        return
    if result.requests == 1 and not unwanted:
        yield "  one request: nothing to compare it with"
        return
    if not unwanted:
        yield _style("  no unwanted fork: every request extends or shares what came before", "green", options)
        return
    cost = sum(site.cost_usd or 0 for site in result.sites)
    price = f", about {money(cost)}" if cost else ""
    lost = sum(site.lost_tokens for site in result.sites)
    where = f"{plural(unwanted, 'unwanted fork')} at {plural(len(result.sites), 'site')}"
    line = f"  {where}: {count(lost)} tokens lost{price}"
    yield _style(line, "red", options)


def _vocabulary(result: DiffResult) -> str:
    """Name the vocabulary, and say when counts are estimates and how they become exact."""
    if result.exact:
        return f"{result.tokenizer}, exact"
    named = "" if result.tokenizer == "estimate" else f" by {result.tokenizer}"
    return f"estimated{named}; --tokenizer makes it exact where the vocabulary is public"


def _usage(result: DiffResult) -> Iterator[str]:
    usage = result.usage
    if usage.input_tokens is None or usage.cache_read is None:
        return
    yield (
        f"  the log recorded {_share(usage.cache_read, usage.input_tokens)}  "
        f"{count(usage.cache_read)} of {count(usage.input_tokens)} input tokens read from cache"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "    - %"


def _shown_sites(result: DiffResult, options: ReportOptions) -> tuple[Site, ...]:
    return result.sites[: options.top] if options.top else result.sites


def _site(rank: int, site: Site, fork: Fork, options: ReportOptions) -> Iterator[str]:
    price = f", about {money(site.cost_usd)}" if site.cost_usd else ""
    head = f"  {rank}. {site.cause} at {site.pointer or 'the prompt'}"
    cost = f"{plural(site.requests, 'request')}, {count(site.lost_tokens)} tokens lost{price}"
    yield f"{_style(head, 'bold', options)}  {cost}"
    yield f"     {_place(fork.before)} -> {_place(fork.after)}, token {fork.token}{_offset(fork)}{_also(fork)}"
    yield from _sides(fork, options)
    rule = cards.rule(site.cause)
    yield f"     {_style('do:', 'cyan', options)} {_first_sentence(rule.instead)} ({_FIX[fork.fix]})"


def _first_sentence(text: str) -> str:
    """Keep the advice to one line; the whole of it is in ``prefixlint rules ID``."""
    flat = " ".join(text.split())
    end = flat.find(". ")
    return (flat if end < 0 else flat[:end]).rstrip(".")


def _place(span: Span) -> str:
    return f"{span.path}:{span.line}"


def _offset(fork: Fork) -> str:
    return "" if fork.char_offset is None else f", character {fork.char_offset}"


def _also(fork: Fork) -> str:
    return f", also {', '.join(fork.also)}" if fork.also else ""


def _sides(fork: Fork, options: ReportOptions) -> Iterator[str]:
    """Write both sides one under the other, the shared text before them once, and carets under what differs."""
    left, right, space = _fitted(fork, options)
    lead = "" if options.redact else escape(fork.context[0][-30:])
    lead = lead[max(0, len(lead) - space) :]
    yield f"     {_style('-', 'red', options)} {lead}{_style(left, 'red', options)}"
    yield f"     {_style('+', 'green', options)} {lead}{_style(right, 'green', options)}"
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    width = max(1, max(len(left), len(right)) - same)
    if not options.redact:
        yield "       " + " " * (len(lead) + same) + _style("^" * width, "yellow", options)


def _fitted(fork: Fork, options: ReportOptions) -> tuple[str, str, int]:
    """Return both sides as the terminal has room for them, and the columns that are left for the text before them."""
    room = options.width - _MARGIN if options.width else 1000
    limit = LIMIT
    while True:
        sides = [shown(side, redact=options.redact, limit=limit) for side in (fork.left, fork.right)]
        free = room - max(map(len, sides))
        if free >= 0 or limit <= _LEAST or options.redact:
            return sides[0], sides[1], max(0, free)
        limit = max(_LEAST, limit + free)


def _findings(findings: Iterable[Finding], options: ReportOptions, *, by_record: bool) -> Iterator[str]:
    for f in findings:
        span = f.span
        place = f"{span.path}:{span.line}" + ("" if by_record else f":{span.column}")
        level = _style(f.severity, "red" if f.severity == "error" else "yellow", options)
        where = f" at {f.pointer}" if f.pointer else ""
        message = cards.rule(f.rule).summary if options.redact else f.message
        yield f"{'  ' if by_record else ''}{place}: {level} {_style(f.rule, 'bold', options)}{where}: {message}"
        for step in f.trace:
            yield f"    {step.span.path}:{step.span.line}:{step.span.column}: {shown(step.text, redact=options.redact)}"


def _files(findings: Iterable[Finding]) -> int:
    return len({f.span.path for f in findings})


def _notes(notes: tuple[str, ...]) -> Iterator[str]:
    for note in notes:
        yield f"note: {note}"
