"""Fixed random workloads for engines and models alike: chats with shared heads, repeats, forks, salts and outputs.

Standard library only, so that the recorders run in the engines' own environments. A workload is made again from its
seed; only seeds and answers are stored.
"""

from __future__ import annotations

import random
from typing import Any

Record = dict[str, Any]


def chat(seed: int, *, requests: int = 60, low: int = 300, high: int = 1299, salts: bool = True) -> list[Record]:
    """Make requests: several tenants, system heads, histories that grow, fork, repeat, or start anew.

    ``low`` and ``high`` bound the token ids (llama.cpp's tiny model has no others).
    """
    rng = random.Random(seed)
    unit = rng.choice((1, 3, 8, 20))

    def text(most: int) -> list[int]:
        return [rng.randint(low, high) for _ in range(rng.randint(1, max(most * unit, 1)))]

    heads = [text(6) for _ in range(rng.randint(1, 4))]
    sessions: list[list[int]] = []
    names = [None, None, "a", "b"] if salts else [None]
    made: list[Record] = []
    for _ in range(requests):
        made.append(_one(rng, made, sessions, heads, text, names))
    return made


def _one(rng: random.Random, made: list[Record], sessions: list, heads: list, text: Any, names: list) -> Record:  # type: ignore[type-arg]
    roll = rng.random()
    if roll < 0.15 and made:  # the same request again
        return dict(rng.choice(made[-20:]))
    if roll < 0.35 or not sessions:  # a new session on a shared head
        sessions.append(rng.choice(heads) + text(8))
    if roll > 0.9:  # an edited history: cut somewhere and go on differently
        old = rng.choice(sessions)
        sessions.append(old[: rng.randint(0, len(old))] + text(4))
    at = rng.randrange(len(sessions)) if rng.random() < 0.4 else len(sessions) - 1
    sessions[at] = sessions[at] + text(4)
    output = [rng.randint(300, 1299) for _ in range(rng.choice((0, 0, 1, 2, 5, 17)))]
    record: Record = {"tokens": list(sessions[at])}
    if output:
        record["output"] = output
        if rng.random() < 0.8:  # most clients send the answer back
            sessions[at] = sessions[at] + output
    salt = rng.choice(names)
    if salt:
        record["salt"] = salt
    return record


Job = dict[str, Any]


def plan(engine: str) -> list[Job]:
    """List the fixed jobs of an engine: a seed and its parameters; the capacities force heavy eviction."""
    return list({"vllm": _vllm, "sglang": _sglang, "llamacpp": _llamacpp}[engine]())


def requests_of(job: Job) -> list[Record]:
    """Make the requests of a job again from its seed."""
    made = chat(job["seed"], salts="slots" not in job)
    if "slots" in job:  # the server generates one forced token, so its answer is known
        made = [{"tokens": r["tokens"], "output": [_forced(r)] * (1 + len(r["tokens"]) % 4)} for r in made]
    return made


def _forced(record: Record) -> int:
    return int((record.get("output") or [300 + len(record["tokens"]) % 900])[0])


def _longest(seed: int) -> int:
    return max(len(r["tokens"]) + len(r.get("output", [])) for r in chat(seed))


def _vllm() -> Any:
    for number, block in enumerate((1, 2, 3, 4, 8, 16, 32, 64) * 5):
        rng = random.Random(number)
        seed = 5000 + number
        room = rng.choice((0.7, 1.05, 1.3, 2, 5, 50))
        yield {
            "seed": seed,
            "block_size": block,
            "capacity": max(1, int(room * _longest(seed) / block) + 1),
            "eagle": number % 5 == 4,
        }


def _sglang() -> Any:
    policies = ("lru", "lfu", "fifo", "mru", "filo", "priority", "slru")
    for number in range(49):
        rng = random.Random(number)
        seed, page = 6000 + number, rng.choice((1, 1, 2, 4, 8, 16, 64))
        room = rng.choice((0.7, 1.05, 1.3, 2, 5, 50))
        yield {
            "seed": seed,
            "page_size": page,
            "capacity": int(room * _longest(seed)) + page,
            "policy": policies[number % 7],
            "insert": "two-step" if number % 3 == 2 else "once",
        }


def _llamacpp() -> Any:
    for number in range(36):
        rng = random.Random(number)
        yield {
            "seed": 7000 + number,
            "slots": rng.choice((1, 1, 2, 3, 4)),
            "ram_cache": rng.choice((0, 64, -1)),
            "cache_reuse": rng.choice((0, 0, 2, 8)),
            "similarity": rng.choice((0.1, 0.1, 0.5, 0.0)),
        }
