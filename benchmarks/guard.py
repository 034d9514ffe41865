"""Measure the guard against one ``json.dumps`` of the body, on a conversation that grows to 100 KB.

Run: python benchmarks/guard.py [--steps N]. Each body is a new dict, as an SDK would make it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time

import prefixlint as pl


def conversation(size_bytes: int, steps: int) -> list[str]:
    """Return bodies, as JSON, of a conversation whose last one has about ``size_bytes``."""
    draw = random.Random(7)
    words = [f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{draw.choice('lmnrst')}{k % 89}" for k in range(900)]

    def text(chars: int) -> str:
        return " ".join(draw.choice(words) for _ in range(chars // 5))

    messages = [{"role": "system", "content": text(size_bytes // 4)}]
    out = []
    for _ in range(steps):
        messages.append({"role": "user", "content": text(size_bytes // steps // 4)})
        out.append(json.dumps({"model": "gpt-4o", "messages": messages}))
        messages.append({"role": "assistant", "content": text(size_bytes // steps // 2)})
    return out


def main() -> None:
    """Print medians of both and their ratio for the last bodies, which have 50 to 100 KB."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    guard = pl.Guard(on_fork="ignore", tokenizer="o200k_base")
    checks, dumps = [], []
    for raw in conversation(100_000, steps):
        body = json.loads(raw)
        start = time.perf_counter()
        guard.check(body)
        middle = time.perf_counter()
        json.dumps(body)
        checks.append(middle - start)
        dumps.append(time.perf_counter() - middle)
    checks, dumps = checks[steps // 2 :], dumps[steps // 2 :]
    for name, times in (("guard.check", checks), ("json.dumps", dumps)):
        tenth = sorted(times)[len(times) * 9 // 10]
        print(f"{name:12} median {statistics.median(times) * 1e3:.3f} ms, 90 % under {tenth * 1e3:.3f} ms")
    print(f"ratio of medians {statistics.median(checks) / statistics.median(dumps):.2f}, {guard.totals.forks} forks")


if __name__ == "__main__":
    main()
