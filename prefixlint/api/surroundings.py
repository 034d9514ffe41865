"""The surroundings of a command that builds a prompt: what is pinned, and what each variation changes.

The idea is that of reproducible builds' reprotest: run the same command under changed surroundings, one change at a
time, and see whether the output moves.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prefixlint.errors import InputError

PINNED_CLOCK = 1767225600  # 2026-01-01T00:00:00Z
OTHER_CLOCK = 1803733507  # 2027-02-27T13:05:07Z: another year, month, day, weekday, hour, minute and second
_PRELOADS = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1")
_PATCHES = Path(__file__).parent.parent / "runtime" / "surroundings"
_COPY_LIMIT = 50_000_000  # bytes; a larger working folder is not copied
_LINKED = {".git", ".venv", "venv", "node_modules"}  # large, and no prompt is made of their order: linked, not copied


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Hold everything a run gets from outside; ``wishes`` is what the Python patches are told."""

    env: Mapping[str, str]
    wishes: Mapping[str, Any]
    prefix: tuple[str, ...] = ()
    umask: int = 0o022
    order: str = ""  # lay the working folder out anew, files created "sorted" or "reversed"
    copy: str = ""  # run in a copy of the working folder with this name


@dataclass(frozen=True, slots=True)
class Variation:
    """Name one change; ``control`` is what it is compared with, the pinned surroundings unless it needs its own."""

    name: str
    changed: Surroundings
    control: Surroundings
    skipped: str = ""


def pinned(environ: Mapping[str, str], scratch: Path) -> Surroundings:
    """Return the pinned surroundings: equal runs of a program without randomness of its own print equal bytes."""
    (scratch / "tmp-a").mkdir(exist_ok=True)
    env = {
        **environ,
        "PYTHONHASHSEED": "0",
        "PERL_HASH_SEED": "0",
        "PERL_PERTURB_KEYS": "0",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": str(scratch / "tmp-a"),
        **_preload(environ, PINNED_CLOCK),
    }
    wishes = {"clock": PINNED_CLOCK, "random": 1, "host": "alpha", "cpus": 2, "order": "sorted"}
    return Surroundings(env, wishes, prefix=_host_prefix("alpha"))


def variations(base: Surroundings, scratch: Path, folder: Path) -> list[Variation]:
    """List every variation that this machine allows, in the order in which they are tried."""
    (scratch / "tmp-b").mkdir(exist_ok=True)

    def env(**changes: str) -> Surroundings:
        return replace(base, env={**base.env, **changes})

    def wish(changed: Surroundings = base, **changes: Any) -> Surroundings:
        return replace(changed, wishes={**base.wishes, **changes})

    clock = wish(env(**_preload(base.env, OTHER_CLOCK)), clock=OTHER_CLOCK)
    user = wish(env(USER="bea", LOGNAME="bea", USERNAME="bea"), user="bea")
    host = replace(wish(env(HOSTNAME="omega"), host="omega"), prefix=_host_prefix("omega"))
    changes = {
        "clock": clock,
        "hash-seed": env(PYTHONHASHSEED="4242", PERL_HASH_SEED="4242"),
        "random": wish(random=2),
        "time-zone": env(TZ="Asia/Kathmandu"),
        "locale": env(LANG="de_DE.UTF-8", LC_ALL="de_DE.UTF-8", LANGUAGE="de"),
        "host": host,
        "user": user,
        "home": env(HOME=str(_other_home(base.env, scratch))),
        "temp-dir": env(TMPDIR=str(scratch / "tmp-b"), TEMP=str(scratch / "tmp-b"), TMP=str(scratch / "tmp-b")),
        "cpus": replace(wish(cpus=1), prefix=(*base.prefix, *_one_cpu())),
        "umask": replace(base, umask=0o077),
    }
    out = [Variation(name, changed, base) for name, changed in changes.items()]
    if not _fits(folder):
        reason = f"the working folder holds more than {_COPY_LIMIT // 1_000_000} MB"
        return [*out, *(Variation(name, base, base, reason) for name in ("directory-order", "cwd"))]
    ordered = replace(base, order="sorted", copy="work")
    other = wish(replace(base, order="reversed", copy="work"), order="reversed")
    moved = replace(base, copy="elsewhere")
    return [
        *out,
        Variation("directory-order", other, ordered),
        Variation("cwd", moved, replace(base, copy="work")),
    ]


def run(command: Sequence[str], where: Surroundings, scratch: Path, folder: Path, *, timeout_s: float) -> bytes:
    """Run the command in these surroundings and return what it printed.

    Raises InputError when it cannot be started, fails, or takes longer than ``timeout_s``.
    """
    if shutil.which(command[0], path=where.env.get("PATH")) is None and not (folder / command[0]).is_file():
        raise InputError(f"cannot run {command[0]!r}: no such command")
    place = _laid_out(folder, scratch, where) if where.copy else folder
    env = {**where.env, "PREFIXLINT_VARY": json.dumps(where.wishes), "PYTHONPATH": _python_path(where.env)}
    try:
        done = subprocess.run(
            [*where.prefix, *command],
            cwd=place,
            env=env,
            umask=where.umask,
            timeout=timeout_s,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError:
        raise InputError(f"cannot run {command[0]!r}: no such command") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]!r} did not end within {timeout_s:g} s; see --timeout") from None
    finally:
        if where.copy:
            shutil.rmtree(_copies(scratch), ignore_errors=True)
    if done.returncode:
        tail = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
        raise InputError(f"{command[0]!r} failed with exit code {done.returncode}: {' | '.join(tail)}")
    return done.stdout


def _python_path(env: Mapping[str, str]) -> str:
    return os.pathsep.join(p for p in (str(_PATCHES), env.get("PYTHONPATH", "")) if p)


def _preload(env: Mapping[str, str], clock: int) -> dict[str, str]:
    """Fake the clock of any program through Debian's libfaketime where it is installed."""
    found = next((str(p) for pattern in _PRELOADS for p in sorted(Path("/").glob(pattern[1:]))), "")
    if not found:
        return {}
    old = [p for p in env.get("LD_PRELOAD", "").split(":") if p and p != found]
    return {
        "LD_PRELOAD": ":".join([found, *old]),
        "FAKETIME": str(clock),
        "FAKETIME_FMT": "%s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
    }


def _host_prefix(name: str) -> tuple[str, ...]:
    """Change the host name of any program in a name space of its own, where the kernel lets us."""
    wrap = ("unshare", "--user", "--map-root-user", "--uts", "--")
    try:
        allowed = subprocess.run([*wrap, "true"], capture_output=True, check=False, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        allowed = False
    return (*wrap, "sh", "-c", 'hostname "$0" 2>/dev/null; exec "$@"', name) if allowed else ()


def _one_cpu() -> tuple[str, ...]:
    return ("taskset", "--cpu-list", "0") if shutil.which("taskset") else ()


def _other_home(env: Mapping[str, str], scratch: Path) -> Path:
    """Make a home folder of another name that holds the same things, as links."""
    home = scratch / "home-b"
    home.mkdir(exist_ok=True)
    real = Path(env.get("HOME", "/"))
    for entry in real.iterdir() if real.is_dir() else ():
        link = home / entry.name
        if not link.is_symlink() and not home.resolve().is_relative_to(entry.resolve()):  # a link to it would be a loop
            link.symlink_to(entry)
    return home


def _fits(folder: Path) -> bool:
    size = 0
    for root, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in _LINKED]
        for name in files:
            path = Path(root) / name
            size += path.stat().st_size if path.is_file() and not path.is_symlink() else 0
            if size > _COPY_LIMIT:
                return False
    return True


def _copies(scratch: Path) -> Path:
    """Return where copies are laid out: in memory where possible, since tmpfs lists in order of creation."""
    memory = Path("/dev/shm")
    return memory / f"prefixlint-{scratch.name}" if os.access(memory, os.W_OK) else scratch / "copies"


def _laid_out(folder: Path, scratch: Path, where: Surroundings) -> Path:
    """Copy the working folder, creating its entries in the wanted order."""
    target = _copies(scratch) / where.copy
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for root, folders, files in os.walk(folder):
        names = sorted([*folders, *files], reverse=where.order == "reversed")
        folders[:] = [f for f in folders if f not in _LINKED]
        here = target / Path(root).relative_to(folder)
        for name in names:
            source, copy = Path(root) / name, here / name
            if source.is_symlink() or name in _LINKED:
                copy.symlink_to(source.resolve())
            elif source.is_dir():
                copy.mkdir()
            elif source.is_file():
                shutil.copy2(source, copy)
    return target
