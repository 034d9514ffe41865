"""Build request bodies of every provider, write them as a log, and compare it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.diff import diff
from prefixlint.api.read import open_log
from prefixlint.model import DiffResult, Fork

Turn = tuple[str, str]
RULES = (
    "You are a terminal coding agent. Read files before editing them. Keep answers short. Prefer small, reviewable "
    "changes and run the tests that cover them."
)
PROVIDERS = ("anthropic", "chat", "responses", "gemini", "raw")
SYSTEM_AT = {
    "anthropic": "/system/0/text",
    "chat": "/messages/0/content",
    "responses": "/instructions",
    "gemini": "/systemInstruction/parts/0/text",
    "raw": "/prompt",
}
MESSAGE_AT = {
    "anthropic": "/messages/{}/content/0/text",
    "chat": "/messages/{}/content",
    "responses": "/input/{}/content",
    "gemini": "/contents/{}/parts/0/text",
}


def body(provider: str, system: str, turns: Sequence[Turn], **more: Any) -> dict[str, Any]:
    """Build one request body."""
    if provider == "anthropic":
        messages = [{"role": r, "content": [{"type": "text", "text": t}]} for r, t in turns]
        return {"model": "claude-sonnet-4-6", "max_tokens": 9, **more, "system": [_text(system)], "messages": messages}
    if provider == "chat":
        messages = [{"role": "system", "content": system}, *({"role": r, "content": t} for r, t in turns)]
        return {"model": "gpt-5.1", **more, "messages": messages}
    if provider == "responses":
        items = [{"role": r, "content": t} for r, t in turns]
        return {"model": "gpt-5.1", **more, "instructions": system, "input": items}
    if provider == "gemini":
        contents = [{"role": "model" if r == "assistant" else r, "parts": [{"text": t}]} for r, t in turns]
        return {
            "model": "gemini-3-flash",
            "systemInstruction": {"parts": [{"text": system}]},
            **more,
            "contents": contents,
        }
    prompt = f"<|im_start|>system\n{system}<|im_end|>\n"
    prompt += "".join(f"<|im_start|>{r}\n{t}<|im_end|>\n" for r, t in turns)
    return {"prompt": prompt + "<|im_start|>assistant\n"}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def place(
    provider: str, left: dict[str, Any], right: dict[str, Any], ours: str, theirs: str, at: str
) -> tuple[str, int]:
    """Return the pointer and offset of the first difference of two strings; a raw prompt is one string."""
    if provider == "raw":
        ours, theirs, at = left["prompt"], right["prompt"], "/prompt"
    return at, next(
        (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
    )


Compare = Callable[..., DiffResult]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Write bodies as one JSONL log, or each to a file of its own, and compare them."""

    def run(*bodies: Any, files: bool = False) -> DiffResult:
        lines = [json.dumps(b, ensure_ascii=False) for b in bodies]
        if not files:
            (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            return diff(open_log([str(tmp_path / "log.jsonl")]).requests())
        for number, line in enumerate(lines):
            (tmp_path / f"input.{number}.json").write_text(line, encoding="utf-8")
        return diff(open_log([str(tmp_path / f"input.{n}.json") for n in range(len(lines))]).requests())

    return run


def unwanted(result: DiffResult) -> list[Fork]:
    """Return the forks that are faults."""
    return [fork for fork in result.forks if not fork.wanted]


def named(result: DiffResult) -> list[tuple[str, str, int | None]]:
    """Return cause and place of each fault."""
    return [(f.cause, f.pointer, f.char_offset) for f in unwanted(result)]
