"""Each kind of variation, end to end: a command whose prompt depends on it, run by ``prefixlint vary``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prefixlint.api import surroundings
from prefixlint.cli.vary import command
from prefixlint.errors import ConfigError

RULES = "Answer kindly, in order and without haste. " * 12
PYTHON = {
    "clock": "__import__('time').strftime('%H:%M:%S', __import__('time').gmtime())",
    "hash-seed": "', '.join({'alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'})",
    "locale": "__import__('os').environ['LANG']",
    "directory-order": "' '.join(__import__('os').listdir('files'))",
    "host": "__import__('socket').gethostname()",
    "temp-dir": "__import__('tempfile').gettempdir()",
    "random": "__import__('uuid').uuid4().hex",
    "": "'fixed'",
}
SHELL = {
    "clock": "$(date -u +%H:%M:%S)",
    "locale": "$LANG",
    "directory-order": "$(ls -U files)",
    "host": "$(uname -n)",
    "temp-dir": "${TMPDIR}",
    "random": "$(od -An -N8 -tx1 /dev/urandom)",
    "": "fixed",
}
HAS_FAKETIME = bool(surroundings._preload({}, 0))
HAS_NAMES = bool(surroundings._host_prefix("x"))
IN_MEMORY = os.access("/dev/shm", os.W_OK)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = tmp_path / "project" / "files"
    files.mkdir(parents=True)
    for name in ("b.txt", "a.txt", "c.txt"):
        (files / name).write_text(name)
    monkeypatch.chdir(files.parent)
    return files.parent


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["--format", "json", *arguments], catch_exceptions=False)


def guilty(*arguments: str) -> list[str]:
    result = run(*arguments)
    found: list[str] = json.loads(result.stdout)["guilty"]
    assert result.exit_code == (1 if found else 0)
    for variation in json.loads(result.stdout)["variations"]:
        for fork in variation["forks"]:
            assert fork["token"] > 100  # twelve times nine tokens stand before the value
    return found


@pytest.mark.parametrize("name", PYTHON)
def test_python(folder: Path, name: str) -> None:
    (folder / "build.py").write_text(
        f"import json\nvalue = {PYTHON[name]}\nsystem = {RULES!r} + str(value) + '. ' + {RULES!r}\n"
        "talk = [{'role': 'system', 'content': system}, {'role': 'user', 'content': 'Why?'}]\n"
        "print(json.dumps({'model': 'gpt-4o', 'messages': talk}))\n"
    )
    assert guilty("--", sys.executable, "build.py") == ([name] if name else [])


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("name", SHELL)
def test_shell(folder: Path, name: str) -> None:
    if (name == "clock" and not HAS_FAKETIME) or (name == "host" and not HAS_NAMES):
        pytest.skip("this machine cannot change it for programs that are not Python")
    if name == "directory-order" and not IN_MEMORY:
        pytest.skip("this file system has an order of its own")
    (folder / "build.sh").write_text(f'echo "{RULES}{SHELL[name]}. {RULES}"\n')
    found = guilty("--", "sh", "build.sh")
    if name == "clock" and "time-zone" in found:  # libfaketime takes its time anew when date -u sets TZ
        found.remove("time-zone")
    assert found == ([name] if name else [])


@pytest.mark.parametrize(
    ("program", "code", "name"),
    [
        ("perl", "my %h = map { $_ => 1 } 'a'..'m'; print '{}' x 0, join(' ', keys %h)", "hash-seed"),
        ("perl", "print scalar gmtime", "clock"),
        ("node", "process.stdout.write(String(Math.random()))", "random"),
        ("node", "process.stdout.write(new Date().toISOString())", "clock"),
        ("node", "process.stdout.write(require('os').tmpdir())", "temp-dir"),
    ],
)
def test_other_languages(folder: Path, program: str, code: str, name: str) -> None:
    if not shutil.which(program) or (name == "clock" and not HAS_FAKETIME):
        pytest.skip(f"no {program} or no faked clock here")
    script = folder / "build"
    start = f"$| = 1; print q({RULES});" if program == "perl" else f"process.stdout.write({json.dumps(RULES)});"
    script.write_text(f"{start}\n{code}\n")
    assert guilty("--", program, "build") == [name]


def test_local_time_moves_with_clock_and_zone(folder: Path) -> None:
    code = f"import datetime; print({RULES!r}, datetime.datetime.now())"
    assert guilty("--only", "clock", "--only", "time-zone", "--", sys.executable, "-c", code) == ["clock", "time-zone"]


def test_several_bodies_and_the_last_turn(folder: Path) -> None:
    (folder / "build.py").write_text(
        "import json, os\n"
        "for k in range(3):\n"
        f"    talk = [{{'role': 'system', 'content': {RULES!r}}}]\n"
        "    talk.append({'role': 'user', 'content': f'Question {k} from ' + os.environ['LANG'] * (k == 1)})\n"
        "    print(json.dumps({'model': 'gpt-4o', 'messages': talk}))\n"
    )
    document = json.loads(run("--only", "locale", "--", sys.executable, "build.py").stdout)
    assert document["bodies"] == 3
    [moved] = document["variations"]
    assert [(f["pointer"], f["after"]["record"]) for f in moved["forks"]] == [("/messages/1/content", 1)]


def test_the_text_names_token_and_sides(folder: Path) -> None:
    arguments = ["--only", "locale", "--", sys.executable, "-c", f"import os; print({RULES!r} + os.environ['LANG'])"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 1
    assert "locale           MOVES token 108 at the text" in result.stdout
    redacted = CliRunner().invoke(command, ["--redact", *arguments]).stdout
    assert "de_DE" in result.stdout
    assert "de_DE" not in redacted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-command-anywhere"], "no such command"),
        ([sys.executable, "-c", "import sys; sys.exit('out of luck')"], "exit code 1: out of luck"),
        ([sys.executable, "-c", "pass"], "printed nothing"),
    ],
)
def test_commands_that_fail(folder: Path, arguments: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "prefixlint", "vary", "--", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr


def test_unknown_variations_list_the_known(folder: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'clock'"):
        run("--only", "clocks", "--", sys.executable, "-c", "print('a prompt')")
