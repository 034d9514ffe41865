"""Radix caches: a tree of token spans, split where prompts part, evicted leaf by leaf (SGLang, TensorRT-LLM).

The rules are those of sglang 0.5.23 ``srt/mem_cache/radix_cache.py``. Its clock is read at several points of one
request (match, node creation, insert), each reading later than the one before; a counter stands for it here.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

from prefixlint.caches._base import WIDTH, Access, Cache, Read, lcp_tokens
from prefixlint.errors import ConfigError

FAMILY = "radix"
Rank = tuple[float, ...]


class Node:
    """A span of tokens with what the eviction policies look at."""

    __slots__ = ("children", "created", "hits", "key", "locked", "parent", "priority", "stamp", "used")

    def __init__(self, key: bytes, parent: Node | None, clock: int, priority: int = 0) -> None:
        self.key, self.parent = key, parent
        self.children: dict[bytes, Node] = {}
        self.used = self.created = clock
        self.hits = 0
        self.priority = priority
        self.locked = False
        self.stamp = 0  # number of the newest heap entry of this node; older entries are stale


# srt/mem_cache/evict_policy.py; the smallest rank is evicted first. SLRU protects nodes hit twice.
POLICIES: dict[str, Callable[[Node], Rank]] = {
    "lru": lambda n: (n.used,),
    "lfu": lambda n: (n.hits, n.used),
    "fifo": lambda n: (n.created,),
    "mru": lambda n: (-n.used,),
    "filo": lambda n: (-n.created,),
    "priority": lambda n: (n.priority, n.used),
    "slru": lambda n: (n.hits >= 2, n.used),
}
# Ranks of these can only grow while a node lives, so a stale heap entry surfaces early and is put right then.
_GROWING = frozenset({"lru", "lfu", "fifo", "filo", "priority", "slru"})


def make(params: Mapping[str, Any]) -> Cache:
    """Build a radix cache; ``capacity`` is in tokens, None for unbounded."""
    return Radix(params)


class Radix:
    """SGLang's RadixCache with one running request at a time."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.page = int(params.get("page_size", 1))
        self.capacity: int | None = params.get("capacity")
        self.policy = str(params.get("policy", "lru"))
        if self.policy not in POLICIES:
            raise ConfigError(f"unknown policy {self.policy!r} for a radix tree; known: {', '.join(POLICIES)}")
        self.two_step = params.get("insert") == "two-step"
        # TensorRT-LLM may end a match inside a block (copy on partial reuse); SGLang floors to whole pages
        self.partial = bool(params.get("partial_reuse", False))
        self.by_page = bool(params.get("evict_pages", False))
        self._rank = POLICIES[self.policy]
        self._growing = self.policy in _GROWING
        self._page_bytes = self.page * WIDTH
        self._roots: dict[str, Node] = {}
        self._heap: list[tuple[Rank, int, int, Node]] = []
        self._clock = 0
        self._stamp = 0
        self._size = 0
        self._evicted: list[int] = []

    @property
    def used_tokens(self) -> int:
        """Return the tokens in the tree."""
        return self._size

    def peek(self, access: Access) -> int:
        """Return the tokens that a match would find, without splitting or touching."""
        key = self._aligned(access.packed[: (access.prompt_tokens - 1) * WIDTH])
        node, at = self._root(access.scope), 0
        while at < len(key):
            child = node.children.get(key[at : at + self._page_bytes])
            if child is None:
                break
            shared = self._shared(child.key, key, at)
            at += shared
            if shared < len(child.key):
                break
            node = child
        return at // WIDTH

    def serve(self, access: Access) -> Read:
        """Match all but the last prompt token, lock, evict until the new pages fit, insert, unlock."""
        prompt, output, page = access.prompt_tokens, access.output_tokens, self.page
        packed = access.packed
        root = self._root(access.scope)
        node, at = self._match(root, self._aligned(packed[: (prompt - 1) * WIDTH]))
        hit = at // WIDTH
        extra = self._inside(node, packed, at, prompt) if self.partial else 0
        self._evicted = []
        if self.capacity is not None:
            need = -(-(prompt + output) // page) * page - hit
            self._lock(node, True)
            if self._size + need > self.capacity:
                self._evict(self._size + need - self.capacity)
            fits = self._size + need <= self.capacity
            self._lock(node, False)
            if not fits:
                self._offer(node)
                return Read(0, 0, fits=False, evicted=self._evicted)
        before = self._size
        self._insert_request(root, access)
        self._offer(node)
        return Read(hit + extra, hit + extra, self._size - before, evicted=self._evicted)

    def extend(self, access: Access) -> None:
        """Insert prompt and answer, evicting for what is new."""
        root = self._root(access.scope)
        whole = self._aligned(access.packed[: access.stored_tokens * WIDTH])
        if self.capacity is not None:
            node, at = self._match(root, whole)
            need = (len(whole) - at) // WIDTH
            self._lock(node, True)
            if self._size + need > self.capacity:
                self._evict(self._size + need - self.capacity)
            fits = self._size + need <= self.capacity
            self._lock(node, False)
            self._offer(node)
            if not fits:
                return
        self._insert(root, whole, access.priority, len(self._aligned(access.packed[: access.prompt_tokens * WIDTH])))

    def _insert_request(self, root: Node, access: Access) -> None:
        prompt = self._aligned(access.packed[: access.prompt_tokens * WIDTH])
        whole = self._aligned(access.packed[: access.stored_tokens * WIDTH])
        if not self.two_step:
            self._insert(root, whole, access.priority, 0)
            return
        # RadixCache.checkpoint after prefill and again at the end: insert, split at the prompt's end, match again
        for key, inserted in ((prompt, 0), (whole, len(prompt))):
            self._insert(root, key, access.priority, inserted)
            if 0 < len(prompt) < len(key):
                self._insert(root, prompt, access.priority + 1, len(prompt))
            self._match(root, key)

    def _root(self, scope: str) -> Node:
        root = self._roots.get(scope)
        if root is None:
            root = self._roots[scope] = Node(b"", None, 0)
        return root

    def _aligned(self, key: bytes) -> bytes:
        return key if self.page == 1 else key[: len(key) // self._page_bytes * self._page_bytes]

    def _tick(self) -> int:
        self._clock += 1
        return self._clock

    def _shared(self, span: bytes, key: bytes, at: int) -> int:
        """Return how many bytes of a node's span the key repeats from ``at`` on, in whole pages."""
        if key.startswith(span, at):
            return len(span)
        shared = lcp_tokens(span, key[at : at + len(span)])
        return shared // self.page * self._page_bytes

    def _match(self, node: Node, key: bytes) -> tuple[Node, int]:
        """Walk down, touching every node on the way and splitting the last one where the match ends inside it."""
        at, now = 0, self._tick()
        while at < len(key):
            child = node.children.get(key[at : at + self._page_bytes])
            if child is None:
                break
            self._touch(child, now)
            shared = self._shared(child.key, key, at)
            at += shared
            if shared < len(child.key):
                return self._split(child, shared), at
            node = child
        return node, at

    def _split(self, child: Node, at: int) -> Node:
        """Put a new node with the first ``at`` bytes above the child; it inherits hits and priority, not the times."""
        parent = child.parent
        assert parent is not None
        top = Node(child.key[:at], parent, self._tick(), child.priority)
        top.hits, top.locked = child.hits, child.locked
        top.children[child.key[at : at + self._page_bytes]] = child
        parent.children[child.key[: self._page_bytes]] = top
        child.parent, child.key = top, child.key[at:]
        return top

    def _insert(self, node: Node, key: bytes, priority: int, inserted: int) -> None:
        """Insert a key; nodes that this request had inserted before (``inserted`` bytes) are not counted again."""
        at, now = 0, self._tick()
        while at < len(key):
            child = node.children.get(key[at : at + self._page_bytes])
            if child is None:
                break
            self._touch(child, now)
            shared = self._shared(child.key, key, at)
            at += shared
            node = self._split(child, shared) if shared < len(child.key) else child
            node.priority = max(node.priority, priority)
            if at > inserted:
                node.hits += 1
                self._changed(node)
        if at < len(key):
            self._leaf(node, key[at:], priority)

    def _leaf(self, parent: Node, key: bytes, priority: int) -> None:
        leaf = Node(key, parent, self._tick(), priority)
        leaf.hits = 1
        parent.children[key[: self._page_bytes]] = leaf
        self._size += len(key) // WIDTH
        self._offer(leaf)

    def _touch(self, node: Node, now: int) -> None:
        node.used = now
        self._changed(node)

    def _changed(self, node: Node) -> None:
        if not self._growing and not node.children:
            self._offer(node)

    def _offer(self, node: Node) -> None:
        """Queue a node for eviction if it is a leaf that nobody holds; its older entries become stale."""
        if self.capacity is None or node.children or node.locked or node.parent is None:
            return
        self._stamp += 1
        node.stamp = self._stamp
        heapq.heappush(self._heap, (self._rank(node), self._stamp, self._stamp, node))

    def _lock(self, node: Node, locked: bool) -> None:
        at: Node | None = node
        while at is not None:
            at.locked = locked
            at = at.parent

    def _evict(self, tokens: int) -> None:
        """Free whole leaves, smallest rank first, until enough is free; a parent left bare joins the queue."""
        freed = 0
        while freed < tokens and self._heap:
            rank, _, stamp, node = heapq.heappop(self._heap)
            if stamp != node.stamp or node.children or node.locked:
                continue
            if self._rank(node) != rank:
                self._offer(node)
                continue
            freed += self._drop(node)

    def _drop(self, node: Node) -> int:
        parent = node.parent
        assert parent is not None
        if self.by_page and len(node.key) > self._page_bytes:  # TensorRT-LLM frees leaf blocks, not whole spans
            node.key = node.key[: -self._page_bytes]
            self._size -= self.page
            self._evicted.append(self.page)
            self._offer(node)
            return self.page
        del parent.children[node.key[: self._page_bytes]]
        node.stamp = 0
        tokens = len(node.key) // WIDTH
        self._size -= tokens
        self._evicted.append(tokens)
        self._offer(parent)
        return tokens

    def _inside(self, node: Node, packed: bytes, at: int, prompt: int) -> int:
        """Count tokens shared beyond the last whole page with any child (copy on partial reuse)."""
        rest = packed[at : (prompt - 1) * WIDTH]
        return max((lcp_tokens(child.key, rest) for child in node.children.values()), default=0)
