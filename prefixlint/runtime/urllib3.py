"""Put a guard into a pool of urllib3."""

from __future__ import annotations

from typing import Any

from prefixlint.runtime.guard import Guard


def watch(pool: Any, guard: Guard, *, session_header: str | None = None) -> Any:
    """Hand each JSON body that goes through a PoolManager (or connection pool) to the guard; return the pool.

    >>> import urllib3
    >>> from prefixlint import Guard
    >>> pool = watch(urllib3.PoolManager(), Guard())
    """
    send = pool.urlopen

    def urlopen(method: str, url: str, *args: Any, **options: Any) -> Any:
        body, headers = options.get("body"), options.get("headers") or pool.headers or {}
        lower = {k.lower(): v for k, v in headers.items()}
        if isinstance(body, bytes | str) and "json" in lower.get("content-type", ""):
            data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
            checked = guard.check(data, session=lower.get((session_header or "").lower()), url=url)
            if checked.changed:
                kept = {k: v for k, v in headers.items() if k.lower() != "content-length"}
                options = {**options, "body": checked.body, "headers": kept}
        return send(method, url, *args, **options)

    pool.urlopen = urlopen
    return pool
