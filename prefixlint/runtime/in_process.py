"""Change the surroundings of the running process for a moment, and put everything back.

References that other modules hold (``from datetime import datetime``) are replaced too. Out of reach are values that
were read before (at import time, in default arguments) and what C code asks by itself; the hash seed of a process
never changes, so that one is tried in a process of its own.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefixlint.runtime.surroundings.prefixlint_patches import Patch, patches

PINNED_CLOCK = 1767225600  # 2026-01-01T00:00:00Z
OTHER_CLOCK = 1803733507  # 2027-02-27T13:05:07Z: another year, month, day, weekday, hour, minute and second
_LOCALES = ("de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "en_GB.UTF-8")
# These tell the time for the test run itself, and must go on doing so.
_UNTOUCHED = ("_pytest", "pytest", "xdist", "execnet", "pluggy", "hypothesis", "logging", "threading", "concurrent",
              "asyncio", "prefixlint.runtime.surroundings", "prefixlint.runtime.in_process")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Hold the surroundings of one build; ``wishes`` is for the patches, ``env`` is added to the environment."""

    wishes: Mapping[str, Any]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    umask: int = 0o022
    locale: str = ""


def base(scratch: Path) -> Place:
    """Return the pinned surroundings, which all variations start from."""
    wishes = {"clock": PINNED_CLOCK, "random": 1, "host": "alpha", "user": "ann", "cpus": 2, "order": "sorted"}
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() may raise
    # All that a variation sets is set here too, so that none changes how many variables there are.
    env = {"TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LANGUAGE": "C", "HOSTNAME": "alpha"}
    env |= {"USER": "ann", "LOGNAME": "ann", "USERNAME": "ann", "HOME": home, "USERPROFILE": home}
    return Place(wishes, {**env, **_temp(scratch, "tmp-a")})


def variations(scratch: Path) -> dict[str, Place]:
    """Return every variation by name, in the order in which they are tried."""
    start = base(scratch)

    def env(**changes: str) -> Place:
        return replace(start, env={**start.env, **changes})

    def wish(place: Place = start, **changes: Any) -> Place:
        return replace(place, wishes={**place.wishes, **changes})

    return {
        "clock": wish(clock=OTHER_CLOCK),
        "random": wish(random=2),
        "time-zone": env(TZ="Asia/Kathmandu"),
        "locale": replace(env(LANG="de_DE.UTF-8", LC_ALL="de_DE.UTF-8", LANGUAGE="de"), locale="other"),
        "host": wish(env(HOSTNAME="omega"), host="omega"),
        "user": wish(env(USER="bea", LOGNAME="bea", USERNAME="bea"), user="bea"),
        "home": env(HOME=str(_other_home(scratch)), USERPROFILE=str(_other_home(scratch))),
        "temp-dir": env(**_temp(scratch, "tmp-b")),
        "env": env(PREFIXLINT_VARIED="1"),
        "cpus": wish(cpus=1),
        "umask": replace(start, umask=0o077),
        "directory-order": wish(order="reversed"),
        "cwd": replace(start, cwd=str(_mirror(Path.cwd(), scratch / "elsewhere"))),
    }


def _temp(scratch: Path, name: str) -> dict[str, str]:
    folder = scratch / name
    folder.mkdir(exist_ok=True)
    return dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))


def _other_home(scratch: Path) -> Path:
    return _mirror(Path(os.path.expanduser("~")), scratch / "home-b")  # noqa: PTH111 - Path.home() may raise


def _mirror(folder: Path, target: Path) -> Path:
    """Make a folder of another name that holds the same things, as links.

    What the new folder itself lies in is left out: a link to it would be a loop, and programs that walk folders (pytest
    looking for tests) follow links.
    """
    target.mkdir(exist_ok=True)
    place = target.resolve()
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            link = target / entry.name
            if not link.is_symlink() and not place.is_relative_to(entry.resolve()):
                link.symlink_to(entry)
    return target


@contextlib.contextmanager
def inside(place: Place) -> Iterator[None]:
    """Run a block in these surroundings; all is put back, whatever happens."""
    with contextlib.ExitStack() as back:
        _environment(place, back)
        _randomness(place.wishes.get("random"), back)
        if place.locale:
            _locale(back)
        old = os.umask(place.umask)
        back.callback(os.umask, old)
        if place.cwd:
            back.callback(os.chdir, Path.cwd())
            os.chdir(place.cwd)
        found = patches(dict(place.wishes))  # made while the real ones are still in place
        for owner, name, value in _everywhere(found):
            back.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        yield


def _everywhere(found: list[Patch]) -> list[Patch]:
    """Add the modules that hold what is replaced under a name of their own."""
    by_id = {id(getattr(o, n)): (getattr(o, n), v) for o, n, v in found if callable(getattr(o, n, None))}
    out = [(o, n, v) for o, n, v in found if hasattr(o, n)]
    owners = {id(o) for o, _, _ in found}
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if id(module) in owners or not isinstance(name, str) or name.startswith(_UNTOUCHED):
            continue
        for key, value in list(getattr(module, "__dict__", {}).items()):
            known = by_id.get(id(value))
            if known and known[0] is value:
                out.append((module, key, known[1]))
    return out


def _environment(place: Place, back: contextlib.ExitStack) -> None:
    old = dict(os.environ)

    def restore() -> None:
        for key in set(os.environ) - set(old):
            del os.environ[key]
        os.environ.update(old)
        _settle()

    back.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
    back.callback(restore)
    os.environ.update(place.env)
    tempfile.tempdir = None
    _settle()


def _settle() -> None:
    if hasattr(time, "tzset"):
        time.tzset()


def _randomness(seed: object, back: contextlib.ExitStack) -> None:
    if seed is None:
        return
    back.callback(random.setstate, random.getstate())
    random.seed(seed)  # type: ignore[arg-type]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        back.callback(numpy.random.set_state, numpy.random.get_state())
        numpy.random.seed(seed)


def _locale(back: contextlib.ExitStack) -> None:
    """Set another locale where the machine has one: names of months and number formats move."""
    import locale

    old = locale.setlocale(locale.LC_ALL)
    for name in _LOCALES:
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_ALL, name)
            back.callback(locale.setlocale, locale.LC_ALL, old)
            return


_MARK = b"\0prefix\0"
CHILD_S = 60
_CHILD = """
import asyncio, importlib, importlib.util, inspect, json, sys
path, module, name, folders = json.loads(sys.argv[1])
sys.path[:0] = [f for f in folders if f not in sys.path]
try:
    found = importlib.import_module(module)
except ImportError:
    spec = importlib.util.spec_from_file_location(module, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
build = found
for part in name.split("."):
    build = getattr(build, part)
value = build()
value = asyncio.run(value) if inspect.isawaitable(value) else value
plain = lambda v: v.model_dump(exclude_none=True) if hasattr(v, "model_dump") else list(v)
sys.stdout.buffer.write(b"\\0prefix\\0" + json.dumps(value, default=plain).encode())
"""


def in_children(build: Callable[[], object], seeds: Sequence[str], scratch: Path) -> list[object]:
    """Build in new Pythons with other hash seeds, at the same time.

    Raises ValueError saying why, where that cannot be done.
    """
    name, module = getattr(build, "__qualname__", ""), getattr(build, "__module__", "")
    if not inspect.isfunction(build) or "<" in name or build.__closure__:
        raise ValueError("the builder is no function of a module, so that a new process could import it")
    argument = json.dumps([build.__code__.co_filename, module, name, [p for p in sys.path if p]])
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(_child(argument, seed, base(scratch))) for seed in seeds]
        return [_printed(child) for child in children]


def _child(argument: str, seed: str, start: Place) -> subprocess.Popen[bytes]:
    env = {**os.environ, **start.env, "PYTHONHASHSEED": seed, "PREFIXLINT_VARY": json.dumps(dict(start.wishes))}
    folder = str(Path(__file__).parent / "surroundings")
    env["PYTHONPATH"] = os.pathsep.join(p for p in (folder, os.environ.get("PYTHONPATH", "")) if p)
    # NOTE: under xdist, standard input is the line to the controller; a child must not read from it.
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, argument],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _printed(child: subprocess.Popen[bytes]) -> object:
    try:
        out, err = child.communicate(timeout=CHILD_S)
    except subprocess.TimeoutExpired:
        child.kill()
        raise ValueError(f"the builder does not end within {CHILD_S} s in a process of its own") from None
    _, mark, printed = out.rpartition(_MARK)
    if child.returncode or not mark:
        last = err.decode(errors="replace").strip().splitlines()[-1:]
        raise ValueError(f"the builder does not run in a process of its own: {''.join(last)}")
    return json.loads(printed)
