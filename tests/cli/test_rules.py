"""``prefixlint rules``: the list, one card, and the examples of a user's cards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from prefixlint import cards
from prefixlint.cli.rules import command
from prefixlint.errors import CardError


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_the_list_names_every_rule() -> None:
    code, output = run()
    listed = [line.split()[0] for line in output.splitlines() if line.startswith("  ")]
    assert code == 0
    assert sorted(listed) == sorted(cards.all_rules())


def test_one_card() -> None:
    code, output = run("uuid")
    assert code == 0
    assert output.startswith("uuid: a UUID in text that is meant to be shared\n")
    assert "Session ID: «7f9c24e5-1d3b-4c8a-9f60-2b7d8e1a5c43»" in output


def test_a_card_cannot_steer_the_terminal() -> None:
    assert "\ufeff" not in run("bom-or-zero-width")[1]


def test_json() -> None:
    assert json.loads(run("uuid", "--format", "json")[1])["fix"] == "unsafe"
    assert {r["id"] for r in json.loads(run("--format", "json")[1])} == set(cards.all_rules())


def test_an_unknown_rule() -> None:
    with pytest.raises(CardError, match="did you mean 'uuid'"):
        run("uuidd")


def test_examples_that_hold(tmp_path: Path) -> None:
    path = tmp_path / "my-uuid.toml"
    shipped = (cards.rules_dir() / "blank-run.toml").read_text(encoding="utf-8")
    text = shipped.replace('id = "blank-run"', 'id = "my-run"')
    text = text.replace("references", "patterns = ['\\n{5}']\nreferences")
    path.write_text(text, encoding="utf-8")
    code, output = run("--test", str(path))
    assert code == 1
    assert "my-run bad[1]: not found" in output
    assert output.endswith("5 examples, 2 failed\n")
