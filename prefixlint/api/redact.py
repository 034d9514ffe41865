"""Replace the words of a request so that nobody can read it and ``diff`` still finds the same forks.

Each letter becomes a letter that depends on a key and on the letters of its word so far. So equal words stay equal, two
words that begin alike still do, and the first difference of two texts keeps its place. What makes a value volatile
(dates, ids, paths) keeps its form, and labels such as "current time" stay, since causes are named by them.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections import OrderedDict
from collections.abc import Iterable
from functools import cache

from prefixlint import cards, shapes
from prefixlint.model import Json, Request
from prefixlint.sources import _json

_WORD = re.compile(
    r"(?:[^\W\d_](?![\u0300-\u036f]))+"
)  # a letter with a mark behind it stays, as its composed form does
_LONG_NUMBER = re.compile(r"\d{5,}")
_KEPT_RULES = frozenset(("timestamp", "date", "epoch", "relative-time-phrase"))  # say when, not who
_STRUCTURE = frozenset(
    "type role id name model tool_choice format media_type mimeType call_id tool_call_id tool_use_id status ttl "
    "effort detail required enum".split()
)
_OPAQUE = frozenset("signature thoughtSignature thought_signature encrypted_content data".split())
_MEMO_CHARS = 4_000_000
_LOWER, _UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщъыьэюя"
_NON_ZERO = "123456789"
_BLOCKS = ((0x4E00, 0x5100), (0xAC00, 11_172), (0x3041, 0x53), (0x30A1, 0x56))  # Han, Hangul, kana


def body_of(request: Request) -> dict[str, Json]:
    """Decode the body of a request, in the order of its members."""
    return {key: _json.loads(raw) for key, raw in request.members.items()}


class Redactor:
    """Replace words by pseudo-words of equal length; the same key gives the same pseudo-words."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._words: OrderedDict[str, str] = OrderedDict()
        self._texts: OrderedDict[bytes, str] = OrderedDict()
        self._chars = 0

    def body(self, members: dict[str, Json]) -> dict[str, Json]:
        """Redact a request body; keys, types, roles, names of tools and numbers stay."""
        return {k: self._value(v, k) for k, v in members.items() if k not in ("metadata", "user")}

    def _value(self, value: Json, key: str = "") -> Json:
        if isinstance(value, dict):
            return {k: self._value(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [self._value(item, key) for item in value]
        if not isinstance(value, str) or key in _STRUCTURE:
            return value
        if key in _OPAQUE or value.startswith("data:"):
            return self._opaque(value)
        return self.text(value)

    def _opaque(self, value: str) -> str:
        """Replace binary data by a keyed hash in the same form."""
        front = value.partition(",")[0] + "," if value.startswith("data:") else ""
        return front + self._digest(value).hex() if value else value

    def text(self, text: str) -> str:
        """Redact a text; texts that were seen before cost one hash."""
        if len(text) < 64:
            return self._text(text)
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._texts.get(key)
        if found is None:
            found = self._texts[key] = self._text(text)
            self._chars += len(found)
            while self._chars > _MEMO_CHARS and len(self._texts) > 1:
                self._chars -= len(self._texts.popitem(last=False)[1])
        return found

    def name(self, text: str) -> str:
        """Replace a name, such as that of a session, by a keyed hash."""
        return self._digest(text).hex()[:12]

    def _text(self, text: str) -> str:
        out, at = [], 0
        for shape in shapes.find(text):
            out.append(self._plain(text[at : shape.start_char]))
            value = text[shape.start_char : shape.end_char]
            out.append(self._value_of(shape.rule, value))
            at = shape.end_char
        return "".join([*out, self._plain(text[at:])])

    def _value_of(self, rule: str, value: str) -> str:
        if rule == "counter":  # a long number may be an account
            return _LONG_NUMBER.sub(lambda m: self._digits(m[0]), value)
        return value if rule in _KEPT_RULES else self._shaped(value)

    def _plain(self, text: str) -> str:
        numbers = _LONG_NUMBER.sub(lambda m: self._digits(m[0]), text)
        return _WORD.sub(lambda m: self._word(m[0]), numbers)

    def _shaped(self, value: str) -> str:
        """Replace a value character by character: hex digits stay hex digits, so that an id keeps its form."""
        out = []
        for index, char in enumerate(value):
            drawn = self._draw("id", value[:index])
            kind = next((k for k in (_NON_ZERO, "abcdef", "ABCDEF") if char in k), "")
            out.append(_moved(char, kind, drawn) if kind else self._letter(char, drawn))
        return _with_roots(value, "".join(out))

    def _digits(self, number: str) -> str:
        drawn = [self._draw("n", number[:i]) for i in range(len(number))]
        return "".join(d if d == "0" else _moved(d, _NON_ZERO, n) for d, n in zip(number, drawn, strict=True))

    def _word(self, word: str) -> str:
        if len(word) < 2 or word.lower() in _kept_words():
            return word
        found = self._words.get(word)
        if found is None:
            found = self._words[word] = self._pseudo(word)
            if len(self._words) > 100_000:
                self._words.popitem(last=False)
        return found

    def _pseudo(self, word: str) -> str:
        """Move each letter by what stands before it in the word, which is the same in either case."""
        return "".join(self._letter(char, self._draw("w", word[:index].lower())) for index, char in enumerate(word))

    @staticmethod
    def _letter(char: str, drawn: int) -> str:
        """Move a letter within its alphabet; those with marks stay, so that normalization does the same to them."""
        for alphabet in (_LOWER, _UPPER, _CYRILLIC):
            if char in alphabet:
                return _moved(char, alphabet, drawn)
        for first, size in _BLOCKS:
            if first <= ord(char) < first + size:
                return chr(first + (ord(char) - first + drawn) % size)
        return char

    def _draw(self, kind: str, text: str) -> int:
        return int.from_bytes(self._digest(kind + text)[:4], "big")

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256")[:16]


def _moved(char: str, alphabet: str, drawn: int) -> str:
    """Replace a character by another of its alphabet: different ones stay different."""
    size = len(alphabet)
    factor = [n for n in range(1, size) if math.gcd(n, size) == 1][drawn // size % 4 if size > 6 else drawn // size % 2]
    return alphabet[(alphabet.index(char) * factor + drawn) % size]


def _with_roots(value: str, redacted: str) -> str:
    """Keep the folders of a path that say what kind of path it is."""
    ours, theirs = value.split("/"), redacted.split("/")
    roots = {"tmp", "home", "Users", "var", "folders", "private", "usr", "opt", "srv", "mnt", "root", "workspace"}
    return "/".join(o if o in roots else t for o, t in zip(ours, theirs, strict=True))


@cache
def _kept_words() -> frozenset[str]:
    """Return the words of all labels of the rule cards, and the names of months and weekdays."""
    labels: Iterable[str] = (label for rule in cards.all_rules().values() for label in rule.labels)
    words = {word.lower() for label in labels for word in _WORD.findall(label)}
    return frozenset(words | shapes.calendar_words("month") | shapes.calendar_words("weekday") | {"is", "it", "now"})
