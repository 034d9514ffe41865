"""Show what ``fix`` did or would do: a line for each file, what was left alone, or a unified diff."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator

from prefixlint.display import escape, plural
from prefixlint.model import Fixed, FixNote, FixResult

_CONTEXT = 2
_WIDTH = 160  # columns of one line of a diff; longer ones are cut around what differs
_KEEP_BEFORE = 40


def fix_report(result: FixResult, *, written: bool, output: str = "") -> str:
    """Write one line for each changed file, then what was left alone and why, then the sum."""
    verb = "rewrote" if written else "would rewrite"
    into = f" into {output}" if written and output else ""
    lines = [f"{verb} {f.path}{into}: {_rules(f)}" for f in result.files if f.changed]
    lines += notes(result.notes)
    changed = sum(f.changed for f in result.files)
    same = len(result.files) - changed
    lines.append(f"{plural(changed, 'file')} {'rewritten' if written else 'to rewrite'}, {same} canonical already")
    return "\n".join(lines) + "\n"


def notes(found: tuple[FixNote, ...]) -> Iterator[str]:
    """Write what was left alone, one line for all places with the same reason in a file."""
    groups: dict[tuple[str, str, str], list[FixNote]] = {}
    for note in found:
        groups.setdefault((note.path, note.rule, note.message), []).append(note)
    for (path, rule, message), group in groups.items():
        first = group[0]
        place = f"{path}#{first.record}" if first.record else path
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        pointer = f" {first.pointer}" if first.pointer else ""
        name = f" [{rule}]" if rule else ""
        yield f"left alone {place}{pointer}{more}:{name} {escape(message)}"


def fix_diff(result: FixResult) -> str:
    """Write a unified diff of every changed file; invisible characters are shown as escapes."""
    return "".join("".join(_file_diff(f)) for f in result.files if f.changed)


def fix_rules(result: FixResult) -> str:
    """Write the rules of every changed file, and no text of it."""
    return "".join(f"would rewrite {f.path}: {_rules(f)}\n" for f in result.files if f.changed)


def _rules(fixed: Fixed) -> str:
    counts = Counter(e.rule or "other" for e in fixed.edits)
    return ", ".join(f"{rule} ({count})" for rule, count in counts.most_common())


def _file_diff(fixed: Fixed) -> Iterator[str]:
    """Compare by lines that end in ``\\n`` alone, so that a changed line end is a change."""
    before = fixed.before.decode("utf-8", "replace").split("\n")
    after = fixed.after.decode("utf-8", "replace").split("\n")
    yield f"--- {fixed.path}\n+++ {fixed.path}\n"
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        (_, i, _, k, _), (_, _, j, _, m) = group[0], group[-1]
        yield f"@@ -{i + 1},{j - i} +{k + 1},{m - k} @@\n"
        for tag, first, last, start, end in group:
            if tag == "equal":
                yield from (" " + _shown(line, 0) + "\n" for line in before[first:last])
                continue
            at = _first_difference(before[first:last], after[start:end])
            yield from ("-" + _shown(line, at) + "\n" for line in before[first:last])
            yield from ("+" + _shown(line, at) + "\n" for line in after[start:end])


def _first_difference(before: list[str], after: list[str]) -> int:
    """Return the first character at which paired lines differ."""
    pairs = list(zip(before, after, strict=False))
    firsts = [next((n for n, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), 0) for x, y in pairs]
    return min(firsts, default=0)


def _shown(line: str, at_char: int) -> str:
    """Escape a line as a diff shows it: what cannot be seen, and blanks at its end; cut a long one around a place."""
    start = max(0, at_char - _KEEP_BEFORE) if len(line) > _WIDTH else 0
    piece = line[start : start + _WIDTH]
    is_end = start + _WIDTH >= len(line)
    body = piece.rstrip(" ") if is_end else piece
    shown = _escape(body) + "\\x20" * (len(piece) - len(body))
    return ("…" if start else "") + shown + ("" if is_end else "…")


def _escape(text: str) -> str:
    """Escape what hides, but leave backslashes: in JSON they are everywhere and plain to see."""
    return "\\".join(escape(part) for part in text.split("\\"))
