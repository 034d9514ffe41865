from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prefixlint.api import surroundings

PROBE = (
    "import datetime, os, random, secrets, socket, time, uuid\n"
    "print(time.time(), datetime.datetime.now(), datetime.date.today(), uuid.uuid4(), uuid.uuid1(), random.random(),"
    " secrets.token_hex(), socket.gethostname(), os.listdir('.'), [e.name for e in os.scandir('.')],"
    " time.strftime('%X'))"
)


def run(tmp_path: Path, where: surroundings.Surroundings, folder: Path, code: str = PROBE) -> str:
    out = surroundings.run([sys.executable, "-c", code], where, tmp_path, folder, timeout_s=60)
    return out.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    for name in ("b.txt", "a.txt", "c.txt"):
        (made / name).write_text(name)
    return made


def test_pinned_runs_print_equal_bytes(tmp_path: Path, folder: Path) -> None:
    base = surroundings.pinned(os.environ, tmp_path)
    first = run(tmp_path, base, folder)
    assert first == run(tmp_path, base, folder)
    assert "2026-01-01 00:00:00" in first
    assert "['a.txt', 'b.txt', 'c.txt']" in first


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("clock", "import time; print(time.time())"),
        ("hash-seed", "print({'a', 'b', 'c', 'd', 'e', 'f', 'g'})"),
        ("random", "import uuid; print(uuid.uuid4())"),
        ("time-zone", "import time; print(time.tzname)"),
        ("locale", "import os; print(os.environ['LANG'])"),
        ("host", "import socket; print(socket.gethostname())"),
        ("user", "import getpass; print(getpass.getuser())"),
        ("home", "import os; print(os.path.expanduser('~'))"),
        ("temp-dir", "import tempfile; print(tempfile.gettempdir())"),
        ("cpus", "import os; print(os.cpu_count())"),
        ("umask", "import os; print(os.umask(0))"),
        ("directory-order", "import os; print(os.listdir('.'))"),
        ("cwd", "import os; print(os.getcwd())"),
    ],
)
def test_each_variation_moves_its_own_thing(tmp_path: Path, folder: Path, name: str, code: str) -> None:
    base = surroundings.pinned(os.environ, tmp_path)
    tried = {v.name: v for v in surroundings.variations(base, tmp_path, folder)}
    moved = [
        v.name
        for v in tried.values()
        if v.name == name and run(tmp_path, v.changed, folder, code) != run(tmp_path, v.control, folder, code)
    ]
    assert moved == [name]


def test_wait_loops_still_end(tmp_path: Path, folder: Path) -> None:
    code = "import time\nend = time.monotonic() + 0.05\nwhile time.monotonic() < end: time.time()\nprint('done')"
    assert run(tmp_path, surroundings.pinned(os.environ, tmp_path), folder, code) == "done\n"


def test_a_failing_command_says_so(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(surroundings.InputError, match="exit code 3"):
        run(tmp_path, surroundings.pinned(os.environ, tmp_path), folder, "import sys; sys.exit(3)")
