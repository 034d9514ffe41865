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
