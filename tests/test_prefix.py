"""Common prefixes and safe boundaries, by hand."""

from __future__ import annotations

import random

import pytest

from prefixlint.prefix import GPT2_RULES, Chain, NoBoundaries, PairRules, lcp


@pytest.mark.parametrize("kind", [str, bytes])
@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 1279, 1280, 66_000, 200_000])
def test_lcp_finds_the_first_difference(kind: type, length: int) -> None:
    base = ("日a" if kind is str else b"xy") * 150_000
    same = base[:length]
    other = ("é" if kind is str else b"\x00") * 3
    assert lcp(same + other, base) == length
    assert lcp(base, same) == length
    assert lcp(base, same, min(length, 100)) == length


def test_lcp_equals_a_plain_loop() -> None:
    rnd = random.Random(0)
    for _ in range(2_000):
        left = "".join(rnd.choices("ab", k=rnd.randrange(600)))
        right = left[: rnd.randrange(len(left) + 1)] + "".join(rnd.choices("ab", k=rnd.randrange(4)))
        plain = next(
            (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
        )
        assert lcp(left, right) == plain


@pytest.mark.parametrize(
    ("text", "cuts"),
    [  # the bars show the boundaries that the rules allow
        ("a b", "a| b"),
        ("a  b", "a|  b"),
        ("12 34", "12| 34"),
        ("v2.0", "v|2|.0"),
        ("end\nnext", "end|\n|next"),
        ("end.\nnext", "end|.\n|next"),
        ("end.\n/next", "end|.\n/next"),
        ("end\n\n  x", "end|\n\n  x"),
        ("it's", "it's"),
        ("a\x1cb", "a|\x1cb"),
        ("a\x1c b", "a|\x1c| b"),
        ("。\n中文", "。\n|中文"),
        ("日本ABC", "日本ABC"),
        ("", ""),
    ],
    ids=ascii,
)
def test_rules_by_hand(text: str, cuts: str) -> None:
    assert _cut(PairRules(), text) == cuts


def test_gpt2_has_no_boundary_behind_a_newline() -> None:
    assert _cut(PairRules(GPT2_RULES), "end\nnext") == "end|\nnext"


def test_refused_pairs_are_passed_over() -> None:
    assert _cut(PairRules(refused=frozenset({"a "})), "a b c") == "a b| c"
    assert PairRules(refused=frozenset({"b "})).last("a b c", 5) == 1


def _cut(rules: PairRules, text: str) -> str:
    found, at = [0], rules.next(text, 0)
    while at < len(text):
        found.append(at)
        at = rules.next(text, at)
    return "|".join(text[a:b] for a, b in zip(found, [*found[1:], len(text)], strict=True))


def test_a_boundary_at_the_fork_is_not_safe() -> None:
    assert PairRules().last("the sum is 12", 13) == 10
    assert PairRules().last("ab cd", 3) == 2
    assert PairRules().last("ab cd", 2) == 0


def test_chain_encodes_only_what_is_new() -> None:
    seen: list[str] = []

    def encode(text: str) -> list[int]:
        seen.append(text)
        return [ord(c) for c in text]

    chain = Chain(encode, PairRules())
    text = "word " * 10_000
    assert chain.feed(text).tokens == len(text)
    seen.clear()
    assert chain.feed(text + "more and more").tokens == len(text) + 13
    assert sum(map(len, seen)) < 100
    seen.clear()
    assert chain.feed(text + "more and more") == (chain.feed(text + "more and more"))


def test_chain_without_boundaries_encodes_the_whole() -> None:
    chain = Chain(lambda text: [ord(c) for c in text], NoBoundaries())
    assert chain.feed("abc").tokens == 3
    assert (chain.feed("abd").shared_tokens, chain.feed("").tokens) == (2, 0)
