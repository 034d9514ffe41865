"""Make the logs that the benchmarks run on, out of the standard library's sources; nothing random but the seed.

The agent log follows real coding agents: 13 sessions, each conversation grows from 20k to 100k tokens by 500 tokens a
turn, so that 99 % of the text repeats. One line is one OpenAI Chat body.
"""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

CHARS_PER_TOKEN = 4  # good enough to size a log


def corpus(size: int) -> str:
    """Return ``size`` characters of Python source text: the standard library, then the installed packages."""
    parts, have = [], 0
    roots = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")))
    for path in (p for root in roots for p in sorted(root.rglob("*.py"))):
        if have >= size:
            break
        parts.append(path.read_text(encoding="utf-8", errors="ignore"))
        have += len(parts[-1])
    return "".join(parts)[:size]


def agent_requests(requests: int, *, stamped: bool = False) -> Iterator[str]:
    """Yield the lines of the agent log; with ``stamped`` every tenth request carries another clock near its start."""
    text = corpus(12_000_000)
    rnd = random.Random(3)
    made = session = 0
    while made < requests:
        start = rnd.randrange(len(text) - 100_000 * CHARS_PER_TOKEN)
        for turn in range(161):
            if made == requests:
                return
            yield json.dumps(_body(text, start, session, turn, made if stamped and made % 10 == 0 else None))
            made += 1
        session += 1


def _body(text: str, start: int, session: int, turn: int, stamp: int | None) -> dict[str, object]:
    first = 20_000 * CHARS_PER_TOKEN
    step = 500 * CHARS_PER_TOKEN
    clock = 0 if stamp is None else stamp
    time = f"{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    system = f"You are agent {session}.\nCurrent time: 2026-01-01T{time}Z\n"
    messages = [{"role": "system", "content": system + text[start : start + first]}]
    for k in range(turn + 1):
        at = start + first + k * step
        messages.append({"role": ("user", "assistant")[k % 2], "content": text[at : at + step]})
    return {"model": "gpt-4o", "messages": messages}


def unrelated_requests(megabytes: int) -> Iterator[str]:
    """Yield requests of 20 kB whose texts do not repeat."""
    text = corpus(megabytes * 1_000_000)
    for at in range(0, len(text), 20_000):
        yield json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": text[at : at + 20_000]}]})


def write(path: Path, lines: Iterator[str]) -> Path:
    """Write the lines once; a log that is already there is kept."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in lines)
        part.rename(path)
    return path
