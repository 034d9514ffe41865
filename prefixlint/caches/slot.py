"""Slot caches: each slot keeps the KV of its last prompt, and the hit is the common prefix (llama.cpp server).

Rules of the llama.cpp server (``tools/server``: slot choice, prompt cache, ``--cache-reuse``), checked against
xllamacpp 2026.10.11549. Similarities are single-precision there; the comparisons here round the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_float
from dataclasses import dataclass
from typing import Any

from prefixlint.caches._base import WIDTH, Access, Cache, Read, lcp_tokens

FAMILY = "slot"
KEEP_SAVE = 0.5  # below this share of a slot's prompt kept, its state is saved to the RAM cache first
KEEP_LOAD = 0.25  # a saved prompt is not loaded when less than this share of it would be kept


def make(params: Mapping[str, Any]) -> Cache:
    """Build the slots; ``slots``, ``similarity``, ``ram_cache`` (MiB, 0 off, negative unbounded), ``cache_reuse``."""
    return Slots(params)


def _ratio(part: int, whole: int) -> float:
    return c_float(part / whole).value if whole else 0.0


@dataclass(slots=True)
class Slot:
    """What one slot holds, and when it was last used (a counter)."""

    prompt: bytes = b""
    used: int = 0


class Slots:
    """The server's slots plus its prompt cache in RAM; requests run one after another."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.slots = [Slot() for _ in range(int(params.get("slots", 1)))]
        self.similarity = c_float(float(params.get("similarity", 0.1))).value
        self.reuse = int(params.get("cache_reuse", 0))
        self.saved: list[bytes] = []
        ram = float(params.get("ram_cache") or 0)
        self.ram = ram != 0
        self.ram_bytes = ram * 1024 * 1024 if ram > 0 else None
        self.context: int | None = params.get("context")
        token_bytes = float(params.get("token_bytes") or 0)
        # in bytes of packed tokens, so that lengths compare directly; unknown KV sizes bound nothing
        self._room = self.ram_bytes / token_bytes * WIDTH if self.ram_bytes and token_bytes else float("inf")
        self._clock = 0

    @property
    def used_tokens(self) -> int:
        """Return the tokens in slots and in the RAM cache."""
        return (sum(len(s.prompt) for s in self.slots) + sum(len(p) for p in self.saved)) // WIDTH

    def peek(self, access: Access) -> int:
        """Return the best common prefix over slots and saved prompts."""
        prompt = access.packed[: access.prompt_tokens * WIDTH]
        held = [s.prompt for s in self.slots] + self.saved
        return min(max((lcp_tokens(h, prompt) for h in held), default=0), access.prompt_tokens - 1)

    def serve(self, access: Access) -> Read:
        """Choose a slot, swap its state with the RAM cache when it pays, reuse the common prefix."""
        prompt = access.packed[: access.prompt_tokens * WIDTH]
        slot = self._choose(prompt, access.slot)
        hit = lcp_tokens(slot.prompt, prompt)
        if self.reuse:
            hit += self._shifted(slot.prompt, prompt, hit)
        hit = min(hit, access.prompt_tokens - 1)  # one token must be evaluated for its logits
        slot.prompt = access.packed[: access.stored_tokens * WIDTH]
        self._clock += 1
        slot.used = self._clock
        return Read(hit, hit, access.stored_tokens - hit)

    def extend(self, access: Access) -> None:
        """Let the slot that holds the prompt hold the answer as well."""
        prompt = access.packed[: access.prompt_tokens * WIDTH]
        for slot in self.slots:
            if slot.prompt == prompt:
                slot.prompt = access.packed[: access.stored_tokens * WIDTH]
                return

    def _choose(self, prompt: bytes, asked: int | None) -> Slot:
        if asked is not None and asked >= 0:
            return self.slots[asked % len(self.slots)]
        slot, update = self._most_similar(prompt)
        if slot is None:
            slot, update = self._oldest(), True
        if self.ram and update:
            if slot.prompt:
                self._save(slot.prompt)
            self._load(slot, prompt)
            self._trim()
        if self.ram:  # "idle slots will be saved to prompt cache upon starting a new task"
            for other in self.slots:
                if other is not slot and other.prompt:
                    self._save(other.prompt)
                    self._trim()
        return slot

    def _most_similar(self, prompt: bytes) -> tuple[Slot | None, bool]:
        """Return the slot whose prefix covers most of the request, and whether much of the slot would be lost."""
        best, best_similarity, tokens = None, 0.0, len(prompt) // WIDTH
        if self.similarity == 0:
            return None, False
        for slot in self.slots:
            similarity = _ratio(lcp_tokens(slot.prompt, prompt), tokens) if slot.prompt else 0.0
            if similarity > best_similarity and similarity > self.similarity:
                best, best_similarity = slot, similarity
        if best is None:
            return None, False
        kept = c_float(c_float(best_similarity * tokens).value / (len(best.prompt) // WIDTH)).value
        return best, kept < KEEP_SAVE

    def _oldest(self) -> Slot:
        """Return the least recently used slot, the last of equals (unused ones have the same time)."""
        best = self.slots[0]
        for slot in self.slots:
            if slot.used <= best.used:
                best = slot
        return best

    def _save(self, prompt: bytes) -> None:
        """Save a state: not twice, instead of those it contains, oldest ones dropped to make room."""
        if any(p.startswith(prompt) for p in self.saved) or len(prompt) > self._room:
            return
        self.saved = [p for p in self.saved if not prompt.startswith(p)]
        while self.saved and sum(map(len, self.saved)) + len(prompt) > self._room:
            self.saved.pop(0)
        self.saved.append(prompt)

    def _load(self, slot: Slot, prompt: bytes) -> None:
        """Swap in the saved prompt that covers more of the request and keeps more of itself than the slot's own."""
        tokens = len(prompt) // WIDTH
        lcp = lcp_tokens(slot.prompt, prompt)
        # an empty slot is worse than anything saved: its share kept counts as -1
        keep_best = _ratio(lcp, len(slot.prompt) // WIDTH) if slot.prompt else -1.0
        similar_best, best = _ratio(lcp, tokens), -1
        for index, saved in enumerate(self.saved):
            lcp = lcp_tokens(saved, prompt)
            keep, similar = _ratio(lcp, len(saved) // WIDTH), _ratio(lcp, tokens)
            if keep >= KEEP_LOAD and keep_best < keep and similar_best < similar:
                keep_best, similar_best, best = keep, similar, index
        if best >= 0:
            slot.prompt = self.saved.pop(best)

    def _trim(self) -> None:
        """Without a limit in bytes the server's context size bounds the saved tokens; one prompt is always kept."""
        if self.ram_bytes is None and self.context is not None:
            while len(self.saved) > 1 and sum(map(len, self.saved)) > self.context * WIDTH:
                self.saved.pop(0)

    def _shifted(self, held: bytes, prompt: bytes, start: int) -> int:
        """Count tokens of later chunks (at least ``cache_reuse`` long) that are shifted into place."""
        cached, wanted = list(_tokens(held)), list(_tokens(prompt))
        at_cache = at_prompt = start
        moved = 0
        while at_cache < len(cached) and at_prompt < len(wanted):
            match = 0
            end = min(len(cached) - at_cache, len(wanted) - at_prompt)
            while match < end and cached[at_cache + match] == wanted[at_prompt + match]:
                match += 1
            if match >= self.reuse:
                moved += match
                at_cache += match
                at_prompt += match
            else:
                at_cache += 1
        return moved


def _tokens(packed: bytes) -> memoryview:
    return memoryview(packed).cast("I")
