"""An index says the same however it was made: in one go or several, by one process or many, cut anywhere."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from prefixlint.api import index as index_api
from prefixlint.api.index import IndexOptions, fingerprints, index, merge
from prefixlint.api.index_report import report
from prefixlint.api.read import open_log, request_of
from prefixlint.cli.diff import command as diff_command
from prefixlint.cli.index import command as index_command
from prefixlint.cli.replay import command as replay_command
from prefixlint.cli.tree import command as tree_command
from prefixlint.errors import ConfigError
from prefixlint.model import ReportOptions, Request
from prefixlint.report import index_json, index_text

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytest.importorskip("xxhash")

SYSTEM = "You are a helpful assistant of the Example company. Answer politely and briefly. " * 12


def talk(session: int, turns: int, system: str = SYSTEM) -> list[dict[str, Any]]:
    """Return the requests of one conversation, each with all that came before."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    requests = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"question {turn} of talk {session}: " + "why? " * 70})
        requests.append({"model": "gpt-4o", "messages": list(messages)})
        messages.append({"role": "assistant", "content": f"answer {turn} of {session}: " + "so. " * 70})
    return requests


def lines(sessions: int = 6, turns: int = 5, *, wrapped: bool = True) -> list[str]:
    """Return a log in which the conversations take turns."""
    talks = [talk(s, turns) for s in range(sessions)]
    mixed = [(s, talks[s][t]) for t in range(turns) for s in range(sessions)]
    if not wrapped:
        return [json.dumps(body) for _, body in mixed]
    return [
        json.dumps({"ts": 1_700_000_000 + i, "session": f"s{s}", "request": body}) for i, (s, body) in enumerate(mixed)
    ]


def written(path: Path, log: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in log))
    return path


def said(folder: Path | str, *more: Path | str) -> str:
    """Return all reports on an index as one text."""
    found = [report([str(folder), *map(str, more)], view) for view in ("diff", "replay", "tree")]  # type: ignore[arg-type]
    return "".join(
        write(r, ReportOptions()) for r in found for write in (index_json.index_report, index_text.index_report)
    )


def made(log: Path, folder: Path, **options: Any) -> Path:
    index([str(log)], str(folder), IndexOptions(jobs=1, **options))
    return folder


def test_counts_by_hand(tmp_path: Path) -> None:
    # Two requests of one user message each. A canonical message is \x1e message \x1e user \x1f text: 14 bytes and the
    # text. 1010 letters make 1024 bytes: 4 blocks of 256. They differ at letter 600, byte 614, in block 2.
    left, right = "a" * 1010, "a" * 600 + "b" * 410
    bodies = [{"model": "m", "messages": [{"role": "user", "content": text}]} for text in (left, right, left)]
    log = written(tmp_path / "log.jsonl", [json.dumps(b) for b in bodies])
    found = report([str(made(log, tmp_path / "i"))])
    assert (found.requests, found.bytes, found.blocks, found.distinct) == (3, 3072, 12, 6)
    assert found.shared_blocks == 4  # all of the first request, since the third repeats it
    assert found.shared_bytes == (2 + 4) * 256
    (family,) = found.families
    assert (family.first, family.fresh, family.repeated) == (1, 1, 1)


def test_a_healthy_log_parts_nowhere(tmp_path: Path) -> None:
    found = report([str(made(written(tmp_path / "log.jsonl", lines()), tmp_path / "i"))])
    assert found.requests == 30
    assert found.sessions == 6
    assert not found.partings
    (family,) = found.families
    assert (family.first, family.appended, family.fresh) == (1, 24, 5)


def test_a_clock_in_the_system_prompt_is_told_with_its_place(tmp_path: Path) -> None:
    log = []
    for number in range(20):
        system = SYSTEM[:700] + f" Now 10:00:{number:02d}. " + SYSTEM
        log.append(json.dumps({"session": f"s{number}", "request": talk(number, 1, system)[0]}))
    found = report([str(made(written(tmp_path / "log.jsonl", log), tmp_path / "i"))])
    (parting,) = found.partings
    # 16 bytes of frame, 700 of text, 11 of the clock: byte 727 lies in block 2.
    assert (parting.where, parting.position, parting.requests) == ("front", 2, 19)
    assert (parting.before.record, parting.example.record) == (0, 1)
    assert parting.bytes_behind > 19 * 512


def test_a_rewritten_history_is_told(tmp_path: Path) -> None:
    requests = talk(0, 4)
    requests[3]["messages"][1] = {"role": "user", "content": "question 0, summed up"}
    log = written(tmp_path / "log.jsonl", [json.dumps({"session": "s", "request": r}) for r in requests])
    (parting,) = report([str(made(log, tmp_path / "i"))]).partings
    assert (parting.where, parting.requests, parting.example.record) == ("history", 1, 3)


@pytest.mark.parametrize("wrapped", [True, False], ids=["records", "bodies"])
@pytest.mark.parametrize("task_bytes", [3_001, 9_999, 1 << 30])
def test_same_report_however_a_log_is_cut(tmp_path: Path, task_bytes: int, wrapped: bool) -> None:
    log = written(tmp_path / "log.jsonl", lines(wrapped=wrapped))
    expected = said(made(log, tmp_path / "one"))
    assert said(made(log, tmp_path / "cut", task_bytes=task_bytes)) == expected


def test_same_report_for_any_number_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_api, "LEAST_POOL_BYTES", 0)
    log = written(tmp_path / "log.jsonl", lines())
    expected = said(made(log, tmp_path / "one"))
    index([str(log)], str(tmp_path / "many"), IndexOptions(jobs=2, task_bytes=20_000))
    assert said(tmp_path / "many") == expected


def test_grown_lines_read_like_whole_ones(tmp_path: Path) -> None:
    """What is read with the help of earlier lines has the same fingerprints as each request alone."""
    log = written(tmp_path / "log.jsonl", lines())
    alone = [{row.value for row in fingerprints(r)} for r in open_log([str(log)]).requests() if isinstance(r, Request)]
    seen: set[int] = set()
    shared = 0
    for blocks in alone:
        shared += len(blocks & seen)
        seen |= blocks
    found = report([str(made(log, tmp_path / "i"))])
    assert found.distinct == len(seen)
    assert found.blocks == sum(map(len, alone))
    assert found.shared_bytes == shared * 256


def test_requests_out_of_order_in_time(tmp_path: Path) -> None:
    """What came first counts as first, wherever it stands in the file."""
    log = lines()
    forward = report([str(made(written(tmp_path / "a.jsonl", log), tmp_path / "a"))])
    backward = report([str(made(written(tmp_path / "b.jsonl", log[::-1]), tmp_path / "b", task_bytes=40_000))])
    for name in ("requests", "bytes", "blocks", "distinct", "shared_blocks", "shared_bytes"):
        assert getattr(backward, name) == getattr(forward, name), name
    for left, right in zip(backward.families, forward.families, strict=True):
        assert (left.first, left.appended, left.fresh) == (right.first, right.appended, right.fresh)


def test_same_text_in_another_spelling_is_the_same() -> None:
    plain = b'{"model":"m","messages":[{"role":"user","content":"' + b"caf\xc3\xa9 " * 200 + b'"}]}'
    spelled = b'{"messages": [ {"content": "' + b"caf\\u00e9 " * 200 + b'", "role":"user",'
    spelled += b' "cache_control": {"type": "ephemeral"}} ], "model": "m"}'
    other = plain.replace(b'"m"', b'"n"')
    rows = [[r.value for r in fingerprints(request_of(body))] for body in (plain, spelled, other)]
    assert rows[0] == rows[1]
    assert rows[0] and not set(rows[0]) & set(rows[2])


def test_fingerprints_are_the_same_on_every_machine() -> None:
    import xxhash

    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 498}]}
    text = b"\x1emessage\x1euser\x1f" + b"x" * 498
    seed = xxhash.xxh3_64_intdigest(b"openai-chat\0m\0")
    first = xxhash.xxh3_64_intdigest(text[:256], seed)
    found = list(fingerprints(request_of(body)))
    assert [(r.position, r.offset_byte) for r in found] == [(0, 0), (1, 256)]
    assert [r.value for r in found] == [first, xxhash.xxh3_64_intdigest(text[256:512], first)]


def test_appending_reads_only_what_is_new(tmp_path: Path) -> None:
    whole = lines()
    log = written(tmp_path / "log.jsonl", whole[:20])
    made(log, tmp_path / "i")
    with log.open("a") as out:
        out.writelines(line + "\n" for line in whole[20:])
    done = index([str(log)], str(tmp_path / "i"), IndexOptions(jobs=1))
    assert done.read_bytes == sum(len(line) + 1 for line in whole[20:])
    assert said(tmp_path / "i") == said(made(log, tmp_path / "fresh"))
    assert index([str(log)], str(tmp_path / "i"), IndexOptions(jobs=1)).read_bytes == 0


def test_a_last_line_without_end_counts_once(tmp_path: Path) -> None:
    whole = lines()
    log = tmp_path / "log.jsonl"
    text = "".join(line + "\n" for line in whole)
    for size in (len(text) // 3, len(text) // 2, len(text) - 1, len(text)):
        log.write_text(text[:size])
        index([str(log)], str(tmp_path / "i"), IndexOptions(jobs=1))
    assert said(tmp_path / "i") == said(made(log, tmp_path / "fresh"))


def test_a_rewritten_log_is_read_again(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", lines(sessions=3))
    made(log, tmp_path / "i")
    written(log, lines(sessions=3)[5:] + lines(sessions=4))
    made(log, tmp_path / "i")
    assert said(tmp_path / "i") == said(made(log, tmp_path / "fresh"))


def test_an_edit_of_the_same_length_is_read_again(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", lines())
    made(log, tmp_path / "i")
    data = log.read_bytes()
    at = data.index(b"question 3 of talk 2")
    log.write_bytes(data[:at] + b"Question 3 of talk 2" + data[at + 20 :])
    made(log, tmp_path / "i")
    assert said(tmp_path / "i") == said(made(log, tmp_path / "fresh"))


def test_killed_and_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = written(tmp_path / "log.jsonl", lines())
    expected = said(made(log, tmp_path / "one"))
    real, calls = index_api.write, [0]

    def dies(task: Any, folder: str) -> Any:
        calls[0] += 1
        if calls[0] == 4:
            (Path(folder) / "half.blocks.parquet.tmp").write_bytes(b"PAR1")
            raise KeyboardInterrupt
        return real(task, folder)

    monkeypatch.setattr(index_api, "write", dies)
    with pytest.raises(KeyboardInterrupt):
        made(log, tmp_path / "i", task_bytes=9_999)
    with pytest.raises(ConfigError, match="no index"):
        report([str(tmp_path / "i")])
    made(log, tmp_path / "i", task_bytes=9_999)
    tasks = -(-log.stat().st_size // 9_999)
    assert calls[0] == tasks + 1  # three were done before, the fourth came to nothing
    assert said(tmp_path / "i") == expected
    assert not list((tmp_path / "i" / "shards").glob("*.tmp"))


def test_merge_in_any_order(tmp_path: Path) -> None:
    whole = lines()
    logs = [written(tmp_path / f"{n}.jsonl", whole[n * 10 : n * 10 + 10]) for n in range(3)]
    index([str(log) for log in logs], str(tmp_path / "all"), IndexOptions(jobs=1))
    parts = [made(log, tmp_path / f"i{n}") for n, log in enumerate(logs)]
    expected = said(tmp_path / "all")
    assert said(parts[2], parts[0], parts[1]) == expected
    assert said(*parts, parts[0]) == expected  # one twice counts once
    merge([str(p) for p in (parts[1], parts[2], parts[0])], str(tmp_path / "merged"))
    assert said(tmp_path / "merged") == expected


def test_merge_takes_the_fuller_of_two(tmp_path: Path) -> None:
    whole = lines()
    log = written(tmp_path / "log.jsonl", whole[:20])
    early = made(log, tmp_path / "early")
    with log.open("a") as out:
        out.writelines(line + "\n" for line in whole[20:])
    late = made(log, tmp_path / "late")
    assert said(early, late) == said(late, early) == said(late)


def test_hostile_lines(tmp_path: Path) -> None:
    """Broken, blank and odd lines have their error with its line, wherever the log is cut, and hide nothing."""
    whole = lines()
    odd = [
        "",
        "{",
        '{"a": 1}',
        "\x00\x00",
        '"messages"',
        "[" * 5000,
        whole[3][:-40],
        whole[4].replace('"messages"', '"x": "\\"messages\\": [", "messages"', 1),
        whole[5].replace('"role": "assistant"', '"role": "\\ud800"'),
        whole[6][:-2] + ', "messages": []}}',
    ]
    log = written(tmp_path / "log.jsonl", [x for i, line in enumerate(whole) for x in (line, odd[i % len(odd)])])
    with log.open("ab") as out:
        out.write(whole[7].encode().replace(b"why?", b"wh\xff?") + b"\r\n")
    expected = said(made(log, tmp_path / "one"))
    for size in (3_001, 20_000):
        assert said(made(log, tmp_path / f"cut{size}", task_bytes=size)) == expected
    plain = open_log([str(log)])
    requests = [r for r in plain.requests() if isinstance(r, Request)]
    found = report([str(tmp_path / "one")])
    assert found.requests == len(requests)
    assert found.inputs[0].errors == plain.inputs()[0].errors
    rows = [{row.value for row in fingerprints(r)} for r in requests]
    assert found.distinct == len(set().union(*rows))
    assert found.blocks == sum(map(len, rows))


def test_other_formats_are_read_whole(tmp_path: Path) -> None:
    whole = lines()
    written(tmp_path / "a.jsonl", whole)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"".join(line.encode() + b"\n" for line in whole)))
    (tmp_path / "README.md").write_text("# Logs of a program\n")
    plain, packed = made(tmp_path / "a.jsonl", tmp_path / "i"), made(tmp_path / "b.jsonl.gz", tmp_path / "j")
    left, right = report([str(plain)]), report([str(packed)])
    assert (left.requests, left.distinct, left.shared_bytes) == (right.requests, right.distinct, right.shared_bytes)
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("a.jsonl", "README.md"):
        shutil.copy(tmp_path / name, folder)
    done = index([str(folder)], str(tmp_path / "k"), IndexOptions(jobs=1))
    assert (done.files, done.requests) == (1, 30)
    assert "README.md: left out" in done.notes[0]


def test_chained_responses_are_read_from_the_start(tmp_path: Path) -> None:
    first = {"model": "gpt-5", "instructions": SYSTEM, "input": "one " * 200}
    log = [json.dumps({"request": first, "response": {"id": "r1", "object": "response", "output": []}})]
    for number in range(2, 6):
        body = {
            "model": "gpt-5",
            "previous_response_id": f"r{number - 1}",
            "instructions": SYSTEM,
            "input": "more " * 200,
        }
        log.append(json.dumps({"request": body, "response": {"id": f"r{number}", "object": "response", "output": []}}))
    path = written(tmp_path / "log.jsonl", log)
    found = report([str(made(path, tmp_path / "i", task_bytes=2_000))])
    requests = [r for r in open_log([str(path)]).requests() if isinstance(r, Request)]
    assert found.blocks == sum(len(list(fingerprints(r))) for r in requests)


def test_commands_take_an_index(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", lines())
    run = CliRunner().invoke
    done = run(index_command, [str(log), "-o", str(tmp_path / "i"), "--jobs", "1"])
    assert (done.exit_code, "30 requests of 1 file" in done.output) == (0, True)
    for command, word in ((diff_command, "shared"), (replay_command, "hit by a cache"), (tree_command, "bytes 0..")):
        text = run(command, [str(tmp_path / "i")])
        assert (text.exit_code, word in text.output) == (0, True), text.output
        assert json.loads(run(command, [str(tmp_path / "i"), "--format", "json"]).output)["requests"] == 30
    with pytest.raises(ConfigError, match="some of the inputs are indexes"):
        run(diff_command, [str(tmp_path / "i"), str(log)], catch_exceptions=False)


def test_other_block_sizes_do_not_mix(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", lines(sessions=1))
    made(log, tmp_path / "i")
    with pytest.raises(ConfigError, match="blocks of 256 bytes"):
        made(log, tmp_path / "i", block_bytes=64)
    with pytest.raises(ConfigError, match="blocks of different size: 64, 256"):
        report([str(tmp_path / "i"), str(made(log, tmp_path / "j", block_bytes=64))])
