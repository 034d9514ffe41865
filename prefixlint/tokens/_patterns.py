"""Pre-tokenizer patterns whose safe boundaries are known, taken apart into their alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prefixlint.prefix import ALL_RULES, GPT2_RULES

# Patterns as in tiktoken 0.14.0 (tiktoken_ext/openai_public.py, 2026-08); a test compares them with the installed one.
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE = r"[^\r\n\p{L}\p{N}]?"
R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    f"{_BEFORE}{_UPPER}*{_LOWER}+{CONTRACTION}?|{_BEFORE}{_UPPER}+{_LOWER}*{CONTRACTION}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Qwen 2 and 3, Llama 3 (the pre_tokenizer of their tokenizer.json files).
QWEN = CONTRACTION + f"|{_BEFORE}" + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
# What ByteLevel of Hugging Face's tokenizers applies with use_regex (pre_tokenizers/byte_level.rs, 0.23).
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# The alternatives below continue a letter by letters, marks and contractions only, a digit by digits only, anything
# else but white space by newlines and slashes at most. That is what the boundary rules need of a pattern.
_KNOWN = {
    *("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", CONTRACTION),
    *("'(?i:[sdmt]|ll|ve|re)", "'(?:[sdmt]|ll|ve|re)"),
    *(prefix + word for prefix in (_BEFORE, " ?") for word in (r"\p{L}+", r"[\p{L}\p{M}]+")),
    *(
        _BEFORE + word + tail
        for word in (f"{_UPPER}*{_LOWER}+", f"{_UPPER}+{_LOWER}*")
        for tail in ("", CONTRACTION + "?")
    ),
    *(r"\p{N}{1,3}", r"\p{N}", r"\p{N}+", r" ?\p{N}+"),
    *(r" ?[^\s\p{L}\p{N}]+" + tail for tail in ("", r"[\r\n]*", r"[\r\n/]*")),
    *(r" ?[^\s\p{L}\p{M}\p{N}]+" + tail for tail in ("", r"[\r\n]*", r"[\r\n/]*")),
    *(r"\s*[\r\n]+", r"\s*[\r\n]", r"\s+$", r"\s+(?!\S)", r"\s+", r"\s"),
}
# DeepSeek V3 and later, which split digits off first: its words may otherwise begin with a digit.
_KNOWN_BEHIND_DIGITS = {
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+""",
    r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
    r" ?[\p{P}\p{S}]+[\r\n]*",
}
_DIGITS = {r"\p{N}{1,3}", r"\p{N}", r"\p{N}+"}
# Runs of one script: no ASCII character is inside.
_SCRIPT_RUN = re.compile(r"\[[^\x00-\x2c\x2e-\x7f]+\]\+|\[?\\p\{Han\}\]?\+")
_POSSESSIVE = re.compile(r"(\[(?:\\.|[^\]])*\])|(?<=[+*?])\+|(?<=\d\})\+")  # classes are kept as they are
_LOOK_AHEAD = r"\s+(?!\S)"
_NEWLINES = {r"\s*[\r\n]+", r"\s*[\r\n]"}


def alternatives(pattern: str) -> Iterator[str]:
    """Split a pattern at the bars outside groups and classes; possessive marks are left out.

    >>> list(alternatives("(?i:'s|'t)|[|]|a++"))
    ["(?i:'s|'t)", '[|]', 'a+']
    """
    pattern = pattern.replace("\r", r"\r").replace("\n", r"\n")  # some files hold the characters themselves
    start, depth, in_class = 0, 0, False
    for match in re.finditer(r"\\.|[\[\]()|]", pattern):
        mark = match.group()
        depth += 0 if in_class else (mark == "(") - (mark == ")")
        in_class = mark == "[" or (in_class and mark != "]")
        if mark == "|" and not in_class and not depth:
            yield _plain(pattern[start : match.start()])
            start = match.end()
    yield _plain(pattern[start:])


def _plain(alternative: str) -> str:
    """Drop possessive marks: they change the speed of these alternatives and not what they match."""
    return _POSSESSIVE.sub(lambda match: match[1] or "", alternative)


def rules_for(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the boundary rules that hold for splits applied one after the other, none if they are not known."""
    digits_first = bool(patterns) and patterns[0] in _DIGITS
    known = _KNOWN | _KNOWN_BEHIND_DIGITS if digits_first else _KNOWN
    splits = [list(alternatives(pattern)) for pattern in patterns]
    if not all(part in known or _SCRIPT_RUN.fullmatch(part) for parts in splits for part in parts):
        return ()
    words = [parts for parts in splits if _LOOK_AHEAD in parts]  # at least one split must tell words and blanks apart
    if not words:
        return ()
    return ALL_RULES if all(map(_newlines_first, words)) else GPT2_RULES


def _newlines_first(parts: list[str]) -> bool:
    """Tell whether a run of white space is taken up to its last newline before a look-ahead can shorten it (R5)."""
    return any(part in _NEWLINES for part in parts[: parts.index(_LOOK_AHEAD)])
