"""Replacements for what a Python program asks its surroundings: clock, randomness, host, user, CPUs, folders.

``sitecustomize`` beside this file puts them into a program from the outside, the pytest plugin into a running one. This
file imports nothing of prefixlint, since it runs in programs that do not have it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

Patch = tuple[Any, str, Any]  # owner, name, replacement


def patches(wishes: dict[str, Any]) -> list[Patch]:
    """Return the replacements for some wishes.

    Each is optional: ``clock`` (epoch seconds at start), ``random`` (a seed), ``host``, ``user``, ``cpus``, ``order``
    (``sorted`` or ``reversed`` directory listings). The clock runs one microsecond a call, so that equal programs read
    equal times and loops that wait still end.
    """
    makers: dict[str, Callable[[Any], list[Patch]]] = {
        "random": _random,
        "clock": _clock,
        "host": _host,
        "user": _user,
        "cpus": _cpus,
        "order": _order,
    }
    return [patch for name, maker in makers.items() if name in wishes for patch in maker(wishes[name])]


def _clock(start: float) -> list[Patch]:
    """Replace the clocks that prompts are made from; ``time.monotonic`` stays, since programs wait by it."""
    import datetime as module
    import time

    calls = [0]
    real_gmtime, real_localtime, real_strftime, real_asctime = time.gmtime, time.localtime, time.strftime, time.asctime

    def now() -> float:
        calls[0] += 1
        return start + calls[0] * 1e-6

    class Meta(type):
        """Let values that C code made count as instances of the replaced classes."""

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, cls.__mro__[1])

    class Datetime(module.datetime, metaclass=Meta):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(now(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(now(), module.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

    class Date(module.date, metaclass=Meta):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

    Datetime.__name__ = Datetime.__qualname__ = "datetime"
    Date.__name__ = Date.__qualname__ = "date"

    def strftime(form: str, when: Any = None) -> str:
        return real_strftime(form, real_localtime(now()) if when is None else when)

    return [
        (time, "time", now),
        (time, "time_ns", lambda: int(now() * 1e9)),
        (time, "gmtime", lambda secs=None: real_gmtime(now() if secs is None else secs)),
        (time, "localtime", lambda secs=None: real_localtime(now() if secs is None else secs)),
        (time, "ctime", lambda secs=None: real_asctime(real_localtime(now() if secs is None else secs))),
        (time, "asctime", lambda when=None: real_asctime(real_localtime(now()) if when is None else when)),
        (time, "strftime", strftime),
        (module, "datetime", Datetime),
        (module, "date", Date),
    ]


def _random(seed: int) -> list[Patch]:
    """Make ``os.urandom``, and what is drawn from it (uuid4, secrets), repeatable; ``random`` is seeded elsewhere."""
    import _random
    import random
    import uuid

    source = _random.Random(seed)

    def urandom(size: int) -> bytes:
        return source.getrandbits(size * 8).to_bytes(size, "little") if size else b""

    return [
        (os, "urandom", urandom),
        (random, "_urandom", urandom),
        # uuid1 takes clock and node from C code; without it, from time.time_ns and the node set here.
        (uuid, "_generate_time_safe", None),
        (uuid, "_UuidCreate", None),
        (uuid, "_node", source.getrandbits(48)),
        (uuid, "_last_timestamp", None),
    ]


def _host(name: str) -> list[Patch]:
    import platform
    import socket

    real = os.uname()
    return [
        (os, "uname", lambda: os.uname_result((real[0], name, *real[2:]))),
        (socket, "gethostname", lambda: name),
        (socket, "getfqdn", lambda host="": host or name),
        (platform, "node", lambda: name),
    ]


def _user(name: str) -> list[Patch]:
    import getpass

    return [(os, "getlogin", lambda: name), (getpass, "getuser", lambda: name)]


def _cpus(number: int) -> list[Patch]:
    found: list[Patch] = [(os, "cpu_count", lambda: number)]
    if hasattr(os, "process_cpu_count"):
        found.append((os, "process_cpu_count", lambda: number))
    return found


def _order(kind: str) -> list[Patch]:
    """List directories sorted or reversed: both are orders that a file system may give."""
    real_listdir, real_scandir = os.listdir, os.scandir

    class Scan:
        def __init__(self, path: Any) -> None:
            with real_scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name, reverse=kind == "reversed")
            self.entries = iter(entries)

        def __iter__(self) -> Any:
            return self.entries

        def __next__(self) -> Any:
            return next(self.entries)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *problem: object) -> None:
            return None

        def close(self) -> None:
            return None

    return [
        (os, "listdir", lambda path=".": sorted(real_listdir(path), reverse=kind == "reversed")),
        (os, "scandir", lambda path=".": Scan(path)),
    ]
