from __future__ import annotations

import asyncio
import gc
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import prefixlint as pl
from prefixlint.runtime import aiohttp as guard_aiohttp
from prefixlint.runtime import opentelemetry as guard_otel
from prefixlint.runtime import requests as guard_requests
from prefixlint.runtime import urllib3 as guard_urllib3
from prefixlint.runtime.logging import OncePerSite, PrefixFilter
from tests.runtime.recording_server import Wire, recording

RULES = " ".join(f"Rule {k}: answer kindly, in order and without haste." for k in range(40))


@pytest.fixture
def wire() -> Iterator[Wire]:
    with recording() as found, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield found
        gc.collect()


def stamped(second: int) -> str:
    return f"Current time: 2026-08-10 16:16:{second:02}\n{RULES}"


def chat(system: str, turn: int = 1) -> list[dict[str, Any]]:
    out = [{"role": "system", "content": system}]
    for k in range(turn):
        out.append({"role": "user", "content": f"Question {k} about rule {k}?"})
        out.append({"role": "assistant", "content": f"Yes {k}"})
    return out[:-1]


def body(second: int, turn: int) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": chat(stamped(second), turn)}


STEPS = ((1, 1), (1, 2), (2, 3))


def with_requests(wire: Wire, guard: pl.Guard | None) -> Iterator[bytes]:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        if guard:
            guard_requests.watch(session, guard)
        for step in STEPS:
            yield session.post(wire.url, json=body(*step)).content
        session.post(wire.url, data="{no json", headers={"content-type": "application/json"})
        session.post(wire.url, data=b"\xff\x00")


def with_urllib3(wire: Wire, guard: pl.Guard | None) -> Iterator[bytes]:
    urllib3 = pytest.importorskip("urllib3")
    with urllib3.PoolManager() as pool:
        if guard:
            guard_urllib3.watch(pool, guard)
        for step in STEPS:
            yield pool.request("POST", wire.url, json=body(*step)).data
        pool.request("POST", wire.url, body="{no json", headers={"Content-Type": "application/json"})
        pool.request("POST", wire.url, body=b"\xff\x00")


def with_aiohttp(wire: Wire, guard: pl.Guard | None) -> Iterator[bytes]:
    aiohttp = pytest.importorskip("aiohttp")
    out = []

    async def parts() -> Any:
        yield b'{"messages"'
        yield b": 3}"

    async def main() -> None:
        middlewares = (guard_aiohttp.guard_middleware(guard),) if guard else ()
        async with aiohttp.ClientSession(middlewares=middlewares) as session:
            for step in STEPS:
                async with session.post(wire.url, json=body(*step)) as answer:
                    out.append(await answer.read())
            for data in ("{no json", b"\xff\x00", parts()):
                async with session.post(wire.url, data=data, headers={"content-type": "application/json"}) as answer:
                    await answer.read()

    asyncio.run(main())
    yield from out


CLIENTS = [with_requests, with_urllib3, with_aiohttp]


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_send_the_same_bytes_and_forks_are_named(client: Any, wire: Wire) -> None:
    found: list[pl.Fork] = []
    guard = pl.Guard(found.append)
    answers = list(client(wire, guard))
    assert [json.loads(a)["choices"][0]["message"]["content"] for a in answers] == ["fine"] * 3
    guarded = wire.requests[:]
    wire.requests.clear()
    list(client(wire, None))
    assert [b for _, _, b in guarded] == wire.bodies
    assert [h for _, h, _ in guarded] == [h for _, h, _ in wire.requests]
    assert [f.cause for f in found] == ["timestamp"]
    assert guard.totals.errors == 0


@pytest.mark.parametrize("client", CLIENTS)
def test_canonical_bytes_go_out(client: Any, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.runtime.test_clients.RULES", RULES + "  \r\n")
    list(client(wire, pl.Guard("ignore", canonicalize=True)))
    assert all(b"\\r" not in b for b in wire.bodies)
    assert all(int(h["content-length"]) == len(b) for _, h, b in wire.requests if "content-length" in h)


@pytest.mark.parametrize("client", CLIENTS)
def test_refused_requests_are_not_sent(client: Any, wire: Wire) -> None:
    with pytest.raises(pl.ForkError, match="timestamp"):
        list(client(wire, pl.Guard("raise")))
    assert len(wire.bodies) == 2


def test_langchain() -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.language_models import FakeListChatModel, FakeListLLM
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    from prefixlint.runtime.langchain import GuardHandler

    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    found: list[pl.Fork] = []
    guard = pl.Guard(found.append)
    sessions: list[str] = []
    guard.observe(lambda checked: sessions.append(checked.session))
    model = FakeListChatModel(responses=["fine"])
    config: Any = {"callbacks": [GuardHandler(guard)], "metadata": {"session_id": "s"}}
    for second, turn in STEPS:
        messages = [kinds[m["role"]](m["content"]) for m in chat(stamped(second), turn)]
        assert model.invoke(messages, config=config).content == "fine"
    assert [f.cause for f in found] == ["timestamp"]
    assert sessions == ["s"] * 3
    FakeListLLM(responses=["fine"]).invoke("Hello", config=config)
    assert guard.totals.requests == 4
    strict = pl.Guard("raise")
    config = {"callbacks": [GuardHandler(strict)]}
    model.invoke([SystemMessage(stamped(1)), HumanMessage("Hi")], config=config)
    with pytest.raises(pl.ForkError):
        model.invoke([SystemMessage(stamped(2)), HumanMessage("Hi")], config=config)
    assert (guard.totals.errors, strict.totals.errors) == (0, 0)


@pytest.mark.filterwarnings("ignore")
def test_litellm(wire: Wire) -> None:
    litellm = pytest.importorskip("litellm")
    from prefixlint.runtime.litellm import GuardLogger

    found: list[pl.Fork] = []
    guard = pl.Guard(found.append)
    litellm.callbacks = [GuardLogger(guard)]
    options = {"api_base": wire.url, "api_key": "x"}
    try:
        for second, turn in STEPS:
            answer = litellm.completion("openai/gpt-4o", messages=chat(stamped(second), turn), **options)
            assert answer.choices[0].message.content == "fine"

        async def main() -> None:
            await litellm.acompletion("openai/gpt-4o", messages=chat(stamped(2), 4), **options)

        asyncio.run(main())
        anthropic = {**options, "api_base": wire.url + "/v1/messages"}
        litellm.completion("anthropic/claude-sonnet-4-5", messages=chat(stamped(3), 1), max_tokens=9, **anthropic)
    finally:
        litellm.callbacks = []
    assert [f.cause for f in found] == ["timestamp"]
    assert (guard.totals.requests, guard.totals.errors) == (5, 0)
    data = {"model": "m", "messages": chat(stamped(4), 1), "metadata": {"session_id": "p"}}
    assert asyncio.run(GuardLogger(guard).async_pre_call_hook(None, None, data, "completion")) is data


def test_opentelemetry() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk")
    assert sdk
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    reader, spans, traces = InMemoryMetricReader(), InMemorySpanExporter(), TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    guard = guard_otel.instrument(pl.Guard("ignore"), meter_provider=MeterProvider([reader]))
    for second, turn in STEPS:
        with traces.get_tracer("t").start_as_current_span("chat gpt-4o"):
            guard.check(body(second, turn), session="s")
    guard.check(body(2, 4))  # no span: metrics only
    last = dict(spans.get_finished_spans()[-1].attributes or {})
    assert last["prefixlint.fork.count"] == 1
    assert last["prefixlint.fork.cause"] == "timestamp"
    assert last["gen_ai.conversation.id"] == "s"
    assert [e.name for e in spans.get_finished_spans()[-1].events] == ["prefixlint.fork"]
    assert dict(spans.get_finished_spans()[0].attributes or {})["prefixlint.fork.count"] == 0
    data = reader.get_metrics_data()
    assert data
    metrics = {m.name: m.data.data_points for m in data.resource_metrics[0].scope_metrics[0].metrics}
    [forks], [shared] = metrics["prefixlint.forks"], metrics["prefixlint.shared_tokens"]
    assert forks.value == 1
    assert dict(forks.attributes) == {
        "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o", "prefixlint.fork.cause": "timestamp",
    }  # fmt: skip
    assert shared.count == 4
    assert metrics["prefixlint.lost_tokens"][0].value == guard.totals.lost_tokens > 400
    assert guard.totals.errors == 0


def test_records_carry_what_the_guard_saw(caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard("ignore")
    logger = logging.getLogger("app")
    caplog.handler.addFilter(found := PrefixFilter())
    for second, turn in STEPS:
        guard.check(body(second, turn), session="s")
        logger.warning("sent")
    caplog.handler.removeFilter(found)
    causes = [record.prefix_cause for record in caplog.records]  # type: ignore[attr-defined]
    assert causes == ["", "", "timestamp"]
    assert caplog.records[1].prefix_shared_tokens > 400  # type: ignore[attr-defined]


def test_a_site_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    guard, once = pl.Guard(), OncePerSite()
    logger = logging.getLogger("prefixlint.guard")
    logger.addFilter(once)
    try:
        for turn in range(1, 13):
            guard.check(body(turn, turn), session="s")
    finally:
        logger.removeFilter(once)
    assert guard.totals.forks == 11
    assert ["10 times" in r.getMessage() for r in caplog.records] == [False, True]
