"""What is written, and what never may be: half a file, a file that changed in the meantime, a cut archive."""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from pathlib import Path

import pytest
import zstandard

from prefixlint.api import write
from prefixlint.api.fix import FixOptions, fix_paths, save
from prefixlint.canon import adopt, text

LINES = [
    json.dumps({"model": "m", "messages": [{"role": "system", "content": f"Hi there.{end}"}]}) + "\n"
    for end in ("", "  ", "", "\t")
]
FIXED = LINES[0] * 4


def pack(method: str, data: str) -> bytes:
    raw = data.encode()
    return gzip.compress(raw) if method == "gz" else zstandard.ZstdCompressor().compress(raw)


@pytest.mark.parametrize("method", ["gz", "zst"])
def test_every_frame_of_an_archive_survives(method: str, tmp_path: Path) -> None:
    log = tmp_path / f"log.jsonl.{method}"
    log.write_bytes(pack(method, "".join(LINES[:2])) + pack(method, "".join(LINES[2:])))
    assert save(fix_paths([str(log)])) == []
    assert write.expand(log.read_bytes()).decode() == FIXED


@pytest.mark.parametrize("method", ["gz", "zst"])
@pytest.mark.parametrize("cut", [1, 5, 9])
def test_a_cut_archive_is_left_alone(method: str, cut: int, tmp_path: Path) -> None:
    log = tmp_path / f"log.jsonl.{method}"
    data = pack(method, "".join(LINES)) + pack(method, "".join(LINES))
    log.write_bytes(data[:-cut])
    result = fix_paths([str(log)])
    assert (save(result) == [] and result.errors and "cut off" in result.errors[0]) or "ended" in result.errors[0]
    assert log.read_bytes() == data[:-cut]


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz", "log.jsonl.zst"])
def test_a_log_that_grew_in_the_meantime_keeps_what_came(name: str, tmp_path: Path) -> None:
    log, method = tmp_path / name, Path(name).suffix[1:]
    packed = (lambda s: s.encode()) if method == "jsonl" else (lambda s: pack(method, s))
    log.write_bytes(packed("".join(LINES)))
    result = fix_paths([str(log)])
    log.write_bytes(log.read_bytes() + packed(LINES[1]))
    grown = log.read_bytes()
    (error,) = save(result)
    assert "changed while it was being fixed" in error
    assert log.read_bytes() == grown and [p.name for p in tmp_path.iterdir()] == [name]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(write.FixError, match="no regular file"):
        write.replace_file(str(tmp_path / "pipe.md"), b"new")


def test_utf16_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("Hi. \n".encode("utf-16"))
    (error,) = fix_paths([str(tmp_path / "a.md")]).errors
    assert "is UTF-16, expected UTF-8" in error


def test_runs_of_blanks_take_linear_time() -> None:
    started = time.process_time()
    assert text.canonical(("x" + " " * 30_000 + "y\n") * 3) == ("x" + " " * 30_000 + "y\n") * 3
    assert text.canonical("a" + " " * 200_000 + "b \n") == "a" + " " * 200_000 + "b\n"
    assert time.process_time() - started < 1


def test_long_texts_take_over_a_spelling_soon() -> None:
    words = random.Random(1)
    lines = [" ".join(words.choice(["a", "the", "x = 1", "}", "é"]) for _ in range(9)) for _ in range(4_000)]
    first, later = "\n".join(lines), "\r\n".join(f"{line} " for line in [*lines[:2_000], "new line", *lines[2_000:]])
    started = time.process_time()
    new = adopt.text(first, later)
    assert time.process_time() - started < 5  # it was minutes
    assert new == "\n".join([*lines[:2_000], "new line \r", *lines[2_000:]]) + " "  # only what is new is as it came


def test_what_is_kept_of_a_log_is_what_it_says(tmp_path: Path) -> None:
    """A conversation of n turns is n squared bytes of log; only its text stays in memory while it is worked on."""
    from prefixlint.api import fix_logs
    from prefixlint.api.fix import Run

    turns = [{"role": "user", "content": f"{i} " * 300} for i in range(150)]
    bodies = [{"model": "m", "messages": [{"role": "system", "content": "Hi.  "}, *turns[:n]]} for n in range(1, 150)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(b) + "\n" for b in bodies))
    opened = {str(log): fix_logs._open(str(log))}
    drafts = list(fix_logs._drafts(Run(FixOptions()), [str(log)], opened))
    assert [json.loads(fix_logs.request_with(d, d.old).members["messages"]) for d in drafts] == [
        b["messages"] for b in bodies
    ]
    held = sum(len(raw) for d in drafts for raw in d.request.members.values())
    assert held == 0 and sum(map(len, drafts[0].interned.known)) < log.stat().st_size / 50
