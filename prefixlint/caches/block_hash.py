"""Block-hash caches: fixed blocks whose hash chains over the whole prefix (vLLM, LMCache, Mooncake, llm-d, Kimi ...).

Two disciplines. ``pool`` is vLLM V1's: slots in a free queue, duplicates kept, unhashed slots reused first. ``set`` is
a plain set of blocks under a replacement policy (LMCache, Mooncake and the hosts that report whole blocks).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from prefixlint.caches import _evict
from prefixlint.caches._base import Access, Cache, Chainer, Read

FAMILY = "block_hash"


def make(params: Mapping[str, Any]) -> Cache:
    """Build a cache of this family; ``capacity`` is in blocks, None for unbounded."""
    return Pool(params) if params.get("discipline") == "pool" else BlockSet(params)


class Pool:
    """vLLM V1's KVCacheManager for one full-attention group (vllm 0.33.0, ``vllm/v1/core``).

    Requests run one after another: look up, allocate, free. A slot that holds a full block keeps its hash in the
    free queue until it is handed out again. ``queue`` has the hashed slots, first out first; the unhashed ones lie
    before them (``free_blocks`` prepends them), and since they are alike a count is enough.

    A slot is named by its chain id; when that name is taken (blocks are not de-duplicated), by a negative number.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.block_tokens = int(params["block_size"])
        self.capacity: int | None = params.get("capacity")
        self.drop_last = bool(params.get("eagle"))
        self.chainer: Chainer = params.get("chainer") or Chainer(self.block_tokens)
        self.queue: OrderedDict[int, None] = OrderedDict()
        self._unhashed = self.capacity or 0
        self._twins: dict[int, list[int]] = {}  # chain id -> its slots, oldest first, once it has had two
        self._owner: dict[int, int] = {}  # negative slot name -> chain id
        self._names = 0

    @property
    def used_tokens(self) -> int:
        """Return the tokens in hashed slots."""
        return len(self.queue) * self.block_tokens

    def peek(self, access: Access) -> int:
        """Return the tokens that a lookup would find."""
        ids = self.chainer.ids(access, access.prompt_tokens)
        return len(self._match(ids, access.prompt_tokens)) * self.block_tokens

    def serve(self, access: Access) -> Read:
        """Run one request: at most (prompt - 1) // block blocks hit, because the last token is always computed."""
        size, prompt, stored = self.block_tokens, access.prompt_tokens, access.stored_tokens
        if self.capacity is not None:
            if -(-prompt // size) > self.capacity:  # allocate_slots returns None, nothing is touched
                return Read(0, 0, fits=False)
            if -(-stored // size) > self.capacity:  # the answer does not fit: only the prompt is kept
                stored = prompt
        ids = self.chainer.ids(access, stored)
        hits = self._match(ids, prompt)
        evicted = self._store(hits, ids[len(hits) :], partial=stored % size > 0)
        return Read(len(hits) * size, len(hits) * size, (len(ids) - len(hits)) * size, evicted=evicted)

    def _match(self, ids: list[int], prompt: int) -> list[int]:
        """Walk the chain until the first miss; return the slots, the oldest one where a block has twins."""
        limit = (prompt - 1) // self.block_tokens
        queue, twins, found = self.queue, self._twins, []
        if twins:
            for one in ids[:limit]:
                if one in twins:
                    found.append(twins[one][0])
                elif one in queue:
                    found.append(one)
                else:
                    break
        else:
            for one in ids[:limit]:
                if one not in queue:
                    break
                found.append(one)
        if self.drop_last and found:
            found.pop()
        return found

    def _store(self, hits: list[int], new: list[int], *, partial: bool) -> list[int]:
        queue, evicted = self.queue, []
        if self.capacity is not None:
            need = len(new) + partial
            if need > self._unhashed:
                for slot in hits:  # touched slots leave the queue before anything is handed out
                    queue.move_to_end(slot)
                evicted = [queue.popitem(last=False)[0] for _ in range(need - self._unhashed)]
                if self._twins or self._owner:
                    evicted = [self._forget(slot) for slot in evicted]
            self._unhashed = max(self._unhashed - need, 0) + partial
        for one in reversed(new):  # freed tail first, so that tails are evicted before heads
            if one in queue or one in self._twins:
                one = self._twin(one)
            queue[one] = None
        for slot in reversed(hits):
            queue.move_to_end(slot)
        return evicted

    def _twin(self, one: int) -> int:
        slots = self._twins.setdefault(one, [one] if one in self.queue else [])
        name = one
        if one in self.queue:
            self._names -= 1
            name = self._names
            self._owner[name] = one
        slots.append(name)
        return name

    def _forget(self, slot: int) -> int:
        """Take an evicted slot off the table of twins; return the chain id that it held."""
        one = self._owner.pop(slot, slot)
        slots = self._twins.get(one)
        if slots is not None:
            slots.remove(slot)
            if not slots:
                del self._twins[one]
        return one


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

    def _ids(self, access: Access) -> list[int]:
        tokens = access.stored_tokens if self.with_output else access.prompt_tokens
        return self.chainer.ids(access, tokens)

    def serve(self, access: Access) -> Read:
        """Count the leading blocks that are held, then touch them and insert the rest."""
        ids = self._ids(access)
        blocks, tokens = self._hit_tokens(access, ids)
        evicted = self.held.touch(ids, hits=blocks)
        self._remember(access, ids)
        return Read(tokens, tokens, max(access.prompt_tokens - tokens, 0), evicted=evicted)

    def _hit_tokens(self, access: Access, ids: list[int]) -> tuple[int, int]:
        size, prompt = access.block_tokens or self.block_tokens, access.prompt_tokens
        if self.resend and self._alive(self._whole.get((access.scope, access.packed)), access):
            return len(ids), prompt
        limit = (prompt - 1) // size if self.cap_last else len(ids)
        held, blocks = self.held, 0
        for one in ids[:limit]:
            if one not in held or (self.ttl_s is not None and not self._alive(self._used_s.get(one), access)):
                break
            blocks += 1
        tokens = min(blocks * size, prompt)
        if self.credit and blocks < len(ids):
            tokens = min(tokens + self._credited(ids[blocks - 1] if blocks else -1), prompt)
        return blocks, tokens if tokens >= self.minimum else 0

    def _alive(self, used_s: float | None, access: Access) -> bool:
        if used_s is None:
            return False
        return self.ttl_s is None or access.at_s is None or access.at_s - used_s <= self.ttl_s

    def _remember(self, access: Access, ids: list[int]) -> None:
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
