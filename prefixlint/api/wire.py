"""Send one streaming request and time its stages apart: connection, first byte, first token, last token.

Only ``prefixlint probe`` uses this module; nothing else in the product opens a network connection.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from prefixlint.errors import InputError
from prefixlint.model import Usage

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "responses": "/v1/responses"}
_EXCERPT = 200  # characters of an error answer that are shown


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Name where to send; ``base_url`` has neither ``/v1`` nor a query, ``notes`` say what was cut from it."""

    base_url: str
    api: str
    model: str
    key: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Return the path of the API below the base URL."""
        return urlsplit(self.base_url).path.rstrip("/") + PATHS[self.api]


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold one timed answer; seconds count from the start of the request, ``connect_s`` is 0 on a warm connection."""

    connect_s: float
    first_byte_s: float
    first_token_s: float
    total_s: float
    usage: Usage
    cold: bool

    @property
    def tpot_s(self) -> float:
        """Return the time per output token after the first one, 0 when there was only one."""
        more = (self.usage.output_tokens or 0) - 1
        return (self.total_s - self.first_token_s) / more if more > 0 else 0.0


def endpoint(url: str, *, api: str, model: str, key: str | None = None) -> Endpoint:
    """Build an endpoint from what a person types; cuts ``/v1`` and a query and says so. Raises InputError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{url!r} is no http or https URL")
    notes = []
    path = parts.path.rstrip("/")
    if parts.query or parts.fragment:
        notes.append("the base URL holds a query or fragment: clients that append a path to it get 404; it was cut")
    if path.endswith("/v1"):
        path = path.removesuffix("/v1")
        notes.append("the base URL ends in /v1: clients that append /v1/... to it get 404; it was cut here")
    return Endpoint(f"{parts.scheme}://{parts.netloc}{path}", api, model, key, tuple(notes))


class Client:
    """Keep one connection to an endpoint; ``clock`` returns seconds and only differences are used."""

    def __init__(self, target: Endpoint, clock: Callable[[], float], timeout_s: float) -> None:
        self.target, self.clock, self.timeout_s = target, clock, timeout_s
        self.connection: http.client.HTTPConnection | None = None

    def send(self, body: Mapping[str, Any], *, cold: bool = False) -> Answer:
        """Send a body and read the whole stream; with ``cold`` over a new connection.

        Raises InputError with a plain explanation when the endpoint does not answer as its API should.
        """
        if cold:
            self.close()
        warm = self.connection is not None
        began = self.clock()
        try:
            connect_s = self._connect()
            fresh = connect_s > 0
            response = self._post(body)
            first_byte = self.clock() - began
            if response.status >= 400:
                raise InputError(explain(response.status, response.read(65536), self.target))
            return self._read(response, began, connect_s, first_byte, fresh)
        except InputError:
            self.close()
            raise
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if warm and isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
                return self.send(body)  # the server had closed the idle connection: every client opens a new one
            raise InputError(f"{self.target.base_url}: {_network(error)}") from error

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self.connection:
            self.connection.close()
        self.connection = None

    def _connect(self) -> float:
        if self.connection:
            return 0.0
        began = self.clock()
        parts = urlsplit(self.target.base_url)
        assert parts.hostname
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self.connection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=self.timeout_s, context=context
            )
        else:
            self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=self.timeout_s)
        self.connection.connect()
        return self.clock() - began

    def _post(self, body: Mapping[str, Any]) -> http.client.HTTPResponse:
        headers = {"content-type": "application/json", "accept": "text/event-stream", "user-agent": "prefixlint"}
        if self.target.key and self.target.api == "anthropic":
            headers |= {"x-api-key": self.target.key}
        elif self.target.key:
            headers |= {"authorization": f"Bearer {self.target.key}"}
        if self.target.api == "anthropic":
            headers |= {"anthropic-version": "2023-06-01"}
        assert self.connection
        self.connection.request("POST", self.target.path, json.dumps(body).encode(), headers)
        return self.connection.getresponse()

    def _read(
        self, response: http.client.HTTPResponse, began: float, connect_s: float, first_byte: float, fresh: bool
    ) -> Answer:
        kind = response.headers.get_content_type()
        if kind == "text/html":
            raise InputError(explain(response.status, response.read(65536), self.target))
        first_token, usage, seen = 0.0, Usage(), False
        for event in _events(response, streamed=kind == "text/event-stream"):
            seen = True
            if not first_token and _has_text(event):
                first_token = self.clock() - began
            usage = _merge(usage, _usage(event))
        if not seen:
            raise InputError(f"{self.target.base_url}{PATHS[self.target.api]}: the answer is neither JSON nor a stream")
        total = self.clock() - began
        if response.will_close:
            self.close()
        return Answer(connect_s, first_byte, first_token or total, total, usage, fresh)


def _events(response: http.client.HTTPResponse, *, streamed: bool) -> Iterator[dict[str, Any]]:
    """Yield the JSON documents of a server-sent-event stream, or the one document of a plain answer."""
    if not streamed:
        document = _json(response.read())
        if document is not None:
            yield document
        return
    for line in response:
        if line.startswith(b"data:") and (document := _json(line[5:])) is not None:
            yield document


def _json(data: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _has_text(event: dict[str, Any]) -> bool:
    """Say whether an event carries generated text, in any of the three APIs."""
    if event.get("type") in ("content_block_delta", "response.output_text.delta", "message"):
        return True
    for choice in event.get("choices") or ():
        piece = choice.get("delta") or choice.get("message") or {}
        if piece.get("content") or piece.get("reasoning_content") or piece.get("reasoning") or piece.get("tool_calls"):
            return True
    return event.get("object") == "response"


def _usage(event: dict[str, Any]) -> Usage:
    """Read usage wherever an event has it; input tokens are made to include cached ones.

    Field paths: OpenAI ``usage.prompt_tokens_details.cached_tokens`` and ``usage.input_tokens_details.cached_tokens``,
    Anthropic ``cache_read_input_tokens`` (its ``input_tokens`` exclude cached ones), llama.cpp ``timings.cache_n``.
    """
    holder = event.get("message") if isinstance(event.get("message"), dict) else event
    holder = event.get("response") if isinstance(event.get("response"), dict) else holder
    assert isinstance(holder, dict)
    usage = holder.get("usage") or event.get("usage") or {}
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    read = usage.get("cache_read_input_tokens", details.get("cached_tokens"))
    if read is None:
        read = (event.get("timings") or {}).get("cache_n")
    write = usage.get("cache_creation_input_tokens")
    total = usage.get("prompt_tokens", usage.get("input_tokens"))
    if total is not None and "cache_read_input_tokens" in usage:
        total += (read or 0) + (write or 0)
    return Usage(total, read, write, usage.get("completion_tokens", usage.get("output_tokens")))


def _merge(old: Usage, new: Usage) -> Usage:
    """Keep what an earlier event said and a later one does not repeat; Anthropic splits usage over two events."""
    return Usage(
        new.input_tokens if new.input_tokens is not None else old.input_tokens,
        new.cache_read if new.cache_read is not None else old.cache_read,
        new.cache_write if new.cache_write is not None else old.cache_write,
        new.output_tokens if new.output_tokens is not None else old.output_tokens,
    )


def explain(status: int, answer: bytes, target: Endpoint) -> str:
    """Say in plain words what an answer that is no completion means; never repeats the key."""
    text = answer.decode("utf-8", "replace").strip()
    place = f"{target.base_url}{PATHS[target.api]}"
    if text[:200].lstrip().lower().startswith(("<!doctype", "<html")):
        return f"{place}: a web page answered instead of an API ({status}); the base URL is a site's, not the API's"
    said = _excerpt(text, target.key)
    if status in (401, 403):
        return f"{place}: the key was refused ({status}); is the right variable named, and is it set? {said}"
    if status == 404 and "model" in text.lower():
        return f"{place}: the model {target.model!r} is not known there ({status}); {said}"
    if status == 404:
        return f"{place}: no such path ({status}); the base URL may need another path, or another --api; {said}"
    if status == 400 and "model" in text.lower():
        return f"{place}: the request was refused ({status}), probably for the model {target.model!r}; {said}"
    if status == 429:
        return f"{place}: too many requests or out of quota ({status}); {said}"
    if status >= 500:
        return f"{place}: the server failed ({status}); {said}"
    return f"{place}: the request was refused ({status}); {said}"


def _excerpt(text: str, key: str | None) -> str:
    from prefixlint.display import visible

    if key:
        text = text.replace(key, "<key>")
    return f"it said: {visible(text, _EXCERPT)}" if text else "it said nothing more"


def _network(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time; is the server overloaded, or a firewall silent?"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is the server running on that port?"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason}); is it http rather than https?"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError):
        return "the server closed the connection without an answer"
    return f"{type(error).__name__}: {error}"
