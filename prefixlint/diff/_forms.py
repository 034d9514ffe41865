"""Name differences that carry no meaning: line ends, blanks, Unicode forms, escapes, the order of keys and lines."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from prefixlint.diff.align import next_span
from prefixlint.diff.fork import difference
from prefixlint.elements import Number, decode
from prefixlint.model import Json
from prefixlint.prefix import lcp

INVISIBLE = dict.fromkeys(
    map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f\u061c\u2061\u2062\u2063\u2064\u180e")
)
_BLANK_END = re.compile(r"[ \t\u00a0]+(?=\n|\r|$)")
_TURN_END = re.compile(r"\s+(?=<\||</s>|<end_of_turn>|<｜)")
_BLANKS = re.compile(r"[ \t]+")
_NEWLINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\(/)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?")
_BULLET = re.compile(r"^\s*(?:[-*•·+]|\(?\d{1,4}[.):\]])\s*")
NEAR_CHARS = 6
CONTEXT_CHARS = 32


@dataclass(frozen=True, slots=True)
class Named:
    """Say what a difference of two texts is, and where it ends in both.

    ``equal`` says that all of both texts is the same apart from this cause. ``sure`` says that the cause was seen, not
    guessed from what is left. ``start`` is where the differing value begins.
    """

    rule: str
    start: int
    end_left: int
    end_right: int
    equal: bool = False
    sure: bool = True


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\x85", "\n")


def _whole(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return text


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", _whole(text))


def _trimmed(text: str) -> str:
    return _BLANK_END.sub("", text).rstrip()


def _before_token(text: str) -> str:
    """Trim what stands before the special token that ends a turn of a raw prompt."""
    return _TURN_END.sub("", text)


def _collapsed(text: str) -> str:
    return _NEWLINES.sub("\n", _BLANKS.sub(" ", text.strip())).replace("\n ", "\n").replace(" \n", "\n")


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda m: m[2] or chr(int(m[1], 16)), text)
    return _whole(html.unescape(plain))


FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("newline-style", _newlines),
    ("bom-or-zero-width", lambda text: text if text.isascii() else text.translate(INVISIBLE)),
    ("unicode-normalization", lambda text: unicodedata.normalize("NFC", _whole(text))),
    ("trailing-whitespace", _trimmed),
    ("trailing-whitespace", _before_token),
    ("blank-run", _collapsed),
    ("unicode-normalization", _compatible),
    ("escape-style", _unescaped),
)


def whole_form(left: str, right: str, offset: int, tail: int = 0) -> Named | None:
    """Name the normal form under which two texts are equal; ``tail`` characters at their ends are known to agree."""
    start = max(0, offset - CONTEXT_CHARS)
    ours, theirs = (t[start : len(t) - max(0, tail - CONTEXT_CHARS)] for t in (left, right))
    for rule, form in FORMS:
        if form(ours) == form(theirs):
            return Named(rule, offset, len(left), len(right), equal=True)
    return None


def local_form(left: str, right: str, offset: int) -> Named | None:
    """Name the normal form that bridges the first difference, whatever differs behind it."""
    window = slice(max(0, offset - 40), offset + 2_000)
    ours, theirs = left[window], right[window]
    base = offset - window.start
    for rule, form in _likely(left, right, offset):
        if _is_bridge(form, ours, theirs, base):
            return Named(rule, offset, *_ends(form, ours, theirs, base, window.start))
    return None


def _likely(left: str, right: str, offset: int) -> list[tuple[str, Callable[[str], str]]]:
    """Choose the forms that the characters around an offset can be about; most values are about none."""
    near = left[max(0, offset - 2) : offset + 3] + right[max(0, offset - 2) : offset + 3]
    wide = left[max(0, offset - 6) : offset + 2] + right[max(0, offset - 6) : offset + 2]
    blank = any(c.isspace() for c in near) or "<" in near
    chosen = {
        "newline-style": blank,
        "trailing-whitespace": blank,
        "blank-run": blank,
        "bom-or-zero-width": not near.isascii(),
        "unicode-normalization": not near.isascii(),
        "escape-style": "\\" in wide or "&" in wide,
    }
    return [(rule, form) for rule, form in FORMS if chosen[rule] and form is not _compatible]


def _is_bridge(form: Callable[[str], str], ours: str, theirs: str, base: int) -> bool:
    """Say whether two normalized texts agree beyond their first difference."""
    left, right = form(ours), form(theirs)
    head = form(ours[:base])
    same = lcp(left, right)
    if same > len(head):
        return same - len(head) >= NEAR_CHARS or same >= min(len(left), len(right))
    vanished = any(rest and not form(rest) for rest in (ours[base:], theirs[base:]))
    return vanished and same == len(head)


def _ends(form: Callable[[str], str], ours: str, theirs: str, base: int, shift: int) -> tuple[int, int]:
    """Find where the bridged difference ends: where both texts are in step again, and equal under the form up to it."""
    span = next_span(ours, theirs, base, base)
    if span and form(ours[: span.end_left]) == form(theirs[: span.end_right]):
        return span.end_left + shift, span.end_right + shift
    return min(base + 1, len(ours)) + shift, min(base + 1, len(theirs)) + shift


def json_cause(left: str, right: str, offset: int) -> Named | None:
    """Name what differs between two JSON texts around the offset, if their spelling does and not their meaning."""
    for start in _json_starts(left, offset):
        ours, theirs = _parse(left, start), _parse(right, start)
        if not ours or not theirs or offset > min(ours[1], theirs[1]):
            continue
        rule = _json_rule(ours[0], theirs[0], left, right, offset)
        if rule:
            whole = left[: ours[1]].strip() == left.strip() and right[: theirs[1]].strip() == right.strip()
            equal = same_json(ours[0], theirs[0])
            if equal:
                return Named(rule, offset, ours[1], theirs[1], equal=whole and start == 0)
            return Named(rule, offset, *_json_value_end(left, right, offset, rule))
    return None


def _json_value_end(left: str, right: str, offset: int, rule: str) -> tuple[int, int]:
    if rule == "number-format":
        ours, theirs = number_at(left, offset), number_at(right, offset)
        if ours and theirs:
            return ours[1], theirs[1]
    return len(left), len(right)


def _json_starts(text: str, offset: int) -> list[int]:
    """Return where a JSON container that holds the offset may begin, the outermost first."""
    head = text[: offset + 1]
    found = [m.start() for m in re.finditer(r"[{\[]", head)]
    return list(dict.fromkeys([*found[:6], *found[-14:]]))


def _parse(text: str, start: int) -> tuple[Json, int] | None:
    try:
        value, end = _SCAN.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, (dict, list)) and value else None


_SCAN = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=Number, strict=False)


def _json_rule(ours: Json, theirs: Json, left: str, right: str, offset: int) -> str | None:
    found = difference(ours, theirs)
    if found is None:
        return "escape-style" if _at_escape(left, offset) or _at_escape(right, offset) else "blank-run"
    if found.kind == "key-order":
        return "key-order"
    if found.kind == "number" and same_number(found.left, found.right):
        return "number-format"
    if found.kind == "string" and found.char_offset is not None and not same_json(ours, theirs):
        inner = str(found.left), str(found.right), found.char_offset
        named = whole_form(*inner) or json_cause(*inner)
        return named.rule if named else None
    if same_json(ours, theirs):
        return "list-order"
    return None


def _at_escape(text: str, offset: int) -> bool:
    return "\\" in text[max(0, offset - 5) : offset + 1]


def same_number(left: str, right: str) -> bool:
    """Say whether two spellings are one number.

    >>> same_number("0.0", "0"), same_number("1e2", "100"), same_number("1", "2")
    (True, True, False)
    """
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(left) == Decimal(right)
    except InvalidOperation:
        return False


def same_json(left: Json, right: Json) -> bool:
    """Say whether two values are equal but for the order of keys and the spelling of numbers."""
    return bool(_loose(left) == _loose(right))


def _loose(value: Json) -> Json:
    if isinstance(value, Number):
        try:
            return float(value)
        except ValueError:
            return str(value)
    if isinstance(value, dict):
        return {key: _loose(item) for key, item in value.items()}
    return [_loose(item) for item in value] if isinstance(value, list) else ("s", value)


def number_at(text: str, offset: int) -> tuple[int, int] | None:
    """Return the ends of the number that covers an offset, or ends there."""
    start = max(0, offset - 40)
    for found in _NUMBER.finditer(text, start, offset + 60):
        if found.start() <= offset <= found.end():
            return found.span()
    return None


def number_cause(left: str, right: str, offset: int) -> Named | None:
    """Name two spellings of one number inside text."""
    ours, theirs = number_at(left, offset), number_at(right, offset)
    if not ours or not theirs or ours[0] != theirs[0]:
        return None
    first, second = left[slice(*ours)], right[slice(*theirs)]
    if first != second and same_number(first.rstrip("."), second.rstrip(".")) and not first.startswith("0" * 2):
        return Named("number-format", ours[0], ours[1], theirs[1])
    return None


def order_cause(left: str, right: str, offset: int, tail: int = 0) -> Named | None:
    """Name lines (or the items of one line) that stand in another order."""
    start = left.rfind("\n", 0, offset) + 1
    found = _permuted(left, right, start, tail)
    if found:
        lines = left[start : found[0]].split("\n")
        rule = "tool-order" if _are_tools(lines) else "list-order"
        return Named(rule, offset, *found, equal=found == (len(left), len(right)))
    end_left, end_right = _line_end(left, offset), _line_end(right, offset)
    ours, theirs = left[start:end_left], right[start:end_right]
    for separator in (", ", "; ", " | ", ",", " "):
        if _same_items(ours, theirs, separator):
            whole = left[end_left:] == right[end_right:]
            return Named("list-order", offset, end_left, end_right, equal=whole)
    return None


def _same_items(ours: str, theirs: str, separator: str) -> bool:
    if ours == theirs or ours.count(separator) != theirs.count(separator) or not ours.count(separator):
        return False
    first, second = (Counter(_items(text, separator)) for text in (ours, theirs))
    return bool(first == second and len(first) >= (2 if separator != " " else 4))


def _items(line: str, separator: str) -> list[str]:
    """Split a line into items; a label before the first and a stop behind the last belong to no item."""
    line = re.sub(r"^[^:,\[({]{1,60}[:\[({]\s*", "", line) if separator != " " else line
    return [item.strip(" .[](){}\"'`") for item in line.split(separator)]


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _permuted(left: str, right: str, start: int, tail: int) -> tuple[int, int] | None:
    """Return where the shortest stretch of lines ends that both texts hold in another order."""
    ends = _line_end(left, len(left) - tail), _line_end(right, len(right) - tail)
    ours, theirs = left[start : ends[0]].split("\n"), right[start : ends[1]].split("\n")
    if min(len(ours), len(theirs)) < 2 or not (_comes_back(ours, right, start) and _comes_back(theirs, left, start)):
        return None
    balance: Counter[str] = Counter()
    off = 0
    end_left = end_right = start
    for index, (first, second) in enumerate(zip(ours, theirs, strict=False)):
        for line, step in ((_plain(first), 1), (_plain(second), -1)):
            off -= abs(balance[line])
            balance[line] += step
            off += abs(balance[line])
        end_left += len(first) + bool(index)
        end_right += len(second) + bool(index)
        if not off and index:
            return (end_left, end_right) if sum(1 for line in ours[: index + 1] if line.strip()) > 1 else None
        if index > 4_000 or off > 2_000:
            break
    return _mostly_permuted(left, right, ours, theirs, start)


def _comes_back(lines: list[str], other: str, start: int) -> bool:
    """Say whether most of the next lines of a text stand somewhere in the other one, which is cheap to find out."""
    first = [plain for line in lines[:8] if (plain := _plain(line))]
    return bool(first) and 2 * sum(other.find(line, start) >= 0 for line in first) >= len(first)


def _plain(line: str) -> str:
    return _BULLET.sub("", line).strip().rstrip(",;")


def _mostly_permuted(left: str, right: str, ours: list[str], theirs: list[str], start: int) -> tuple[int, int] | None:
    """Find lines in another order where a few are new or gone as well: most are shared, and not in the same order."""
    block_left, block_right = _block(ours), _block(theirs)
    shared = [line for line in block_left if line in set(block_right)]
    order = [line for line in block_right if line in set(block_left)]
    if len(set(shared)) < 3 or shared == order or Counter(shared) != Counter(order):
        return None
    if len(shared) < 0.6 * max(len(block_left), len(block_right)):
        return None
    ends = (start + len("\n".join(ours[: len(block_left)])), start + len("\n".join(theirs[: len(block_right)])))
    return ends if left[ends[0] :] and right[ends[1] :] else (len(left), len(right))


def _block(lines: list[str]) -> list[str]:
    """Take the lines up to the first blank one or the end of a tagged block."""
    found = []
    for line in lines:
        if not line.strip() or line.startswith("</") or line.startswith("#"):
            break
        found.append(_plain(line))
    return found


def _are_tools(lines: list[str]) -> bool:
    texts = [line.strip().rstrip(",") for line in lines if line.strip()]
    if not texts or not all(text.startswith("{") for text in texts):
        return False
    values = [_parse(text, 0) for text in texts]
    return all(v and isinstance(v[0], dict) and ("name" in v[0] or "function" in v[0]) for v in values)


def json_value(text: str) -> Json:
    """Decode a text that is JSON as a whole; None if it is not."""
    try:
        return decode(text)
    except ValueError:
        return None
