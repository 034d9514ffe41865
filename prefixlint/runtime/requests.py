"""Put a guard into a ``requests.Session``."""

from __future__ import annotations

from typing import Any

from prefixlint.runtime.guard import Guard


class GuardAdapter:
    """Hand each JSON body to the guard, then send the request with ``adapter`` (a plain HTTPAdapter by default).

    >>> import requests
    >>> from prefixlint import Guard
    >>> session = requests.Session()
    >>> session.mount("https://", GuardAdapter(Guard()))
    """

    def __init__(self, guard: Guard, adapter: Any = None, *, session_header: str | None = None) -> None:
        """Wrap an adapter; ``session_header`` names a header whose value is the session id."""
        self.guard, self._inner, self._header = guard, adapter, session_header

    @property
    def inner(self) -> Any:
        """Return the adapter that sends."""
        if self._inner is None:
            from requests.adapters import HTTPAdapter

            self._inner = HTTPAdapter()
        return self._inner

    def send(self, request: Any, *args: Any, **options: Any) -> Any:
        """Check the body, then send the request, unchanged unless the guard canonicalizes."""
        body = request.body
        if isinstance(body, bytes | str) and "json" in (request.headers.get("content-type") or ""):
            data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
            session = request.headers.get(self._header) if self._header else None
            checked = self.guard.check(data, session=session, url=request.url or "")
            if checked.changed and isinstance(checked.body, bytes):
                request = request.copy()
                request.body = checked.body
                request.headers["Content-Length"] = str(len(checked.body))
        return self.inner.send(request, *args, **options)

    def close(self) -> None:
        """Close the adapter that sends."""
        if self._inner is not None:
            self._inner.close()


def watch(session: Any, guard: Guard, *, session_header: str | None = None) -> Any:
    """Put a guard in front of all adapters of a session, and return the session."""
    for prefix, adapter in list(session.adapters.items()):
        if not isinstance(adapter, GuardAdapter):
            session.mount(prefix, GuardAdapter(guard, adapter, session_header=session_header))
    return session
