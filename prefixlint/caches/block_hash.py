"""Block-hash caches: fixed blocks whose hash chains over the whole prefix (vLLM, LMCache, Mooncake, llm-d, Kimi ...).

Two disciplines. ``pool`` is vLLM V1's: slots in a free queue, duplicates kept, unhashed slots reused first. ``set`` is
a plain set of blocks under a replacement policy (LMCache, Mooncake and the hosts that report whole blocks).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prefixlint.caches import _evict
from prefixlint.caches._base import Access, Cache, Chainer, Read
from prefixlint.caches._runs import Runs

FAMILY = "block_hash"


def make(params: Mapping[str, Any]) -> Cache:
    """Build a cache of this family; ``capacity`` is in blocks, None for unbounded."""
    return Pool(params) if params.get("discipline") == "pool" else BlockSet(params)


class Pool:
    """vLLM V1's KVCacheManager for one full-attention group (vllm 0.33.0, ``vllm/v1/core``).

    Requests run one after another: look up, allocate, free. A slot that holds a full block keeps its hash in the free
    queue until it is handed out again; the unhashed slots lie before all hashed ones (``free_blocks`` prepends them),
    and since they are alike a count is enough.

    Blocks are not de-duplicated in vLLM: a prompt that ends with a full block computes it again, into a slot of its
    own.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.block_tokens = int(params["block_size"])
        self.capacity: int | None = params.get("capacity")
        self.drop_last = bool(params.get("eagle"))
        self.chainer: Chainer = params.get("chainer") or Chainer(self.block_tokens)
        self._runs = Runs()
        self._unhashed = self.capacity or 0

    @property
    def used_tokens(self) -> int:
        """Return the tokens in hashed slots."""
        return len(self._runs) * self.block_tokens

    def peek(self, access: Access) -> int:
        """Return the tokens that a lookup would find."""
        ids = self.chainer.ids(access, access.prompt_tokens)
        return self._hits(ids, access.prompt_tokens) * self.block_tokens

    def serve(self, access: Access) -> Read:
        """Run one request: at most (prompt - 1) // block blocks hit, because the last token is always computed."""
        size, prompt, stored = self.block_tokens, access.prompt_tokens, access.stored_tokens
        if self.capacity is not None:
            if -(-prompt // size) > self.capacity:  # allocate_slots returns None, nothing is touched
                return Read(0, 0, fits=False)
            if -(-stored // size) > self.capacity:  # the answer does not fit: only the prompt is kept
                stored = prompt
        ids = self.chainer.ids(access, stored)
        hits = self._hits(ids, prompt)
        self._store(ids, hits, partial=stored % size > 0)
        return Read(hits * size, hits * size, (len(ids) - hits) * size)

    def extend(self, access: Access) -> None:
        """Fill blocks with an answer: nothing is looked up again, so nothing is computed twice."""
        size, stored = self.block_tokens, access.stored_tokens
        if self.capacity is not None and -(-stored // size) > self.capacity:
            return
        ids = self.chainer.ids(access, stored)
        hits = self._runs.leading(ids, len(ids))
        self._store(ids, hits, partial=stored % size > 0)

    def _hits(self, ids: Sequence[int], prompt: int) -> int:
        hits = self._runs.leading(ids, min((prompt - 1) // self.block_tokens, len(ids)))
        return hits - 1 if self.drop_last and hits else hits

    def _store(self, ids: Sequence[int], hits: int, *, partial: bool) -> None:
        """Take the hit slots out of the queue, hand out the oldest ones for what is new, and free all, tail first."""
        need = len(ids) - hits + partial
        evictions = 0
        if self.capacity is not None:
            evictions = max(need - self._unhashed, 0)
            self._unhashed = max(self._unhashed - need, 0) + partial
        self._runs.use(ids, hits, evictions)


class BlockSet:
    """A set of blocks without twins under a replacement policy; only prefixes count as hits.

    ``touch`` says which end of a request counts as newer: with ``deepest-first`` the head of a prompt outlives its
    tail. ``whole_prompt`` hosts may report everything for an exact resend (Kimi's coding endpoint).
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.block_tokens = int(params["block_size"])
        self.capacity: int | None = params.get("capacity")
        self.minimum = int(params.get("min_tokens", 0))
        self.cap_last = bool(params.get("recompute_last", False))
        self.partial = bool(params.get("save_unfull_chunk", False))
        self.with_output = bool(params.get("save_decode", False))
        self.resend = bool(params.get("exact_resend_full", False))
        self.credit = bool(params.get("credit_partial", False))
        self.ttl_s: float | None = params.get("ttl_s")
        self.chainer: Chainer = params.get("chainer") or Chainer(self.block_tokens)
        self.held = _evict.make(str(params.get("policy", "lru")), self.capacity)
        self._whole: dict[Any, float] = {}
        self._ends: dict[int, tuple[int, int]] = {}  # chain -> (partial block behind it, its tokens)
        self._used_s: dict[int, float] = {}

    @property
    def used_tokens(self) -> int:
        """Return the tokens held."""
        return len(self.held) * self.block_tokens

    def peek(self, access: Access) -> int:
        """Return the tokens that a lookup would find."""
        return self._hit_tokens(access, self._ids(access))[1]

    def _ids(self, access: Access) -> Sequence[int]:
        tokens = access.stored_tokens if self.with_output else access.prompt_tokens
        return self.chainer.ids(access, tokens)

    def serve(self, access: Access) -> Read:
        """Count the leading blocks that are held, then touch them and insert the rest."""
        ids = self._ids(access)
        blocks, tokens = self._hit_tokens(access, ids)
        evicted = self.held.touch(ids, hits=blocks)
        self._remember(access, ids)
        return Read(tokens, tokens, max(access.prompt_tokens - tokens, 0), evicted=evicted)

    def extend(self, access: Access) -> None:
        """Store the blocks of an answer, where answers are kept at all."""
        if self.with_output:
            self.held.touch(self._ids(access), hits=0)

    def _hit_tokens(self, access: Access, ids: Sequence[int]) -> tuple[int, int]:
        size, prompt = access.block_tokens or self.block_tokens, access.prompt_tokens
        if self.resend and self._alive(self._whole.get((access.scope, access.packed)), access):
            return len(ids), prompt
        limit = (prompt - 1) // size if self.cap_last else len(ids)
        if isinstance(self.held, Runs):
            blocks = self.held.leading(ids, min(limit, len(ids)))
        else:
            blocks = next((n for n, one in enumerate(ids[:limit]) if one not in self.held), min(limit, len(ids)))
        if self.ttl_s is not None:
            alive = (n for n, one in enumerate(ids[:blocks]) if not self._alive(self._used_s.get(one), access))
            blocks = next(alive, blocks)
        tokens = min(blocks * size, prompt)
        if self.credit and blocks < len(ids):
            tokens = min(tokens + self._credited(ids[blocks - 1] if blocks else -1), prompt)
        return blocks, tokens if tokens >= self.minimum else 0

    def _alive(self, used_s: float | None, access: Access) -> bool:
        if used_s is None:
            return False
        return self.ttl_s is None or access.at_s is None or access.at_s - used_s <= self.ttl_s

    def _remember(self, access: Access, ids: Sequence[int]) -> None:
        at_s = access.at_s or 0.0
        if self.resend:
            self._whole[(access.scope, access.packed)] = at_s
        if self.ttl_s is not None:
            self._used_s.update(dict.fromkeys(ids, at_s))
        rest = access.prompt_tokens % (access.block_tokens or self.block_tokens)
        if self.credit and rest and len(ids) > 1 and access.blocks is not None:
            self._ends[ids[-2] if len(ids) > 1 else -1] = (ids[-1], rest)

    def _credited(self, parent: int) -> int:
        """Return the tokens of the partial block in which the newest request behind ``parent`` ended, while held.

        Block traces give a partial last block an id of its own, so a longer prompt that repeats its tokens has
        another id there; FAST'25 counts those tokens as reused.
        """
        one, tokens = self._ends.get(parent, (-1, 0))
        return tokens if one in self.held else 0
