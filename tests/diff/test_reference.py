"""The fast way through a log finds the same forks, at the same tokens, as the plain reference."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.diff import diff
from prefixlint.api.read import open_log, request_of
from prefixlint.api.render import render
from prefixlint.api.tokens import tokenizer_for
from tests.diff import reference
from tests.diff.conftest import body, unwanted

WORDS = 'alpha beta gamma Grüße 你好 مرحبا naïve e\u0301 12 3.5 don\'t (x) {y} "q" \\n tab\t end.\n'.split(" ")
APIS = {"anthropic": "anthropic", "chat": "openai-chat", "responses": "openai-responses", "gemini": "gemini"}


def text(rnd: random.Random, most: int) -> str:
    """Return a few random words."""
    return " ".join(rnd.choice(WORDS) for _ in range(rnd.randint(3, most)))


def tool(provider: str, rnd: random.Random, name: str) -> dict[str, Any]:
    """Return one tool definition."""
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string", "maxLength": rnd.randint(1, 9)}},
        "required": ["q"],
    }
    plain = {"name": name, "description": text(rnd, 9)}
    if provider == "anthropic":
        return plain | {"input_schema": schema}
    if provider == "chat":
        return {"type": "function", "function": plain | {"parameters": schema}}
    return plain | {"parameters": schema}


def strings_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all strings below a value."""
    if isinstance(value, str):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, item in items for p in strings_of(item, (*path, key))]


def mutated(provider: str, rnd: random.Random, before: dict[str, Any]) -> dict[str, Any]:
    """Return the next request of a conversation with one thing changed somewhere in it."""
    after = copy.deepcopy(before)
    parts = [m for m in reference.ORDER[provider] if m in after and m != "model"]
    paths = [p for m in parts for p in strings_of(after[m], (m,)) if p[-1] not in ("role", "type")]
    path = rnd.choice(paths)
    holder = after
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    at = rnd.randrange(len(old) + 1)
    holder[path[-1]] = old[:at] + rnd.choice(["X", "é", "7", "\n", " zz ", "\u200b"]) + old[at + rnd.randint(0, 2) :]
    grown = body(provider, "", [("assistant", text(rnd, 9)), ("user", text(rnd, 9))])
    member = reference.ORDER[provider][-1]
    after[member] += grown[member][-2:]
    return after


def start(provider: str, rnd: random.Random) -> dict[str, Any]:
    """Return the first request of a conversation."""
    turns = [(("user", "assistant")[i % 2], text(rnd, 12)) for i in range(rnd.choice([1, 3, 5]))]
    tools = [tool(provider, rnd, f"tool_{i}") for i in range(rnd.randint(0, 4))]
    more = {"tools": [{"functionDeclarations": tools}] if provider == "gemini" else tools} if tools else {}
    return body(provider, text(rnd, 30), turns, **more)


@pytest.mark.parametrize("provider", APIS)
def test_forks_of_mutated_conversations(provider: str, tmp_path: Path) -> None:
    rnd = random.Random(f"mutate {provider}")
    tokenizer = tokenizer_for("gpt-4o")
    for number in range(60):
        before = start(provider, rnd)
        after = mutated(provider, rnd, before)
        lines = [json.dumps(b, ensure_ascii=bool(number % 2)) for b in (before, after)]
        paths = [tmp_path / f"{number}.{side}.json" for side in "ab"]
        for path, line in zip(paths, lines, strict=True):
            path.write_text(line, encoding="utf-8")
        found = diff(open_log([str(p) for p in paths]).requests()).forks
        expected = reference.first_difference(provider, *(reference.load(line) for line in lines))
        assert [(f.pointer, f.char_offset, f.kind) for f in found] == ([expected] if expected else []), lines
        left, right = (render(request_of(line.encode(), APIS[provider])).segments for line in lines)
        if found and provider in ("chat", "responses"):
            assert found[0].token == reference.first_token(left, right, tokenizer), lines


def test_counts_of_a_log_are_those_of_full_tokenization(tmp_path: Path) -> None:
    rnd = random.Random(5)
    tokenizer = tokenizer_for("gpt-4o")
    bodies = []
    for _ in range(6):
        first = start("chat", rnd)
        bodies += [first, mutated("chat", rnd, first), first]
    rnd.shuffle(bodies)
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, bodies)), encoding="utf-8")
    result = diff(open_log([str(tmp_path / "log.jsonl")]).requests())
    prompts = [render(request_of(json.dumps(b).encode(), "openai-chat")).segments for b in bodies]
    assert result.prompt_tokens == sum(len(tokenizer.encode(s.text)) for p in prompts for s in p)
    for fork in unwanted(result):
        pair = [prompts[fork.before.record], prompts[fork.after.record]]
        assert fork.token == reference.first_token(*pair, tokenizer)
