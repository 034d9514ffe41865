"""Record hit tokens per request from vLLM's own KVCacheManager, on the CPU, without a model.

In an environment of its own (no GPU needed; vLLM asks for a newer torch, this one is enough):

    pip install torch==2.13.0 numpy
    pip install --no-deps vllm==0.33.0
    pip install packaging psutil pyzmq urllib3 regex msgspec pydantic cbor2 transformers aiohttp requests \
        openai-harmony openai pillow pybase64 cachetools cloudpickle uvloop py-cpuinfo prometheus_client xgrammar \
        fastapi partial-json-parser llguidance
    python tests/oracles/record_vllm.py

Requests run one after another: look up, allocate the prompt, append the answer but its last token, free. One block of
the pool is vLLM's null block, which is never handed out: ``capacity`` counts the others.
"""

from __future__ import annotations

import os

os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("PYTHONHASHSEED", "0")

import torch
import vllm
import workloads
from _store import store
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import get_hash_fn_by_name
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.request import Request


def hits(job: workloads.Job) -> list[int]:
    """Run one job; a prompt that does not fit the pool hits nothing."""
    size = job["block_size"]
    spec = FullAttentionSpec(block_size=size, num_kv_heads=1, head_size=1, dtype=torch.float32)
    config = KVCacheConfig(
        num_blocks=job["capacity"] + 1, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)]
    )
    manager = KVCacheManager(
        config, max_model_len=1 << 20, scheduler_block_size=size, hash_block_size=size, use_eagle=job["eagle"]
    )
    hash_fn = get_hash_fn_by_name("sha256")
    init_none_hash(hash_fn)
    hasher = get_request_block_hasher(size, hash_fn)
    return [_one(manager, hasher, str(n), r) for n, r in enumerate(workloads.requests_of(job))]


def _one(manager: KVCacheManager, hasher: object, name: str, record: workloads.Record) -> int:
    prompt, output = record["tokens"], record.get("output") or []
    request = Request(
        name,
        prompt_token_ids=prompt,
        sampling_params=SamplingParams(max_tokens=max(1, len(output))),
        pooling_params=None,
        cache_salt=record.get("salt"),
        block_hasher=hasher,
    )
    blocks, hit = manager.get_computed_blocks(request)[:2]
    if manager.allocate_slots(request, len(prompt) - hit, hit, blocks) is None:
        manager.free(request)
        return 0
    request.num_computed_tokens = len(prompt)
    if output:
        request.append_output_token_ids(list(output))
        if len(output) > 1 and manager.allocate_slots(request, len(output) - 1) is not None:
            request.num_computed_tokens += len(output) - 1
    manager.free(request)
    return int(hit)


if __name__ == "__main__":
    store("vllm", vllm.__version__, [(job, hits(job)) for job in workloads.plan("vllm")])
