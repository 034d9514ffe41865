"""Put a guard into an ``aiohttp.ClientSession`` as a client middleware (aiohttp 3.12 or later)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from prefixlint.runtime.guard import Guard

Handler = Callable[[Any], Awaitable[Any]]


def guard_middleware(guard: Guard, *, session_header: str | None = None) -> Callable[[Any, Handler], Awaitable[Any]]:
    """Make the middleware: ``aiohttp.ClientSession(middlewares=(guard_middleware(guard),))``."""

    async def middleware(request: Any, handler: Handler) -> Any:
        if "json" in request.headers.get("content-type", ""):
            body = await _bytes_of(request.body)
            if body:
                session = request.headers.get(session_header) if session_header else None
                checked = guard.check(body, session=session, url=str(request.url))
                if checked.changed:
                    await request.update_body(checked.body)
        return await handler(request)

    return middleware


async def _bytes_of(body: Any) -> bytes | None:
    """Return the body where it lies in memory; one that is read from a stream can be read only once."""
    if isinstance(body, bytes):
        return body
    value = getattr(body, "_value", None)
    if isinstance(value, bytes):
        return value
    return bytes(await body.as_bytes()) if isinstance(value, bytearray | memoryview | str) else None
