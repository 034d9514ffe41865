"""What the README says is true: its output is today's, its commands run, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from prefixlint.cli._main import group

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted({m.split("`")[0] for m in re.findall(r"(?:`|\$ )(prefixlint [^`\n]+)", TEXT)})
STAND_INS = {
    "LOG...": "examples/healthy.jsonl",
    "LOG": "examples/healthy.jsonl",
    "PATH...": "examples/house_rules.md",
}


def arguments(line: str, tmp_path: Path) -> list[str]:
    """Replace the stand-ins of the README by real files; what writes or sends only shows."""
    words = [STAND_INS.get(word, word) for word in shlex.split(line)[1:]]
    if words[0] == "fix":
        words.append("--diff")
    if words[0] == "lock":
        words += ["--lock", str(tmp_path / "prefixlint.lock")]
    if words[0] == "probe":
        return ["probe", "--base-url", "http://127.0.0.1:9", "--model", "m", "--dry-run"]
    if words[0] == "vary":
        return ["vary", "--", sys.executable, "-c", "print('You are a clerk.')"]
    return [str(tmp_path / "report.html") if word == "report.html" else word for word in words]


def test_the_output_is_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import readme_output

    assert readme_output.updated(TEXT) == TEXT


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_runs(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(group, arguments(line, tmp_path), catch_exceptions=False)
    assert result.exit_code in (0, 1), result.output


def test_every_link_leads_somewhere() -> None:
    for text in (TEXT, (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")):
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert target.startswith("https://") or (ROOT / target).exists(), target


def test_it_is_short() -> None:
    assert TEXT.count("\n") < 150


def test_the_hook_example_names_real_hooks() -> None:
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block
    named = {hook["id"] for repo in yaml.safe_load(block[1])["repos"] for hook in repo["hooks"]}
    real = {hook["id"] for hook in yaml.safe_load((ROOT / "pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert named <= real
