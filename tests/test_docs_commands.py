"""What the docs say is true: every command in them runs, generated pages are today's, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from prefixlint.cli._main import group

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
SYSTEM = '{"role": "system", "content": "You are a clerk.  \\nCurrent time: 2026-03-02 09:14:0%d"}'
BODY = '{"model": "gpt-4o", "messages": [%s, {"role": "user", "content": "Where is parcel 7?"}]}\n'
SAMPLES = ROOT / "tests" / "data" / "samples"
FILES = {
    "requests.jsonl": "sglang-log-requests/requests.jsonl",
    "runs.jsonl": "langsmith-runs/runs.jsonl",
    "spend_logs.jsonl": "litellm-spend-logs/spend_logs.jsonl",
    "capture.har": "har/capture.har",
    "server.log": "vllm-log-requests/server.log",
}
STATISTICS = (
    b"INFO 03-02 09:00:10 [loggers.py:127] Engine 000: Avg prompt throughput: 812.0 tokens/s, Avg generation "
    b"throughput: 20.1 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 12.5%, "
    b"Prefix cache hit rate: 61.0%\n"
)
FOLDERS = {".claude/projects": "claude-code-transcript", ".codex/sessions": "codex-rollout"}


def commands() -> Iterator[tuple[str, str]]:
    """Yield every line `$ prefixlint ...` of every console block with the page it stands on."""
    for page in [ROOT / "README.md", *PAGES]:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in re.findall(r"^\$ (prefixlint .*)$", block, re.MULTILINE):
                yield str(page.relative_to(ROOT)), line


COMMANDS = sorted({line: page for page, line in commands()}.items())


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lay out a folder as a reader has it: every name that the docs use is a real file of that kind."""
    bodies = [BODY % (SYSTEM % second) for second in range(3)]
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, sample in FILES.items():
        shutil.copy(SAMPLES / sample, tmp_path / name)
    with (tmp_path / "server.log").open("ab") as log:
        log.write(STATISTICS)
    for name, sample in FOLDERS.items():
        shutil.copytree(SAMPLES / sample, tmp_path / name)
    for name in ("LOG", "LOG...", "fixed.jsonl"):
        (tmp_path / name).write_text("".join(bodies), encoding="utf-8")
    for name, body in zip(("request.json", "before.json", "after.json"), bodies, strict=True):
        (tmp_path / name).write_text(body, encoding="utf-8")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "monday.jsonl").write_text("".join(bodies), encoding="utf-8")
    for name in ("prompts/clerk.md", "app/clerk.md", ".claude/agents/a.md", "CLAUDE.md", "AGENTS.md", "PATH..."):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("You are a clerk.  \n", encoding="utf-8")
    (tmp_path / ".codex" / "config.toml").write_text('model = "gpt-5"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arguments(line: str) -> list[str]:
    """Split a command; what would send, or serve for ever, only shows."""
    words = [word.replace("~/", "") for word in shlex.split(line, comments=True)[1:]]
    if words[0] in ("lsp", "mcp"):
        return [*words, "--help"]
    if words[0] == "probe":
        return ["probe", "--base-url", "http://127.0.0.1:9", "--model", "m", "--dry-run"]
    if words[0] == "vary":
        return ["vary", "--", sys.executable, "-c", "print('You are a clerk.')"]
    return words


@pytest.mark.parametrize("line", [line for line, _ in COMMANDS])
def test_every_command_runs(line: str, desk: Path) -> None:
    words = arguments(line)
    if words[:2] == ["lock", "--check"]:
        CliRunner().invoke(group, ["lock", "prompts/"], catch_exceptions=False)
    if any(word.startswith("index/") for word in words) or words[0] == "index":
        pytest.importorskip("pyarrow", reason="needs prefixlint[scale]")
    if "index/" in words and words[0] != "index":
        CliRunner().invoke(group, ["index", "logs/", "-o", "index/"], catch_exceptions=False)
    if "--diff-base" in words or ("--baseline" in words and "--write-baseline" not in words):
        prepare(desk)
    result = CliRunner().invoke(group, words, catch_exceptions=False)
    assert result.exit_code in (0, 1), (dict(COMMANDS)[line], result.output)


def prepare(desk: Path) -> None:
    """Make a repository and a baseline, for the commands that compare with one."""
    CliRunner().invoke(group, ["check", ".", "--baseline", "baseline.json", "--write-baseline"])
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(desk)]
    for command in (["init", "-q"], ["add", "CLAUDE.md"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)


def test_provider_pages_are_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import build_provider_docs

    wanted = build_provider_docs.files()
    stale = [p.name for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    extra = {*(DOCS / "providers").glob("*.md"), *(DOCS / "engines").glob("*.md")} - set(wanted)
    assert (stale, extra) == ([], set()), "run python scripts/build_provider_docs.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_page_is_in_the_menu() -> None:
    """Single pages of rules, providers and engines are reached from their list."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = {"rules", "providers", "engines"}
    for page in PAGES:
        name = page.relative_to(DOCS)
        if name.parts[0] in listed and name.name != "README.md":
            name = Path(name.parts[0], "README.md")
            assert page.name in (DOCS / name).read_text(encoding="utf-8")
        assert name.as_posix() in menu


def test_comparison_is_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import build_compare_doc

    text = build_compare_doc.PATH.read_text(encoding="utf-8")
    assert build_compare_doc.updated(text) == text, "run python scripts/build_compare_doc.py"
