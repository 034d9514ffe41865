"""Name the cause of a fork: the most specific rule that explains the two sides."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from prefixlint.diff import _forms, _history, _values
from prefixlint.diff._forms import Named
from prefixlint.diff.clash import ID_KEYS, SHOWN_CHARS, Cause, Clash, Mask
from prefixlint.diff.fork import Difference, difference
from prefixlint.diff.store import Store
from prefixlint.diff.text_cause import name_text
from prefixlint.elements import Element, Number
from prefixlint.model import Json
from prefixlint.prefix import lcp

NORMAL_FORMS = frozenset(rule for rule, _ in _forms.FORMS) | {"key-order", "number-format", "list-order", "tool-order"}


def explain(clash: Clash) -> Cause:
    """Name the cause of a fork."""
    place = clash.place
    if place.kind == "model":
        left, right = clash.before.model, clash.after.model
        return Cause("model-switch", "/model", "string", lcp(left, right), left, right, Mask("leaf"))
    if place.kind == "key-set":
        return _part_missing(clash)
    if place.kind == "type":
        return _part_shape(clash)
    if place.kind == "missing":
        return _missing(clash)
    return _element(clash)


def _part_missing(clash: Clash) -> Cause:
    rule = {"tools": "tool-set-change", "setting": "param-change"}.get(clash.part, "instructions-edited")
    left, right = (_brief_part(clash.store, side) for side in (clash.place.before, clash.place.after))
    return Cause(rule, clash.place.pointer, "key-set", None, left, right, Mask("part"), sure=False)


def _brief_part(store: Store, part: object) -> str:
    ids = getattr(part, "ids", ())
    return brief(store.element(ids[0]).value) if ids else ""


def _part_shape(clash: Clash) -> Cause:
    place, store = clash.place, clash.store
    assert place.before is not None and place.after is not None
    texts = ["".join(_history.joined(store.element(i).value) for i in side.ids) for side in (place.before, place.after)]
    equal = texts[0].strip() == texts[1].strip()
    left, right = texts[0][:SHOWN_CHARS], texts[1][:SHOWN_CHARS]
    rule = "tool-def-change" if clash.part == "tools" else "content-shape"
    return Cause(rule, place.pointer, "type", None, left, right, Mask("part", equal=equal), sure=equal)


def _missing(clash: Clash) -> Cause:
    """Name a list of tools or blocks that got longer or shorter at its end."""
    place = clash.place
    assert place.before is not None and place.after is not None
    left, right = (_brief_at(clash.store, side.ids, place.index) for side in (place.before, place.after))
    if clash.part == "tools":
        rule, sure = "tool-set-change", False
    else:
        # A block that turns up behind the system prompt in mid session is a message that a converter moved there.
        rule, sure = ("role-change" if clash.grown and not left else "instructions-edited"), False
    return Cause(rule, place.pointer, "missing", None, left, right, Mask("part"), sure=sure)


def _brief_at(store: Store, ids: tuple[int, ...], index: int) -> str:
    return brief(store.element(ids[index]).value) if index < len(ids) else ""


def brief(value: Json) -> str:
    """Show the beginning of a value: its text if it is one, else its JSON."""
    if isinstance(value, str):
        return value[:SHOWN_CHARS]
    text = value.get("text") if isinstance(value, dict) else None
    shown = text if isinstance(text, str) else json.dumps(value, ensure_ascii=False)
    return shown[:SHOWN_CHARS]


def _element(clash: Clash) -> Cause:
    """Name what happened where both sides have an element and the two differ."""
    left, right = (clash.store.element(i) for i in clash.place.pair)
    found = difference(left.value, right.value) or Difference("", "type", None, left.value, right.value)
    if clash.part == "tools":
        return _tool(clash, left, right, found)
    if clash.in_history:
        return _message(clash, left, right, found)
    if clash.part == "system":
        return _system(clash, left, right, found)
    return within(clash, left, right, found)


def _tool(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    """Name a change of the tool list: its order, its set, or one definition."""
    place, store = clash.place, clash.store
    assert place.before is not None and place.after is not None
    names = [[tool_name(store.element(i).value) for i in side.ids] for side in (place.before, place.after)]
    first, second = tool_name(left.value), tool_name(right.value)
    if first == second or not first or not second:
        return within(clash, left, right, found)
    rest = [side[place.index :] for side in names]
    rule, also = _list_rule(rest[0], rest[1])
    cause = _plain(clash, found, rule, Mask("part", equal=rule == "tool-order" and not also), sure=rule == "tool-order")
    return replace(cause, left=first[:SHOWN_CHARS], right=second[:SHOWN_CHARS], also=also)


def _list_rule(left: list[str], right: list[str]) -> tuple[str, tuple[str, ...]]:
    if Counter(left) == Counter(right):
        return "tool-order", ()
    shared = [n for n in left if n in right], [n for n in right if n in left]
    if shared[0] == shared[1]:
        return "tool-set-change", ()
    return "tool-set-change", ("tool-order",)


def tool_name(value: Json) -> str:
    """Return the name of a tool in any provider's form; a group of declarations has none."""
    if not isinstance(value, dict):
        return ""
    for inner in (value, value.get("function"), value.get("toolSpec")):
        name = inner.get("name") if isinstance(inner, dict) else None
        if isinstance(name, str):
            return name
    kind = value.get("type")
    return kind if isinstance(kind, str) and kind != "function" else ""


def _system(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    """Name a change of the system prompt, given as blocks or messages."""
    place = clash.place
    assert place.before is not None and place.after is not None
    if found.pointer == "/role":
        return _role(clash, left, right, found)
    ours, theirs = place.before.ids[place.index :], place.after.ids[place.index :]
    moved = _history.permuted(ours, theirs)
    if moved:
        return _plain(clash, found, "list-order", Mask("shift", moved, moved, equal=True))
    cause = within(clash, left, right, found)
    if cause.sure or ours[1:2] == theirs[1:2]:
        return cause
    if ours[0] in theirs[1:4]:
        return replace(cause, rule="instructions-edited", mask=Mask("shift", 0, theirs.index(ours[0])), sure=False)
    if theirs[0] in ours[1:4]:
        return replace(cause, rule="instructions-edited", mask=Mask("shift", ours.index(theirs[0]), 0), sure=False)
    return cause


def _role(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    same = isinstance(left.value, dict) and left.value | {"role": ""} == right.value | {"role": ""}
    if same:
        return _plain(clash, found, "role-change", Mask("shift", 1, 1))
    return _history_cause(clash, left, right, found)


def _message(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    """Name a change of the conversation."""
    if found.pointer == "/role":
        return _role(clash, left, right, found)
    return _history_cause(clash, left, right, found)


def _history_cause(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    place = clash.place
    assert place.before is not None and place.after is not None
    ours, theirs = place.before.ids[place.index :], place.after.ids[place.index :]
    step = _history.history_step(clash.store, ours, theirs, place.index - clash.before.lead)
    if step.rule == "list-order":
        return _plain(clash, found, "list-order", Mask("shift", step.skip_left, step.skip_right, equal=True))
    if step.rule is None or (step.rule == "history-rewrite" and left.role == right.role):
        return within(clash, left, right, found)
    mask = Mask("shift", step.skip_left, step.skip_right) if step.in_step else Mask("rest")
    return _plain(clash, found, step.rule, mask)


def _plain(clash: Clash, found: Difference, rule: str, mask: Mask, *, sure: bool = True) -> Cause:
    """Report a rule at the place of the first difference, whatever the strings there are."""
    base, pointer = _place(clash, found.pointer)
    offset = None if found.char_offset is None else found.char_offset + base
    left, right = _excerpt(found)
    return Cause(rule, pointer, found.kind, offset, left, right, mask, sure=sure, found=found)


def _excerpt(found: Difference) -> tuple[str, str]:
    if found.kind not in ("string", "number") or found.char_offset is None:
        return brief(found.left), brief(found.right)
    at = found.char_offset
    if len(found.left) <= SHOWN_CHARS and len(found.right) <= SHOWN_CHARS:
        return str(found.left), str(found.right)
    return str(found.left)[at : at + SHOWN_CHARS], str(found.right)[at : at + SHOWN_CHARS]


def _place(clash: Clash, inner: str) -> tuple[int, str]:
    """Return the offset at which a stretch of a raw prompt begins, and the pointer in the body."""
    side = clash.place.after
    base = side.starts[clash.place.index] if side and side.starts else 0
    return base, clash.place.pointer + inner


def within(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    """Name a change inside one element."""
    if found.kind == "string":
        return _string(clash, left, right, found)
    rule, mask, sure = _structure(clash, left, right, found)
    return _plain(clash, found, rule, mask, sure=sure)


def _structure(clash: Clash, left: Element, right: Element, found: Difference) -> tuple[str, Mask, bool]:
    fallback = _values.part_rule(clash.part, history=clash.in_history)
    if clash.in_history and _thinking_only(left, right):
        return "thinking-stripped", Mask("element"), True
    if found.kind == "number":
        if not _forms.same_number(found.left, found.right):
            return fallback, Mask("leaf"), False
        return "number-format", Mask("element", equal=_forms.same_json(left.value, right.value)), True
    if found.kind == "key-order":
        equal = _forms.same_json(left.value, right.value)
        return "key-order", Mask("element", equal=equal), True
    if found.kind == "type":
        return _type(clash, found, fallback)
    listed = _list_cause(clash, left, right, found)
    if listed:
        return listed
    if (
        found.kind == "missing"
        and clash.part != "tools"
        and _history.joined(found.left) == _history.joined(found.right)
    ):
        return "content-shape", Mask("element", equal=True), True
    return fallback, Mask("element"), False


def _thinking_only(left: Element, right: Element) -> bool:
    if not (_history.has_thinking(left.value) or _history.has_thinking(right.value)):
        return False
    ours, theirs = _history.without_thinking(left.value), _history.without_thinking(right.value)
    return bool(ours == theirs or _flat(ours) == _flat(theirs))


def _flat(value: Json) -> str:
    content = value.get("content") if isinstance(value, dict) else value
    return _history.joined(content).strip()


def _type(clash: Clash, found: Difference, fallback: str) -> tuple[str, Mask, bool]:
    kinds = {_kind(found.left), _kind(found.right)}
    is_text = clash.part in ("system", "message") and kinds in ({"text", "list"}, {"text", "null"}, {"list", "null"})
    if not is_text:
        return fallback, Mask("leaf"), False
    equal = _history.joined(found.left or "").strip() == _history.joined(found.right or "").strip()
    if not equal and "null" in kinds:
        return fallback, Mask("leaf"), False
    return "content-shape", Mask("element", equal=equal), True


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "list"
    return "text" if isinstance(value, str) and not isinstance(value, Number) else "other"


def _list_cause(clash: Clash, left: Element, right: Element, found: Difference) -> tuple[str, Mask, bool] | None:
    """Name a list inside an element whose items stand in another order, or are more or fewer."""
    for ours, theirs in enclosing_lists(left.value, right.value, found.pointer):
        tools = clash.part == "tools" and all(tool_name(v) for v in (*ours, *theirs))
        if Counter(map(repr, ours)) == Counter(map(repr, theirs)):
            equal = _without_order(left.value) == _without_order(right.value)
            return ("tool-order" if tools else "list-order"), Mask("element", equal=equal), True
        if tools and len(ours) + len(theirs) > 2:
            names = [tool_name(v) for v in ours], [tool_name(v) for v in theirs]
            if names[0] != names[1]:
                rule, _ = _list_rule(*names)
                return rule, Mask("element"), rule == "tool-order"
    return None


def _without_order(value: Json) -> str:
    if isinstance(value, list):
        return repr(sorted(_without_order(v) for v in value))
    if isinstance(value, dict):
        return repr(sorted((k, _without_order(v)) for k, v in value.items()))
    return repr(value)


def enclosing_lists(left: Json, right: Json, pointer: str) -> Iterator[tuple[list[Json], list[Json]]]:
    """Yield the lists around a pointer, the innermost first."""
    found = []
    for token in pointer.split("/")[1:]:
        if isinstance(left, list) and isinstance(right, list):
            found.append((left, right))
        left, right = _step(left, token), _step(right, token)
    yield from reversed(found)


def _step(value: Json, token: str) -> Json:
    if isinstance(value, list):
        index = int(token)
        return value[index] if index < len(value) else None
    if isinstance(value, dict):
        return value.get(token.replace("~1", "/").replace("~0", "~"))
    return None


def _string(clash: Clash, left: Element, right: Element, found: Difference) -> Cause:
    """Name a change inside a string."""
    assert found.char_offset is not None
    key = found.pointer.rpartition("/")[2]
    if clash.in_history and _thinking_only(left, right):
        return _plain(clash, found, "thinking-stripped", Mask("element"))
    if clash.part != "tools" and _is_image(found, key):
        return _plain(clash, found, "image-reencode", Mask("leaf"))
    if clash.in_history and key in ID_KEYS:
        return _plain(clash, found, "tool-call-id", Mask("leaf"))
    named = name_text(clash, str(found.left), str(found.right), found.char_offset)
    if named.sure is False:
        listed = _list_cause(clash, left, right, found) if clash.part != "message" else None
        if listed:
            return _plain(clash, found, listed[0], listed[1], sure=listed[2])
    return _valued(clash, found, named)


def _valued(clash: Clash, found: Difference, named: Named) -> Cause:
    base, pointer = _place(clash, found.pointer)
    left, right = str(found.left), str(found.right)
    start = named.start if named.sure and named.rule not in NORMAL_FORMS else found.char_offset or 0
    ends = (named.end_left, named.end_right) if named.sure or named.rule == "counter" else (len(left), len(right))
    shown = [t[start : max(start, min(e, start + SHOWN_CHARS))] for t, e in zip((left, right), ends, strict=True)]
    mask = Mask("leaf", equal=True) if named.equal else Mask("span", named.end_left, named.end_right)
    context = (left[max(0, start - SHOWN_CHARS) : start], right[ends[1] : ends[1] + SHOWN_CHARS])
    offset = (found.char_offset or 0) + base
    also = ("commit-hash",) if named.rule == "git-status" and _is_hash(shown) else ()
    return Cause(
        named.rule, pointer, "string", offset, shown[0], shown[1], mask, named.sure, also, found=found, context=context
    )


def _is_hash(values: list[str]) -> bool:
    return all(7 <= len(v) <= 40 and all(c in "0123456789abcdef" for c in v) for v in values)


def _is_image(found: Difference, key: str) -> bool:
    texts = (str(found.left), str(found.right))
    if all(t.startswith("data:") for t in texts):
        return True
    return key in ("data", "file_data", "bytes") and all(" " not in t[:200] and len(t) > 16 for t in texts)
