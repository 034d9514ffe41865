"""What ``probe`` sends: bodies of a wanted length, in the shape of each API, with and without a shared prefix."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Each of these is one token of o200k_base and cl100k_base with its leading blank, so that lengths are near the wish.
_WORDS = (
    "time people water house world school state family student group country problem hand part place case week "
    "company system program question work government number night point home room mother area money story fact month "
    "lot right study book eye job word business issue side kind head service friend father power hour game line end"
).split()
_MINIMUM_OUTPUT = {"responses": 16}  # the API refuses fewer


@dataclass(frozen=True, slots=True)
class Shot:
    """Name one request: what it is for, how many tokens it wants, and its body; ``cold`` opens a new connection."""

    purpose: str
    tokens: int
    body: Mapping[str, Any]
    cold: bool = False


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Say how much is sent; ``lengths`` in tokens, the counts in requests."""

    lengths: tuple[int, ...] = (100, 1000, 3000, 8000)
    sweeps: int = 3
    shorts: int = 10
    pairs: int = 3
    pair_tokens: int = 4000
    light_model: str | None = None
    request: Mapping[str, Any] | None = None
    keep_turns: int = 2
    seed: int = 0


def plan(api: str, model: str, options: PlanOptions) -> list[Shot]:
    """List the shots in the order in which they are sent; every prefix that must be cold is new."""
    rnd = random.Random(options.seed)
    short = body(api, model, "", "Answer with OK.")
    shots = [Shot("hello", 10, body(api, model, "", "Count from 1 to 9.", output=32), cold=True)]
    shots += [Shot("cold-connection", 10, short, cold=True) for _ in range(3)]
    shots += [Shot("short", 10, short) for _ in range(options.shorts)]
    for _ in range(options.sweeps):
        shots += [Shot("sweep", n, body(api, model, text(rnd, n), "Answer with OK.")) for n in options.lengths]
    for _ in range(options.pairs):
        shared = text(rnd, options.pair_tokens)
        shots.append(Shot("miss", options.pair_tokens, body(api, model, shared, "Name one word of the text.")))
        shots.append(Shot("hit", options.pair_tokens, body(api, model, shared, "Name another word of the text.")))
    if options.light_model:
        shots += [
            Shot("light", n, body(api, options.light_model, text(rnd, n), "Answer with OK.")) for n in options.lengths
        ]
    return shots + list(_own(api, options))


def text(rnd: random.Random, tokens: int) -> str:
    """Make a text of about ``tokens`` tokens that shares no prefix with any other."""
    return " ".join(rnd.choices(_WORDS, k=tokens))


def body(api: str, model: str, system: str, question: str, *, output: int = 8) -> dict[str, Any]:
    """Build a streaming body; on Anthropic the system text carries the breakpoint without which nothing is cached."""
    limit = max(output, _MINIMUM_OUTPUT.get(api, 1))
    if api == "anthropic":
        marked = (
            {"system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]} if system else {}
        )
        user = [{"role": "user", "content": question}]
        return {"model": model, "max_tokens": limit, "stream": True, **marked, "messages": user}
    if api == "responses":
        instructions = {"instructions": system} if system else {}
        return {"model": model, "max_output_tokens": limit, "stream": True, **instructions, "input": question}
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": question})
    stream = {"stream": True, "stream_options": {"include_usage": True}}
    return {"model": model, "max_tokens": limit, **stream, "messages": messages}


def _own(api: str, options: PlanOptions) -> Sequence[Shot]:
    """Send the user's own request whole and with its history cut, each twice: is long history what costs?"""
    if options.request is None:
        return ()
    whole = {**options.request, "stream": True}
    if api == "openai":
        whole["stream_options"] = {"include_usage": True}
    cut = {**whole, **shortened(whole, options.keep_turns)}
    size = len(str(whole)) // 4
    return [Shot(name, size, sent) for _ in range(2) for name, sent in (("own", whole), ("own-cut", cut))]


def shortened(request: Mapping[str, Any], keep_turns: int) -> dict[str, Any]:
    """Return the member that holds the history, cut to its leading system messages and the last user turns."""
    name = "input" if isinstance(request.get("input"), list) else "messages"
    history = request.get(name)
    if not isinstance(history, list):
        return {}
    turns = [i for i, m in enumerate(history) if m.get("role") == "user" and not _is_tool_result(m)]
    if len(turns) <= keep_turns:
        return {}
    lead = next((i for i, m in enumerate(history) if m.get("role") not in ("system", "developer")), 0)
    return {name: history[:lead] + history[turns[-keep_turns] :]}


def _is_tool_result(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(isinstance(c, dict) and c.get("type") == "tool_result" for c in content)
