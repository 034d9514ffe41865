"""`prefixlint diff` as a person runs it: exit codes, formats, filters, what goes where."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from prefixlint.cli.diff import command

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "prefixlint" / "schemas" / "report-v1.json").read_text(encoding="utf-8"))
AGENT, HEALTHY = ROOT / "examples" / "agent.jsonl", ROOT / "examples" / "healthy.jsonl"
STATIC = "You are a clerk. Follow the handbook, answer in short sentences and cite the paragraph you rely on. " * 3


def run(*arguments: Any, **more: Any) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False, **more)


def line(clock: str, question: str = "hello", **more: Any) -> str:
    system = f"Current time: {clock}\n{STATIC}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    return json.dumps({**more, "request": {"model": "gpt-4o", "messages": messages}})


@pytest.fixture
def forked(tmp_path: Path) -> Path:
    path = tmp_path / "forked.jsonl"
    path.write_text(line("2026-03-02 09:14:03") + "\n" + line("2026-03-02 09:15:41") + "\n")
    return path


def test_json_follows_the_schema_and_names_the_planted_causes() -> None:
    result = run(AGENT, "--format", "json")
    document = json.loads(result.stdout)
    jsonschema.validate(document, SCHEMA)
    assert result.exit_code == 1
    assert {f["cause"] for f in document["forks"]} == {"timestamp", "tool-order", "key-order", "trailing-whitespace"}
    assert document["tokenizer"] == {"name": "o200k_base", "exact": True}


def test_a_healthy_log_gives_nothing() -> None:
    result = run(HEALTHY, "--format", "json")
    document = json.loads(result.stdout)
    assert (document["forks"], document["sites"], document["findings"], result.exit_code) == ([], [], [], 0)


def test_exit_codes(tmp_path: Path, forked: Path) -> None:
    clean, broken, both = tmp_path / "clean.jsonl", tmp_path / "broken.jsonl", tmp_path / "both.jsonl"
    clean.write_text(line("9:14") + "\n")
    broken.write_text(line("9:14") + "\n{nonsense\n")
    both.write_text(forked.read_text() + "{nonsense\n")
    assert [run(p).exit_code for p in (clean, forked, broken, both)] == [0, 1, 2, 3]
    assert run(forked, "--exit-zero").exit_code == 0


def test_a_broken_line_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(line("9:14") + "\n" + '{"request": {"model": nope}}\n' + line("9:14") + "\n")
    result = run(path)
    assert f"{path}:2:23" in result.output  # the n of nope: column 23
    assert "2 requests" in result.output


def test_a_budget_tolerates_lost_tokens(forked: Path) -> None:
    assert run(forked, "--max-lost", "100000").exit_code == 0
    assert run(forked, "--max-lost", "10").exit_code == 1


def test_standard_input_gzip_and_folders_read_alike(forked: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x" / "log.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(forked.read_bytes()))
    reports = [
        run(forked, "--format", "json"),
        run(packed, "--format", "json"),
        run(packed.parent, "--format", "json"),
        run("-", "--format", "json", input=forked.read_bytes()),
    ]
    forks = [[(f["pointer"], f["char_offset"], f["token"]) for f in json.loads(r.stdout)["forks"]] for r in reports]
    # "Current time: 2026-03-02 09:14:03" against ":15:41": the minutes differ at 14 + 15
    assert forks[0][0][:2] == ("/messages/0/content", 29)
    assert all(f == forks[0] for f in forks)


def test_an_unknown_format_lists_the_known_ones(forked: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "prefixlint", "diff", str(forked), "--format", "yaml"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "json" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        (("--session", "a"), 2),
        (("--model", "gpt-4o"), 3),
        (("--model", "other"), 0),
        (("--since", "2026-03-02T10:00:00Z"), 2),
        (("--until", "2026-03-02T10:00:00Z"), 1),
    ],
)
def test_filters(tmp_path: Path, options: tuple[str, str], requests: int) -> None:
    path = tmp_path / "log.jsonl"
    times = {"a": "2026-03-02T09:00:00Z", "b": "2026-03-02T10:00:00Z"}
    rows = [line("9", session_id="a", ts=times["a"]), line("9", session_id="b", ts=times["b"])]
    rows.append(line("9", "more", session_id="a", ts="2026-03-02T11:00:00Z"))
    path.write_text("\n".join(rows) + "\n")
    assert json.loads(run(path, "--format", "json", *options).stdout)["summary"]["requests"] == requests


def test_heads_show_where_a_request_leaves_the_one_before(forked: Path) -> None:
    first, second = run(forked, "--head", "18").output.splitlines()
    assert "‖" not in first
    # the role, then in o200k_base Current| time|:| |202|6|-|03|-|02| |09|:|14
    assert second.split("  ", 1)[1].startswith("system|Current| time|:| |202|6|-|03|-|02| |09|:‖15")
    assert "Current" not in run(forked, "--head", "18", "--redact").output


def test_redact_and_output_file(forked: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    result = run(forked, "--redact", "-o", out)
    assert result.output == ""
    assert "timestamp" in out.read_text()
    assert "09:1" not in out.read_text()


def test_no_colour_in_a_pipe(forked: Path) -> None:
    assert "\x1b[" not in run(forked).output


def test_a_closed_pipe_is_no_error(forked: Path) -> None:
    shell = f"{sys.executable} -m prefixlint diff {AGENT} --format json | head -c 20"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""


def test_two_prompt_files_are_compared(tmp_path: Path) -> None:
    left, right = tmp_path / "a.txt", tmp_path / "b.txt"
    left.write_text("You are a clerk.\nBe brief.\n")
    right.write_text("You are a clerk. \nBe brief.\n")
    fork = json.loads(run(left, right, "--format", "json").stdout)["forks"][0]
    assert (fork["pointer"], fork["char_offset"], fork["cause"]) == ("", 16, "trailing-whitespace")
