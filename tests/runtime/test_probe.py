from __future__ import annotations

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prefixlint.api import probe, shots, stats, wire
from prefixlint.cli.probe import command
from prefixlint.errors import InputError
from tests.runtime.fake_endpoint import Behaviour, FakeEndpoint

SMALL = shots.PlanOptions(lengths=(50, 200, 600), pair_tokens=400, sweeps=2, shorts=10, pairs=2)


def measure(behaviour: Behaviour, api: str = "openai", options: shots.PlanOptions = SMALL) -> list[probe.Sample]:
    with FakeEndpoint(behaviour) as url:
        client = wire.Client(wire.endpoint(url, api=api, model="m"), time.perf_counter, 30)
        plan = shots.plan(api, "m", options)
        samples, notes = probe.shoot(
            plan, client, clock=time.perf_counter, sleep=lambda s: None, pause_s=0, max_requests=99, max_seconds=60
        )
        client.close()
    assert notes == []
    return samples


def setting(seed: int) -> tuple[str, Behaviour]:
    """Draw a behaviour in which one part clearly leads; the leading part is at least three times every other."""
    rnd = random.Random(seed)
    name = ("network", "queue", "prefill", "cold-cache")[seed % 4]
    small = rnd.uniform(0.001, 0.004)
    large = rnd.uniform(0.03, 0.06)
    rate = 600 / (large if name in ("prefill", "cold-cache") else small)
    queue = (0.3, large * 8) if name == "queue" else (0.1, small)
    network = large if name == "network" else small
    cache = name != "cold-cache"
    return name, Behaviour(network, queue[0], queue[1], rate, cache=cache, rnd=random.Random(seed))


def test_the_verdict_is_right_in_19_of_20_settings() -> None:
    settings = [setting(seed) for seed in range(20)]
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda s: probe.judge(measure(s[1])).name, settings))
    right = sum(name == verdict for (name, _), verdict in zip(settings, verdicts, strict=True))
    assert right >= 19, [(n, v) for (n, _), v in zip(settings, verdicts, strict=True)]


@pytest.mark.parametrize("api", ["openai", "anthropic", "responses"])
def test_cached_tokens_are_those_the_server_counted(api: str) -> None:
    behaviour = Behaviour()
    samples = measure(behaviour, api)
    assert [s.answer.usage.cache_read for s in samples] == behaviour.cached
    assert max(behaviour.cached) >= 400
    assert all(s.answer.usage.input_tokens == len(seen) for s, seen in zip(samples, behaviour.seen, strict=True))


def test_a_server_that_reports_no_cached_tokens_is_judged_by_time() -> None:
    warm = measure(Behaviour(tokens_per_s=20_000, reports_cached=False))
    cold = measure(Behaviour(tokens_per_s=20_000, reports_cached=False, cache=False))
    assert [probe.judge(s).name for s in (warm, cold)] == ["prefill", "cold-cache"]


def test_connection_and_tokens_are_timed_apart() -> None:
    samples = measure(Behaviour(network_s=0.02, tpot_s=0.01))
    assert [s.answer.cold for s in samples[:5]] == [True, True, True, True, False]
    assert all(s.answer.first_token_s >= 0.02 for s in samples)
    assert 0.009 < samples[0].answer.tpot_s < 0.1


@pytest.mark.parametrize(
    ("status", "answer", "kind", "expected"),
    [
        pytest.param(401, b'{"error": "bad key sk-test-123"}', "application/json", "key was refused", id="401"),
        pytest.param(404, b'{"error": "model m not found"}', "application/json", "model 'm' is not known", id="model"),
        pytest.param(404, b'{"detail": "Not Found"}', "application/json", "no such path", id="path"),
        pytest.param(200, b"<!DOCTYPE html><p>hi", "text/html", "a web page answered", id="page"),
        pytest.param(404, b"<html>nope", "text/html", "a web page answered", id="page 404"),
        pytest.param(429, b"slow down", "text/plain", "too many requests", id="429"),
        pytest.param(503, b"", "text/plain", "the server failed", id="503"),
        pytest.param(200, b"pong", "text/plain", "neither JSON nor a stream", id="no API"),
    ],
)
def test_each_trouble_has_its_own_words(status: int, answer: bytes, kind: str, expected: str) -> None:
    with FakeEndpoint(Behaviour(status=status, answer=answer, content_type=kind)) as url:
        target = wire.endpoint(url, api="openai", model="m", key="sk-test-123")
        with pytest.raises(InputError, match=expected) as caught:
            wire.Client(target, time.perf_counter, 5).send(shots.body("openai", "m", "", "hi"))
    assert "sk-test-123" not in str(caught.value)


def test_a_dead_port_says_so() -> None:
    with FakeEndpoint(Behaviour()) as url:
        pass
    with pytest.raises(InputError, match="connection refused"):
        wire.Client(wire.endpoint(url, api="openai", model="m"), time.perf_counter, 5).send({})


@pytest.mark.parametrize(
    ("url", "base", "note"),
    [
        ("https://host/v1", "https://host", "/v1"),
        ("https://host/v1/", "https://host", "/v1"),
        ("https://host/gateway?key=x", "https://host/gateway", "query"),
        ("https://host/", "https://host", ""),
    ],
)
def test_base_urls_are_cut_and_say_so(url: str, base: str, note: str) -> None:
    made = wire.endpoint(url, api="openai", model="m")
    assert made.base_url == base
    assert note in " ".join(made.notes) if note else made.notes == ()


def test_hard_limits_stop_the_probe() -> None:
    behaviour = Behaviour()
    with FakeEndpoint(behaviour) as url:
        client = wire.Client(wire.endpoint(url, api="openai", model="m"), time.perf_counter, 5)
        _, notes = probe.shoot(
            shots.plan("openai", "m", SMALL), client, clock=time.perf_counter, sleep=lambda s: None, pause_s=0,
            max_requests=4, max_seconds=60,
        )  # fmt: skip
        client.close()
    assert len(behaviour.bodies) == 4
    assert "stopped after 4" in notes[0]


def test_history_is_cut_at_a_user_turn() -> None:
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "1"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": [{"type": "tool_result", "content": "r"}]},
        {"role": "user", "content": "2"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "3"},
    ]
    cut = shots.shortened({"messages": history}, 2)["messages"]
    assert [m["content"] for m in cut] == ["s", "2", "b", "3"]


def test_the_line_ignores_spikes() -> None:
    # y = 5 + 2x by hand, one point of each x raised
    points = [(x, 5.0 + 2 * x + spike) for x in (1.0, 10.0, 20.0) for spike in (0, 0, 300)]
    level, slope = stats.line(points)
    assert (round(level, 6), round(slope, 6)) == (5.0, 2.0)


def test_the_interval_of_ten_values_is_the_second_and_ninth() -> None:
    # Conover table: n = 10, 95 % interval of the median = 2nd to 9th order statistic (97.9 %)
    assert stats.interval(range(1, 11)) == (5.5, 2, 9)


def run(*arguments: str, **env: Any) -> Result:
    return CliRunner(env=env).invoke(command, arguments, catch_exceptions=False)


def test_command_reports_the_whole_thing(tmp_path: Path) -> None:
    behaviour = Behaviour(network_s=0.002)
    quick = ("--pause", "0", "--lengths", "50,200", "--pair-tokens", "300", "--repeat", "1", "--shorts", "3")
    picture = tmp_path / "probe.svg"
    with FakeEndpoint(behaviour) as url:
        text = run(
            "--base-url", url, "--model", "m", "--api-key-env", "KEY", "--plot", str(picture), *quick, KEY="s3cret"
        )
        data = run("--base-url", url, "--model", "m", "--format", "json", *quick)
    assert text.exit_code == 0
    assert "verdict: " in text.output
    assert "s3cret" not in text.output
    assert behaviour.headers[0]["authorization"] == "Bearer s3cret"
    assert json.loads(data.output)["samples"][0]["purpose"] == "hello"
    assert picture.read_text().startswith("<svg")


def test_dry_run_sends_nothing() -> None:
    behaviour = Behaviour()
    with FakeEndpoint(behaviour) as url:
        result = run("--base-url", url, "--model", "gpt-4o-mini", "--dry-run")
    assert behaviour.bodies == []
    assert "would send" in result.output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("settings.json", '{{"api_base": "{url}", "default_model": "m", "api_key_env": "KEY"}}'),
        ("config.toml", '[server]\napi_base = "{url}"\n[model]\nname = "m"\n'),
        (
            "codex.toml",
            'model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "{url}/v1"\nenv_key = "KEY"\n',
        ),
    ],
)
def test_settings_name_the_endpoint(tmp_path: Path, name: str, text: str) -> None:
    behaviour = Behaviour()
    with FakeEndpoint(behaviour) as url:
        (tmp_path / name).write_text(text.format(url=url))
        options = ("--settings", str(tmp_path / name), "--max-requests", "6", "--pause", "0")
        assert run(*options, KEY="x").exit_code in (0, 1)
    assert behaviour.bodies[0]["model"] == "m"
