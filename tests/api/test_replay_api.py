"""Replay end to end: the contract on token traces, block traces against published points, real sessions."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.fleet import Speed
from prefixlint.api.replay import ReplayOptions, replay
from prefixlint.api.replay_options import capacity
from prefixlint.errors import ConfigError
from prefixlint.kv import shape_of

REPO = Path(__file__).parents[2]
DATA = Path(os.environ.get("PREFIXLINT_DATA") or REPO.parent / "shared" / "data")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not here (PREFIXLINT_DATA)")


def trace(path: Path, *records: dict[str, Any]) -> str:
    """Write a token trace."""
    file = path / "trace.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return str(file)


def tokens(*ids: int, **more: Any) -> dict[str, Any]:
    """Build a record."""
    return {"tokens": list(ids), **more}


def test_vllm_counts_whole_blocks_and_blames_the_rest(tmp_path: Path) -> None:
    log = trace(tmp_path, tokens(*range(10)), tokens(*range(10)), tokens(*range(5), 99, 98, 97))
    result = replay([log], ReplayOptions("vllm", block_size=4))
    assert [r.read_high for r in result.reads] == [0, 8, 4]
    assert [dict(r.blame) for r in result.reads] == [{"cold": 10}, {"rounded": 2}, {"rounded": 1, "cold": 3}]
    assert (result.total.input_tokens, result.total.hit_high) == (28, 12)


def test_salts_do_not_share(tmp_path: Path) -> None:
    log = trace(tmp_path, tokens(*range(9), salt="a"), tokens(*range(9), salt="b"), tokens(*range(9), salt="a"))
    assert [r.read_high for r in replay([log], ReplayOptions("sglang")).reads] == [0, 0, 8]


def test_evicted_tokens_name_what_pushed_them_out(tmp_path: Path) -> None:
    shared = tokens(*range(64), session="s")
    once = [tokens(*range(1000 * n, 1000 * n + 64), session=f"o{n}") for n in range(1, 4)]
    log = trace(tmp_path, shared, *once, shared)
    result = replay([log], ReplayOptions("sglang", capacity="130"))
    assert result.reads[-1].blame == {"rounded": 1, "evicted": 63}
    assert result.evicted_by == {"one-off suffixes": 63}


def test_a_broken_history_is_forked(tmp_path: Path) -> None:
    log = trace(tmp_path, tokens(*range(40), session="s"), tokens(7, *range(1, 50), session="s"))
    assert replay([log], ReplayOptions("sglang")).reads[1].blame == {"forked": 40, "cold": 10}


def test_lifetimes_run_out(tmp_path: Path) -> None:
    log = trace(tmp_path, *(tokens(*range(2000), at_s=1_700_000_000 + t) for t in (0, 100, 1000)))
    result = replay([log], ReplayOptions("mistral", ttl_s=300))
    assert [r.read_high for r in result.reads] == [0, 1984, 0]
    assert result.reads[2].blame["expired"] == 1984


def test_requests_that_overlap_cannot_read_each_other(tmp_path: Path) -> None:
    at = 1_700_000_000.0
    log = trace(tmp_path, *(tokens(*range(1000), at_s=at + t) for t in (0, 0.01, 10)))
    result = replay([log], ReplayOptions("vllm", block_size=10, overlap=Speed(prefill=1000)))
    assert [r.read_high for r in result.reads] == [0, 0, 990]
    assert result.reads[1].blame == {"fan-out": 990, "rounded": 10}


@pytest.mark.parametrize(
    ("routing", "hits"),
    [("one", [0, 0, 9, 9]), ("round-robin", [0, 0, 0, 9]), ("sticky", [0, 0, 9, 9]), ("prefix-aware", [0, 0, 9, 9])],
)
def test_routing(tmp_path: Path, routing: str, hits: list[int]) -> None:
    a, b = tokens(*range(10), session="a"), tokens(*range(50, 60), session="b")
    log = trace(tmp_path, a, b, b, b)
    result = replay([log], ReplayOptions("sglang", replicas=2, routing=routing))
    assert [r.read_high for r in result.reads] == hits
    assert sum(r.blame.get("routed", 0) for r in result.reads) == (9 if routing == "round-robin" else 0)


@pytest.mark.parametrize("cache", ["vllm", "sglang", "lmcache", "mooncake", "llamacpp", "tensorrt-llm", "anthropic",
                                   "openai", "openai-5.6", "deepseek", "gemini", "kimi", "xai", "groq", "tiered",
                                   "bedrock", "dashscope", "mistral", "azure", "together", "fireworks"])  # fmt: skip
def test_every_cache_takes_a_token_trace(tmp_path: Path, cache: str) -> None:
    log = trace(tmp_path, tokens(*range(5000)), tokens(*range(5000), 1, 2, output_tokens=[3, 4]), tokens(*range(5002)))
    result = replay([log], ReplayOptions(cache))
    for read, prompt in zip(result.reads, (5000, 5002, 5002), strict=True):
        assert 0 <= read.read_low <= read.read_high <= prompt
        assert sum(read.blame.values()) == prompt - read.read_high
    assert result.total.hit_high > 4000


def test_an_unknown_cache_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="unknown cache 'vlm': did you mean 'vllm'"):
        replay([], ReplayOptions("vlm"))


@pytest.mark.parametrize(
    ("text", "family", "expected"),
    [("100", "block_hash", 6), ("100", "radix", 100), ("7blocks", "block_hash", 7), ("7 blocks", "radix", 112),
     ("1GiB", "block_hash", 512), ("30k", "radix", 30_000)],
)  # fmt: skip
def test_capacity(text: str, family: str, expected: int) -> None:
    # LLaMA 3.1 8B: 131,072 bytes per token, so 1 GiB is 8,192 tokens, 512 blocks of 16
    assert capacity(text, family, {"block_size": 16}, shape_of("llama-3.1-8b")) == expected


def test_a_capacity_in_bytes_needs_a_model() -> None:
    with pytest.raises(ConfigError, match="--kv-model"):
        capacity("40GiB", "radix", {}, None)
    with pytest.raises(ConfigError, match="cannot read the capacity"):
        capacity("lots", "radix", {}, None)


@pytest.mark.parametrize("cache", ["vllm", "sglang", "lmcache", "mooncake"])
def test_a_sweep_gives_what_single_replays_give(cache: str) -> None:
    log = [str(REPO / "examples" / "agent.jsonl")]
    sizes = ("8000", "inf")
    swept = replay(log, ReplayOptions(cache, sweep=(("capacity", sizes),))).sweep
    for point, size in zip(swept, sizes, strict=True):
        single = replay(log, ReplayOptions(cache, capacity=None if size == "inf" else size, scenarios=False))
        assert point.rate.hit_high == single.total.hit_high
        assert point.ceiling is None or cache == "vllm" or point.ceiling >= point.rate.high - 1e-9


def test_fixes_raise_the_hit_rate_of_the_example_and_the_ceiling_is_above() -> None:
    result = replay([str(REPO / "examples" / "agent.jsonl")], ReplayOptions("vllm"))
    today, safe, fixed, ceiling = (s.rate.high for s in result.scenarios)
    assert today < safe <= fixed <= ceiling
    assert result.forked_by["tool-order"] > 0
    assert sum(result.forked_by.values()) == result.blame["forked"]
    assert result.checklist[0].title == "prefix stability"
    assert result.checklist[0].matters


def test_a_healthy_log_has_no_forks() -> None:
    result = replay([str(REPO / "examples" / "healthy.jsonl")], ReplayOptions("sglang"))
    assert result.blame.get("forked", 0) == 0
    assert not result.checklist[0].matters


# FAST'25 paper, figure 9, synthetic trace: capacity in tokens -> hit rate
PUBLISHED = {100_000: 0.0117, 1_000_000: 0.1461, 2_000_000: 0.2345, 4_000_000: 0.3805, 5_000_000: 0.4352,
             8_000_000: 0.5447, 10_000_000: 0.5886, 50_000_000: 0.6583}  # fmt: skip


@needs_data
def test_mooncake_synthetic_trace_within_a_hundredth_of_every_published_point() -> None:
    path = str(DATA / "mooncake" / "synthetic_trace.jsonl.gz")
    points = replay([path], ReplayOptions("mooncake", sweep=(("capacity", tuple(map(str, PUBLISHED))),))).sweep
    assert [p.rate.high for p in points] == pytest.approx(list(PUBLISHED.values()), abs=0.01)


@needs_data
def test_claude_code_block_traces_share_what_was_measured() -> None:
    # 110 sessions, 6,323 requests: median share 0.976, mean 0.969, 407 steps that are no continuation
    from prefixlint.api.accesses import Reader
    from prefixlint.api.read import open_log
    from prefixlint.api.replay_keep import Consecutive

    seen, requests = Consecutive(), 0
    path = str(DATA / "claude-code-block-traces" / "traces.jsonl.gz")
    for served in Reader().read(open_log([path]).requests()):
        if "/" not in served.access.session:  # sub-agents run beside their session
            seen.see(served.access)
            requests += 1
    found = seen.result()
    assert found is not None
    assert (found.sessions, requests, found.broken) == (110, 6323, 407)
    assert (round(found.median, 3), round(found.mean, 3)) == (0.976, 0.969)


@needs_data
def test_a_real_claude_session_reads_what_the_request_before_had_stored() -> None:
    path = str(DATA / "coding-agent-sessions" / "tracelab-claude-session.jsonl")
    result = replay([path], ReplayOptions("anthropic", per_request=True))
    first, *others = result.observed
    assert [o.predicted_high for o in others] == [o.observed for o in others]
    assert (first.predicted_high, first.observed) == (0, 27_217)  # stored by a session before this log
    assert "leaves out the system prompt" in first.reason


@needs_data
def test_a_real_codex_session_stays_in_the_predicted_range() -> None:
    path = str(DATA / "coding-agent-sessions" / "tracelab-codex-session.jsonl")
    result = replay([path], ReplayOptions("openai", per_request=True))
    outside = [o for o in result.observed if not o.predicted_low <= o.observed <= o.predicted_high + 256]
    assert [o.record for o in outside] == [0]
    assert all(o.reason != "as predicted" for o in outside)


def test_observed_zero_with_an_intact_prefix_is_named(tmp_path: Path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "system", "content": "word " * 3000}]}
    usage = {"prompt_tokens": 3001, "prompt_tokens_details": {"cached_tokens": 0}}
    file = tmp_path / "log.jsonl"
    lines = [{"body": {**body, "messages": [*body["messages"], {"role": "user", "content": f"q{n}"}]},
              "response": {"body": {"usage": usage}}} for n in range(2)]  # type: ignore[misc]  # fmt: skip
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    result = replay([str(file)], ReplayOptions("openai"))
    assert [o.reason for o in result.observed] == ["as predicted", "intact-but-not-read"]
    assert result.money is not None and result.money.usd_high is not None


def test_anthropic_markers_minimum_and_price(tmp_path: Path) -> None:
    def body(system: str, question: str) -> dict[str, Any]:
        marked = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        return {"model": "claude-opus-4-5", "max_tokens": 9, "system": [marked],
                "messages": [{"role": "user", "content": question}]}  # fmt: skip

    long, short = "stable words " * 4000, "too short " * 100
    file = tmp_path / "log.jsonl"
    bodies = [body(long, "a"), body(long, "b"), body(short, "a"), body(short, "b")]
    file.write_text("\n".join(map(json.dumps, bodies)), encoding="utf-8")
    result = replay([str(file)], ReplayOptions("anthropic", scenarios=False))
    first, second, third, fourth = result.reads
    assert first.written > 4096 and second.read_high == first.written
    assert (third.written, fourth.read_high) == (0, 0)  # below 4,096 tokens nothing is stored
    assert result.money is not None and result.money.as_of == "2026-09"


def test_prefix_cache_table(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        '[prefix_cache]\ncpu_cache_gb = 1\ndisk_cache_dir = "/var/cache/kv"\nchunk_size = 64\n'
        'eviction = "importance_score"\n'
    )
    log = trace(tmp_path, tokens(*range(300)), tokens(*range(300)))
    options = ReplayOptions("tiered", config=str(config), kv_model="llama-3.1-8b", capacity="128")
    result = replay([log], options)
    assert result.params["block_size"] == 64
    assert result.params["policy"] == "importance_score"
    assert result.params["tiers"] == {"gpu": 2, "cpu": 119, "disk": None}  # 1e9 / 131,072 / 64
    assert result.reads[1].read_high == 256
    assert sum(result.tiers.values()) == 256
    assert any("--disk-gb" in note for note in result.notes)
    found = {(p.setting, p.value): p.disk_read_tokens for p in result.settings}
    assert found["as it is", ""] == found["cpu_cache_gb", "2"]
    assert {("cpu_cache_gb", "0.5"), ("chunk_size", "32"), ("chunk_size", "128"), ("eviction", "lru")} <= found.keys()
    assert found["disk_cache_dir", "unset"] == 0


def test_swept_settings_multiply(tmp_path: Path) -> None:
    log = trace(tmp_path, tokens(*range(100)), tokens(*range(100)))
    options = ReplayOptions("vllm", sweep=(("block-size", ("4", "32")), ("capacity", ("40", "400"))))
    assert [(p.value, p.rate.hit_high) for p in replay([log], options).sweep] == [
        ("4, 40", 0), ("4, 400", 96), ("32, 40", 0), ("32, 400", 96),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="cannot sweep 'colour'"):
        replay([log], replace(options, sweep=(("colour", ("1",)),)))
