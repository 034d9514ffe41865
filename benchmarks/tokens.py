"""Count the tokens of a simulated agent log, whole and by parts, and print the ratios.

usage: python benchmarks/tokens.py [REQUESTS]    (default 400: about 100 MB, one minute)

Conversations grow from 20,000 to 100,000 tokens by 500 a turn, as the logs of coding agents do; the text is the source
code of Python's standard library. Every method must give the same counts. CPU time, one thread.
"""

from __future__ import annotations

import random
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from prefixlint.tokens import tiktoken_packed
from prefixlint.tokens._counted import Counted

START_CHARS, TURN_CHARS, TURNS = 80_000, 2_000, 161


def corpus() -> str:
    """Join the modules of the standard library in a fixed order."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(folder.glob("*.py")) + sorted(folder.glob("[a-l]*/*.py"))
    return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)


def messages(requests: int) -> Iterator[list[str]]:
    """Yield the messages of one request after the other, session by session."""
    text, rnd = corpus(), random.Random(3)
    for _ in range(-(-requests // TURNS)):
        at = rnd.randrange(len(text) - START_CHARS - TURNS * TURN_CHARS)
        turns = [text[at : at + START_CHARS]]
        for turn in range(min(TURNS, requests)):
            yield list(turns)
            start = at + START_CHARS + turn * TURN_CHARS
            turns.append(text[start : start + TURN_CHARS])
        requests -= TURNS


def timed(work: Callable[[], list[int]]) -> tuple[float, list[int]]:
    """Run once and return the CPU seconds and the counts."""
    start = time.process_time()
    counts = work()
    return time.process_time() - start, counts


def stamped(texts: list[str]) -> list[str]:
    """Put a clock of changing length near the front of every tenth text, which shifts all behind it."""
    return [
        f"{text[:100]} now: 2026-01-01T00:00:{i % 60:02d}Z{'x' * (i % 7) if i % 10 == 0 else ''} {text[100:]}"
        if i % 10 == 0
        else f"{text[:100]} now: 2026-01-01T00:00:00Z {text[100:]}"
        for i, text in enumerate(texts)
    ]


def fresh(texts: list[str]) -> list[str]:
    """Make new string objects, as a JSON parser does: their hashes are not known yet."""
    return [(text + "x")[:-1] for text in texts]


def compare(title: str, texts: list[str], methods: dict[str, Callable[[list[str]], list[int]]]) -> None:
    """Print one line per method; the first one is the measure of the others."""
    size = sum(map(len, texts)) / 1e6
    print(f"\n{title}: {len(texts)} texts, {size:.0f} MB")
    first, expected = 0.0, []
    for name, method in methods.items():
        seconds, counts = timed(lambda method=method: method(fresh(texts)))  # type: ignore[misc]
        first, expected = first or seconds, expected or counts
        assert counts == expected, name
        print(f"  {name:34} {seconds:7.2f} s  {size / seconds:7.0f} MB/s  x{first / seconds:.1f}")


def main(requests: int) -> None:
    """Measure the growing log, the same with a volatile stamp, and text that never repeats."""
    engine = tiktoken_packed.load("o200k_base").engine
    encode = engine.encode

    def whole(texts: list[str]) -> list[int]:
        return [len(encode(text)) for text in texts]

    def parts(texts: list[str]) -> list[int]:
        return list(map(Counted("o200k_base", lambda: engine).count, texts))

    def chain(texts: list[str]) -> list[int]:
        feed = Counted("o200k_base", lambda: engine).chain().feed
        return [feed(text).tokens for text in texts]

    log = list(messages(requests))
    texts = ["\n\nHuman: ".join(turns) for turns in log]
    compare("growing prompts", texts, {"tiktoken, whole": whole, "count()": parts, "chain()": chain})
    compare("a clock in every tenth", stamped(texts), {"tiktoken, whole": whole, "count()": parts, "chain()": chain})
    text = corpus()[:8_000_000]
    once = [text[i : i + 40_000] for i in range(0, len(text), 40_000)]
    compare("nothing repeats", once, {"tiktoken, whole": whole, "count()": parts})
    single = [turn for turns in log for turn in turns]
    compare("messages of the log, one by one", single, {"count()": parts})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
