from __future__ import annotations

import asyncio
import gc
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import prefixlint as pl
from prefixlint.runtime.httpx import AsyncGuardTransport, GuardTransport, watch
from tests.runtime.recording_server import Wire, recording

RULES = " ".join(f"Rule {k}: answer kindly, in order and without haste." for k in range(40))
LIBRARIES = ["httpx", "httpx2"]


@pytest.fixture
def wire() -> Iterator[Wire]:
    with recording() as found:
        yield found


def library(name: str) -> Any:
    return pytest.importorskip(name)


def stamped(second: int) -> str:
    return f"Current time: 2026-08-10 16:16:{second:02}\n{RULES}"


def question(turn: int) -> list[dict[str, str]]:
    out = []
    for k in range(turn):
        out += [
            {"role": "user", "content": f"Question {k} about rule {k}?"},
            {"role": "assistant", "content": f"Yes {k}"},
        ]
    return out[:-1]


def chat(system: str, turn: int) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, *question(turn)]


# Each caller sends one request to the server through the real SDK.


def openai_chat(client: Any, system: str, turn: int, **more: Any) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=chat(system, turn), **more)


def openai_responses(client: Any, system: str, turn: int, **more: Any) -> Any:
    return client.responses.create(model="gpt-4o", instructions=system, input=question(turn), **more)


def anthropic(client: Any, system: str, turn: int, **more: Any) -> Any:
    return client.messages.create(
        model="claude-sonnet-4-5", max_tokens=99, system=system, messages=question(turn), **more
    )


def genai(client: Any, system: str, turn: int) -> Any:
    contents = [
        {"role": "model" if m["role"] == "assistant" else "user", "parts": [{"text": m["content"]}]}
        for m in question(turn)
    ]
    return client.models.generate_content(
        model="gemini-2.5-flash", contents=contents, config={"system_instruction": system}
    )


def mistral(client: Any, system: str, turn: int) -> Any:
    return client.chat.complete(model="mistral-large-latest", messages=chat(system, turn))


def sdk(name: str, wire: Wire, http: Any) -> tuple[Any, Any]:
    """Return a client of an SDK and the function that makes a request with it."""
    module = pytest.importorskip({"genai": "google.genai", "mistral": "mistralai.client"}.get(name, name.split("-")[0]))
    if name.startswith("openai"):
        client = module.OpenAI(api_key="x", base_url=f"{wire.url}/v1", http_client=http)
        return client, openai_chat if name == "openai-chat" else openai_responses
    if name == "groq":
        return module.Groq(api_key="x", base_url=wire.url, http_client=http), openai_chat
    if name == "anthropic":
        return module.Anthropic(api_key="x", base_url=wire.url, http_client=http), anthropic
    if name == "mistral":
        return module.Mistral(api_key="x", server_url=wire.url, client=http), mistral
    options = {"base_url": wire.url, "httpx_client": http} if http else {"base_url": wire.url}
    return module.Client(api_key="x", http_options=options), genai


SDKS = {"openai-chat": "httpx2", "openai-responses": "httpx2", "anthropic": "httpx2", "groq": "httpx",
        "mistral": "httpx2", "genai": "httpx2"}  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Some SDKs use what is deprecated, and close their sockets when they are collected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@pytest.mark.parametrize("name", SDKS)
def test_sdks_send_the_same_bytes_and_forks_are_named(name: str, wire: Wire) -> None:
    http = library(SDKS[name])
    found: list[pl.Fork] = []
    guard = pl.Guard(found.append)
    client, call = sdk(name, wire, http.Client(transport=GuardTransport(guard)))
    plain, _ = sdk(name, wire, http.Client())
    systems = [stamped(1), stamped(1), stamped(1), stamped(2), stamped(2)]
    for turn, system in enumerate(systems, 1):
        call(client, system, turn)
        call(plain, system, turn)
    assert [f.cause for f in found] == ["timestamp"]
    assert guard.totals.requests == 5
    assert guard.totals.errors == 0
    guarded, unguarded = wire.requests[::2], wire.requests[1::2]
    assert [body for _, _, body in guarded] == [body for _, _, body in unguarded]
    assert [path for path, _, _ in guarded] == [path for path, _, _ in unguarded]
    volatile = ("idempotency", "retry", "user-agent", "traceparent")
    for (_, ours, _), (_, theirs, _) in zip(guarded, unguarded, strict=True):
        assert {k: v for k, v in ours.items() if not any(w in k for w in volatile)} == {
            k: v for k, v in theirs.items() if not any(w in k for w in volatile)
        }


@pytest.mark.parametrize("name", ["openai-chat", "anthropic"])
def test_watch_guards_a_client_that_exists(name: str, wire: Wire) -> None:
    found: list[pl.Fork] = []
    client, call = sdk(name, wire, None)
    assert watch(client, pl.Guard(found.append)) is client
    watch(client, pl.Guard(found.append))  # a second one changes nothing
    call(client, stamped(1), 1)
    call(client, stamped(2), 2)
    assert [f.cause for f in found] == ["timestamp"]


@pytest.mark.parametrize("name", ["groq", "mistral", "genai"])
def test_watch_finds_the_client_in_every_sdk(name: str, wire: Wire) -> None:
    guard = pl.Guard("ignore")
    client, call = sdk(name, wire, None)
    watch(client, guard)
    call(client, stamped(1), 1)
    assert guard.totals.requests == 1


def test_watch_says_when_there_is_nothing_to_watch() -> None:
    with pytest.raises(TypeError, match="GuardTransport"):
        watch(object(), pl.Guard())


def test_streaming_goes_on(wire: Wire) -> None:
    guard = pl.Guard("ignore")
    http = library("httpx2")
    client, _ = sdk("openai-chat", wire, http.Client(transport=GuardTransport(guard)))
    chunks = openai_chat(client, RULES, 1, stream=True)
    assert "".join(c.choices[0].delta.content for c in chunks) == "fine"
    client, _ = sdk("anthropic", wire, http.Client(transport=GuardTransport(guard)))
    with client.messages.stream(model="claude-sonnet-4-5", max_tokens=9, system=RULES, messages=question(1)) as stream:
        assert "".join(stream.text_stream) == "fine"
    assert guard.totals.requests == 2


def test_retries_are_no_forks(wire: Wire) -> None:
    guard = pl.Guard("raise")
    client, call = sdk("openai-chat", wire, library("httpx2").Client(transport=GuardTransport(guard)))
    wire.failures = 2
    assert call(client, RULES, 1).choices[0].message.content == "fine"
    assert len(set(wire.bodies)) == 1
    assert len(wire.bodies) == 3


def test_raw_responses_still_work(wire: Wire) -> None:
    client, _ = sdk("openai-chat", wire, library("httpx2").Client(transport=GuardTransport(pl.Guard())))
    raw = client.chat.completions.with_raw_response.create(model="gpt-4o", messages=chat(RULES, 1))
    assert raw.headers["content-type"] == "application/json"
    assert raw.parse().choices[0].message.content == "fine"


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "groq"])
def test_a_refused_request_is_not_sent(name: str, wire: Wire) -> None:
    guard = pl.Guard("raise")
    client, call = sdk(name, wire, library(SDKS[name]).Client(transport=GuardTransport(guard)))
    client = client.with_options(max_retries=1)
    call(client, stamped(1), 1)
    with pytest.raises(Exception) as caught:
        call(client, stamped(2), 2)
    chain = [caught.value, caught.value.__cause__]
    assert any(isinstance(e, pl.ForkError) for e in chain)
    assert len(wire.bodies) == 1


def test_a_cancelled_stream_leaves_the_guard_whole(wire: Wire) -> None:
    guard = pl.Guard("raise")
    client, _ = sdk("openai-chat", wire, library("httpx2").Client(transport=GuardTransport(guard)))
    for turn in (1, 2, 3):
        with openai_chat(client, RULES, turn, stream=True) as stream:
            next(iter(stream))
    assert len(wire.bodies) == 3
    assert guard.totals.errors == 0


@pytest.mark.parametrize("name", LIBRARIES)
def test_other_requests_pass_untouched(name: str, wire: Wire) -> None:
    http = library(name)
    guard = pl.Guard("raise", canonicalize=True)

    def parts() -> Iterator[bytes]:
        yield b'{"messages": '
        yield b"[]}"

    with http.Client(transport=GuardTransport(guard)) as client:
        client.post(wire.url, content=b"\x00\xff", headers={"content-type": "application/json"})
        client.post(wire.url, content=b"{not json", headers={"content-type": "application/json"})
        client.post(wire.url, content=parts(), headers={"content-type": "application/json"})
        client.post(wire.url, files={"file": b"abc"})
        client.post(wire.url, json={"model": "e", "input": ["b", "a"]})
    assert wire.bodies[:3] == [b"\x00\xff", b"{not json", b'{"messages": []}']
    assert b"abc" in wire.bodies[3]
    assert json.loads(wire.bodies[4]) == {"model": "e", "input": ["b", "a"]}
    assert guard.totals.errors == 0


def test_50_mb_go_through(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    guard = pl.Guard("raise")
    large = json.dumps({"model": "m", "messages": [{"role": "user", "content": "a" * 50_000_000}]}).encode()
    with library("httpx2").Client(transport=GuardTransport(guard), timeout=60) as client:
        client.post(wire.url, content=large, headers={"content-type": "application/json"})
    assert wire.bodies[0] == large


def test_canonical_bytes_go_out(wire: Wire) -> None:
    client, call = sdk(
        "openai-chat", wire, library("httpx2").Client(transport=GuardTransport(pl.Guard(canonicalize=True)))
    )
    call(client, f"{RULES} \r\n", 1)
    sent = json.loads(wire.bodies[0])
    assert sent["messages"][0]["content"] == f"{RULES}\n"
    assert wire.requests[0][1]["content-length"] == str(len(wire.bodies[0]))


def test_session_header(wire: Wire) -> None:
    seen: list[str] = []
    guard = pl.Guard()
    guard.observe(lambda checked: seen.append(checked.session))
    transport = GuardTransport(guard, session_header="x-session-id")
    with library("httpx").Client(transport=transport) as client:
        client.post(wire.url, json={"model": "gpt-4o", "messages": chat(RULES, 1)}, headers={"X-Session-Id": "one"})
    assert seen == ["one"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_async_clients(name: str, backend: str, wire: Wire) -> None:
    http, anyio = library(name), library("anyio")
    pytest.importorskip(backend)
    found: list[pl.Fork] = []

    async def main() -> None:
        async with http.AsyncClient(transport=AsyncGuardTransport(pl.Guard(found.append))) as client:
            for turn, second in ((1, 1), (2, 1), (3, 2)):
                answer = await client.post(wire.url, json={"model": "gpt-4o", "messages": chat(stamped(second), turn)})
                assert answer.status_code == 200
            await client.post(wire.url, json={"model": "gpt-4o", "messages": chat("b " * 300_000, 1)})

    anyio.run(main, backend=backend)
    assert [f.cause for f in found] == ["timestamp"]
    assert len(wire.bodies) == 4


def test_async_sdks(wire: Wire) -> None:
    openai, httpx2 = library("openai"), library("httpx2")
    guard = pl.Guard("raise")
    http = httpx2.AsyncClient(transport=AsyncGuardTransport(guard))
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{wire.url}/v1", http_client=http)

    async def talk(name: str) -> None:
        with guard.session(name):
            for turn in (1, 2, 3):
                await client.chat.completions.create(model="gpt-4o", messages=chat(RULES, turn))
            stream = await client.chat.completions.create(model="gpt-4o", messages=chat(RULES, 4), stream=True)
            async for _ in stream:
                break
            await stream.close()

    async def main() -> None:
        await asyncio.gather(*(talk(f"s{k}") for k in range(5)))
        await client.close()

    asyncio.run(main())
    assert (guard.totals.requests, guard.totals.forks, guard.totals.errors) == (20, 0, 0)
