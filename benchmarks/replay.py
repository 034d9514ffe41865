"""Replay against bare loops: a million block accesses with eviction, a sweep of twelve points, the 500 MB agent log."""

from __future__ import annotations

import json
import random
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import logs
from measure import prefixlint, row, scratch

from prefixlint.caches import block_hash
from prefixlint.caches._base import Access

BLOCK = 16
CAPACITY = 6000
ACCESSES = 1_000_000


def chains() -> list[list[int]]:
    """Make the block ids of growing, forking conversations: a million accesses, half of them hits."""
    rng, made, talks, last, total = random.Random(1), [], [[]], 0, 0
    while total < ACCESSES:
        if rng.random() < 0.1:
            head = rng.randint(20, 60)
            talks.append(list(range(last, last + head)))
            last += head
        at, more = (rng.randrange(len(talks)) if rng.random() < 0.5 else -1), rng.randint(1, 12)
        grown = [*talks[at], *range(last, last + more)]
        talks[at] = grown[:30] if len(grown) > 400 else grown
        last += more
        made.append(grown)
        total += len(grown)
    return made


def bare(requests: list[list[int]]) -> None:
    """Run the floor: one OrderedDict, one operation per block."""
    held: OrderedDict[int, None] = OrderedDict()
    for ids in requests:
        for one in ids:
            if one in held:
                held.move_to_end(one)
            else:
                held[one] = None
                if len(held) > CAPACITY:
                    held.popitem(last=False)


def modelled(requests: list[list[int]], discipline: str) -> None:
    """Run the same ids through a cache model."""
    cache = block_hash.make({"discipline": discipline, "block_size": BLOCK, "capacity": CAPACITY})
    for number, ids in enumerate(requests):
        cache.serve(Access(number, len(ids) * BLOCK, blocks=ids, block_tokens=BLOCK))


def fastest(work: Callable[[], None]) -> float:
    """Return the seconds of the fastest of three runs."""
    return min(_seconds(work) for _ in range(3))


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def write(path: Path, requests: list[list[int]]) -> Path:
    """Write the ids as a block trace."""
    with path.open("w") as file:
        for number, ids in enumerate(requests):
            record = {"timestamp": number, "input_length": len(ids) * BLOCK, "output_length": 1, "hash_ids": ids}
            file.write(json.dumps({**record, "block_size": BLOCK}) + "\n")
    return path


def main() -> None:
    """Print the table."""
    requests, folder = chains(), scratch()
    floor = fastest(lambda: bare(requests))
    print(f"bare OrderedDict LRU loop, {sum(map(len, requests)):,} accesses: {floor:.2f} s")
    for name, discipline in (("vLLM block pool", "pool"), ("LRU block set", "set")):
        seconds = fastest(lambda chosen=discipline: modelled(requests, chosen))  # type: ignore[misc]
        print(f"{name}: {seconds:.2f} s, {seconds / floor:.2f} times the loop (at most 3)")
    trace = str(write(folder / "blocks.jsonl", requests))
    points = ",".join(f"{500 * n}blocks" for n in range(1, 13))
    for cache in ("vllm", "lmcache"):
        args = ("replay", trace, "--cache", cache, "--block-size", str(BLOCK), "--format", "json")
        once = prefixlint(*args, "--capacity", f"{CAPACITY}blocks")
        row(f"replay {cache}, one capacity", once)
        row(
            f"replay {cache}, 12 capacities",
            prefixlint(*args, "--sweep", f"capacity={points}"),
            once,
            "at most 3 times",
        )
    agent = str(logs.write(folder / "agent.jsonl", logs.agent_requests(2000)))
    diff = prefixlint("diff", agent)
    for cache in ("vllm", "sglang"):
        row(f"replay {cache}, 500 MB agent log", prefixlint("replay", agent, "--cache", cache), diff, "at most 2 times")


if __name__ == "__main__":
    main()
