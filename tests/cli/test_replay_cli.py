"""The commands replay and tree: the JSON contract, the other formats, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prefixlint.cli._main import group

REPO = Path(__file__).parents[2]
AGENT = str(REPO / "examples" / "agent.jsonl")


def run(*args: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(group, list(args), catch_exceptions=False)


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Write a token trace of three requests."""
    records: list[dict[str, Any]] = [
        {"tokens": list(range(10)), "output_tokens": [11, 12, 13]},
        {"tokens": [*range(10), 11, 12, 13, 99], "session": "s", "at_s": 3.0},
        {"tokens": list(range(10)), "salt": "x"},
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    return str(path)


def test_contract(trace: str) -> None:
    found = run("replay", trace, "--cache", "vllm", "--block-size", "4", "--per-request", "--format", "json")
    document = json.loads(found.stdout)
    assert found.exit_code == 0
    assert (document["version"], document["unit"]) == (1, "tokens")
    assert document["cache"] == {"name": "vllm", "params": {"block_size": 4}}
    assert (document["requests"], document["input_tokens"]) == (3, 34)
    assert (document["hit_tokens_low"], document["hit_tokens_high"]) == (12, 12)
    assert document["hit_rate"] == round(12 / 34, 6)
    rows = document["per_request"]
    assert [(r["record"], r["hit_low"], r["hit_high"]) for r in rows] == [(0, 0, 0), (1, 12, 12), (2, 0, 0)]
    assert all({"written", "blame"} <= r.keys() for r in rows)


def test_per_request_is_left_out_unless_asked_for(trace: str) -> None:
    assert "per_request" not in json.loads(run("replay", trace, "--cache", "sglang", "--format", "json").stdout)


def test_sweep(trace: str) -> None:
    found = run(
        "replay", trace, "--cache", "vllm", "--block-size", "4", "--sweep", "capacity=8,400", "--format", "json"
    )
    points = json.loads(found.stdout)["sweep"]
    assert [p["capacity"] for p in points] == [8, 400]
    assert [p["hit_rate"] for p in points] == [0, round(12 / 34, 6)]


def test_llamacpp_options(trace: str) -> None:
    args = ("replay", trace, "--cache", "llamacpp", "--slots", "2", "--ram-cache", "--per-request", "--format", "json")
    document = json.loads(run(*args).stdout)
    assert document["cache"]["params"]["ram_cache"] == 8192
    # salts do not exist there: the third request reads the first ten tokens, less the one for its logits
    assert [r["hit_high"] for r in document["per_request"]] == [0, 12, 9]


def test_csv(trace: str) -> None:
    lines = run("replay", trace, "--cache", "sglang", "--format", "csv").stdout.splitlines()
    assert lines[0] == "path,record,hit_low,hit_high,written,recomputed,cold"
    assert len(lines) == 4


def test_text_says_the_unit_and_the_order_of_things() -> None:
    text = run("replay", AGENT, "--cache", "vllm", "--capacity", "20000").stdout
    assert "of input tokens" in text and "unit: tokens (o200k_base)" in text
    order = [text.index(t) for t in ("prefix stability", "concurrency and arrival", "capacity and eviction")]
    assert order == sorted(order)
    assert "after safe fixes" in text and "ceiling" in text


def test_plot(tmp_path: Path) -> None:
    path = tmp_path / "curves.svg"
    assert run("replay", AGENT, "--cache", "vllm", "--no-scenarios", "--plot", str(path)).exit_code == 0
    text = path.read_text()
    assert text.startswith("<svg") and "hit rate over time" in text and "memory over time" in text


def test_evidence_in_the_report(tmp_path: Path) -> None:
    gpu = tmp_path / "gpu.csv"
    gpu.write_text("timestamp, memory.used [MiB]\n2026/03/02 09:00:20.000, 2048 MiB\n")
    found = run("replay", AGENT, "--cache", "vllm", "--no-scenarios", "--gpu-log", str(gpu), "--format", "json")
    (evidence,) = json.loads(found.stdout)["evidence"]
    assert evidence["values"] == {"memory_gib": 2.0}
    assert 0 <= evidence["at_s"] < 60


def test_a_broken_record_is_told_and_the_rest_replayed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"tokens": [1, 2, 3]}\n{"tokens": [1, 2\n{"tokens": [1, 2, 3]}\n')
    found = run("replay", str(path), "--cache", "sglang", "--format", "json")
    assert found.exit_code == 2
    assert json.loads(found.stdout)["requests"] == 2


@pytest.mark.parametrize("form", ["text", "json", "html", "svg"])
def test_tree_formats(form: str, tmp_path: Path) -> None:
    found = run("tree", AGENT, "--format", form, "--top", "5", "--cache", "sglang", "--capacity", "8000")
    assert found.exit_code == 0
    assert len(found.stdout) > 500


def test_tree_shows_where_requests_part(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bodies = [
        {"model": "gpt-4o", "messages": [{"role": "system", "content": f"Now: 2026-03-0{n} 09:00. Be brief."}]}
        for n in (1, 2, 2)
    ]
    path.write_text("\n".join(map(json.dumps, bodies)))
    document = json.loads(run("tree", str(path), "--format", "json", "--top", "0").stdout)
    (root,) = document["roots"]
    assert (root["start"], root["requests"]) == (0, 3)
    assert [child["requests"] for child in root["children"]] == [2, 1]
    assert root["children"][0]["rule"] == "timestamp"
    assert "«2026-03-02 09:00»" in root["children"][0]["text"]
    assert document["distinct_tokens"] == root["tokens"] + sum(c["tokens"] for c in root["children"])


def test_tree_of_token_ids_and_evicted_spans(trace: str) -> None:
    text = run("tree", trace, "--cache", "sglang", "--capacity", "16").stdout
    assert "□" in text and "■" in text
