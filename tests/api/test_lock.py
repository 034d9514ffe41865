"""The lock file: a locked prefix that changes is named with what it costs; what does not change it is silent."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from prefixlint.api import lock, lock_files
from prefixlint.cli._main import group
from prefixlint.errors import ConfigError

TOOLS = [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in ("write", "read")]


def made(folder: Path) -> Path:
    """Write three files and lock them."""
    (folder / "p.md").write_text("You are kind.\nBe short.\n")
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (folder / "settings.json").write_text(json.dumps({"system_prompt": "You are a clerk."}))
    path = folder / "prefixlint.lock"
    lock_files.update([str(folder / n) for n in ("p.md", "tools.json", "settings.json")], str(path))
    return path


def test_entries_hold_hash_tokens_and_tool_order(tmp_path: Path) -> None:
    path = made(tmp_path)
    found = json.loads(path.read_text())
    assert sorted(found["prefixes"]) == ["p.md", "settings.json#/system_prompt", "tools.json#/tools"]
    entry = found["prefixes"]["p.md"]
    assert entry["sha256"] == hashlib.sha256(b"You are kind.\nBe short.\n").hexdigest()
    assert (entry["tokens"], "".join(entry["first"])) == (7, "You are kind.\nBe short.\n")
    assert found["prefixes"]["tools.json#/tools"]["tools"] == ["read", "write"]
    assert path.read_text() == json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("p.md", "You are mean.\nBe short.\n", "7 tokens became 7, at token 2: ' mean' for ' kind'"),
        ("settings.json", '{"system_prompt": "You are a very nice clerk."}', "5 tokens became 7"),
        ("settings.json", "{}", "is gone"),
        ("tools.json", json.dumps({"tools": TOOLS[:1]}), "tokens became"),
    ],
)
def test_a_change_is_named(name: str, text: str, part: str, tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / name).write_text(text)
    [found] = lock.verify([str(tmp_path)])
    assert (found.rule, found.severity, Path(found.span.path).name) == ("prefix-changed", "error", name)
    assert part in found.message and "prefixlint lock" in found.message


def test_bytes_without_meaning_are_no_change(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "p.md").write_bytes(b"\xef\xbb\xbfYou are kind. \r\nBe short.\r\n")
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS[::-1], "x": 1}, indent=4))
    assert list(lock.verify([str(tmp_path)])) == []


def test_only_the_files_that_are_asked_for(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "p.md").unlink()
    assert list(lock.verify([str(tmp_path / "tools.json")])) == []
    assert "the file is gone" in next(iter(lock.verify([str(tmp_path)]))).message


def test_without_a_lock_there_is_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "p.md").write_text("x")
    assert list(lock.verify([str(tmp_path)])) == []


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"version": 9, "prefixes": {}, "tokenizer": "x"}', '{"prefixes": {"a": 1}}']
)
def test_a_broken_lock_is_a_configuration_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "prefixlint.lock").write_text(text)
    with pytest.raises(ConfigError, match="lock"):
        list(lock.verify([str(tmp_path)]))


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.md").write_text("You are kind.\n")
    first = CliRunner().invoke(group, ["lock", "p.md"])
    assert (first.exit_code, first.stdout) == (
        0, "+ p.md: 4 tokens\nprefixlint.lock: 1 prefix, 4 tokens, written\n"
    )  # fmt: skip
    assert CliRunner().invoke(group, ["lock", "--check"]).exit_code == 0
    Path("p.md").write_text("You are very kind.\n")
    assert CliRunner().invoke(group, ["check", "p.md"]).exit_code == 1
    assert CliRunner().invoke(group, ["lock", "--check"]).exit_code == 1
    again = CliRunner().invoke(group, ["lock"])
    assert "~ p.md: 4 -> 5 tokens, one cold cache" in again.stdout
    assert CliRunner().invoke(group, ["check", "p.md"]).exit_code == 0


def test_only_a_changed_prefix_loads_a_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefixlint.api import tokens

    (tmp_path / "a.md").write_text("Be brief.\n")
    place = tmp_path / lock.NAME
    place.write_bytes(lock.dump(lock.make([str(tmp_path / "a.md")], str(place))))

    def refuse(*_: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(tokens, "tokenizer_for", refuse)
    assert list(lock.verify([str(tmp_path)])) == []
    (tmp_path / "a.md").write_text("Be very brief.\n")
    with pytest.raises(AssertionError, match="loaded"):
        list(lock.verify([str(tmp_path)]))
