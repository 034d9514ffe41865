"""Name differences that are values: by the shapes of the rule cards, by labels, or by how the two values look."""

from __future__ import annotations

import re
from dataclasses import replace

from prefixlint import shapes
from prefixlint.diff._forms import Named
from prefixlint.diff.align import next_span
from prefixlint.model import Part

# Words that say a text was fetched for one request. Tags, labels and headings, in the languages seen in public prompts.
_FETCHED = (
    r"sources?|documents?|docs?|context|passages?|snippets?|chunks?|excerpts?|articles?|retrieved|retrieval|knowledge"
    r"|search[ _-]?results?|results?|references?|citations?|rag|relevant[ _-]\w+|quellen?|kontext|dokumente?"
    r"|wissen|auszug"
    r"|sources? pertinentes|fuentes?|contexto|documentos?|contexte|来源|資料|资料|上下文|文档|文件|检索结果|参考|知识库"
    r"|情報源|文脈|관련 문서|출처|مصادر|مصدر|سياق|وثائق|источники?|контекст|документы?"
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,40})(?:\s[^<>]{0,200})?>")
_FETCHED_TAG = re.compile(
    rf"(?i)^(?:{_FETCHED})s?$|(?i:source|document|context|snippet|retriev|search|knowledge|passage)"
)
_FETCHED_LABEL = re.compile(
    rf"(?im)^[#>*\s\[(=-]{{0,6}}(?:[\w'-]{{1,20}} ){{0,4}}(?:{_FETCHED})(?: \w{{1,20}}){{0,3}}[\])*=-]{{0,6}}"
    rf"\s{{0,2}}(?:\(\w{{0,20}}\d{{0,3}}\))?(?:[:：][*]{{0,2}}|\n|$)"
)
_LISTED = re.compile(r"^\s*(?:[│├└─|`+*-]{1,3}\s*)*[\w@.+-]+(?:/[\w@.+-]+)*(?:\.\w{1,8}|/)?\s*$")
_FILE_NAME = re.compile(r"\.\w{1,8}\s*$|/\s*$")
_LISTING_TAG = re.compile(r"(?i)files?|tree|dir|folder|listing|workspace|structure|repo|project")
_MONTHS = (
    r"jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|okt|oct|nov|dez|dec|janv|févr|mars|avr|juin|juil|août|déc|ene|abr|ago|dic"
    r"|gen|mag|giu|lug|set|ott|fev|out|янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек|sty|lut|kwi|cze|lip|sie|wrz|paź|lis|gru"
    r"|يناير|فبراير|مارس|أبريل|ابريل|مايو|يونيو|يوليو|أغسطس|اغسطس|سبتمبر|أكتوبر|اكتوبر|نوفمبر|ديسمبر"
)
_DAYS = (
    r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|segunda|terça|quarta|quinta|sexta"
    r"|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье|星期.|周.|.曜日|[월화수목금토일]요일"
    r"|الاثنين|الإثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد"
)
_DATED = re.compile(
    rf"(?i)(?<!\w)(?:(?:{_MONTHS})\w{{0,7}}\.?|{_DAYS})(?!\w)|[年月日]|\d[년월일]"
    rf"|(?<![\w./-])\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}(?![\w/-]|\.\d)"
)
_DAY_OF = re.compile(
    rf"(?i)\d{{1,4}}\.?\s?(?:de\s)?(?:{_MONTHS})|(?:{_MONTHS})\w{{0,7}}\.?\s\d|\d\s?[年月日년월일]|\d[./-]\d{{1,2}}[./-]"
)
_CLOCK = re.compile(r"(?<!\d)\d{1,2}\s?[:hH時时点]\s?\d{2}(?!\d)|\d\s?(?:am|pm|Uhr|時|时)(?!\w)|[上下]午\d|午[前後]\d")
_STATUS_LINE = re.compile(
    r"^[ \t]{0,4}(?:[MADRCUT]{1,2}|\?\?|!!)[ \t]{1,2}[\"\w./@+-]+(?: -> \S+)?\s*$"
    r"|^[ \t]{1,8}(?:modified|new file|deleted|renamed): {1,12}\S"
)
_LOG_LINE = re.compile(r"^[ \t*|/\\-]{0,8}[0-9a-f]{7,12} \S")
_GIT_LABEL = re.compile(r"(?i)\bgit\b|\bgit_?status|working[ _]tree|recent[ _]commits|uncommitted|\bbranch:|<status")
_CALLED = re.compile(r"\b(?:date(time)?|Date)\(((?:\d{1,4}, ?){3,})?(?:\d{1,4}, ?)*$")  # as Python writes a date
_ID_LABEL = re.compile(
    r"(?i)(?:\b(?:session|request|req|trace|run|conversation|correlation|message|thread|chat|call|span|transaction"
    r"|invocation|execution|job|task|event)[ _-]?(?:id|key|token|no)|nonce|uuid|guid|checksum|salt|cache[ _-]?buster)"
    r"[\"'`*]{0,3} ?[:=#]?[*]{0,2} {0,3}[\"'`#]?$"
)
_ID = re.compile(r"[A-Za-z0-9][\w+/=:.~-]{3,}")
_HOST = re.compile(r"(?i)ip(?:[-.]\d{1,3}){4}(?:\.[\w.-]+)?|(?:\w+[-.])+(?:internal|local|lan|svc|cluster\.local)")
_HEX = re.compile(r"(?i)[0-9a-f]+")
_EDGE = re.compile(r"[^\s\"'`<>(){}\[\],;|=：:，。；]")
# Shapes that leave no doubt once two requests differ in them, however harmless each may look by itself.
PROVEN = frozenset(
    ("timestamp", "date", "epoch", "uuid", "commit-hash", "relative-time-phrase", "temp-path", "random-id")
)
RULES_BY_LABEL = ("user-or-host", "cwd-or-env", "git-status")
LINE_CHARS = 300
WORD_CHARS = 16  # a name of a month in a longer text is a word like another
ID_CHARS = 6  # digits of a number that is rather an id than a count


def value_cause(left: str, right: str, offset: int) -> Named | None:
    """Name a value that a shape covers on both sides; a weak one only where the texts go on alike behind it."""
    ours = {s.rule: s for s in shapes.covering(left, offset)}
    theirs = {s.rule: s for s in shapes.covering(right, offset)}
    both = [rule for rule in ours if rule in theirs]
    for rule in sorted(both, key=lambda r: _weakness(ours[r], theirs[r])):
        first, second = ours[rule], theirs[rule]
        if left[first.start_char : first.end_char] == right[second.start_char : second.end_char]:
            continue
        weak = "low" in (first.confidence, second.confidence)
        if weak and not _goes_on(left, right, first.end_char, second.end_char):
            continue
        start = min(first.start_char, second.start_char)
        sure = not weak or rule in PROVEN
        return Named(rule, start, first.end_char, second.end_char, sure=sure)
    return None


def _weakness(first: shapes.Shape, second: shapes.Shape) -> tuple[bool, bool, int]:
    """Order the shapes of both sides: sure ones first, those that begin together before others, then by the cards."""
    weak = "low" in (first.confidence, second.confidence)
    return weak, first.start_char != second.start_char, shapes.ORDER.index(first.rule)


def _goes_on(left: str, right: str, end_left: int, end_right: int) -> bool:
    ours, theirs = left[end_left : end_left + 8], right[end_right : end_right + 8]
    return ours == theirs


def inserted_cause(left: str, right: str, offset: int) -> Named | None:
    """Name a value that one side has and the other lacks, such as a clock line that comes and goes."""
    span = next_span(left, right, offset, offset)
    if span is None:
        return None
    short, long = sorted(
        ((span.end_left - offset, left, span.end_left), (span.end_right - offset, right, span.end_right))
    )
    if short[0] > 2 or not 4 <= long[0] <= LINE_CHARS:
        return None
    before = _line_before(left, offset)
    for shape in shapes.find(long[1], max(0, offset - 40), min(len(long[1]), long[2] + 40)):
        inside = shape.start_char < long[2] and shape.end_char > offset
        if inside and _may_come_and_go(shape, before):
            return Named(shape.rule, offset, span.end_left, span.end_right)
    return None


def _may_come_and_go(shape: shapes.Shape, before: str) -> bool:
    """Say whether an added value is one of a kind: a sure shape, or one more line like the line before it."""
    if shape.confidence == "high" and shape.rule not in RULES_BY_LABEL:
        return True
    return shape.confidence != "low" and any(s.rule == shape.rule for s in shapes.find(before))


def _line_before(text: str, offset: int) -> str:
    """Return the last whole line before an offset."""
    end = text.rfind("\n", 0, offset)
    return text[text.rfind("\n", 0, max(end, 0)) + 1 : end] if end >= 0 else ""


def _line_at(text: str, offset: int) -> str:
    end = text.find("\n", offset)
    return text[text.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(text)]


def listing_cause(left: str, right: str, offset: int) -> Named | None:
    """Name a listing of files that changed: the line before the difference and the new line are names of files."""
    before, ours, theirs = _line_before(left, offset), _line_at(left, offset), _line_at(right, offset)
    tag = enclosing_tag(left, offset)
    likely = bool(tag and _LISTING_TAG.search(tag))
    files = [line for line in (before, ours, theirs) if _LISTED.match(line) and _FILE_NAME.search(line)]
    if not (ours in files or theirs in files) or len(files) < (1 if likely else 2):
        return None
    span = next_span(left, right, offset, offset)
    return Named("cwd-or-env", offset, span.end_left, span.end_right) if span else None


def enclosing_tag(text: str, offset: int) -> str:
    """Return the name of the innermost tag that is open at an offset."""
    stack: list[str] = []
    for found in _TAG.finditer(text, max(0, offset - 20_000), offset):
        if not found[1]:
            stack.append(found[2])
        elif found[2] in stack:
            del stack[len(stack) - 1 - stack[::-1].index(found[2]) :]
    return stack[-1] if stack else ""


def fetched_cause(left: str, right: str, offset: int) -> Named | None:
    """Name text that was retrieved for one request: it stands in a tag or under a label that says so."""
    tag = enclosing_tag(left, offset)
    label = _last_label(left, offset)
    if (tag and _FETCHED_TAG.search(tag)) or (label and not tag):
        span = next_span(left, right, offset, offset)
        ends = (span.end_left, span.end_right) if span else (len(left), len(right))
        return Named("retrieved-context", offset, *ends)
    return None


def _last_label(text: str, offset: int) -> str:
    """Return the last label or heading before an offset, if it speaks of fetched text."""
    head = text[max(0, offset - 1_500) : offset]
    labels = list(re.finditer(r"(?m)^(?:#{1,6} [^\n]{1,80}|[^\n:：]{1,60}[:：][ \t]*(?:$|(?=\S)))", head))
    for found in reversed(labels[-3:]):
        if _FETCHED_LABEL.search(found[0] + ("" if found[0].rstrip().endswith((":", "：")) else "\n")):
            return found[0]
        if found[0].startswith("#"):
            return ""
    return ""


def git_cause(left: str, right: str, offset: int) -> Named | None:
    """Name the lines of `git status` or `git log` that are more, fewer, or others."""
    before, ours, theirs = _line_before(left, offset), _line_at(left, offset), _line_at(right, offset)
    for form in (_STATUS_LINE, _LOG_LINE):
        hits = [bool(form.match(line)) for line in (before, ours, theirs)]
        if hits[1] + hits[2] == 0 or (sum(hits) < 2 and not (hits[1] and hits[2])):
            continue
        if form is _LOG_LINE and not _GIT_LABEL.search(left[max(0, offset - 1_000) : offset]):
            continue
        span = next_span(left, right, offset, offset)
        if span:
            return Named("git-status", offset, span.end_left, span.end_right)
    return None


def labelled_id(named: Named, left: str, right: str) -> Named:
    """Call a number what is written around it: ``Session id: 00002710``, ``datetime(2026, 3, 2, 9)``."""
    first, second = left[named.start : named.end_left], right[named.start : named.end_right]
    called = _CALLED.search(left[max(0, named.start - 60) : named.start])
    if named.rule == "counter" and called:
        return replace(named, rule="timestamp" if called[1] or called[2] else "date", sure=True)
    if named.rule != "counter" or not _ID_LABEL.search(left[max(0, named.start - 32) : named.start]):
        return named
    return replace(named, rule="random-id") if min(len(first), len(second)) >= ID_CHARS else named


def shape_cause(left: str, right: str, offset: int) -> Named | None:
    """Name a value that no card knows by how it looks: digits count, mixed letters and digits are ids, and so on."""
    start, end_left, end_right = value_span(left, right, offset)
    first, second = left[start:end_left], right[start:end_right]
    if not first or not second or max(len(first), len(second)) > 80:
        return None
    rule = _look(first, second, left[max(0, start - 24) : start], left[end_left : end_left + 24])
    return Named(rule, start, end_left, end_right) if rule else None


def value_span(left: str, right: str, offset: int) -> tuple[int, int, int]:
    """Widen the difference at an offset to whole values: up to the next blank, quote or bracket on either side."""
    start = offset
    while start > 0 and _EDGE.match(left[start - 1]):
        start -= 1
    span = next_span(left, right, offset, offset)
    ends = (span.end_left, span.end_right) if span else (offset, offset)
    return start, _to_edge(left, max(ends[0], offset)), _to_edge(right, max(ends[1], offset))


def _to_edge(text: str, at: int) -> int:
    while at < len(text) and _EDGE.match(text[at]):
        at += 1
    while at > 0 and text[at - 1] in ".!?。":
        at -= 1
    return at


def _look(first: str, second: str, before: str, behind: str) -> str | None:
    both = (first, second)
    if all(_HOST.fullmatch(v) for v in both):
        return "user-or-host"
    if all(_CLOCK.search(v) for v in both):
        return "timestamp"
    if all(_DATED.search(v) and (len(v) <= WORD_CHARS or any(map(str.isdigit, v))) for v in both):
        return "date"
    digits = [re.sub(r"[.,'_\s %]", "", v) for v in both]
    if all(v.isdecimal() or v.isnumeric() for v in digits):
        if _DAY_OF.search(before[-14:] + first + behind[:14]):
            return "date"
        return "epoch" if all(len(v) in (10, 13) for v in digits) else "counter"
    if all(_ID.fullmatch(v) and any(c.isdigit() for c in v) and any(c.isalpha() for c in v) for v in both):
        return "random-id"
    return "random-id" if _are_hex(first, second) or _are_labelled(first, second, before) else None


def _are_hex(first: str, second: str) -> bool:
    """Say whether two values are ids of one form, one of which happens to have no letters, or no digits."""
    both = first + second
    same = len(first) == len(second) >= ID_CHARS
    return (
        same and _HEX.fullmatch(both) is not None and any(c.isdigit() for c in both) and any(c.isalpha() for c in both)
    )


def _are_labelled(first: str, second: str, before: str) -> bool:
    is_value = all(_ID.fullmatch(v) for v in (first, second))
    return is_value and any(c.isdigit() for c in first + second) and _ID_LABEL.search(before) is not None


def part_rule(part: Part, *, history: bool) -> str:
    """Name what changed where nothing better is known."""
    if part == "tools":
        return "tool-def-change"
    if part == "setting":
        return "param-change"
    return "history-rewrite" if history else "instructions-edited"
