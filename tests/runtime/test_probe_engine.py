"""Probe against a real engine: llama.cpp's server with a tiny random model, over loopback."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from prefixlint.api import probe, shots, wire

pytest.importorskip("xllamacpp", reason="needs the packages xllamacpp, gguf and numpy")
pytest.importorskip("gguf", reason="needs the packages xllamacpp, gguf and numpy")


def test_hit_tokens_equal_the_engines_own_count(tmp_path: Path) -> None:
    from tests.runtime import tiny_llama

    model = tmp_path / "tiny.gguf"
    tiny_llama.write_model(model)
    options = shots.PlanOptions(lengths=(20, 60), pair_tokens=100, sweeps=1, shorts=3, pairs=2)
    plan = shots.plan("openai", "tiny", options)
    server = tiny_llama.start(model)
    client = wire.Client(wire.endpoint(server.listening_address, api="openai", model="tiny"), time.perf_counter, 60)
    samples, notes = probe.shoot(
        plan, client, clock=time.perf_counter, sleep=lambda s: None, pause_s=0, max_requests=50, max_seconds=120
    )
    client.close()
    assert notes == []
    told = [s.answer.usage.cache_read for s in samples]
    assert told == tiny_llama.counted(model, [dict(s.shot.body) for s in samples])
    assert min(s.answer.usage.cache_read or 0 for s in samples if s.shot.purpose == "hit") > 100
