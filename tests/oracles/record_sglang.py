"""Record hit tokens per request from SGLang's own RadixCache, on the CPU, without a server.

In an environment of its own:

    pip install torch==2.13.0
    pip install --no-deps sglang==0.5.23
    pip install numpy orjson psutil pybase64 requests triton packaging pillow starlette msgspec pydantic pyzmq tqdm \
        ipython aiohttp transformers dill apache-tvm-ffi sentencepiece compressed-tensors gguf
    python tests/oracles/record_sglang.py

Requests run one after another, as the scheduler does for a single running request: match all but the last prompt
token, lock the match, evict leaves until the new pages fit, insert prompt and answer (its last token has no KV),
unlock. ``two-step`` inserts the way RadixCache.checkpoint does after prefill and at the end.
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import math
import sys
import types
from array import array

import torch
import workloads
from _store import store


class _Any(type):
    """A class every attribute of which exists."""

    def __getattr__(cls, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class _Stub(types.ModuleType):
    """Stand in for torchvision, which only model configs import that the cache never uses."""

    __path__: list[str] = []  # noqa: RUF012

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Any(name, (), {})


class _Finder:
    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name.split(".")[0] == "torchvision":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Stub(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


if importlib.util.find_spec("torchvision") is None:
    import transformers.utils

    transformers.utils.is_torchvision_available()  # remembers "no" before the stub appears
    sys.meta_path.append(_Finder())  # type: ignore[arg-type]

from sglang.srt.mem_cache.base_prefix_cache import EvictParams, InsertParams, MatchPrefixParams  # noqa: E402
from sglang.srt.mem_cache.cache_init_params import CacheInitParams  # noqa: E402
from sglang.srt.mem_cache.radix_cache import RadixCache, RadixKey  # noqa: E402


class Allocator:
    """Take freed slots and forget them."""

    device = torch.device("cpu")

    def free_segment(self, value: object, start_pos: int = 0) -> None:
        """Free a part of a row."""

    def free(self, value: object) -> None:
        """Free slots."""


class Server:
    """One tree, and what is used of the pool."""

    def __init__(self, job: workloads.Job) -> None:
        self.page, self.capacity, self.two_step = job["page_size"], job["capacity"], job["insert"] == "two-step"
        self.tree = RadixCache(
            CacheInitParams(
                disable=False,
                req_to_token_pool=None,
                token_to_kv_pool_allocator=Allocator(),
                page_size=self.page,
                eviction_policy=job["policy"],
            )
        )
        self.used = 0

    def run(self, record: workloads.Record) -> int:
        """Serve one request; one that does not fit hits nothing."""
        prompt, output, salt = record["tokens"], record.get("output") or [], record.get("salt")
        tree = self.tree
        match = tree.match_prefix(MatchPrefixParams(key=self.key(prompt[:-1], salt)))
        hit, node = match.device_prefix_len, match.last_device_node
        need = math.ceil((len(prompt) + len(output)) / self.page) * self.page - hit
        tree.inc_lock_ref(node)
        if self.used + need > self.capacity:
            self.used -= tree.evict(EvictParams(num_tokens=self.used + need - self.capacity)).num_tokens_evicted
        if self.used + need > self.capacity:
            tree.dec_lock_ref(node)
            return 0
        before = tree.total_size()
        stored = [*prompt, *output[:-1]]
        self.insert(prompt, stored, salt)
        self.used += tree.total_size() - before
        tree.dec_lock_ref(node)
        return int(hit)

    def key(self, tokens: list[int], salt: str | None) -> RadixKey:
        """Build the key of some tokens."""
        return RadixKey(array("q", tokens), cache_salt=salt)

    def insert(self, prompt: list[int], stored: list[int], salt: str | None) -> None:
        """Insert once, or as RadixCache._insert_cache(split_prompt=True) does, twice."""
        if not self.two_step:
            self._put(stored, salt, 0, 0)
            return
        aligned = len(prompt) // self.page * self.page
        for tokens, inserted in ((prompt, 0), (stored, aligned)):
            self._put(tokens, salt, 0, inserted)
            if 0 < aligned < len(tokens) // self.page * self.page:
                self._put(prompt, salt, 1, aligned)
            self.tree.match_prefix(MatchPrefixParams(key=self.key(tokens, salt).page_aligned(self.page)))

    def _put(self, tokens: list[int], salt: str | None, priority: int, inserted: int) -> None:
        values = torch.arange(len(tokens), dtype=torch.int64)
        self.tree.insert(
            InsertParams(key=self.key(tokens, salt), value=values, priority=priority, inserted_len=inserted)
        )


def hits(job: workloads.Job) -> list[int]:
    """Run one job."""
    server = Server(job)
    return [server.run(record) for record in workloads.requests_of(job)]


if __name__ == "__main__":
    version = importlib.metadata.version("sglang")
    store("sglang", version, [(job, hits(job)) for job in workloads.plan("sglang")])
