"""Send requests through the openai and anthropic SDKs against a server on loopback, with forks planted in one of 100.

Shows that the guard names all of them and no other, that what goes over the wire is what goes without it, and that
memory stays flat. Run: python benchmarks/guard_sdk.py [--requests 10000].
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

TURNS = 25
APPS = 20
Step = tuple[
    str, str, str, list[dict[str, Any]], list[dict[str, str]], bool
]  # api, session, system, tools, talk, forks


def _serve(line: Connection) -> None:
    """Run the server in a process of its own, keeping only a hash of each body."""
    from tests.runtime.recording_server import recording

    with recording() as wire:
        line.send(wire.url)
        while line.recv() == "bodies":
            line.send([hashlib.sha256(body).hexdigest() for body in wire.bodies])
            wire.requests.clear()


def steps(requests: int, seed: int = 3) -> Iterator[Step]:
    """Yield growing conversations of several applications, several at a time; one request of 100 forks."""
    draw = random.Random(seed)
    words = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "nu", "pe") for b in ("ra", "so", "ti", "vu") for c in "lnrst"]

    def text(count: int) -> str:
        return " ".join(draw.choice(words) for _ in range(count)).capitalize() + "."

    systems = [" ".join(text(12) for _ in range(30)) for _ in range(APPS)]
    tools = [[{"name": f"{draw.choice(words)}_{k}", "about": text(8)} for k in range(6)] for _ in range(APPS)]
    open_talks = [_talk(draw, text, systems, tools, number) for number in range(8)]
    number, made = len(open_talks), 0
    while made < requests:
        index = draw.randrange(len(open_talks))
        step = next(open_talks[index], None)
        if step is None:
            open_talks[index] = _talk(draw, text, systems, tools, number)
            number += 1
            continue
        yield step
        made += 1


def _talk(draw: random.Random, text: Any, systems: list[str], tools: list[Any], number: int) -> Iterator[Step]:
    """Yield one conversation; four sessions of five say their id, and one of four has a fork in its middle."""
    app = draw.randrange(APPS)
    system, tool_list, talk = systems[app], tools[app], []
    planted = draw.randrange(3, TURNS - 3) if number % 4 == 0 else -1
    for turn in range(TURNS):
        talk = [*talk, {"role": "user", "content": f"{number}.{turn} {text(20)}"}]
        if turn == planted:
            system, tool_list, talk = _broken(draw, text, system, tool_list, talk, number // 4)
        session = f"session-{number}" if number % 5 else ""
        yield ("openai", "anthropic")[number % 2], session, system, tool_list, talk, turn == planted
        talk = [*talk, {"role": "assistant", "content": text(40)}]


def _broken(draw: random.Random, text: Any, system: str, tools: Any, talk: Any, kind: int) -> tuple[Any, Any, Any]:
    """Break the prefix in one of five ways."""
    if kind % 5 == 0:
        return f"Current time: 2026-08-10 16:{draw.randrange(10, 60)}:{draw.randrange(10, 60)}\n{system}", tools, talk
    if kind % 5 == 1:
        return system, [*tools[3:], *tools[:3]], talk
    if kind % 5 == 2:
        return system[:200] + " " + text(6) + system[200:], tools, talk
    if kind % 5 == 3:
        edited = {**talk[1], "content": talk[1]["content"].replace(" ", "  ", 3)}
        return system, tools, [talk[0], edited, *talk[2:]]
    return system, tools, talk[2:]


class Sender:
    """Send steps with the real SDKs, through the guard or not."""

    def __init__(self, url: str, guard: Any = None) -> None:
        """Make both clients."""
        import anthropic
        import httpx2
        import openai

        from prefixlint.runtime.httpx import GuardTransport

        def http() -> Any:
            return httpx2.Client(transport=GuardTransport(guard)) if guard else httpx2.Client()

        self.guard = guard
        self.openai = openai.OpenAI(api_key="x", base_url=f"{url}/v1", http_client=http())
        self.anthropic = anthropic.Anthropic(api_key="x", base_url=url, http_client=http())

    def send(self, step: Step) -> None:
        """Send one request."""
        if self.guard and step[1]:
            with self.guard.session(step[1]):
                return self._send(step)
        return self._send(step)

    def _send(self, step: Step) -> None:
        api, _, system, tools, talk, _ = step
        schema = {"type": "object", "properties": {}}
        if api == "openai":
            listed = [
                {"type": "function", "function": {"name": t["name"], "description": t["about"], "parameters": schema}}
                for t in tools
            ]
            messages: Any = [{"role": "system", "content": system}, *talk]
            self.openai.chat.completions.create(model="gpt-4o", messages=messages, tools=listed)  # type: ignore[call-overload]
            return
        defined: Any = [{"name": t["name"], "description": t["about"], "input_schema": schema} for t in tools]
        self.anthropic.messages.create(
            model="claude-sonnet-4-5", max_tokens=99, system=system, tools=defined, messages=talk
        )


def resident_mb() -> float:
    """Return the memory of this process in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    """Run it and print what was found."""
    import prefixlint as pl

    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--limit-mb", type=float, default=16)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    url = here.recv()
    forks: list[pl.Fork] = []
    guard = pl.Guard(forks.append, limit_mb=options.limit_mb)
    guarded, plain = Sender(url, guard), Sender(url)
    planted, named, wrong, sizes = 0, 0, [], []
    spent = {"guarded": 0.0, "plain": 0.0}
    for number, step in enumerate(steps(options.requests)):
        before = len(forks)
        for name, sender in (("guarded", guarded), ("plain", plain)):
            start = time.perf_counter()
            sender.send(step)
            spent[name] += time.perf_counter() - start
        found = [f.cause for f in forks[before:]]
        planted, named = planted + step[5], named + (step[5] and len(found) == 1)
        if bool(found) != step[5] or len(found) > 1:
            wrong.append((number, step[5], found))
        if number % max(1, options.requests // 10) == 0:
            sizes.append(resident_mb())
    here.send("bodies")
    hashes = here.recv()
    same = hashes[::2] == hashes[1::2]
    print(f"{options.requests} requests, {planted} forks planted, {named} named, {len(wrong)} wrong {wrong[:5]}")
    print(f"causes: { ({c: sum(f.cause == c for f in forks) for c in sorted({f.cause for f in forks})}) }")
    print(f"wire bytes identical: {same} ({len(hashes) // 2} pairs); errors in the guard: {guard.totals.errors}")
    print("resident MB at each tenth:", " ".join(f"{size:.0f}" for size in sizes))
    for name, seconds in spent.items():
        print(f"{name}: {seconds / options.requests * 1e3:.2f} ms a request")
    here.send("stop")
    server.join(5)
    sys.exit(0 if same and not wrong and not guard.totals.errors else 1)


if __name__ == "__main__":
    main()
