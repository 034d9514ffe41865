"""The pre-commit hooks, run by the real pre-commit on a scratch repository, and the GitHub action."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
needs_pre_commit = pytest.mark.skipif(
    not (find_spec("pre_commit") and shutil.which("git")), reason="needs pre-commit and git"
)


def test_both_hook_files_hold_the_same_bytes() -> None:
    assert (ROOT / "pre-commit-hooks.yaml").read_bytes() == (ROOT / ".pre-commit-hooks.yaml").read_bytes()


def test_the_hooks_are_what_the_documentation_names() -> None:
    hooks = yaml.safe_load((ROOT / "pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [h["id"] for h in hooks] == ["prefixlint", "prefixlint-fix", "prefixlint-diff"]
    assert all(h["language"] == "python" and h["require_serial"] for h in hooks)


def test_the_action_passes_inputs_as_variables_only() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = action["runs"]["steps"]
    assert any("upload-sarif" in s.get("uses", "") for s in steps)
    assert not [s["run"] for s in steps if "${{" in s.get("run", "")]  # no injection through inputs


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=n", "-c", "user.email=a@b", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put what a release holds into a git repository of its own."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in ("prefixlint", "rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "release")
    return folder


CLEAN = b"You are a clerk.\nAnswer briefly.\n"
RULES = "Answer from the fare table only. Quote the rule that you used. " * 20


def request(last: str) -> str:
    messages = [{"role": "system", "content": f"You help. {RULES}{last} {RULES}"}, {"role": "user", "content": "hi"}]
    return json.dumps({"model": "m", "messages": messages}) + "\n"


def write_project(folder: Path, prompt: bytes, requests: str) -> None:
    for name, data in (
        ("prompts/clerk.md", prompt),
        ("README.md", b"# Readme\n\nGenerated at: 2026-08-22T10:04:11Z  \n"),
        ("tests/fixtures/requests.jsonl", requests.encode()),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@needs_pre_commit
def test_the_real_pre_commit_runs_all_hooks(hooks: Path, tmp_path: Path) -> None:
    """One run of all hooks: try-repo makes a fresh environment every time, which takes most of a minute."""
    git(tmp_path, "init", "-q")
    dirty = CLEAN.replace(b"\n", b" \r\n") + b"Current time: {{now}}\n"
    write_project(tmp_path, dirty, request("10:04:11") + request("10:05:32"))
    git(tmp_path, "add", "-A")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(hooks.parent / "home"), "PRE_COMMIT_COLOR": "never"}
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), "--all-files", "--verbose"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "prompts/clerk.md:3:15: warning timestamp" in done.stdout
    assert "README.md" not in done.stdout
    assert (tmp_path / "prompts" / "clerk.md").read_bytes() == CLEAN + b"Current time: {{now}}\n"
    assert "/messages/0/content" in done.stdout


def test_the_hooks_pass_on_clean_files(tmp_path: Path) -> None:
    write_project(tmp_path, CLEAN, request("10:04:11") * 2)
    files = {
        "prefixlint": ["prompts/clerk.md", "README.md", "tests/fixtures/requests.jsonl"],
        "prefixlint-fix": ["prompts/clerk.md", "README.md"],
        "prefixlint-diff": ["tests/fixtures/requests.jsonl"],
    }
    for hook in yaml.safe_load((ROOT / "pre-commit-hooks.yaml").read_text(encoding="utf-8")):
        program, *arguments = hook["entry"].split()
        assert program == "prefixlint"
        command = [sys.executable, "-m", "prefixlint", *arguments, *files[hook["id"]]]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
