"""`prefixlint index` against the floor: two processes that only parse the lines and hash the text of the messages."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from typing import Any

import logs
from measure import prefixlint, python, row, scratch

FLOOR = """
import multiprocessing, os, sys
import orjson, xxhash

def work(task):
    path, start, end = task
    with open(path, 'rb') as file:
        file.seek(start)
        if start: file.readline()
        while file.tell() <= end and (line := file.readline()):
            for message in orjson.loads(line)['messages']:
                xxhash.xxh3_64_intdigest(message['content'].encode())

if __name__ == '__main__':
    path = sys.argv[1]
    size = os.path.getsize(path)
    with multiprocessing.get_context('fork').Pool(2) as pool:
        pool.map(work, [(path, 0, size // 2), (path, size // 2, size)])
"""


def chats(megabytes: int) -> Iterator[str]:
    """Yield the lines of a chat log: 36 system prompts of 4 kB, 50 conversations at a time, 5 to 60 turns each."""
    text, rnd, done, made = logs.corpus(12_000_000), random.Random(1), 0, 0
    live: list[dict[str, Any]] = []
    while done < megabytes * 1_000_000:
        while len(live) < 50:
            system = f"You are helper {made % 36}.\n" + text[made % 36 * 5000 : made % 36 * 5000 + 4000]
            first = {"role": "system", "content": system}
            live.append(
                {"id": made, "at": rnd.randrange(len(text) - 200_000), "talk": [first], "left": rnd.randrange(5, 60)}
            )
            made += 1
        one = rnd.choice(live)
        _say(one, "user", text, rnd.randrange(200, 1200))
        body = {"model": "gpt-4o", "messages": one["talk"], "metadata": {"session_id": f"s{one['id']}"}}
        line = json.dumps(body)
        done += len(line) + 1
        yield line
        _say(one, "assistant", text, rnd.randrange(100, 600))
        one["left"] -= 1
        if not one["left"]:
            live.remove(one)


def _say(one: dict[str, Any], role: str, text: str, size: int) -> None:
    one["talk"].append({"role": role, "content": text[one["at"] : one["at"] + size]})
    one["at"] += size


def main() -> None:
    """Print the table."""
    folder = scratch()
    log = logs.write(folder / "chats.jsonl", chats(1000))
    base = python(FLOOR, str(log), repeat=2)
    row("two processes: orjson.loads and xxh3 of the text, 1 GB", base)
    target = folder / "index"
    shutil.rmtree(target, ignore_errors=True)
    row("index, 1 GB", prefixlint("index", str(log), "-o", str(target)), base, "at most 1.3 times, under 400 MB")
    whole = log.stat().st_size
    with log.open("a", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in chats(10))
    row("index again, 1 % appended", prefixlint("index", str(log), "-o", str(target)), base, "1 % of the work")
    row("diff of the index", prefixlint("diff", str(target)), base)
    with log.open("r+b") as out:
        out.truncate(whole)


if __name__ == "__main__":
    main()
