"""The properties that make counting by parts exact, checked against the tokenization of the whole text."""

from __future__ import annotations

import random

import token_cases as cases

from prefixlint.tokens._counted import Counted, Engine

COUNTED = {"chunk_chars": 8}  # cut as often as possible


def check(engine: Engine, count: int, seed: int) -> int:
    """Check count, fork, boundaries and chain on random pairs; return the number of boundaries that were tried."""
    counted = Counted("tested", lambda: engine, chunk_chars=8)
    tried = 0
    for rnd, left, right in cases.pairs(count, seed):
        whole, other = engine.encode(left), engine.encode(right)
        assert counted.count(left) == len(whole), ascii(left)
        assert counted.count(right) == len(other), ascii(right)
        same = len(_common(left, right))
        for offset in (same, rnd.randrange(same + 1)):
            assert counted.fork(left, right, offset) == cases.first_difference(whole, other), ascii((left, right))
        tried += boundaries_split(engine, left, whole, rnd)
        chain_follows(counted, left, right, whole, other)
    return tried


def _common(left: str, right: str) -> str:
    return left[
        : next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    ]


def boundaries_split(engine: Engine, text: str, whole: list[int], rnd: random.Random) -> int:
    """Check that the tokens of the parts at safe boundaries are those of the whole, and that both searches agree."""
    safe, at = [], engine.boundaries.next(text, 0)
    while at < len(text):
        safe.append(at)
        at = engine.boundaries.next(text, at)
    for b in rnd.sample(safe, min(3, len(safe))):
        parts = engine.encode(text[:b]) + engine.encode(text[b + engine.boundaries.skip :])
        assert parts == whole, ascii((text[:b], text[b:]))
    known = rnd.randrange(len(text) + 1)
    before = [b for b in safe if b < known - engine.boundaries.skip]
    assert engine.boundaries.last(text, known) == max(before, default=0), ascii((text, known))
    anchor = engine.boundaries.anchor(text, known)
    assert anchor == len(text) or (anchor in safe and anchor >= known)
    return len(safe)


def chain_follows(counted: Counted, left: str, right: str, whole: list[int], other: list[int]) -> None:
    """Check that a chain counts every text it is fed, and finds the first difference from the one before."""
    chain = counted.chain()
    assert chain.feed(left).tokens == len(whole)
    step = chain.feed(right)
    assert (step.tokens, step.shared_chars) == (len(other), len(_common(left, right)))
    assert step.shared_tokens == cases.first_difference(whole, other)
    assert chain.feed(right + left).tokens == len(counted.encode(right + left))
