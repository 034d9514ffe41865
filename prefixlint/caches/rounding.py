"""Opaque hosts: the hit is the common prefix rounded down in a published or measured way; routing may cost all of it.

The answer is a range. ``high`` is the best case (the prefix was on the machine that was asked), ``low`` is 0, because
no host of this family promises a hit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixlint.caches._base import WIDTH, Access, Cache, Read
from prefixlint.caches.radix import Node, Radix

FAMILY = "rounding"


def make(params: Mapping[str, Any]) -> Cache:
    """Build a host: ``min_tokens``, ``granularity``, ``ttl_s``; ``interval`` and ``hidden_tokens`` for GPT-5.5."""
    return Rounding(params)


def floored(common: int, *, minimum: int, step: int) -> int:
    """Round a common prefix down to the step, or to nothing below the minimum.

    2,006 common tokens at OpenAI (1,024, 128) report 1,920.
    """
    return common // step * step if common >= minimum else 0


def at_interval(common: int, *, interval: int, hidden: int, step: int) -> int:
    """Count visible tokens up to the last absolute boundary; boundaries start at the host's hidden content.

    300 hidden and 5,000 common tokens with an interval of 2,048: boundary 4,096, visible 3,796, reported 3,712.
    """
    return max((hidden + common) // interval * interval - hidden, 0) // step * step


class Rounding:
    """All earlier prompts in one tree; each span remembers when it was last used."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.minimum = int(params.get("min_tokens", 0))
        self.step = max(int(params.get("granularity", 1)), 1)
        self.interval = int(params.get("interval", 0))
        self.hidden: int | None = params.get("hidden_tokens")
        self.ttl_s: float | None = params.get("ttl_s")
        self.tree = Radix({"page_size": 1})
        self._used_s: dict[Node, float] = {}

    @property
    def used_tokens(self) -> int:
        """Return the distinct tokens seen."""
        return self.tree.used_tokens

    def peek(self, access: Access) -> int:
        """Return the best case of a lookup now."""
        return self._rounded(self._common(access))

    def serve(self, access: Access) -> Read:
        """Compare with everything seen within the lifetime, then remember this prompt."""
        high = self._rounded(self._common(access))
        # reported hits run into the answer that the next prompt repeats, so answers are kept as well
        kept = access.packed[: access.stored_tokens * WIDTH]
        self.tree._insert(self.tree._root(access.scope), kept, 0, 0)
        self._stamp(access)
        return Read(0, high, access.prompt_tokens - high)

    def extend(self, access: Access) -> None:
        """Remember the answer behind a prompt."""
        kept = access.packed[: access.stored_tokens * WIDTH]
        self.tree._insert(self.tree._root(access.scope), kept, 0, 0)
        self._stamp(access)

    def _rounded(self, common: int) -> int:
        if not self.interval:
            return floored(common, minimum=self.minimum, step=self.step)
        if self.hidden is None:  # the boundary may lie anywhere: at best right at the end
            return floored(common, minimum=self.minimum, step=self.step)
        return at_interval(common, interval=self.interval, hidden=self.hidden, step=self.step)

    def _common(self, access: Access) -> int:
        """Return the tokens shared with any earlier prompt that is still alive."""
        if self.ttl_s is None or access.at_s is None:
            return self._shared_all(access)
        at, alive = 0, 0
        for node, end in self._walk(access):
            if access.at_s - self._used_s.get(node, -1e18) > self.ttl_s:
                break
            at = alive = end
        return alive if at else 0

    def _shared_all(self, access: Access) -> int:
        return max((end for _, end in self._walk(access)), default=0)

    def _walk(self, access: Access) -> list[tuple[Node, int]]:
        """List the nodes on the prompt's way with the tokens matched at the end of each, a partial last one too."""
        prompt = access.packed[: access.prompt_tokens * WIDTH]
        node, at, found = self.tree._root(access.scope), 0, []
        while at < len(prompt):
            child = node.children.get(prompt[at : at + WIDTH])
            if child is None:
                break
            shared = self.tree._shared(child.key, prompt, at)
            at += shared
            found.append((child, at // WIDTH))
            if shared < len(child.key):
                break
            node = child
        return found

    def _stamp(self, access: Access) -> None:
        if self.ttl_s is None or access.at_s is None:
            return
        for node, _ in self._walk(
            access
        ):  # after the insert the prompt ends at a node; a part split off keeps its time
            self._used_s[node] = access.at_s
