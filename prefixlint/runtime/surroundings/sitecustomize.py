"""Pin or change the surroundings of a Python program from the outside; put on PYTHONPATH by ``prefixlint vary``.

What to do stands in ``PREFIXLINT_VARY``, a JSON object; each member is optional: ``clock`` (epoch seconds at start),
``random`` (a seed), ``host``, ``user``, ``cpus``, ``order`` (``sorted`` or ``reversed`` directory listings). The clock
runs one microsecond a call, so that equal programs read equal times and loops that wait still end.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
from typing import Any


def _clock(start: float) -> None:
    """Replace the clocks that prompts are made from; ``time.monotonic`` stays, since programs wait by it."""
    import datetime as module
    import time

    calls = [0]
    real_gmtime, real_localtime, real_strftime = time.gmtime, time.localtime, time.strftime

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

    def strftime(form: str, when: Any = None) -> str:
        return real_strftime(form, real_localtime(now()) if when is None else when)

    time.time = now
    time.time_ns = lambda: int(now() * 1e9)
    time.gmtime = lambda secs=None: real_gmtime(now() if secs is None else secs)
    time.localtime = lambda secs=None: real_localtime(now() if secs is None else secs)
    time.ctime = lambda secs=None: time.asctime(real_localtime(now() if secs is None else secs))
    time.strftime = strftime
    module.datetime, module.date = Datetime, Date  # type: ignore[misc]


def _random(seed: int) -> None:
    """Make ``os.urandom``, and what is drawn from it (uuid4, secrets, random), repeatable."""
    import _random

    source = _random.Random(seed)

    def urandom(size: int) -> bytes:
        return source.getrandbits(size * 8).to_bytes(size, "little") if size else b""

    os.urandom = urandom
    import random

    random.seed(seed)
    random._urandom = urandom  # type: ignore[attr-defined]
    import uuid

    # uuid1 takes clock and node from C code; without it, from time.time_ns and the node set here.
    uuid._generate_time_safe = uuid._UuidCreate = None  # type: ignore[attr-defined]
    uuid._node = source.getrandbits(48)  # type: ignore[attr-defined]


def _host(name: str) -> None:
    import platform
    import socket as module

    socket: Any = module

    real = os.uname()
    os.uname = lambda: os.uname_result((real[0], name, *real[2:]))
    socket.gethostname = lambda: name
    socket.getfqdn = lambda host="": host or name
    platform.node = lambda: name


def _user(name: str) -> None:
    import getpass

    os.getlogin = lambda: name
    getpass.getuser = lambda: name


def _cpus(number: int) -> None:
    os.cpu_count = lambda: number


def _order(kind: str) -> None:
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

    patched: Any = os
    patched.listdir = lambda path=".": sorted(real_listdir(path), reverse=kind == "reversed")
    patched.scandir = lambda path=".": Scan(path)


def _apply(wishes: dict[str, Any]) -> None:
    actions: dict[str, Any] = {
        "random": _random,
        "clock": _clock,
        "host": _host,
        "user": _user,
        "cpus": _cpus,
        "order": _order,
    }
    for name, action in actions.items():
        if name in wishes:
            action(wishes[name])


def _next_sitecustomize() -> None:
    """Run the program's own sitecustomize, which this one stands in front of."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != here]  # noqa: PTH100
    ours = sys.modules.pop("sitecustomize")
    try:
        builtins.__import__("sitecustomize")
    except ImportError:
        pass
    finally:
        sys.modules.setdefault("sitecustomize", ours)


_apply(json.loads(os.environ.get("PREFIXLINT_VARY", "{}")))
_next_sitecustomize()
