"""Put a guard into httpx, and so into every SDK that is built on it: openai, anthropic, mistralai, groq, google-genai.

Works with ``httpx`` and with its successor ``httpx2``; neither is imported here, the first request says which it is.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from prefixlint.runtime.guard import Checked, Guard, latest

QUICK_BYTES = 200_000  # above, an async request is looked at in a thread, so that the loop goes on
_JSON = "application/json"
_CLIENT_PLACES = (
    "_client",  # openai, anthropic, groq
    "_api_client._httpx_client",
    "_api_client._async_httpx_client",  # google-genai
    "sdk_configuration.client",
    "sdk_configuration.async_client",  # mistralai
)


class GuardTransport:
    """Hand each request to the guard, then to ``transport`` (a plain one of the caller's library by default).

    >>> import httpx
    >>> from prefixlint import Guard
    >>> client = httpx.Client(transport=GuardTransport(Guard()))
    """

    def __init__(self, guard: Guard, transport: Any = None, *, session_header: str | None = None) -> None:
        """Wrap a transport; ``session_header`` names a header whose value is the session id."""
        self.guard, self._inner, self._header = guard, transport, session_header

    def handle_request(self, request: Any) -> Any:
        """Check the body, then send the request, unchanged unless the guard canonicalizes."""
        if _is_candidate(request):
            body = request.read()
            if body:
                checked = self.guard.check(body, session=_session(request, self._header), url=str(request.url))
                request = _sent(request, checked)
        return self._transport(request).handle_request(request)

    def _transport(self, request: Any) -> Any:
        if self._inner is None:
            self._inner = _library(request).HTTPTransport()
        return self._inner

    def close(self) -> None:
        """Close the wrapped transport."""
        if self._inner is not None:
            self._inner.close()

    def __enter__(self) -> GuardTransport:
        """Enter the wrapped transport."""
        if self._inner is not None:
            self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """Leave the wrapped transport."""
        if self._inner is not None:
            self._inner.__exit__(kind, error, trace)


class AsyncGuardTransport:
    """Do for ``AsyncClient`` what GuardTransport does for ``Client``; works under asyncio and trio."""

    def __init__(self, guard: Guard, transport: Any = None, *, session_header: str | None = None) -> None:
        """Wrap a transport; ``session_header`` names a header whose value is the session id."""
        self.guard, self._inner, self._header = guard, transport, session_header

    async def handle_async_request(self, request: Any) -> Any:
        """Check the body, then send the request, unchanged unless the guard canonicalizes."""
        if _is_candidate(request):
            body = await request.aread()
            if body:
                checked = await self._check(body, request)
                request = _sent(request, checked)
        return await self._transport(request).handle_async_request(request)

    async def _check(self, body: bytes, request: Any) -> Checked:
        """Look at large bodies, and load the vocabulary, in a thread."""
        session, url = _session(request, self._header), str(request.url)
        if len(body) < QUICK_BYTES and self.guard.totals.requests:
            return self.guard.check(body, session=session, url=url)
        from anyio import to_thread

        checked = await to_thread.run_sync(lambda: self.guard.check(body, session=session, url=url))
        latest.set(checked)
        return checked

    def _transport(self, request: Any) -> Any:
        if self._inner is None:
            self._inner = _library(request).AsyncHTTPTransport()
        return self._inner

    async def aclose(self) -> None:
        """Close the wrapped transport."""
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> AsyncGuardTransport:
        """Enter the wrapped transport."""
        if self._inner is not None:
            await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """Leave the wrapped transport."""
        if self._inner is not None:
            await self._inner.__aexit__(kind, error, trace)


def watch(client: Any, guard: Guard, *, session_header: str | None = None) -> Any:
    """Put a guard into a client that exists, of httpx or of an SDK, and return the client.

    Keeps its connections, time-outs, proxies and certificates. Raises TypeError when no httpx client is found in it.

    >>> import openai
    >>> client = watch(openai.OpenAI(api_key="x"), Guard())
    """
    found = [c for c in _clients(client) if hasattr(c, "_transport") and hasattr(c, "_mounts")]
    if not found:
        raise TypeError(f"no httpx client in {type(client).__name__}; give it one with transport=GuardTransport(guard)")
    for inner in found:
        inner._transport = _wrapped(inner._transport, guard, session_header)
        inner._mounts = {k: t and _wrapped(t, guard, session_header) for k, t in inner._mounts.items()}
    return client


def _clients(client: Any) -> Iterator[Any]:
    yield client
    for place in _CLIENT_PLACES:
        found = client
        for name in place.split("."):
            found = getattr(found, name, None)
        if found is not None:
            yield found


def _wrapped(transport: Any, guard: Guard, header: str | None) -> Any:
    if isinstance(transport, GuardTransport | AsyncGuardTransport):
        return transport
    kind = AsyncGuardTransport if hasattr(transport, "handle_async_request") else GuardTransport
    return kind(guard, transport, session_header=header)


def _library(request: Any) -> Any:
    """Return httpx or httpx2, whichever the request is of."""
    name = type(request).__module__.partition(".")[0]
    return sys.modules.get(name) or importlib.import_module(name)


def _is_candidate(request: Any) -> bool:
    """Say whether a request has a JSON body."""
    return request.method == "POST" and _JSON in request.headers.get("content-type", "")


def _session(request: Any, header: str | None) -> str | None:
    return request.headers.get(header) if header else None


def _sent(request: Any, checked: Checked) -> Any:
    """Return the request with the canonical body, the request itself where nothing changed."""
    if not checked.changed or not isinstance(checked.body, bytes):
        return request
    headers = request.headers.copy()
    headers["content-length"] = str(len(checked.body))
    return type(request)(
        request.method, request.url, headers=headers, content=checked.body, extensions=request.extensions
    )
