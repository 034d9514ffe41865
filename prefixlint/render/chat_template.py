"""Render a request through the chat template of a model: exactly the text that its server tokenizes."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from prefixlint.errors import InputError
from prefixlint.model import Json, Part, Prompt, Request, Segment, SegmentKind
from prefixlint.render import _chat_messages

if TYPE_CHECKING:
    from prefixlint.render._compiled import Compiled


@dataclass(frozen=True, slots=True)
class Template:
    """Hold the templates of a model with its special tokens.

    ``sources`` holds one template called ``default`` or several by name; ``tool_use`` is taken for requests with tools
    as transformers does. ``name`` picks one of them whatever the request holds.
    """

    path: str
    sources: tuple[tuple[str, str], ...]
    special: tuple[tuple[str, str], ...] = ()
    name: str = ""

    def source(self, *, with_tools: bool) -> tuple[str, str]:
        """Return the name and the text of the template that a request is rendered with."""
        known = dict(self.sources)
        chosen = self.name or ("tool_use" if with_tools and "tool_use" in known else "default")
        if chosen not in known:
            raise InputError(f"no chat template {chosen!r}; it has: {', '.join(known)}", path=self.path)
        return chosen, known[chosen]


def parse_template(data: bytes, path: str, *, special: Mapping[str, str] | None = None, name: str = "") -> Template:
    """Read a ``.jinja`` file, or the templates inside a tokenizer_config.json or chat_template.json.

    ``special`` holds special tokens from another file; those of the file itself win.
    """
    if not path.endswith(".json"):
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return Template(path, (("default", text),), tuple((special or {}).items()), name)
    try:
        config = json.loads(data)
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=path) from error
    sources = _sources(config.get("chat_template") if isinstance(config, dict) else None)
    if not sources:
        raise InputError("it has no chat_template; give the .jinja file of the model", path=path)
    return Template(path, sources, tuple({**(special or {}), **special_tokens(config)}.items()), name)


def _sources(value: Json) -> tuple[tuple[str, str], ...]:
    """Read a template, or a list of named ones."""
    if isinstance(value, str):
        return (("default", value),)
    named = value if isinstance(value, list) else []
    return tuple(
        (str(one.get("name")), one["template"]) for one in named if isinstance(one, dict) and "template" in one
    )


def special_tokens(config: Json) -> dict[str, str]:
    """Read the special tokens of a tokenizer_config.json or special_tokens_map.json, as strings."""
    found = {}
    for name, value in config.items() if isinstance(config, dict) else ():
        content = value.get("content") if isinstance(value, dict) else value
        if name.endswith("_token") and isinstance(content, str):
            found[name] = content
    return found


def render_template(
    request: Request,
    template: Template,
    *,
    date: datetime.datetime | None = None,
    add_generation_prompt: bool = True,
    scope: str = "",
    options: Mapping[str, Any] | None = None,
    with_places: bool = True,
) -> Prompt:
    """Render a request to one segment; ``places`` says which strings of the body its characters come from.

    ``date`` is what ``strftime_now`` sees; without one it is the time of the request in UTC, as it was when the server
    rendered it. ``options`` are further arguments of the template, such as ``enable_thinking``; the request's own
    ``chat_template_kwargs`` win. Without places it takes about half the time. Raises InputError with the line of the
    template where it refuses or fails.
    """
    if request.text is not None:
        return Prompt(request, (Segment("message", "", request.text),), scope, exact=True)
    try:
        talk = _chat_messages.conversation(request, with_places=with_places)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body cannot be read: {error}", path=request.span.path) from error
    chosen, source = template.source(with_tools=bool(talk.tools))
    compiled = _compiled(template.path, chosen, source)
    variables = {
        **dict(template.special),
        "add_generation_prompt": add_generation_prompt,
        "documents": None,
        **(options or {}),
        **talk.options,
        "tools": talk.tools,
    }
    text, places = compiled.render(talk.messages, variables, _clock(date, request, template))
    return Prompt(request, (Segment("message", "", text),), scope, exact=True, places=places)


@lru_cache(maxsize=32)  # a log is rendered with one or two templates, thousands of times
def _compiled(path: str, name: str, source: str) -> Compiled:
    from prefixlint.render._compiled import Compiled

    return Compiled(path, name, source)


def _clock(date: datetime.datetime | None, request: Request, template: Template) -> Callable[[str], str]:
    """Return ``strftime_now`` for a date given by option or recorded in the log; this program reads no clock."""

    def strftime_now(form: str) -> str:
        moment = date
        if moment is None and request.at_s is not None:
            moment = datetime.datetime.fromtimestamp(request.at_s, datetime.UTC)
        if moment is None:
            raise InputError("the template writes today's date; give one by option", path=template.path)
        return moment.strftime(form)

    return strftime_now


def segments_of(prompt: Prompt) -> tuple[Segment, ...]:
    """Cut the one segment of a rendered prompt into the strings of the body and what the template wrote between them.

    The pieces, one behind the other, are the whole text. Those of the template have the pointer ``""``; a string of
    which a part was cut off (by ``trim``) gives a shorter piece.
    """
    text, at, found = prompt.segments[0].text, 0, []
    for place in prompt.places:
        if place.start_char > at:
            found.append(Segment("message", "", text[at : place.start_char], kind="json"))
        piece = text[place.start_char : place.end_char]
        found.append(Segment(_part(place.pointer), place.pointer, piece, kind=_kind(place.pointer)))
        at = place.end_char
    return (*found, Segment("message", "", text[at:], kind="json")) if at < len(text) else tuple(found)


def _part(pointer: str) -> Part:
    member = pointer.split("/", 2)[1]
    if member in ("tools", "functions", "toolConfig"):
        return "tools"
    return "system" if member in ("system", "instructions", "systemInstruction", "system_instruction") else "message"


def _kind(pointer: str) -> SegmentKind:
    return "role" if pointer.endswith("/role") else "text"
