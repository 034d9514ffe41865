"""Evaluate methods of texts, lists, mappings, clocks and templates, whatever the language calls them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from prefixlint.code import _calls, _expr, _names, _sinks
from prefixlint.code import _ir as ir
from prefixlint.code._lang import HAS_TIME, Source
from prefixlint.code._values import UNKNOWN, Taint, Value, concat, flatten, without_order

if TYPE_CHECKING:
    from prefixlint.code._calls import Args
    from prefixlint.code._engine import Engine

APPEND = frozenset(
    "append push add push_str insert push_back extend addAll add_all unshift Append AppendLine AppendFormat appendLine "
    "Add AddRange Insert write writeln write_str WriteString concat appendleft prepend << add_message addMessage "
    "AddMessage append_message append_line Push extend_from_slice add_text addText AddSystemMessage "
    "AddUserMessage add_system_message add_user_message AddAssistantMessage".split()
)
_TEXT_APPEND = frozenset(
    "push_str write writeln write_str WriteString AppendLine AppendFormat appendLine append_line Append".split()
)
_FRONT = frozenset("unshift appendleft prepend".split())
_EXTEND = frozenset("extend addAll add_all AddRange concat extend_from_slice".split())
SORTERS = frozenset("sorted natsorted sortBy sort_by orderBy sortedBy".split())
SORT_CALLS = frozenset(
    "sort.Strings sort.Slice sort.SliceStable sort.Sort sort.Stable sort.Ints slices.Sort slices.SortFunc "
    "slices.SortStableFunc Collections.sort Arrays.sort Array.Sort slices.Sorted slices.SortedFunc "
    "_.sortBy lodash.sortBy".split()
)
_SORT_METHODS = frozenset(
    "sort sort! sort_by sort_by! sort_by_key sort_unstable sort_unstable_by sort_unstable_by_key sorted "
    "toSorted OrderBy "
    "OrderByDescending ThenBy order Order Sort sortBy sortWith sortedBy sortedWith sorted_by sortedBy toSortedMap "
    "toSortedSet sortedDescending sorted_unstable".split()
)
_VIEWS = frozenset(
    "items keys values entries iter iter_mut into_iter Keys Values entrySet keySet stream toList ToList "
    "ToArray toArray collect "
    "to_vec cloned copied clone copy allObjects each_value map flatMap flat_map filter select reject "
    "Select Where collect_vec "
    "filterIsInstance toMutableList asSequence toTypedArray to_a parallelStream elements union intersection difference "
    "symmetric_difference subtract values_mut drain compactMap forEach each each_pair enumerated enumerate "
    "lazy rev reversed "
    "reverse into_values into_keys boxed toSet to_set filter_map mapToObj mapNotNull compact flatten "
    "distinct uniq unique "
    "peekable by_ref take skip limit".split()
)
_CALLBACK = frozenset(
    "map flatMap flat_map filter select Select Where reject compactMap forEach each each_pair filter_map "
    "mapToObj mapNotNull "
    "each_with_index each_value collect joinToString for_each forEachIndexed mapIndexed "
    "each_with_object ForEach".split()
)
_JOIN = frozenset("join joined joinToString Join".split())
_CLOCK = frozenset(
    "strftime format isoformat ctime toISOString toString to_string toLocaleString toLocaleDateString "
    "toLocaleTimeString "
    "toDateString toTimeString toUTCString toJSON Format ToString String to_rfc3339 to_rfc2822 iso8601 to_s formatted "
    "toLocalDate toLocalDateTime ToShortDateString ToLongDateString ToUniversalTime date_naive date dateString".split()
)
_DATE_ONLY = frozenset(
    "toDateString toLocaleDateString toLocalDate ToShortDateString ToLongDateString date_naive date "
    "date_time_date to_date".split()
)
_SAME = frozenset(
    "String toString ToString to_string to_s build Build into clone as_str as_ref to_owned strip rstrip "
    "lstrip trim Trim trimIndent "
    "trimMargin trimEnd trimStart unwrap expect unwrap_or_default ok lower upper toLowerCase toUpperCase "
    "dedent title freeze dup chomp "
    "squish encode decode display getHostName getHostAddress stripIndent strip_heredoc asString "
    "to_string_lossy AsSpan".split()
)
_EPOCH = frozenset(
    "timestamp timestamp_millis timestamp_nanos getTime valueOf Unix UnixNano UnixMilli getEpochSecond toEpochMilli "
    "ToUnixTimeSeconds ToUnixTimeMilliseconds to_i to_f toEpochSecond as_secs as_millis toEpochMilliseconds".split()
)


def method(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    """Evaluate a method of a value; None when nothing here knows it."""
    for attempt in (_append, _order, _join, _template, _execute, _clock, _lookup, _image, _rows, _view):
        made = attempt(engine, node, receiver, name, args)
        if made is not None:
            return made
    return None


def is_tail(engine: Engine, receiver: Value, node: ir.Call) -> bool:
    """Tell whether something appended to this list lands behind messages that are there already."""
    if not receiver.items:
        return (
            receiver is not UNKNOWN and receiver.is_open and receiver.items is None and _names.is_history(receiver.name)
        )
    return any(i.role not in ("", "system") or (i.is_open and not i.role) for i in receiver.items)


def _home(engine: Engine, node: ir.Call) -> Value | None:
    # A list nobody made in sight (self.messages of an unknown base): remember what is appended to it.
    base = node.func.base if isinstance(node.func, ir.Attr) else None
    made = Value(text="", items=[], is_open=True, depth=0)
    if isinstance(base, ir.Name) and base.name not in engine.module.imports:
        made.name = base.name
        engine.frame.scope.names[base.name] = made
        return made
    if isinstance(base, ir.Attr):
        holder = engine.eval(base.base)
        if holder is not UNKNOWN and (holder.fields is not None or holder.ref is not None):
            holder.fields = holder.fields if holder.fields is not None else {}
            made.name = base.name
            holder.fields[base.name] = made
            return made
    return None


def _append(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if name not in APPEND or not args.values():
        return None
    from prefixlint.code._engine import Closure

    if receiver.ref is not None and isinstance(_expr.member(engine, receiver, name, node.func).ref, Closure):
        return None
    if receiver is UNKNOWN:
        home = _home(engine, node)
        if home is None:
            return None
        receiver = home
    if receiver.unordered is not None and name in ("add", "Add", "insert", "push"):
        return receiver
    if _is_text(receiver, name):
        return _append_text(engine, node, receiver, args)
    return _append_item(engine, node, receiver, name, args)


def _is_text(receiver: Value, name: str) -> bool:
    if receiver.items is not None:
        return False
    return (
        name in _TEXT_APPEND
        or receiver.kind in ("StringBuilder", "StringBuffer", "builder", "String")
        or bool(receiver.size and receiver.text)
    )


def _append_text(engine: Engine, node: ir.Call, receiver: Value, args: Args) -> Value:
    added = concat([_expr.settled(engine, v, node) for v in args.values()])
    orders = engine.orders(receiver.depth)
    made = concat([Value(receiver.taints, receiver.text if receiver.text is not None else "", receiver.size), added])
    receiver.taints = (*made.taints, *(replace(t, before=receiver.size) for t in orders))
    receiver.text, receiver.size = made.text, made.size
    return receiver


def _append_item(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value:
    value = args.plain[-1] if args.plain else args.values()[-1]
    if receiver.items is None:
        receiver.items = []
        if receiver.is_open:
            receiver.items.append(Value(text="\x00", is_open=True))
    orders = engine.orders(receiver.depth)
    if orders:
        receiver.taints = (*receiver.taints, *orders)
    spelled = _names.snake(name)
    if spelled.endswith("system_message") or spelled.endswith("user_message"):
        role = "system" if "system" in spelled else "user"
        value = Value(text="", fields={"content": value}, role=role)
        if role == "system":
            _sinks.message(engine, value, node, engine.text(node.func))
    if name in _EXTEND:
        order = engine.iterate(value, node.args[0]) if node.args else None
        receiver.taints = (*receiver.taints, *value.taints, *((order,) if order and order not in value.taints else ()))
        receiver.items += value.items if value.items is not None else [Value(text="\x00", is_open=True)]
    elif name in _FRONT or (name in ("insert", "Insert") and len(node.args) == 2 and _is_zero(engine, node.args[0])):
        receiver.items.insert(0, value)
    else:
        receiver.items.append(value)
    return receiver


def _is_zero(engine: Engine, node: ir.Node) -> bool:
    return isinstance(node, ir.Const) and engine.module.data[node.start : node.end] == b"0"


def go_append(engine: Engine, node: ir.Call, args: Args) -> Value:
    """Evaluate ``append(list, items...)`` as a function: the list grows."""
    receiver = args.plain[0]
    if receiver is UNKNOWN:
        receiver = Value(text="", items=[], is_open=True, depth=0)
    if receiver.items is None:
        receiver.items = (
            [Value(text="\x00", is_open=True)] if receiver.is_open and not receiver.kind.startswith("[]") else []
        )
    orders = engine.orders(receiver.depth)
    receiver.taints = (*receiver.taints, *orders)
    for value in args.plain[1:]:
        if value.items is not None:
            receiver.items += value.items
            receiver.taints = (*receiver.taints, *value.taints)
        else:
            receiver.items.append(value)
    if args.is_open and len(args.plain) == 1:
        receiver.items.append(Value(text="\x00", is_open=True))
    return receiver


def sorted_value(value: Value) -> Value:
    """Return a sorted copy."""
    return without_order(value)


def sort_in_place(value: Value) -> Value:
    """Sort the list itself."""
    if value is not UNKNOWN:
        value.taints = tuple(t for t in value.taints if t.detail != "order")
        value.unordered = None
    return value


def shuffle(engine: Engine, node: ir.Call, receiver: Value | None, args: Args) -> Value | None:
    """Evaluate a shuffle, of the argument in place or of the receiver."""
    if engine.module.is_seeded or (receiver is not None and receiver.kind == "seeded"):
        return UNKNOWN
    target = args.plain[0] if args.plain else receiver
    if target is None:
        return None
    made = _expr.taint_of(engine, Source("list-order"), node)
    if target is UNKNOWN:
        return made
    target.taints = (*target.taints, *made.taints)
    return target


def swapped(engine: Engine, node: ir.Call) -> Value:
    """Evaluate ``rand.Shuffle(n, swap)``: what the function swaps is in a new order."""
    made = _expr.taint_of(engine, Source("list-order"), node)
    for item in ir.walk([node.args[1]]):
        if isinstance(item, ir.Assign):
            for target in item.targets:
                value = engine.eval(target.base) if isinstance(target, ir.Index) else UNKNOWN
                if value is not UNKNOWN and not any(t.place == made.taints[0].place for t in value.taints):
                    value.taints = (*value.taints, *made.taints)
    return UNKNOWN


def _order(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if name not in _SORT_METHODS or receiver is UNKNOWN:
        return None
    if receiver.taints or receiver.unordered is not None or receiver.items is not None:
        if name.startswith(("sort_", "Sort")) or name in ("sort", "sort!", "sortBy", "sortWith"):
            return sort_in_place(receiver)
        return without_order(receiver)
    return None


def _join(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if name not in _JOIN:
        return None
    is_python = engine.module.lang.name == "python"
    is_static = name == "Join" or (not is_python and len(args.plain) >= 2)
    listed = (
        args.plain[0]
        if is_python and len(args.plain) == 1
        else args.plain[-1]
        if is_static and args.plain
        else receiver
    )
    wrap = node.args[0] if is_python and node.args else node.args[-1] if is_static and node.args else node
    if listed is UNKNOWN:
        return None
    if name == "joinToString" and args.plain:
        listed = _mapped(engine, node, listed, args)
    order = engine.iterate(listed, wrap)
    flat = flatten(Value(listed.taints, "", 0, listed.items, listed.fields))
    pieces = [flatten(i).text for i in listed.items or []]
    sep = receiver.const if is_python else (args.plain[0].const if args.plain else "")
    text = (sep or "").join(pieces) if listed.items else "\x00"
    extra = (order,) if order is not None and order not in flat.taints else ()
    return Value((*flat.taints, *extra), text[:6000], flat.size)


def _template(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if not _calls.is_template_call(name) or receiver.kind in ("datetime", "date", "epoch"):
        return None
    if receiver.ref is not None or (
        name in ("invoke", "ainvoke", "assign") and not (receiver.items or receiver.size or receiver.fields)
    ):
        return None
    if name == "partial" and not args.named:
        return None
    if name == "format" and receiver is UNKNOWN and engine.module.lang.name != "python":
        return None
    if (
        not any(v.taints or v.items or v.fields or v.unordered for v in args.values())
        and not receiver.size
        and not receiver.items
    ):
        return None
    made = _calls.fill(engine, receiver, args, node)
    if (
        made.role == ""
        and made.items is not None
        and name in ("invoke", "ainvoke", "format_messages", "format_prompt", "aformat_messages")
    ):
        _sinks.messages(engine, made, node, engine.text(node.func))
    return made


def _execute(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    """Evaluate ``template.Execute(writer, data)``: the writer gets the text."""
    if name not in ("Execute", "ExecuteTemplate") or len(args.plain) < 2 or args.plain[0] is UNKNOWN:
        return None
    target = args.plain[0]
    made = concat([target, _calls.fill(engine, receiver, _calls.Args([args.plain[-1]], {}), node)])
    target.taints, target.text, target.size = made.taints, made.text, made.size
    return UNKNOWN


def _clock(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if not receiver.taints or receiver.kind not in ("datetime", "date", "epoch"):
        return None
    if name in _EPOCH:
        taints = tuple(replace(t, rule="epoch") if t.rule == "timestamp" else t for t in receiver.taints)
        return Value(taints, "\x00", kind="epoch")
    if name in _DATE_ONLY and not (name == "toLocaleDateString" and "hour" in engine.text(node, 200)):
        return _calls.as_date(receiver)
    if name in _CLOCK and receiver.kind != "epoch":
        form = next((v.const for v in args.plain if v.const), None)
        if form is None and args.named:
            form = next((v.const for v in args.named.values() if v.const), None)
        if form and not HAS_TIME.search(form) and re.search(r"[dDmMyY]", form):
            return _calls.as_date(receiver)
        return Value(receiver.taints, "\x00", kind="datetime")
    if name in ("split", "substring", "substr", "slice") and args.plain:
        return _cut(engine, node, receiver, name)
    return Value(receiver.taints, "\x00", kind=receiver.kind)


def _cut(engine: Engine, node: ir.Call, receiver: Value, name: str) -> Value:
    if name == "split":
        return Value(receiver.taints, "\x00", kind="split")
    raw = engine.module.data[node.args[-1].start : node.args[-1].end]
    return _calls.as_date(receiver) if len(node.args) == 2 and raw == b"10" else Value(receiver.taints, "\x00")


def _lookup(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if name in ("get", "fetch", "getenv") and receiver.kind == "environ":
        return _calls.environment(engine, args.plain[0] if args.plain else UNKNOWN, node)
    if name in ("get", "pop", "setdefault") and receiver.fields is not None and args.plain and args.plain[0].const:
        key = args.plain[0].const
        if key in receiver.fields:
            return receiver.fields[key]
        if name == "setdefault" and len(args.plain) > 1:
            receiver.fields[key] = args.plain[1]
        return args.plain[1] if len(args.plain) > 1 and name != "pop" else None
    if name in ("update", "merge", "merge!") and receiver.fields is not None:
        for value in args.plain:
            receiver.fields.update(value.fields or {})
        receiver.fields.update(args.named)
        for key in list(args.named):
            _sinks.keyed(engine, receiver, key, receiver.fields[key], node)
        return receiver
    if name in ("clear",) and receiver.items is not None:
        receiver.items.clear()
        return receiver
    return None


def _image(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if name == "save" and args.plain and args.plain[0].kind == "BytesIO":
        target = args.plain[0]
        if not _sinks.rebuilds(engine):
            return UNKNOWN
        target.taints = (
            *target.taints,
            *_expr.taint_of(engine, Source("image-reencode", confidence="medium"), node).taints,
        )
        return UNKNOWN
    if name in ("getvalue", "getbuffer", "read") and receiver.kind == "BytesIO":
        return Value(receiver.taints, "\x00", kind="image")
    return None


_SELECT = re.compile(r"^\s*select\b", re.IGNORECASE)
_ORDERED = re.compile(r"\border\s+by\b|\blimit\s+1\b|\bcount\s*\(", re.IGNORECASE)


def _rows(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if name in ("execute", "query", "fetch", "fetch_all", "all") and args.plain and args.plain[0].text:
        sql = args.plain[0].text
        if _SELECT.match(sql) and not _ORDERED.search(sql):
            made = _expr.taint_of(engine, Source("list-order", "listing", confidence="low"), node)
            made.kind = "rows"
            if receiver is not UNKNOWN and receiver.ref is None:
                receiver.kind, receiver.unordered = "rows", made.unordered
            elif isinstance(node.func, ir.Attr) and isinstance(node.func.base, ir.Name):
                engine.frame.scope.names[node.func.base.name] = made
            return made
    if name in ("fetchall", "fetchmany", "all", "rows", "scalars") and receiver.kind == "rows":
        return receiver
    return None


def _view(engine: Engine, node: ir.Call, receiver: Value, name: str, args: Args) -> Value | None:
    if receiver.kind == "rng" and name in ("random", "randint", "choice", "sample", "choices", "randrange"):
        return _expr.taint_of(engine, Source("random-id"), node)
    if name == "slice" and _sinks.is_window_call(engine, node):
        return _sinks.window(engine, node, receiver)
    if name in ("suffix", "takeLast", "TakeLast", "last") and node.args and _names.is_history(_last(node)):
        return _sinks.window(engine, node, receiver)
    if receiver is UNKNOWN and name not in _CALLBACK:
        return None
    if (
        name in _SAME
        and receiver.items is None
        and receiver.fields is None
        and receiver.text is not None
        and (receiver.taints or receiver.size or receiver.unordered)
    ):
        return receiver
    if name in _SAME and receiver.role:
        return receiver
    if name not in _VIEWS and name not in _CALLBACK:
        return None
    if receiver.ref is not None and receiver.unordered is None and not receiver.items and name not in _CALLBACK:
        return None
    value = receiver
    if receiver.unordered is not None and receiver.unordered.fix == "container":
        value = replace(receiver, unordered=replace(receiver.unordered, place=engine.place(node), fix="iterated"))
    if name in _CALLBACK:
        return _mapped(engine, node, value, args)
    return value


def _last(node: ir.Call) -> str:
    return ir.dotted(node.func.base).rsplit(".", 1)[-1] if isinstance(node.func, ir.Attr) else ""


def _mapped(engine: Engine, node: ir.Call, receiver: Value, args: Args) -> Value:
    from prefixlint.code._engine import Active, Closure

    closure = next((v.ref for v in args.values() if isinstance(v.ref, Closure)), None)
    if closure is None:
        return receiver
    base = node.func.base if isinstance(node.func, ir.Attr) else node
    fake = ir.Loop(base.start, base.end, None, base, [])
    runs_now = engine.text(node.func).endswith(("forEach", "each", "for_each", "ForEach", "each_pair"))
    order = engine.iterate(receiver, base) if runs_now else None
    engine.loops.append(Active(fake, _sinks.words(base), order))
    element = engine.element(receiver)
    names = [p.name for p in closure.func.params]
    bound = dict.fromkeys(names, UNKNOWN)
    if names:
        bound[names[0]] = element
    result = engine.invoke(closure, bound)
    engine.loops.pop()
    spelled = engine.text(node.func).rsplit(".", 1)[-1]
    if spelled in ("filter", "select", "Where", "reject") and engine.module.lang.name != "ruby":
        return receiver
    taints = receiver.taints
    return Value(taints, "", items=[result], unordered=receiver.unordered, is_open=True, depth=engine.order_depth)


__all__ = [
    "APPEND",
    "SORTERS",
    "SORT_CALLS",
    "Taint",
    "go_append",
    "is_tail",
    "method",
    "shuffle",
    "sort_in_place",
    "sorted_value",
]
