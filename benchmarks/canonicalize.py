"""Time `canonicalize` on a 30 KB body with 40 tools as a ratio to `orjson.loads` + `orjson.dumps` of the same body."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import orjson

from prefixlint.api.library import canonical_bytes, canonicalize

ROUNDS = 300


def body(seed: int = 7) -> dict[str, Any]:
    """Make a typical body: 40 tools, a system prompt of 8 KB, a history of 20 messages."""
    draw = random.Random(seed)
    words = "the agent reads a file before it edits one and keeps every answer short and clear".split()

    def prose(count: int) -> str:
        return " ".join(draw.choice(words) for _ in range(count)).capitalize() + "."

    def tool(number: int) -> dict[str, Any]:
        properties = {f"arg_{n}": {"type": "string", "description": prose(6)} for n in range(3)}
        schema = {"type": "object", "properties": properties, "required": ["arg_0"]}
        return {"name": f"tool_{number:02}", "description": prose(24), "input_schema": schema}

    turns = [{"role": ("user", "assistant")[n % 2], "content": prose(45)} for n in range(20)]
    system = "\n".join(prose(14) for _ in range(30))
    return {"model": "m", "max_tokens": 512, "system": system, "tools": [tool(n) for n in range(40)], "messages": turns}


def disturbed(value: Any, draw: random.Random) -> Any:
    """Shuffle keys at every level."""
    if isinstance(value, dict):
        return {key: disturbed(value[key], draw) for key in draw.sample(sorted(value), len(value))}
    return [disturbed(item, draw) for item in value] if isinstance(value, list) else value


def best(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the shortest time of one call in microseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return min(times) / 1000


def measure() -> dict[str, float]:
    """Return the size, the floor in microseconds and the ratios to it."""
    original = body()
    canonical = canonicalize(original).body
    raw = orjson.dumps(canonical)
    floor = best(lambda: orjson.dumps(orjson.loads(raw)))
    variants = [disturbed(orjson.loads(raw), random.Random(n)) for n in range(ROUNDS)]
    fresh = iter(variants)
    start = time.perf_counter_ns()
    canonicalize(body(8))
    cold = (time.perf_counter_ns() - start) / 1000
    return {
        "bytes": len(raw),
        "floor_us": floor,
        "canonical": best(lambda: canonicalize(canonical)) / floor,
        "first_call": cold / floor,
        "disturbed": best(lambda: canonicalize(next(fresh))) / floor,
        "bytes_of_canonical": best(lambda: canonical_bytes(canonical)) / floor,
    }


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:20} {value:10.2f}")
