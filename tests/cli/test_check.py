"""The command line of ``check``: options, exit codes, configuration, baseline, changed lines, walks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prefixlint import config
from prefixlint.cli.check import command

BAD = "You are a clerk.\nCurrent time: {{now}}\n"
GOOD = "You are a clerk.\nAnswer briefly.\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.forget()
    monkeypatch.chdir(tmp_path)


def write(**files: str) -> None:
    """Write files; two underscores in a name are a slash, one before the suffix is a dot."""
    for name, text in files.items():
        path = Path(name.replace("__", "/").replace("_DOT_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    config.forget()
    return CliRunner().invoke(command, list(arguments), input=stdin, catch_exceptions=True)


def findings(result: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return found


def places(result: Result) -> list[tuple[str, str, int, int]]:
    return [(f["path"], f["rule"], f["line"], f["column"]) for f in findings(result)]


def test_exit_codes() -> None:
    write(good_DOT_md=GOOD, bad_DOT_md=BAD, info_DOT_md="You help. Today's date: {{date}}\n", broken_DOT_json="{")
    assert run("good.md").exit_code == 0
    assert run("bad.md").exit_code == 1
    assert run("info.md").exit_code == 0
    assert run("broken.json").exit_code == 2
    assert run("missing.md").exit_code == 2
    assert run("bad.md", "broken.json").exit_code == 3
    assert run("bad.md", "broken.json", "--exit-zero").exit_code == 0


def test_a_clean_run_prints_nothing() -> None:
    write(good_DOT_md=GOOD)
    assert run("good.md").output == ""


def test_json_report() -> None:
    write(bad_DOT_md=BAD)
    document = json.loads(run("bad.md", "--format", "json").stdout)
    assert document["version"] == 1
    assert document["inputs"] == [{"path": "bad.md", "format": "prompt-file", "requests": 1, "errors": []}]
    (found,) = document["findings"]
    expected = {"rule": "timestamp", "path": "bad.md", "line": 2, "column": 15, "end_line": 2, "end_column": 22}
    assert expected.items() <= found.items()
    assert (found["pointer"], found["char_offset"], found["fix"]) == ("", 31, "unsafe")


def test_standard_input() -> None:
    result = run("--stdin-filename", "prompts/x.md", "--format", "json", stdin=BAD)
    assert places(result) == [("prompts/x.md", "timestamp", 2, 15)]
    assert places(run("-", "--format", "json", stdin=BAD)) == [("<stdin>", "timestamp", 2, 15)]
    body = '{"system": "You help.\\nCurrent time: {{now}}"}'
    assert places(run("--stdin-filename", "x.json", "--format", "json", stdin=body)) == [("x.json", "timestamp", 1, 38)]


def test_select_and_ignore_by_rule_and_group() -> None:
    write(bad_DOT_md=BAD)
    assert run("bad.md", "--select", "date,uuid").exit_code == 0
    assert run("bad.md", "--select", "volatile-values").exit_code == 1
    assert run("bad.md", "--ignore", "timestamp").exit_code == 0
    assert run("bad.md", "--ignore", "volatile values").exit_code == 0
    result = run("bad.md", "--ignore", "timestmp")
    assert "did you mean 'timestamp'?" in str(result.exception)


def test_min_confidence_of_command_line_and_configuration() -> None:
    write(bad_DOT_md="You help.\nLast updated: 2026-08-22\n")
    confidence = {f["confidence"] for f in findings(run("bad.md", "--min-confidence", "low", "--format", "json"))}
    assert confidence <= {"low", "medium", "high"}
    write(prefixlint_DOT_toml='min-confidence = "high"\n')
    config.forget()
    assert all(f["confidence"] == "high" for f in findings(run("bad.md", "--format", "json")))


def test_allow_by_file_and_pointer_and_unused_entries() -> None:
    write(
        conf__settings_DOT_json=json.dumps(
            {"system": "You help. Current time: {{now}}", "prompt": "Current time: {{now}}"}
        ),
        prefixlint_DOT_toml="""
ignore = ["epoch"]
[allow]
"conf/settings.json#/system" = ["timestamp"]
"conf/settings.json#/other" = ["uuid"]
"gone.md" = ["date"]
""",
    )
    document = json.loads(run("conf/settings.json", "--format", "json").stdout)
    assert [f["pointer"] for f in document["findings"]] == ["/prompt"]
    assert document["notes"] == [
        'prefixlint.toml: allow "conf/settings.json#/other" = ["uuid"] suppresses nothing; remove it'
    ]
    walked = json.loads(run(".", "--format", "json").stdout)["notes"]
    assert [n.partition(" suppresses")[0] for n in walked] == [
        'prefixlint.toml: ignore = ["epoch"]',
        'prefixlint.toml: allow "conf/settings.json#/other" = ["uuid"]',
        'prefixlint.toml: allow "gone.md" = ["date"]',
    ]


def test_per_path() -> None:
    write(
        tests__bad_DOT_md=BAD, prompts__bad_DOT_md=BAD, prefixlint_DOT_toml='[per-path]\n"tests/**" = ["timestamp"]\n'
    )
    assert places(run("tests/bad.md", "prompts/bad.md", "--format", "json")) == [("prompts/bad.md", "timestamp", 2, 15)]


def test_prompt_pointers_of_the_configuration() -> None:
    write(
        data_DOT_json=json.dumps({"a": [{"t": "Current time: {{now}}"}], "b": "Current time: {{now}}"}),
        prefixlint_DOT_toml='prompt-pointers = { "data.json" = ["/a/*/t"] }\n',
    )
    assert [f["pointer"] for f in findings(run("data.json", "--format", "json"))] == ["/a/0/t"]
    assert [f["pointer"] for f in findings(run(".", "--format", "json"))] == ["/a/0/t"]


def test_a_fault_in_the_configuration() -> None:
    write(bad_DOT_md=BAD, prefixlint_DOT_toml="selekt = []\n")
    assert "prefixlint.toml:1: unknown key 'selekt'; did you mean 'select'?" in str(run("bad.md").exception)
    write(prefixlint_DOT_toml='ignore = ["timestmp"]\n')
    assert "unknown rule 'timestmp': did you mean 'timestamp'?" in str(run("bad.md").exception)


def test_a_walk_takes_what_looks_like_a_prompt() -> None:
    write(
        README_DOT_md="# x\nGenerated at 2026-08-22T10:04:11Z\n",
        notes__plan_DOT_md="# Plan\nCurrent time: 2026-08-22 10:04:11\n",
        prompts__a_DOT_md=BAD,
        lib__clerk_DOT_txt=BAD,
        CLAUDE_DOT_md=BAD,
        node_modules__prompts__a_DOT_md=BAD,
        conf__settings_DOT_json='{"system": "Current time: {{now}}"}',
        package_DOT_json='{"prompt": "Current time: {{now}}"}',
        log_DOT_jsonl='{"messages": []}\n',
    )
    found = [p[0] for p in places(run("--format", "json"))]
    assert found == ["CLAUDE.md", "conf/settings.json", "lib/clerk.txt", "prompts/a.md"]
    assert [p[0] for p in places(run("README.md", "--format", "json"))] == ["README.md"]
    assert places(run("--discover", "README.md", "notes/plan.md", "--format", "json")) == []


def test_a_walk_respects_gitignore_and_exclude() -> None:
    write(
        _DOT_gitignore="out/\n*.tmp.md\n!keep.tmp.md\n",
        out__prompts__a_DOT_md=BAD,
        prompts__a_DOT_tmp_DOT_md=BAD,
        prompts__keep_DOT_tmp_DOT_md=BAD,
        prompts__b_DOT_md=BAD,
        prompts__sub__c_DOT_md=BAD,
        prompts__sub___DOT_gitignore="c.md\n",
        old__prompts__d_DOT_md=BAD,
        prefixlint_DOT_toml='exclude = ["old/"]\n',
    )
    assert [p[0] for p in places(run(".", "--format", "json"))] == ["prompts/b.md", "prompts/keep.tmp.md"]
    assert [p[0] for p in places(run("prompts/sub", "--format", "json"))] == ["prompts/sub/c.md"][:0]


def test_baseline_survives_moved_lines_and_reports_what_is_gone() -> None:
    write(a_DOT_md=BAD + "Session id: 9f2c1b7e4a5d4c33\n")
    first = run("a.md", "--baseline", "base.json", "--write-baseline")
    assert first.exit_code == 0
    stored = Path("base.json").read_text()
    assert "now" not in stored and "9f2c" not in stored
    assert run("a.md", "--baseline", "base.json").exit_code == 0
    write(a_DOT_md="One more line.\n\n" + BAD + "Session id: 9f2c1b7e4a5d4c33\n")
    assert run("a.md", "--baseline", "base.json").output == ""
    write(a_DOT_md=BAD + "Current time: {{now}}\n")
    result = run("a.md", "--baseline", "base.json", "--format", "json")
    assert places(result) == [("a.md", "timestamp", 3, 15)]
    assert "is accepted but gone" in json.loads(result.stdout)["notes"][0]


def test_baseline_errors() -> None:
    write(a_DOT_md=BAD, b_DOT_json="[]")
    assert "no such baseline" in str(run("a.md", "--baseline", "none.json").exception)
    assert "no baseline file" in str(run("a.md", "--baseline", "b.json").exception)
    assert "--write-baseline needs a file" in str(run("a.md", "--write-baseline").exception)


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=a@b", *arguments], check=True, capture_output=True)


def test_only_changed_lines() -> None:
    write(a_DOT_md=BAD, prompts__b_DOT_md=GOOD)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    assert run("a.md", "--diff-base", "HEAD").exit_code == 0
    write(a_DOT_md=BAD + "Generated at: 2026-08-22T10:04:11Z\n", prompts__new_DOT_md=BAD)
    result = run("a.md", "prompts", "--diff-base", "HEAD", "--format", "json")
    assert places(result) == [("a.md", "timestamp", 3, 15), ("prompts/new.md", "timestamp", 2, 15)]
    assert "--diff-base: git says" in str(run("a.md", "--diff-base", "nowhere").exception)


def test_output_file_and_unknown_format() -> None:
    write(a_DOT_md=BAD)
    assert run("a.md", "-o", "out.txt").output == ""
    assert "a.md:2:15: warning timestamp" in Path("out.txt").read_text()
    assert "unknown format 'xml'; known: " in str(run("a.md", "--format", "xml").exception)


def test_redact_shows_no_text() -> None:
    write(a_DOT_md="You help.\nSession id: 7b3e88d1c05a4f21\n")
    for name in ("text", "json", "sarif", "github", "gitlab", "junit"):
        assert "7b3e" not in run("a.md", "--redact", "--format", name).output, name


def test_many_files_on_both_cores_give_the_same_report() -> None:
    for number in range(250):
        write(**{f"prompts__p{number:03}_DOT_md": BAD if number % 50 == 0 else GOOD})
    alone, both = (run("prompts", "--jobs", jobs, "--format", "json").output for jobs in ("1", "2"))
    assert alone == both
    assert len(json.loads(alone)["findings"]) == 5


def test_a_locked_prefix_that_changes_is_an_error() -> None:
    from prefixlint.cli import lock

    write(prompts__a_DOT_md=GOOD)
    assert CliRunner().invoke(lock.command, ["prompts"]).exit_code == 0
    assert run("--format", "json").exit_code == 0
    write(prompts__a_DOT_md=GOOD.replace("clerk", "cook"))
    (found,) = findings(run("--format", "json"))
    assert (found["rule"], found["severity"], found["path"]) == ("prefix-changed", "error", "prompts/a.md")


def test_a_long_run_shows_findings_once_and_a_count_at_the_end() -> None:
    for number in range(210):
        write(**{f"prompts__p{number:03}_DOT_md": BAD if number % 70 == 0 else GOOD})
    lines = run("prompts", "--jobs", "2").output.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == [f"prompts/p{n:03}.md" for n in (0, 70, 140)]
    assert lines[-1] == "3 findings in 3 files"
