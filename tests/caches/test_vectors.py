"""Every vector of the published cache facts (59, from vendors' pages, papers and engine sources) against the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.caches import block_hash, breakpoint, radix, rounding, slot
from prefixlint.caches._base import Access, Mark, Packer

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "data" / "cache-vectors.json").read_bytes())
PACK = Packer().pack


def of_model(*models: str) -> list[Any]:
    """Select vectors by model."""
    return [pytest.param(v, id=v["id"]) for v in VECTORS if v["model"] in models]


def access(step: dict[str, Any], record: int) -> Access:
    """Build the access of a step with token ids."""
    prompt, output = step["prompt"], step.get("output", [])
    scope = "/".join((step.get("cache_salt", ""), step.get("lora", "")))
    return Access(record, len(prompt), len(output), PACK([*prompt, *output]), scope)


def common(tokens: int, record: int) -> Access:
    """Build a prompt that shares ``tokens`` tokens with all others of its kind and then goes its own way."""
    ids = [*range(1, tokens + 1), *(1_000_000 + record * 1000 + i for i in range(300))]
    return Access(record, len(ids), 0, PACK(ids))


def test_all_are_run() -> None:
    assert len(VECTORS) == 59


@pytest.mark.parametrize("vector", of_model("vllm_v1"))
def test_vllm(vector: dict[str, Any]) -> None:
    params = vector["params"]
    cache = block_hash.make(
        {
            "discipline": "pool",
            "block_size": params["block"],
            "capacity": params["blocks"],
            "eagle": params.get("eagle"),
        }
    )
    assert [cache.serve(access(s, i)).low for i, s in enumerate(vector["steps"])] == [s["hit"] for s in vector["steps"]]


@pytest.mark.parametrize("vector", of_model("sglang_radix"))
def test_sglang(vector: dict[str, Any]) -> None:
    params = vector["params"]
    cache = radix.make({"page_size": params["page"], "capacity": params.get("capacity"), "policy": "lru"})
    assert [cache.serve(access(s, i)).low for i, s in enumerate(vector["steps"])] == [s["hit"] for s in vector["steps"]]


@pytest.mark.parametrize("vector", of_model("llama_cpp_server"))
def test_llamacpp(vector: dict[str, Any]) -> None:
    cache = slot.make(vector["params"])
    assert [cache.serve(access(s, i)).low for i, s in enumerate(vector["steps"])] == [s["hit"] for s in vector["steps"]]


@pytest.mark.parametrize("vector", of_model("lmcache"))
def test_lmcache(vector: dict[str, Any]) -> None:
    cache = block_hash.make({"block_size": vector["params"]["block"]})
    for record, step in enumerate(vector["steps"]):
        shared = step.get("common", 600)
        ids = [*range(shared), *range(50_000 + record * 1000, 50_000 + record * 1000 + step["prompt_len"] - shared)]
        assert cache.serve(Access(record, len(ids), 0, PACK(ids))).low == step["hit"]


@pytest.mark.parametrize("vector", of_model("block_hash"))
def test_blocks_of_hosts(vector: dict[str, Any]) -> None:
    cache = block_hash.make({"block_size": vector["params"]["block"]})
    (step,) = vector["steps"]
    cache.serve(common(step["common"], 0))
    assert cache.serve(common(step["common"], 1)).low == step["hit"]


@pytest.mark.parametrize("vector", of_model("openai_legacy", "openai_gpt55"))
def test_rounding(vector: dict[str, Any]) -> None:
    params = vector["params"]
    cache = rounding.make(
        {
            "min_tokens": params.get("min", 0),
            "granularity": params["floor"],
            "interval": params.get("interval", 0),
            "hidden_tokens": params.get("hidden"),
        }
    )
    (step,) = vector["steps"]
    cache.serve(common(step["common"], 0))
    assert cache.serve(common(step["common"], 1)).high == step["hit"]


def openai_access(step: dict[str, Any], record: int) -> Access:
    """Build marks from the items of a step: every user message end, the developer block's end, explicit ones."""
    marks, tokens, key = [], 0, ""
    for item in step["items"]:
        tokens += item["tokens"]
        key += "/" + item["id"]
        kind = {"developer": "developer", "user": "end"}.get(item["role"], "block")
        marks.append(Mark(tokens, key, "explicit" if item.get("breakpoint") else kind))
    return Access(record, tokens, marks=marks, mode=step["mode"])


@pytest.mark.parametrize("vector", of_model("openai_breakpoint"))
def test_openai_breakpoints(vector: dict[str, Any]) -> None:
    cache = breakpoint.make({"rules": "openai", "min_tokens": vector["params"]["min"], "lookback": 50})
    for record, step in enumerate(vector["steps"]):
        made = openai_access(step, record)
        read = cache.serve(made)
        assert (read.low, read.written) == (step["cached"], step["write"])
        assert made.prompt_tokens - read.low - read.written == step["uncached"]


@pytest.mark.parametrize("vector", [p for p in of_model("anthropic") if p.id != "AN8"])
def test_anthropic_lookback(vector: dict[str, Any]) -> None:
    cache = breakpoint.make({"lookback": vector["params"]["window"]})
    for record, step in enumerate(vector["steps"]):
        changed, marks, key = step.get("changed_blocks", []), [], ""
        for block in range(1, step["blocks"] + 1):
            key += f"/{block}" + (f"#{record}" if block in changed else "")
            marks.append(Mark(block, key, "explicit" if block in step["breakpoints"] else "block", 300))
        assert cache.serve(Access(record, step["blocks"], marks=marks)).low == step["hit_block"]


def test_anthropic_below_the_minimum_nothing_is_written() -> None:
    (vector,) = (v for v in VECTORS if v["id"] == "AN8")
    cache = breakpoint.make({"min_tokens": vector["params"]["min_tokens"]})
    (step,) = vector["steps"]
    for record in range(2):
        read = cache.serve(Access(record, 5000, marks=[Mark(step["prefix_tokens"], "a", "explicit", 300)]))
        assert (read.low, read.written + read.written_1h) == (step["read"], step["write"])


def test_anthropic_mixed_lifetimes_are_billed_in_layers() -> None:
    (vector,) = (v for v in VECTORS if v["id"] == "AN7")
    (step,) = vector["steps"]
    cache = breakpoint.make({})
    first = Mark(step["hit_tokens"], "a", "explicit", 300)
    cache.serve(Access(0, 1100, marks=[first]))
    marks = [first, Mark(step["bp_1h"][0], "b", "explicit", 3600), Mark(step["bp_5m"][0], "c", "explicit", 300)]
    read = cache.serve(Access(1, step["total"], marks=marks))
    assert (read.low, read.written_1h, read.written) == (step["read"], step["write_1h"], step["write_5m"])
    assert step["total"] - read.low - read.written - read.written_1h == step["input"]


def test_anthropic_lifetime_runs_from_the_start() -> None:
    # AN9: written at 0 s; a hit at 290 s refreshes it; from there 301 s are too many
    cache = breakpoint.make({})
    mark = [Mark(5000, "a", "explicit", 300)]
    assert [cache.serve(Access(i, 5200, at_s=t, marks=mark)).low for i, t in enumerate((0, 290, 591))] == [0, 5000, 0]


@pytest.mark.parametrize("vector", of_model("deepseek_units"))
def test_deepseek_units(vector: dict[str, Any]) -> None:
    cache = breakpoint.make({"rules": "deepseek"})
    for record, step in enumerate(vector["steps"]):
        parts = [[ord(p) * 100 + i for i in range(40)] for p in step["parts"]]
        ids = [i for part in parts for i in part]
        assert cache.serve(Access(record, len(ids), 0, PACK(ids))).low == 40 * len(step["hit"])
