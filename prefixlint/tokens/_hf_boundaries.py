"""Find out from a ``tokenizer.json`` where texts may be cut; what is not known is tokenized whole."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.model import Json
from prefixlint.prefix import Boundaries, NoBoundaries, PairRules, PieceTable, WordStarts
from prefixlint.tokens import _patterns

SPACE = "▁"
ASCII = tuple(map(chr, range(128)))
# Unicode forms leave ASCII pairs alone: an ASCII character never composes with what stands before it.
UNICODE_FORMS = {"NFC", "NFKC"}
WORD_FORMS = UNICODE_FORMS | {"Precompiled", "Nmt", "NFD", "NFKD"}


def parts_of(component: Json) -> list[Json]:
    """Flatten a normalizer or pre-tokenizer: a Sequence gives its members, null gives none."""
    if not component:
        return []
    if component.get("type") != "Sequence":
        return [component]
    members = component.get("pretokenizers") or component.get("normalizers") or []
    return [part for member in members for part in parts_of(member)]


def is_byte_level(spec: Json) -> bool:
    """Tell whether text is turned into bytes before the model sees it."""
    return any(part.get("type") == "ByteLevel" for part in parts_of(spec.get("pre_tokenizer")))


def boundaries_of(spec: Json) -> Boundaries:
    """Return the boundaries of the kind of tokenizer that a file describes."""
    normalizers, splits = parts_of(spec.get("normalizer")), parts_of(spec.get("pre_tokenizer"))
    model, added = spec["model"], spec.get("added_tokens") or []
    if model.get("dropout"):
        return NoBoundaries()
    if splits and splits[-1].get("type") == "Metaspace":
        return _metaspace(normalizers, splits, model, added)
    if not splits or _splits_nothing(splits, normalizers):
        return _piece_table(normalizers, model, added)
    rules = _patterns.rules_for(list(_split_patterns(splits)))
    if not rules or not all(part.get("type") in UNICODE_FORMS for part in normalizers):
        return NoBoundaries()
    return PairRules(rules, frozenset(_torn_pairs(added)))


def _split_patterns(splits: list[Json]) -> Iterator[str]:
    """Yield each split as a pattern; the empty pattern stands for one that is not known."""
    for part in splits:
        match part:
            case {"type": "ByteLevel", "add_prefix_space": False, **rest}:
                if rest.get("use_regex", True):
                    yield _patterns.GPT2
            case {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}:
                yield regex
            case {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Removed", "invert": True}:
                yield regex
            case {"type": "Digits"}:
                yield r"\p{N}" if part.get("individual_digits") else r"\p{N}+"
            case _:
                yield ""


def _torn_pairs(added: list[Json]) -> Iterator[str]:
    """Yield the pairs inside added tokens, and those at the edge of tokens that look at their neighbours."""
    for token in added:
        content = token["content"]
        yield from (content[i : i + 2] for i in range(len(content) - 1))
        if content and (token.get("lstrip") or token.get("rstrip") or token.get("single_word")):
            yield from (character + content[0] for character in ASCII)
            yield from (content[-1] + character for character in ASCII)


def _splits_nothing(splits: list[Json], normalizers: list[Json]) -> bool:
    """Tell whether the only split is at spaces, of which the normalizer leaves none (Gemma)."""
    at_space = [part.get("type") == "Split" and part.get("pattern") == {"String": " "} for part in splits]
    return all(at_space) and any(_replaces_space(part) for part in normalizers)


def _replaces_space(part: Json) -> bool:
    return bool(part.get("type") == "Replace" and part.get("pattern") == {"String": " "} and part["content"] == SPACE)


def _piece_table(normalizers: list[Json], model: Json, added: list[Json]) -> Boundaries:
    """Handle SentencePiece BPE as exported by transformers: ``Prepend ▁`` (perhaps) and ``Replace " " by ▁``."""
    prepends = bool(normalizers) and normalizers[0] == {"type": "Prepend", "prepend": SPACE}
    replaced = normalizers[1:] if prepends else normalizers
    if len(replaced) != 1 or not _replaces_space(replaced[0]):
        return NoBoundaries()
    return _table(model, added, before_space=prepends, skip=int(prepends))


def _table(model: Json, added: list[Json], *, before_space: bool, skip: int) -> Boundaries:
    """Collect the pairs inside pieces.

    Only for BPE: the best path of Unigram depends on rounding, and so on the text before, where two paths are equal.
    """
    looks_around = any(token.get("lstrip") or token.get("rstrip") or token.get("single_word") for token in added)
    if model.get("type") != "BPE" or looks_around:
        return NoBoundaries()
    contents = [token["content"].replace(" ", SPACE) for token in added if token["content"]]
    pieces = [piece for piece in model["vocab"] if not piece.startswith("<0x")]
    pairs = {piece[i : i + 2] for group in (pieces, contents) for piece in group for i in range(len(piece) - 1)}
    if skip:
        pairs |= {content[-1] + SPACE for content in contents}
    return PieceTable(
        pairs,
        {piece for piece in pieces if len(piece) == 1},
        before_space=before_space,
        skip=skip,
        not_next=frozenset(content[0] for content in contents),
    )


def _metaspace(normalizers: list[Json], splits: list[Json], model: Json, added: list[Json]) -> Boundaries:
    """Handle Metaspace: words begin at spaces (T5, XLM-R, Mistral), or the whole text is one piece (split is off)."""
    last = splits[-1]
    if last.get("replacement", SPACE) != SPACE or any(part.get("type") != "WhitespaceSplit" for part in splits[:-1]):
        return NoBoundaries()
    if last.get("split", True):
        known = all(map(_keeps_word_starts, normalizers))
        # where white space is dropped first, every word must get its mark anew
        alike = len(splits) == 1 or last.get("prepend_scheme", "always") == "always"
        return WordStarts(frozenset(_torn_pairs(added))) if known and alike else NoBoundaries()
    if normalizers or len(splits) > 1:
        return NoBoundaries()
    return _table(model, added, before_space=last.get("prepend_scheme", "always") != "never", skip=0)


def _keeps_word_starts(part: Json) -> bool:
    """Tell whether a normalizer leaves a space that follows a printable ASCII character the start of a word."""
    if part.get("type") == "Replace":
        return bool(part.get("pattern") == {"Regex": " {2,}"} and part.get("content") in (" ", SPACE))
    if part.get("type") == "Strip":
        return not part.get("strip_left")
    return part.get("type") in WORD_FORMS
