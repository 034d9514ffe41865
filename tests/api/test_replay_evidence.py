"""Server logs, metrics and GPU logs beside a replay; the lines are as the servers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixlint.api.replay_evidence import beside, gpu_points, metric_points, server_points
from prefixlint.errors import InputError
from prefixlint.replays import Rate, ReplayResult

VLLM = (
    "INFO 03-02 09:00:10 [loggers.py:127] Engine 000: Avg prompt throughput: 812.0 tokens/s, Avg generation "
    "throughput: 20.1 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 12.5%, "
    "Prefix cache hit rate: 61.0%"
)
SGLANG = (
    "[2026-03-02 09:00:10] Prefill batch. #new-seq: 1, #new-token: 128, #cached-token: 384, token usage: 0.05, "
    "#running-req: 0, #queue-req: 0"
)
LLAMA = [
    "0.00.037.233 I slot   operator(): id  1 | task 0 | new prompt, n_ctx_slot = 2048, n_keep = 0, task.n_tokens = 39",
    "0.00.037.241 I slot   operator(): id  1 | task 0 | cached n_tokens = 13, memory_seq_rm [13, end)",
]


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ([VLLM], {"usage": 0.125, "hit_rate": 0.61}),
        ([SGLANG], {"hits": 384, "queries": 512, "usage": 0.05}),
        (LLAMA, {"hits": 13, "queries": 39}),
        (["2026-03-02T09:00:00Z prefix_hit=true"], {"prefix_hits": 1, "prefix_lookups": 1}),
        (['{"ts": 1772442000, "prefix_hit": false}'], {"prefix_hits": 0, "prefix_lookups": 1}),
        (["prefix_hit_tokens=512 prompt_tokens=1024"], {"hits": 512, "queries": 1024}),
    ],
    ids=["vllm", "sglang", "llama.cpp", "prefix_hit", "prefix_hit in JSON", "prefix_hit_tokens"],
)
def test_server_lines(lines: list[str], values: dict[str, float]) -> None:
    ((_, found),) = server_points(lines)
    assert found == values


def test_other_lines_say_nothing() -> None:
    assert not list(server_points(["INFO: Started server process [1]", "GET /health 200"]))


def test_counters_become_hits_between_scrapes() -> None:
    text = """\
# HELP vllm:prefix_cache_queries_total tokens
# scraped 2026-03-02T09:00:00Z
vllm:prefix_cache_queries_total{engine="0"} 1000
vllm:prefix_cache_hits_total{engine="0"} 400
vllm:kv_cache_usage_perc{engine="0"} 0.25
# scraped 2026-03-02T09:01:00Z
vllm:prefix_cache_queries_total{engine="0"} 3000
vllm:prefix_cache_hits_total{engine="0"} 1900
"""
    (first_s, first), (second_s, second) = metric_points(text.splitlines())
    assert first == {"usage": 0.25, "hits": 400, "queries": 1000}
    assert second == {"hits": 1500, "queries": 2000}
    assert first_s is not None and second_s is not None and second_s - first_s == 60


def test_memory_of_all_gpus_is_added_up() -> None:
    text = """\
timestamp, index, memory.used [MiB], memory.total [MiB]
2026/03/02 09:00:00.000, 0, 10240 MiB, 81920 MiB
2026/03/02 09:00:00.000, 1, 1024 MiB, 81920 MiB
2026/03/02 09:00:05.000, 0, 20480 MiB, 81920 MiB
"""
    points = list(gpu_points(text.splitlines()))
    assert [p["memory_gib"] for _, p in points] == [11.0, 20.0]


def result(start_s: float | None) -> ReplayResult:
    """Build an empty result."""
    return ReplayResult("vllm", "", "", "", {}, (), "", True, Rate("all", 0, 0, 0, 0), start_s=start_s)


def test_one_time_axis(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(SGLANG + "\n")
    found = beside(result(1772442000.0), server_logs=[str(log)])  # 2026-03-02T09:00:00Z
    assert [e.at_s for e in found.evidence] == [10.0]
    other = beside(result(None), server_logs=[str(log)])
    assert [e.at_s for e in other.evidence] == [0.0]
    assert "its clock does not meet the log's" in other.notes[0]


def test_a_file_without_evidence_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no column memory"):
        beside(result(None), gpu_logs=[str(path)])
