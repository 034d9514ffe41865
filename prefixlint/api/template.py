"""Turn the requests of a log into the text that a model's chat template makes of them."""

from __future__ import annotations

import datetime
from dataclasses import replace

from prefixlint.api.chat_template import load_template
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import Request
from prefixlint.render.chat_template import Template, render_template


def template(path: str) -> Template:
    """Read the chat template that ``--chat-template`` names: a file, or the folder of a model."""
    return load_template(path)


def rendered(request: Request, form: Template, *, date: str | None = None) -> Request | InputError:
    """Return the request with the rendered text instead of its body, or why the template refuses it.

    ``places`` of the result leads from the text back to the body. ``date`` is an ISO 8601 date or time for
    ``strftime_now``; without one it is the time of the request.
    """
    if request.text is not None or request.tokens is not None or request.blocks is not None or request.no_prompt:
        return request
    try:
        prompt = render_template(request, form, date=_moment(date))
    except InputError as error:
        span = request.span
        return InputError(str(error), path=span.path, line=span.line, column=span.column)
    return replace(request, text=prompt.segments[0].text, places=prompt.places, members={}, provider="raw")


def _moment(date: str | None) -> datetime.datetime | None:
    if date is None:
        return None
    try:
        return datetime.datetime.fromisoformat(date)
    except ValueError as error:
        raise ConfigError(f"{date!r} is no date; write it as 2026-12-01") from error
