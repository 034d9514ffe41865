"""Small texts are encoded as tiktoken encodes them, without its encoder."""

from __future__ import annotations

import random

import pytest

from prefixlint.tokens import _small, tiktoken_packed

POOLS = [
    "abcXYZ",
    " \t\n\r",
    "'sStTdDmMlLrRvVeE",
    "0123456789",
    '/.,;:!?()[]{}<>"#$%&*+-=@\\^_`|~',
    "éüñçßÄÖžŠ",
    "αβγΔΩ",
    "абвГДЕ",
    "中文字符測試、。",
    "ひらがなカタカナー",
    "—–‘’“”…",
]


def texts(count: int) -> list[str]:
    rnd = random.Random(7)
    out = []
    for _ in range(count):
        pools = rnd.choices(POOLS, k=rnd.randint(1, 4))
        out.append("".join(rnd.choice(rnd.choice(pools)) for _ in range(rnd.randint(1, 60))))
    return out


def never() -> None:
    raise AssertionError("the encoder was built")


@pytest.fixture(scope="module", params=["o200k_base", "cl100k_base"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_ids_equal_those_of_tiktoken(name: str) -> None:
    import tiktoken

    file, pattern = tiktoken_packed.PACKED[name]
    packed = tiktoken_packed.RANKS / f"{file}.bin"
    ranks = tiktoken_packed.unpack(packed.read_bytes())
    full = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}).encode_ordinary
    for text in texts(3_000):
        small = _small.SmallFirst(packed, pattern, lambda: full)
        small.__dict__["index"] = _index(name)
        assert small.encode(text) == full(text), text


_INDEXES: dict[str, _small.Index] = {}


def _index(name: str) -> _small.Index:
    if name not in _INDEXES:
        packed = tiktoken_packed.RANKS / f"{name}.bin"
        _INDEXES[name] = _small.Index(packed.read_bytes(), packed.with_suffix(".idx").read_bytes())
    return _INDEXES[name]


def test_every_token_is_found_under_its_rank(name: str) -> None:
    index = _index(name)
    ranks = tiktoken_packed.unpack((tiktoken_packed.RANKS / f"{name}.bin").read_bytes())
    for token, rank in list(ranks.items())[::37]:
        assert index.rank(token) == rank
        assert index.spell(rank) == token
    assert index.rank(b"\xff" * 9) is None


def test_small_texts_do_not_build_the_encoder(name: str) -> None:
    file, pattern = tiktoken_packed.PACKED[name]
    small = _small.SmallFirst(tiktoken_packed.RANKS / f"{file}.bin", pattern, never)  # type: ignore[arg-type]
    assert len(small.encode("hello world")) == 2


@pytest.mark.parametrize("text", ["\x1c", "\u200b", "क्षि", "x" * 300, "🙂", "ſ"], ids=ascii)
def test_what_is_not_sure_goes_to_tiktoken(text: str) -> None:
    file, pattern = tiktoken_packed.PACKED["o200k_base"]
    small = _small.SmallFirst(tiktoken_packed.RANKS / f"{file}.bin", pattern, lambda: lambda t: [42])
    assert small.encode(text) == [42]


def test_a_long_run_changes_over_to_tiktoken() -> None:
    file, pattern = tiktoken_packed.PACKED["o200k_base"]
    small = _small.SmallFirst(tiktoken_packed.RANKS / f"{file}.bin", pattern, lambda: lambda t: [42])
    assert [small.encode("a b " * 4_000) == [42] for _ in range(4)] == [False, False, True, True]
