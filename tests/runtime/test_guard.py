from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

import prefixlint as pl
from prefixlint.api.diff import diff
from prefixlint.api.read import open_log
from prefixlint.runtime.guard import ForkError

RULES = " ".join(f"Rule {k}: answer kindly, in order and without haste." for k in range(40))


def body(system: str = RULES, turns: int = 1, **members: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}]
    for k in range(turns):
        messages.append({"role": "user", "content": f"Question {k}: what does rule {k} of the house say?"})
        messages.append({"role": "assistant", "content": f"Rule {k} says to answer kindly."})
    return {"model": "gpt-4o", "messages": messages[:-1], **members}


def stamped(second: int) -> str:
    return f"Current time: 2026-08-10 16:16:{second:02}\n{RULES}"


def test_a_growing_conversation_is_silent() -> None:
    guard = pl.Guard(on_fork="raise")
    checks = [guard.check(body(turns=n)) for n in range(1, 9)]
    assert not any(c.forks for c in checks)
    assert checks[-1].shared_tokens > checks[-1].prompt_tokens * 0.8
    assert {c.session for c in checks} == {"conversation-1"}


@pytest.mark.parametrize("session", ["a", None], ids=["by id", "by history"])
def test_a_moving_clock_is_named(session: str | None) -> None:
    found: list[pl.Fork] = []
    guard = pl.Guard(on_fork=found.append)
    for turn in range(1, 5):
        guard.check(body(stamped(turn), turn), session=session)
    assert [(f.cause, f.pointer, f.char_offset) for f in found] == [
        ("timestamp", "/messages/0/content", len("Current time: 2026-08-10 16:16:0"))
    ] * 3
    assert guard.totals.forks == 3
    assert guard.totals.lost_tokens == sum(f.lost_tokens for f in found) > 900


def test_the_body_that_came_in_goes_out() -> None:
    guard = pl.Guard(on_fork="ignore")
    as_dict, as_bytes = body(), json.dumps(body()).encode()
    assert guard.check(as_dict).body is as_dict
    assert guard.check(as_bytes).body is as_bytes


def test_canonicalize_changes_only_what_has_to() -> None:
    guard = pl.Guard(canonicalize=True)
    clean = pl.canonical_bytes(body("Be brief.\n"))
    assert guard.check(clean).body is clean
    checked = guard.check(json.dumps(body("Be brief.  \r\n")).encode())
    assert checked.body == clean
    assert "newline-style" in checked.rules
    assert not checked.forks


def test_warnings_name_place_cause_and_cost(caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard()
    for turn in (1, 2):
        guard.check(body(stamped(turn), turn))
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert "/messages/0/content" in record.getMessage()
    assert "timestamp" in record.getMessage()
    assert record.prefix_cause == "timestamp"  # type: ignore[attr-defined]


def test_redacted_warnings_show_no_text(caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard(redact=True)
    guard.check(body(f"The code word is walrus1. {RULES}", 1))
    guard.check(body(f"The code word is badger2. {RULES}", 2))
    assert len(caplog.records) == 1
    assert "walrus" not in caplog.text
    assert "badger" not in caplog.text


def test_a_refused_request_stays_refused() -> None:
    guard = pl.Guard(on_fork="raise")
    guard.check(body(stamped(1), 1))
    for turns in (2, 2, 3):  # the request, its retry, and one that builds on it
        with pytest.raises(ForkError, match="timestamp"):
            guard.check(body(stamped(2), turns))
    assert guard.totals.forks == 1
    guard.check(body(stamped(1), 2))  # what continues the sent one passes
    with guard.allowed():
        guard.check(body(stamped(3), 3))
    guard.check(body(stamped(3), 4))


def test_fork_errors_cross_processes() -> None:
    guard = pl.Guard(on_fork="raise")
    guard.check(body(stamped(1), 1))
    with pytest.raises(ForkError) as caught:
        guard.check(body(stamped(2), 2))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.fork, str(again)) == (caught.value.fork, str(caught.value))


def test_the_budget_is_spent_before_the_guard_reacts() -> None:
    found: list[pl.Fork] = []
    guard = pl.Guard(on_fork=found.append, budget=1_000)
    losses = [guard.check(body(stamped(k), k), session="s") for k in range(1, 6)]
    assert all(c.forks for c in losses[1:])
    assert losses[-1].lost_tokens > 1_000
    assert len(found) == sum(c.lost_tokens > 1_000 for c in losses)
    assert 0 < len(found) < 4


def test_sessions_are_kept_apart() -> None:
    guard = pl.Guard(on_fork="raise")
    for turn in range(1, 4):
        for name in "abc":
            with guard.session(name):
                checked = guard.check(body(f"You help {name}. {name * 60}", turn))
            assert checked.session == name


def test_a_new_session_is_no_fork_because_another_one_had_forked() -> None:
    guard = pl.Guard(on_fork="ignore")
    tools = [
        {"type": "function", "function": {"name": f"tool_{k}", "parameters": {"type": "object"}}} for k in range(9)
    ]
    assert not guard.check(body(turns=1, tools=tools), session="a").forks
    assert guard.check(body(turns=2, tools=tools[::-1]), session="a").fork.cause == "tool-order"  # type: ignore[union-attr]
    later = body(turns=1, tools=tools)
    later["messages"][1]["content"] = "Something else: may one run in the house?"
    assert not guard.check(later, session="b").forks


def test_what_is_no_prompt_is_let_through() -> None:
    guard = pl.Guard(on_fork="raise")
    others: list[Any] = [
        {"model": "text-embedding-3-small", "input": ["a", "b"]},
        {"model": "gpt-4o", "input": "go on", "previous_response_id": "resp_1"},
        {},
    ]
    for other in others:
        assert guard.check(other).skipped
    assert guard.totals.errors == 0


@pytest.mark.parametrize(
    "bad",
    [b"", b"\xff\xfe", b"{", b'{"messages": [', b"[1, 2]", b'{"model": "m", "messages": 3}', b'{"messages":[1,null]}',
     b'{"messages": [' * 5_000, b'{"model":"gpt-4o","messages":[{"role":"system","content":"\\ud800 x"}]}'],
)  # fmt: skip
def test_malformed_bodies_go_out_as_they_came(bad: bytes) -> None:
    for canonicalize in (False, not bad.endswith(b' x"}]}')):  # a lone surrogate is something to repair
        guard = pl.Guard(on_fork="raise", canonicalize=canonicalize)
        for _ in range(2):
            assert guard.check(bad).body is bad


def test_bodies_that_are_no_json_go_out_as_they_came(caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard(on_fork="raise")
    odd = body(extra=object())
    for _ in range(5):
        assert guard.check(odd).body is odd
    assert len([r for r in caplog.records if r.levelname == "ERROR"]) <= 1


def test_an_error_inside_is_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = pl.Guard(on_fork="raise")

    def broken(*values: object) -> int:
        raise RuntimeError("no luck")

    monkeypatch.setattr("prefixlint.diff.store.Store.intern", broken)
    for turn in range(1, 20):
        sent = body(turns=turn)
        assert guard.check(sent).body is sent
    assert guard.totals.errors == 19
    assert [r.levelname for r in caplog.records] == ["ERROR"]


def test_full_storage(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def seek(self, at: int) -> None: ...
        def close(self) -> None: ...
        def read(self, size: int) -> bytes:
            return b""

        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda size: Full())
    guard = pl.Guard(on_fork="raise")
    for turn in range(1, 6):
        sent = json.dumps(body(turns=turn)).encode()
        assert guard.check(sent).body is sent
    assert len(caplog.records) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_of_the_record(caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard(on_fork="raise", record="/dev/full")
    for turn in range(1, 6):
        sent = body(turns=turn)
        assert guard.check(sent).body is sent
    assert len(caplog.records) == 1
    assert guard.totals.requests == 5


def test_a_body_of_50_mb(caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard(on_fork="raise")
    large = b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "' + b"a" * 50_000_000 + b'"}]}'
    for _ in range(2):
        checked = guard.check(large)
        assert checked.body is large
        assert checked.skipped == "too large"
    assert len(caplog.records) == 1


def test_many_sessions_stay_within_the_limit() -> None:
    guard = pl.Guard(on_fork="ignore", limit_mb=1)
    for number in range(500):
        guard.check(body(f"You help customer {number}. " + "Be kind. " * 20), session=f"s{number}")
        assert guard._live.size_bytes <= 1_000_000
    assert len(guard._live._talks) < 200
    assert guard.check(body("You help customer 499. " + "Be kind. " * 20, 2), session="s499").shared_tokens > 40


def test_recent_sessions_survive_the_limit() -> None:
    found: list[pl.Fork] = []
    guard = pl.Guard(on_fork=found.append, limit_mb=1)
    for number in range(30):
        guard.check(body(stamped(1), 1), session="steady")
        guard.check(body(f"Case {number}. " + f"word{number} " * 8_000), session=f"s{number}")
    assert not found
    guard.check(body(stamped(2), 2), session="steady")
    assert [f.cause for f in found] == ["timestamp"]


def test_threads_and_tasks_share_a_guard() -> None:
    found: list[pl.Fork] = []
    guard = pl.Guard(on_fork=found.append)

    def talk(name: str) -> None:
        for turn in range(1, 15):
            guard.check(body(RULES, turn, user=name), session=name)

    threads = [threading.Thread(target=talk, args=(f"t{k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def task(name: str) -> None:
        with guard.session(name):
            for turn in range(1, 15):
                await asyncio.sleep(0)
                assert guard.check(body(RULES, turn)).session == name

    async def main() -> None:
        await asyncio.gather(*(task(f"a{k}") for k in range(6)))

    asyncio.run(main())
    assert not found
    assert (guard.totals.requests, guard.totals.errors) == (12 * 14, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_anew() -> None:
    guard = pl.Guard(on_fork="raise")
    guard.check(body())
    guard._lock.acquire()  # as another thread may hold it at the moment of the fork
    child = os.fork()
    if child == 0:
        os._exit(0 if guard.check(body(turns=2)).prompt_tokens else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_callbacks_that_fail_break_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(fork: pl.Fork) -> None:
        raise ValueError(fork.cause)

    guard = pl.Guard(on_fork=fail)
    guard.observe(lambda checked: 1 / 0)
    for turn in (1, 2, 3):
        assert guard.check(body(stamped(turn), turn)).body
    assert len(caplog.records) == 2


def test_unknown_reactions_list_the_known_ones() -> None:
    with pytest.raises(pl.ConfigError, match="warn, raise, ignore"):
        pl.Guard(on_fork="explode")  # type: ignore[arg-type]


SECRET = "Mrs Zuckermandel of Kettleburgh owes 48211 pounds. Her dog Bartholomew bites."
VARIANTS = {
    "timestamp": [stamped(k) + SECRET for k in range(4)],
    "uuid": [f"Session id: 3f2504e0-4f89-41d3-9a0c-0305e82c330{k}\n{SECRET} {RULES}" for k in range(4)],
    "trailing-whitespace": [f"{SECRET}{' ' * (k % 2)}\n{RULES}" for k in range(4)],
    "instructions-edited": [f"{SECRET} Mind the {w}. {RULES}" for w in ("garden", "gardener", "cellar", "attic")],
    "temp-path": [f"Work in /tmp/tmp{w}/project. {SECRET} {RULES}" for w in ("k3x9qa_b", "zz81pq0c", "a7yyq2w1", "m2")],
    "unicode-normalization": [f"{SECRET} Caf{chr(233) if k % 2 else 'e' + chr(769)}. {RULES}" for k in range(4)],
}


@pytest.mark.parametrize("cause", VARIANTS)
@pytest.mark.parametrize("keeps_text", [False, True], ids=["redacted", "plain"])
def test_records_give_the_same_forks_later(tmp_path: Path, cause: str, keeps_text: bool) -> None:
    found: list[pl.Fork] = []
    path = tmp_path / "record.jsonl"
    ticks = iter(range(100))
    guard = pl.Guard(found.append, record=path, record_text=keeps_text, record_key=b"k", clock=lambda: next(ticks))
    for turn, system in enumerate(VARIANTS[cause], 1):
        guard.check(body(system, turn), session="talk")
    result = diff(open_log([str(path)]).requests())
    later = [(f.cause, f.pointer, f.char_offset) for f in result.forks]
    assert later == [(f.cause, f.pointer, f.char_offset) for f in found]
    assert {f.cause for f in found} == {cause}
    text = path.read_text(encoding="utf-8")
    for word in ("Zuckermandel", "Kettleburgh", "48211", "Bartholomew", "talk"):
        assert (word in text) == keeps_text
    assert path.stat().st_mode & 0o077 == 0


def test_logging_is_silent_without_forks(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        pl.Guard().check(body())
    assert not caplog.records
