from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from prefixlint.runtime import in_process

pytest_plugins = ["pytester"]
MODULE = "prefixlint.runtime.pytest_plugin"
# An editable install that is older than the entry point does not know it yet.
LOAD = () if any(e.value == MODULE for e in entry_points(group="pytest11")) else ("-p", MODULE)

FRONT = """
import datetime, getpass, glob, json, locale, os, pathlib, platform, random, secrets, socket, tempfile, time, uuid
from datetime import date, datetime as dt
from os import listdir
from time import time as now

RULES = "Answer kindly, in order and without haste. " * 20

def body(value, question="Why?"):
    return {"model": "gpt-4o", "messages": [
        {"role": "system", "content": f"{RULES}{value}. {RULES}"}, {"role": "user", "content": question}]}
"""
GUILTY = {
    "clock": ["dt.now()", "date.today()", "now()", "time.strftime('%H:%M')", "datetime.datetime.now(datetime.UTC)"],
    "random": ["uuid.uuid4()", "random.random()", "secrets.token_hex(8)", "os.urandom(8).hex()"],
    "time-zone": ["dt.fromtimestamp(1_000_000_000)", "time.tzname"],
    "locale": ["os.environ['LANG']"],
    "host": ["socket.gethostname()", "platform.node()"],
    "user": ["getpass.getuser()"],
    "home": ["pathlib.Path.home()"],
    "temp-dir": ["tempfile.gettempdir()"],
    "env": ["len(os.environ)"],
    "cpus": ["os.cpu_count()"],
    "directory-order": ["listdir('files')", "glob.glob('files/*')", "list(pathlib.Path('files').iterdir())"],
    "cwd": ["os.getcwd()"],
    "umask": ["os.umask(0o022)"],
    "hash-seed": ["', '.join({'alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'})"],
    "repeat": ["len(SEEN) or SEEN.append(1)"],
}
CASES = [(name, code) for name, codes in GUILTY.items() for code in codes]


def write(pytester: pytest.Pytester, code: str) -> None:
    pytester.makepyfile(test_it=FRONT + code)
    folder = pytester.mkdir("files")
    for name in ("b.txt", "a.txt", "c.txt"):
        (folder / name).write_text(name)


def test_each_variation_names_its_own_thing(pytester: pytest.Pytester) -> None:
    tests = [
        f"def build_{k}():\n    return body({code})\ndef test_{k}(prefix_stable):\n    prefix_stable(build_{k})\n"
        for k, (_, code) in enumerate(CASES)
    ]
    write(pytester, "SEEN = []\n" + "\n".join(tests))
    done = pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider", "-rN", "--tb=short")
    done.assert_outcomes(failed=len(CASES))
    text = done.stdout.str()
    for k, (name, code) in enumerate(CASES):
        part = text.partition(f"_ test_{k} _")[2].partition("_ test_")[0]
        found = set(re.findall(r"the prefix moves (?:with )?([\w-]+) (?:at token|nothing)", part))
        local = {"time-zone"} if name == "clock" and found - {"clock"} else set()  # local time moves with both
        assert found == {"although" if name == "repeat" else name} | local, (code, part)
        assert "/messages/0/content" in part


def test_stable_prompts_pass(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
async def build_async():
    return body("fixed")

def test_plain(prefix_stable):
    prefix_stable(lambda: body("fixed"))

def test_clock_in_the_last_turn(prefix_stable):
    prefix_stable(lambda: body("fixed", f"It is {dt.now()}. Why?"))

def test_text(prefix_stable):
    prefix_stable(lambda: RULES)

def test_messages(prefix_stable):
    prefix_stable(lambda: body("fixed")["messages"])

def test_several(prefix_stable):
    prefix_stable(lambda: [body("one"), body("two")])

def test_async(prefix_stable):
    prefix_stable(build_async)

def test_only_some(prefix_stable):
    prefix_stable(lambda: body(dt.now()), variations=["host", "cwd"])

def test_up_to_a_number_of_tokens(prefix_stable):
    prefix_stable(lambda: body(dt.now()), until=100)

def test_sorted_files(prefix_stable):
    prefix_stable(lambda: body(sorted(listdir("files"))))

def test_relative_files(prefix_stable):
    prefix_stable(lambda: body(open("files/a.txt").read()))
""",
    )
    done = pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider", "-W", "ignore")
    done.assert_outcomes(passed=10)


def test_until_and_reports(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
def test_end(prefix_stable):
    prefix_stable(lambda: body("fixed", f"It is {dt.now():%H:%M:%S}. Why?"), until="end")

def test_pointer(prefix_stable):
    prefix_stable(lambda: body(dt.now(), "Why?"), until="/messages/0", variations=["clock"])
    prefix_stable(lambda: body(dt.now(), "Why?"), until="/messages/1", variations=["clock"])

def test_unknown(prefix_stable):
    prefix_stable(lambda: body(1), variations=["clocks"])

def test_prefix_of(assert_prefix_of):
    first = body("fixed")
    longer = {**first, "messages": [*first["messages"], {"role": "assistant", "content": "So."}]}
    assert_prefix_of(first, longer)
    assert_prefix_of("Once upon", "Once upon a time")
    assert_prefix_of(first, body("other"))

def test_longer_is_no_prefix(assert_prefix_of):
    first = body("fixed")
    assert_prefix_of({**first, "messages": [*first["messages"], {"role": "assistant", "content": "So."}]}, first)
""",
    )
    done = pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider", "--tb=short")
    done.assert_outcomes(failed=5)
    done.stdout.fnmatch_lines_random(
        [
            "the prefix moves with clock at token * (timestamp)",
            "  1. timestamp at /messages/1/content*",
            "  1. timestamp at /messages/0/content*",
            "*ConfigError: unknown variation 'clocks': did you mean 'clock'?",
            "the earlier prompt is no prefix of the later one",
            "     as it is:1 -> clock:1, token *",
        ]
    )


SNAPSHOT = """
import pytest
@pytest.mark.parametrize("name", ["a", "b/c", "d"])
def test_kept(prefix_snapshot, name):
    prefix_snapshot(body(f"fixed {name} WORD"))
"""


def test_snapshots(pytester: pytest.Pytester) -> None:
    write(pytester, SNAPSHOT)
    run = pytester.runpytest_inprocess
    run(*LOAD, "-p", "no:cacheprovider").stdout.fnmatch_lines(
        ["*no prefix is stored in *; run pytest --prefixlint-update*"]
    )
    run(*LOAD, "-p", "no:cacheprovider", "--prefixlint-update").assert_outcomes(passed=3)
    files = sorted(Path("__prefixes__/test_it").iterdir())
    assert [f.name for f in files] == ["test_kept[a].json", "test_kept[b_c].json", "test_kept[d].json"]
    kept = json.loads(files[0].read_text())
    assert kept["tokenizer"] == "o200k_base"
    assert [p["at"] for p in kept["prefix"] if "fixed" in p["text"]] == ["/messages/0/content"]
    assert 300 < kept["tokens"] < 500  # 40 times 8 or 9 tokens
    before = [f.read_bytes() for f in files]
    run(*LOAD, "-p", "no:cacheprovider").assert_outcomes(passed=3)
    run(*LOAD, "-p", "no:cacheprovider", "--prefixlint-update").assert_outcomes(passed=3)
    assert [f.read_bytes() for f in files] == before
    pytester.makepyfile(test_it=FRONT + SNAPSHOT.replace("WORD", "OTHER"))
    done = pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider")
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(["*changed at /messages/0/content*tokens were stored, now there are*"])


def test_xdist(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    write(pytester, SNAPSHOT + "\ndef test_stable(prefix_stable):\n    prefix_stable(lambda: body(dt.now()))\n")
    run = pytester.runpytest_subprocess
    run("-n", "2", "--prefixlint-update", *LOAD, "-p", "no:cacheprovider", timeout=120).assert_outcomes(
        passed=3, failed=1
    )
    # The first run left its --basetemp in this folder, and this one looks for tests in all of it.
    run("-n", "2", *LOAD, "-p", "no:cacheprovider", timeout=120).assert_outcomes(passed=3, failed=1)


def test_no_links_are_left_and_none_is_a_loop(pytester: pytest.Pytester, tmp_path: Path) -> None:
    inner = pytester.mkdir("inner")
    in_process.variations(inner)  # as with a --basetemp inside of the folder of the tests
    assert {p.name for p in (inner / "elsewhere").iterdir()} == {p.name for p in Path.cwd().iterdir()} - {"inner"}
    write(pytester, "def test_it(prefix_stable): prefix_stable(lambda: RULES)")
    (inner / "elsewhere" / "test_it.py").unlink(missing_ok=True)
    pytester.runpytest_inprocess("--basetemp=base", *LOAD, "-p", "no:cacheprovider", "test_it.py").assert_outcomes(
        passed=1
    )
    assert not [p for p in Path("base").rglob("*") if p.is_symlink() and not p.name.endswith("current")]


def test_the_plugin_can_be_turned_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(prefix_stable): pass")
    done = pytester.runpytest_inprocess("-p", "no:prefixlint", "-p", "no:cacheprovider")
    done.stdout.fnmatch_lines(["*fixture 'prefix_stable' not found*"])
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess("-p", "no:prefixlint", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"prefixlint": MODULE}


def test_the_plugin_costs_nothing_unused() -> None:
    code = "import sys, prefixlint.runtime.pytest_plugin; print(sorted(m for m in sys.modules if 'prefixlint' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['prefixlint', 'prefixlint.runtime', 'prefixlint.runtime.pytest_plugin']"


def test_everything_is_put_back(tmp_path: Path) -> None:
    import datetime
    import locale
    import socket
    import tempfile
    import uuid

    def state() -> tuple[object, ...]:
        return (
            dict(os.environ), Path.cwd(), random.getstate(), time.time, datetime.datetime, datetime.date, os.urandom,
            os.listdir, os.scandir, socket.gethostname, os.cpu_count, tempfile.tempdir, locale.setlocale(locale.LC_ALL),
            time.tzname, uuid._node, os.umask(os.umask(0o022)), random._urandom,  # type: ignore[attr-defined]
        )  # fmt: skip

    before = state()
    for place in in_process.variations(tmp_path).values():
        with pytest.raises(ZeroDivisionError), in_process.inside(place):
            assert time.time() != before
            os.environ["LEFT_BEHIND"] = "1"
            del os.environ["PATH"]
            raise ZeroDivisionError
    os.umask(before[-2])  # type: ignore[arg-type]
    assert state() == before
