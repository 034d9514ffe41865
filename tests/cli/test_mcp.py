"""The MCP server, spoken to by the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

mcp = pytest.importorskip("mcp", reason="needs prefixlint[mcp]")
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

from prefixlint.cli.mcp import LIMIT  # noqa: E402

SECRET = "Arbalest"
SYSTEM = "You are the clerk of {}. Current time: 2026-03-02 09:14:0{}"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write two requests whose clock differs."""
    bodies = [
        {"model": "gpt-4o", "messages": [{"role": "system", "content": SYSTEM.format(SECRET, n)},
                                         {"role": "user", "content": "Hello"}]}
        for n in (3, 7)
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(b) + "\n" for b in bodies), encoding="utf-8")
    return path


def talk(step: Callable[[Any], Awaitable[Any]], *options: str) -> Any:
    """Start ``prefixlint mcp``, shake hands, and do one thing."""
    import anyio

    async def run() -> Any:
        server = StdioServerParameters(command=sys.executable, args=["-m", "prefixlint", "mcp", *options])
        async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            return await step(session)

    return anyio.run(run)


def ask(tool: str, arguments: dict[str, Any], *options: str) -> str:
    """Call one tool and return its text."""
    answer = talk(lambda session: session.call_tool(tool, arguments), *options)
    return "".join(block.text for block in answer.content)


def test_tools_are_listed_with_what_they_do() -> None:
    listed = talk(lambda session: session.list_tools())
    assert {tool.name for tool in listed.tools} == {"diff", "check", "fix", "explain"}
    assert all(tool.description for tool in listed.tools)


def test_diff_names_cause_and_place(log: Path) -> None:
    said = ask("diff", {"paths": [str(log)]})
    assert "timestamp at /messages/0/content" in said


def test_redact_shows_no_text(log: Path) -> None:
    assert SECRET in ask("diff", {"paths": [str(log)]})
    assert SECRET not in ask("diff", {"paths": [str(log)]}, "--redact")
    dirty = log.with_name("prompt.md")
    dirty.write_text(f"You are the clerk of {SECRET}.    \nCurrent time: {{{{now}}}}\n", encoding="utf-8")
    for tool in ("check", "fix"):
        said = ask(tool, {"paths": [str(dirty)]}, "--redact")
        assert said.strip()
        assert SECRET not in said


def test_check_and_fix_write_nothing(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text("You are a clerk.   \nCurrent time: {{now}}\n", encoding="utf-8")
    before = prompt.read_bytes()
    assert "timestamp" in ask("check", {"paths": [str(prompt)]})
    shown = ask("fix", {"paths": [str(prompt)]})
    assert "-You are a clerk.\\x20\\x20\\x20\n+You are a clerk.\\x20\\x20\n" in shown  # two: a Markdown line break
    assert prompt.read_bytes() == before


def test_explain_and_unknown_names() -> None:
    assert "Instead:" in ask("explain", {"rule": "timestamp"})
    assert "error: unknown rule" in ask("explain", {"rule": "no-such-rule"})
    assert ask("diff", {"paths": ["no-such-file.jsonl"]}).strip()


def test_answers_are_cut(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text("A rule of the house.   \n" * 3000, encoding="utf-8")
    said = ask("fix", {"paths": [str(prompt)]})
    assert LIMIT < len(said) < LIMIT + 200
    assert "cut after" in said
