"""The models against the engines' own code: every request of 125 recorded jobs has the same hit."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from prefixlint.caches import block_hash, radix, slot
from prefixlint.caches._base import Access, Cache, Packer

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "oracles"))

import workloads  # noqa: E402


def jobs(engine: str) -> list[Any]:
    """Read the recorded answers of an engine."""
    document = json.loads(gzip.decompress((ROOT / "data" / "oracles" / f"{engine}.json.gz").read_bytes()))
    return [pytest.param(job, id=f"{engine}-{job['seed']}") for job in document["jobs"]]


def hits(cache: Cache, job: dict[str, Any]) -> list[int]:
    """Serve the requests of a job."""
    pack, found = Packer().pack, []
    for number, record in enumerate(workloads.requests_of(job)):
        tokens, output = record["tokens"], record.get("output", [])
        access = Access(number, len(tokens), len(output), pack([*tokens, *output]), record.get("salt", ""))
        found.append(cache.serve(access).low)
    return found


@pytest.mark.parametrize("job", jobs("vllm"))
def test_vllm(job: dict[str, Any]) -> None:
    cache = block_hash.make({**job, "discipline": "pool"})
    assert hits(cache, job) == job["hits"]


@pytest.mark.parametrize("job", jobs("sglang"))
def test_sglang(job: dict[str, Any]) -> None:
    assert hits(radix.make(job), job) == job["hits"]


@pytest.mark.parametrize("job", jobs("llamacpp"))
def test_llamacpp(job: dict[str, Any]) -> None:
    cache = slot.make({**job, "context": 8192 * job["slots"]})
    assert hits(cache, job) == job["hits"]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
def test_at_least_two_thousand_requests_with_hits_and_misses(engine: str) -> None:
    found = [hit for param in jobs(engine) for hit in param.values[0]["hits"]]
    assert len(found) >= 2000
    assert 0.2 < sum(hit > 0 for hit in found) / len(found) < 0.99
    assert [p.values[0]["seed"] for p in jobs(engine)] == [job["seed"] for job in workloads.plan(engine)]
