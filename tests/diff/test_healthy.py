"""Healthy logs give nothing: agents of every kind interleaved, retries, branches, templates, tenants."""

# ruff: noqa: E501 - one row of a table is one line

from __future__ import annotations

import json
import random
import uuid
from typing import Any

import pytest

from tests.diff.conftest import RULES, Compare, unwanted

WORDS = (
    "alpha beta gamma delta check the file and run tests then fix bug report error code line config server build "
    "deploy user data list please look into why this fails again on monday morning before release"
).split()
Body = dict[str, Any]


def words(rnd: random.Random, count: int) -> str:
    """Return random words."""
    return " ".join(rnd.choice(WORDS) for _ in range(count))


COMMON = f"{RULES} {words(random.Random(5), 150)}"


def chat(system: str | None, *messages: Body, **more: Any) -> Body:
    """Build a Chat body."""
    lead = [{"role": "system", "content": system}] if system else []
    return {"model": "gpt-5.1", "messages": [*lead, *messages], **more}


def user(text: str) -> Body:
    """Build a user message."""
    return {"role": "user", "content": text}


def said(text: str) -> Body:
    """Build an answer."""
    return {"role": "assistant", "content": text}


def tools(*names: str) -> list[Body]:
    """Build tool definitions."""
    return [{"type": "function", "function": {"name": n, "description": f"do {n}", "parameters": {}}} for n in names]


def logs(rnd: random.Random) -> dict[str, list[Any]]:
    """Return healthy logs by name."""
    roles = ["billing", "coding", "sales", "support", "legal", "research"]
    talk = [user(words(rnd, 8)), said(words(rnd, 20)), user(words(rnd, 6)), said(words(rnd, 30)), user(words(rnd, 5))]
    title = "Write a short title for this chat."
    start = [user("start the job"), said("I begin."), user("next")]
    examples = [user("2+2"), said("4"), user("3+3"), said("6")]
    turns = [user("hello"), said("hi")]
    raw = "Bot is kind.\nUser: hello there\nBot:"
    chatml = "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
    ticket = "Classify.\nTicket {}\nDate: 2026-03-{:02d}\n{}\nAnswer with one word: {}"
    return {
        "roles with one task": [chat(f"You are the {r} agent.\n{COMMON}", user("Review the proposal.")) for r in roles],
        "roles with own tasks": [chat(f"You are the {r} agent.\n{COMMON}", user(words(rnd, 8))) for r in roles * 3],
        "titles": [chat(COMMON, *talk[:1]), chat(COMMON, *talk[:3]), chat(title, *talk[:3], user("Title?")),
                   chat(COMMON, *talk), chat(title, *talk, user("Title?"))],
        "two models": [chat(COMMON, user(q), model=m) for q in ("hi", "what now") for m in ("gpt-5.1", "gpt-4o")],
        "two models in turns": [
            chat(COMMON, *start[:1]), chat(COMMON, *start[:1], model="gpt-4o"), chat(COMMON, *start),
            chat(COMMON, start[0], said("Sure, starting."), start[2], model="gpt-4o"),
        ],
        "examples": [chat("Calculate.", *examples, user(f"{i}+{i}")) for i in range(9)],
        "templates in the user turn": [
            chat(None, user(ticket.format(uuid.UUID(int=rnd.getrandbits(128)), i + 1, words(rnd, 10), COMMON)))
            for i in range(8)
        ],
        "whole conversations": [
            chat(COMMON, user(words(rnd, 9)), said("Done."), user("thanks"), said("You are welcome.")) for _ in range(8)
        ],
        "settings by task": [
            chat(COMMON, user(words(rnd, 5)), reasoning_effort=rnd.choice(["low", "high"])) for _ in range(10)
        ],
        "tools by agent": [chat(COMMON, user(words(rnd, 5)), tools=tools(*n)) for n in ("ab", "abc", "x", "ab", "abc")],
        "tools by agent, one task": [chat(COMMON, user("Do the review"), tools=tools(*n)) for n in ("ab", "cde", "x")],
        "raw questions": [{"prompt": f"Answer.\nQ: capital of France?\nA: Paris\nQ: {words(rnd, 5)}?\nA:"} for _ in range(8)],
        "raw sessions": [{"prompt": chatml.format(COMMON, words(rnd, 5))} for _ in range(8)],
        "raw, unrelated": [{"prompt": words(rnd, 80)} for _ in range(8)],
        "raw, growing": [{"prompt": raw}, {"prompt": raw + " Yes.\nUser: go\nBot:"},
                         {"prompt": raw + " Yes.\nUser: go\nBot: done\nUser: more\nBot:"}],
        "branches": [
            chat(COMMON, *turns[:1]), chat(COMMON, *turns, user("a")), chat(COMMON, *turns, user("b")),
            chat(COMMON, *turns, user("a"), said("ra"), user("c")), chat(COMMON, *turns, user("b"), said("rb"), user("d")),
            chat(COMMON, turns[0], said("hey!"), user("e")),
        ],
        "retries": [chat(COMMON, *turns[:1])] * 3,
        "sub-agents": [chat(COMMON, *talk[:3], user(f"Subtask {i}: {words(rnd, 6)}")) for i in range(6)],
        "going back": [chat(COMMON, *talk), chat(COMMON, *talk[:3]), chat(COMMON, *talk[:1])],
        "languages": [chat(s, user("hi")) for s in ("Du bist ein Assistent. Antworte kurz.", "你是一个翻译助手。", "أنت مساعد مفيد.")],
        "several agents in one session": [
            {"session_id": "s1", "request": b}
            for b in (
                chat(COMMON, *talk[:1]), chat("Title maker.", user("x")), chat(COMMON, *talk[:3]),
                chat("Checker. " + words(rnd, 20), user("check a.py")), chat("Checker. " + words(rnd, 20), user("check b.py")),
                chat(COMMON, *talk),
            )
        ],
        "what is no prompt": [chat(COMMON, *talk[:1], temperature=0.1), chat(COMMON, *talk[:3], max_tokens=9, user="u", seed=4)],
        "a key for each session": [chat(COMMON, *talk[:n], prompt_cache_key=k) for k in ("k1", "k2") for n in (1, 3, 5)],
        "tenants": [chat(COMMON, user("hi"), cache_salt=f"t{i}") for i in range(4)],
        "two versions": [
            chat(f"Version {v} of the prompt. {COMMON} {v}", user(words(rnd, 4))) for v in ("one", "two") for _ in range(3)
        ],
    }  # fmt: skip


@pytest.mark.parametrize("name", logs(random.Random(0)))
def test_healthy(name: str, compare: Compare) -> None:
    for seed in range(2):
        result = compare(*logs(random.Random(seed))[name])
        assert [(f.cause, f.pointer, f.left, f.right) for f in unwanted(result)] == []
        assert [(f.rule, f.message) for f in result.findings if f.severity != "info"] == []


class Agent:
    """Play one conversation with retries, edited last turns, tool calls, and values of all kinds in user turns."""

    def __init__(self, rnd: random.Random, kind: int, session: str) -> None:
        self.rnd, self.kind, self.session = rnd, kind, session
        self.history: list[Body] = []
        self.last_user = 0
        self.answer: Body | None = None

    def request(self) -> Body:
        """Return the next request."""
        chance = self.rnd.random()
        if self.history and chance < 0.06:
            self.history[self.last_user :] = [user(self.said())]
        elif not self.history or chance > 0.14:
            self._go_on()
        self.answer = said(words(self.rnd, self.rnd.randint(1, 20)) if self.rnd.random() < 0.8 else "Done.")
        system = f"You do work of kind {'ABCDEFGHI'[self.kind]}.\n{words(random.Random(self.kind), 60)}"
        own = tools(*random.Random(self.kind).sample("abcdefgh", self.kind % 5))
        members = list(chat(system, *self.history, tools=own, temperature=self.rnd.random()).items())
        self.rnd.shuffle(members)
        return {"session_id": self.session, "request": dict(members)} if self.session else dict(members)

    def _go_on(self) -> None:
        if self.answer:
            self.history.append(self.answer)
        if self.history and self.rnd.random() < 0.5:
            call = f"call_{self.rnd.getrandbits(32):08x}"
            arguments = json.dumps({"q": words(self.rnd, 3)})
            calls = [{"id": call, "type": "function", "function": {"name": "a", "arguments": arguments}}]
            told = json.dumps({"time": self.rnd.randint(10**9, 2 * 10**9), "x": words(self.rnd, 9)})
            self.history[-1] = {"role": "assistant", "content": None, "tool_calls": calls}
            self.history.append({"role": "tool", "tool_call_id": call, "content": told})
        else:
            self.last_user = len(self.history)
            self.history.append(user(self.said()))

    def said(self) -> str:
        """Return a user turn."""
        more = [f"ticket {uuid.UUID(int=self.rnd.getrandbits(128))}", f"since 2026-03-02T09:{self.rnd.randint(10, 59)}:00Z",
                f"step {self.rnd.randint(1, 30)} of 40 in /home/u{self.rnd.randint(1, 5)}/x.py", "", "", ""]  # fmt: skip
        if self.rnd.random() < 0.15:
            return self.rnd.choice(["hi", "ok", "continue", "thanks"])
        return f"{words(self.rnd, self.rnd.randint(1, 12))} {self.rnd.choice(more)}".strip()


@pytest.mark.parametrize("seed", range(25))
def test_random_healthy_logs(seed: int, compare: Compare) -> None:
    rnd = random.Random(seed)
    agents: list[Agent] = []
    bodies = []
    for _ in range(60):
        if not agents or rnd.random() < 0.2:
            agents.append(Agent(rnd, rnd.randrange(9), f"s{rnd.randrange(5)}" if seed % 2 else ""))
        bodies.append(json.loads(json.dumps(rnd.choice(agents[-4:]).request())))
    result = compare(*bodies)
    assert [(f.cause, f.before.record, f.after.record, f.left, f.right) for f in unwanted(result)] == []
    assert [(f.rule, f.message) for f in result.findings if f.severity != "info"] == []
