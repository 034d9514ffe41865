"""Completion, man page and help: what a shell shows of prefixlint."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def completed(words: str, number: int) -> list[str]:
    """Ask for completions as the script of click for bash does."""
    env = {**os.environ, "_PREFIXLINT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    done = subprocess.run([*PROGRAM], env=env, capture_output=True, text=True, check=True)
    return [line.split(",", 1)[1] for line in done.stdout.splitlines()]


PROGRAM = (sys.executable, "-c", "import sys; sys.argv[0] = 'prefixlint'; from prefixlint.__main__ import main; main()")


def test_bash_is_given_a_script() -> None:
    env = {**os.environ, "_PREFIXLINT_COMPLETE": "zsh_source"}
    done = subprocess.run([*PROGRAM], env=env, capture_output=True, text=True, check=True)
    assert "compdef" in done.stdout


@pytest.mark.parametrize(
    ("words", "number", "wanted"),
    [
        ("prefixlint di", 1, "diff"),
        ("prefixlint diff --tok", 2, "--tokenizer"),
        ("prefixlint fix --uns", 2, "--unsafe"),
    ],
)
def test_commands_and_options_are_completed(words: str, number: int, wanted: str) -> None:
    assert completed(words, number) == [wanted]


def test_man_page_is_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import build_man

    assert build_man.PATH.read_text(encoding="utf-8") == build_man.text(), "run python scripts/build_man.py"
