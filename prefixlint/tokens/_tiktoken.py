"""Build an engine of tiktoken from ranks in memory; nothing here touches the network or tiktoken's registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from prefixlint.prefix import Boundaries, NoBoundaries, PairRules
from prefixlint.tokens import _patterns
from prefixlint.tokens._counted import Engine, whole_characters

BLANK_RUN = 50_000
_GIANT_BLANK = re.compile(rf"\s{{{BLANK_RUN}}}")


def boundaries_for(pattern: str) -> Boundaries:
    """Return what is known about cutting texts under a pre-tokenizer pattern."""
    rules = _patterns.rules_for([pattern])
    return PairRules(rules) if rules else NoBoundaries()


def engine(name: str, pattern: str, ranks: Mapping[bytes, int]) -> Engine:
    """Build an engine that encodes ordinary text: special tokens inside it are plain characters."""
    import tiktoken

    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=dict(ranks), special_tokens={})
    longest = max(map(len, ranks), default=1)
    encode = _guarded(encoding.encode_ordinary, encoding._encode_single_piece, pattern)
    return Engine(encode, encoding.decode_tokens_bytes, boundaries_for(pattern), longest)


def _guarded(
    encode: Callable[[str], list[int]], encode_piece: Callable[[str], list[int]], pattern: str
) -> Callable[[str], list[int]]:
    """Keep giant runs of white space from tiktoken's regex engine.

    It overflows its backtracking stack somewhere between 100,000 and 1,000,000 blanks and panics (tiktoken 0.14.0,
    a PanicException that is no Exception). The pattern itself is applied by the regex module then.
    """

    def safely(text: str) -> list[int]:
        if len(text) < BLANK_RUN or not _GIANT_BLANK.search(text):
            return encode(text)
        import regex  # type: ignore[import-untyped,unused-ignore]

        return [token for piece in regex.findall(pattern, whole_characters(text)) for token in encode_piece(piece)]

    return safely
