"""Every sample, damaged at random: readers report errors, and never fall over."""

from __future__ import annotations

import gzip
import os
import random
import re
from pathlib import Path

from prefixlint.api.read import ReadOptions, formats, open_log
from prefixlint.errors import InputError
from prefixlint.model import Request
from prefixlint.sources import _json

DATA = Path(__file__).parent.parent / "data"
FILES = sorted(p for d in ("samples", "sessions") for p in (DATA / d).rglob("*") if p.is_file() and p.suffix != ".md")
VALUES = [
    b"null",
    b"1",
    b'"x"',
    b"[]",
    b"{}",
    b"true",
    b"-1.5e3",
    b"[[]]",
    b"[{}]",
    b'{"a":1}',
    b'"[1"',
    b'""',
    b"1e999",
]
VALUES += [b'"\\ud800"', b'"{}"', b"[1,2]"]
VALUE = re.compile(rb'(?<=: )("[^"\\]*"|\d+(?:\.\d+)?|null|true|false|\[|\{)')


def damaged(data: bytes, rnd: random.Random) -> bytes:
    """Cut, overwrite, drop, shuffle lines, or put other values where values stand."""
    kind = rnd.randrange(8)
    at = rnd.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + rnd.randbytes(3) + data[at + 3 :]
    if kind == 2:
        return data[:at] + data[at + rnd.randrange(200) :]
    if kind == 3:
        lines = data.split(b"\n")
        rnd.shuffle(lines)
        return b"\n".join(lines)
    return replaced(data, rnd)


def replaced(data: bytes, rnd: random.Random) -> bytes:
    places = list(VALUE.finditer(data))
    if not places:
        return data
    found = rnd.choice(places)
    end = found.end()
    if found[0] in (b"[", b"{"):
        try:
            end = _json.skip(data, found.start())
        except _json.BrokenJsonError:
            return data
    return data[: found.start()] + rnd.choice(VALUES) + data[end:]


def survive(folder: Path, rounds: int, seed: int) -> None:
    rnd = random.Random(seed)
    known = [None, None, *formats()]
    for _ in range(rounds):
        source = rnd.choice(FILES)
        data = source.read_bytes()
        path = folder / source.name.removesuffix(".gz")
        path.write_bytes(damaged(gzip.decompress(data) if source.suffix == ".gz" else data, rnd))
        for item in open_log([str(path)], ReadOptions(input_format=rnd.choice(known))).requests():
            assert isinstance(item, Request | InputError)
            if isinstance(item, InputError):
                assert item.path == str(path)
        path.unlink()


def test_damaged_samples(tmp_path: Path) -> None:
    survive(tmp_path, rounds=int(os.environ.get("PREFIXLINT_FUZZ", "400")), seed=1)  # make fuzz sets more
