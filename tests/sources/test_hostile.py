"""Inputs that break readers: damaged, deep, long, wrongly encoded. No crash, no wrong place, and the rest goes on."""

from __future__ import annotations

import gzip
import io
import pickle
import sys
from pathlib import Path

import pytest
import zstandard

from prefixlint.api.read import ReadOptions, open_log
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import Request

BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


def read(*paths: Path, options: ReadOptions | None = None) -> tuple[list[Request], list[str]]:
    """Return requests and errors; paths in errors are cut to the name."""
    found: list[Request] = []
    errors: list[str] = []
    log = open_log([str(p) for p in paths], options)
    for item in log.requests():
        if isinstance(item, InputError):
            errors.append(str(item).replace(f"{paths[0].parent}/", ""))
        else:
            found.append(item)
    assert sum(i.requests for i in log.inputs()) == len(found)
    assert sum(len(i.errors) for i in log.inputs()) == len(errors)
    return found, errors


def write(folder: Path, data: bytes, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def lines(*records: bytes) -> bytes:
    return b"".join(r + b"\n" for r in records)


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        # {"é":"é", "messages" [}   the colon is missing where the bracket stands, character 22
        pytest.param(
            '{"é":"é", "messages" [}'.encode(), "2:22: broken JSON: expected ':'", id="columns are characters"
        ),
        pytest.param(b'{"messages":[{"role":"us', "2:25: broken JSON: the text ends", id="truncated"),
        pytest.param(b'{"messages":[1,]}', "2:16: broken JSON: trailing comma", id="trailing comma"),
        pytest.param(BODY + b" x", "2:59: broken JSON: more text", id="more text"),
        pytest.param(b"\0" * 5000, "2:1: the line holds only NUL bytes", id="only NUL bytes"),
        pytest.param(BODY + b"\0", "2:58: broken JSON: more text", id="NUL behind"),
        pytest.param(b"[1]", "2:1: broken JSON: expected an object", id="array"),
        pytest.param('{"m":"é'.encode() + b'\xff"}', "2:8: broken JSON: invalid UTF-8", id="invalid UTF-8"),
        pytest.param(b'{"m":"a\tb"}', "2:8: broken JSON: invalid character", id="control character"),
        pytest.param(b'{"m":01}', "2:6: broken JSON", id="leading zero"),
        pytest.param(b'{"event":"start"}', "2:1: no request body in this record (members: event)", id="no body"),
    ],
)
def test_broken_line_has_a_place_and_the_rest_goes_on(tmp_path: Path, bad: bytes, place: str) -> None:
    found, errors = read(write(tmp_path, lines(BODY, bad, BODY)))
    assert [(r.span.line, r.span.record) for r in found] == [(1, 0), (3, 1)]
    assert len(errors) == 1
    assert errors[0].startswith(f"log.jsonl:{place}")


def test_first_line_may_be_the_broken_one(tmp_path: Path) -> None:
    found, errors = read(write(tmp_path, lines(b'ent":"x"}]}', BODY, BODY)))
    assert (len(found), errors) == (2, ["log.jsonl:1:1: broken JSON: expected an object"])


def test_bom_crlf_and_blank_lines_move_no_offset(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + BODY + b"\r\n\r\n \t\n" + BODY + b"\r\n" + BODY
    found, errors = read(write(tmp_path, data))
    assert not errors
    assert [data[r.span.start_byte : r.span.end_byte] for r in found] == [BODY] * 3
    assert [r.span.line for r in found] == [1, 4, 5]


def test_lone_surrogates_keep_their_bytes(tmp_path: Path) -> None:
    raw = b'[{"role":"user","content":"a\\ud800b"}]'
    found, errors = read(write(tmp_path, lines(b'{"messages":' + raw + b',"model":"\\udfff"}', BODY)))
    assert not errors
    assert found[0].members["messages"] == raw
    assert found[0].model == "\udfff"


def test_number_spelling_survives(tmp_path: Path) -> None:
    numbers = {"a": b"105.0", "b": b"1e400", "c": b"-0", "d": b"123456789012345678901234567890", "e": b"NaN"}
    members = b"".join(b',"%s":%s' % (k.encode(), v) for k, v in numbers.items())
    found, errors = read(write(tmp_path, BODY[:-1] + members + b"}\n"))
    assert not errors
    assert {k: found[0].members[k] for k in numbers} == numbers


def test_of_duplicate_keys_the_last_counts(tmp_path: Path) -> None:
    found, _ = read(write(tmp_path, b'{"model":"a","messages":[],"model":"b"}'))
    assert found[0].model == "b"


@pytest.mark.parametrize("opener", ["[", '{"a":'])
def test_nesting_ten_thousand_deep(tmp_path: Path, opener: str) -> None:
    closer = {"[": "]"}.get(opener, "}")
    value = (opener * 10_000 + "1" + closer * 10_000).encode()
    found, errors = read(write(tmp_path, lines(b'{"messages":[{"content":' + value + b"}]}", BODY)))
    assert not errors
    assert found[0].members["messages"] == b'[{"content":' + value + b"}]"
    assert len(found) == 2


def test_one_line_of_200_megabytes(tmp_path: Path) -> None:
    text = b"hello world " * 16_700_000
    data = lines(b'{"messages":[{"role":"user","content":"' + text + b'"}]}', BODY)
    size = len(data) - len(BODY) - 2
    path = write(tmp_path, data)
    del data
    found, errors = read(path)
    assert not errors
    assert [(r.span.start_byte, r.span.end_byte) for r in found] == [(0, size), (size + 1, size + 1 + len(BODY))]


def test_utf_16_is_named(tmp_path: Path) -> None:
    _, errors = read(write(tmp_path, lines(BODY).decode().encode("utf-16")))
    assert errors == ["log.jsonl:1:1: the file is UTF-16; convert it to UTF-8"]


@pytest.mark.parametrize("data", [b"", b"\n\n \n"])
def test_empty(tmp_path: Path, data: bytes) -> None:
    assert read(write(tmp_path, data)) == ([], ["log.jsonl: the file is empty"])


def test_broken_document_has_line_and_column(tmp_path: Path) -> None:
    _, errors = read(write(tmp_path, b'{\n "model": "m",\n "messages": [\n  "hi\n ]\n}\n', "body.json"))
    assert errors == ["body.json:4:6: broken JSON: invalid character in a string"]


@pytest.mark.parametrize("name", ["log.jsonl.gz", "log.jsonl.zst", "log"])
def test_compression_is_seen_by_content_over_several_frames(tmp_path: Path, name: str) -> None:
    pack = zstandard.ZstdCompressor().compress if name.endswith("zst") else gzip.compress
    found, errors = read(write(tmp_path, pack(lines(BODY)) + pack(lines(BODY, BODY)), name))
    assert (len(found), errors) == (3, [])


def test_what_stands_before_the_damage_is_read(tmp_path: Path) -> None:
    found, errors = read(write(tmp_path, gzip.compress(lines(BODY, BODY)) + b"garbage", "log.jsonl.gz"))
    assert len(found) == 2
    assert errors[0].startswith("log.jsonl.gz: the compressed data is damaged, so the rest is lost")


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_cut_off_archive(tmp_path: Path, suffix: str) -> None:
    pack = zstandard.ZstdCompressor().compress if suffix == "zst" else gzip.compress
    _, errors = read(write(tmp_path, pack(lines(*[BODY] * 9))[:-9], f"log.jsonl.{suffix}"))
    assert errors[-1] == f"log.jsonl.{suffix}: the compressed data is damaged, so the rest is lost: it is cut off"


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "exploded",))  # type: ignore[return-value]

    _, errors = read(write(tmp_path, pickle.dumps(Bomb()), "dump.pkl"))
    assert "prefixlint never does" in errors[0]
    assert not (tmp_path / "exploded").exists()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(lines(BODY, BODY)))))
    log = open_log(["-"])
    assert [r.span.path for r in log.requests() if isinstance(r, Request)] == ["-", "-"]


def test_standard_input_beside_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late, early = b'{"ts":20,"request":' + BODY + b"}\n", b'{"ts":10,"request":' + BODY + b"}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(late)))
    found = [r for r in open_log(["-", str(write(tmp_path, early))]).requests() if isinstance(r, Request)]
    assert [r.at_s for r in found] == [10.0, 20.0]


def test_missing_file_is_an_error() -> None:
    with pytest.raises(InputError, match="no such file"):
        open_log(["nowhere.jsonl"])


def test_unknown_format_name_lists_the_known() -> None:
    with pytest.raises(ConfigError, match=r"unknown input format 'nope'; known: .*openai-chat"):
        open_log(["-"], ReadOptions(input_format="nope"))


def test_unreadable_filter_time() -> None:
    with pytest.raises(ConfigError, match="cannot read the time 'yesterday'"):
        open_log(["-"], ReadOptions(since="yesterday"))
