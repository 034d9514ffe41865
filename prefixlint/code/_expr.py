"""Evaluate the nodes of the neutral tree, one small function for each type."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prefixlint.code import _calls, _sinks
from prefixlint.code import _ir as ir
from prefixlint.code._lang import HAS_TIME, Source, lookup
from prefixlint.code._values import UNKNOWN, Place, Taint, Value, concat, flatten, stepped, text_value, union

if TYPE_CHECKING:
    from prefixlint.code._engine import Engine


def taint_of(engine: Engine, source: Source, node: ir.Node) -> Value:
    """Return the value of a volatile expression."""
    place = engine.place(node)
    taint = Taint(source.rule, place, steps=((place, engine.text(node)),), confidence=source.confidence)
    if source.kind == "listing":
        listing = replace(taint, detail="order", fix="listing", wrap=place)
        return Value(text="\x00", unordered=listing, kind="listing", depth=engine.order_depth)
    if source.rule == "list-order":
        taint = replace(taint, detail="order")
    return Value((taint,), "\x00", kind=source.kind)


def const(engine: Engine, node: ir.Const) -> Value:
    """Evaluate a literal."""
    if node.text is not None:
        return text_value(node.text)
    return Value(text="0" if node.number else "\x00", size=1 if node.number else 0)


def name(engine: Engine, node: ir.Name) -> Value:
    """Look a name up: scopes, imports, then the package."""
    found = engine.frame.scope.find(node.name)
    if found is not None:
        return found
    module = engine.module
    if module.lang.name != "python":
        own = own_method(engine, node.name)
        if own is not None:
            return own
    item = module.imports.get(node.name)
    if item is not None:
        value = engine.world.imported(module, item)
        if value is not None:
            return value
    source = module.lang.members.get(node.name)
    if source is not None:
        return taint_of(engine, source, node)
    value = engine.world.by_name(module, node.name)
    if value is not None:
        return value
    return loud(node.name)


def own_method(engine: Engine, name: str) -> Value | None:
    """Find a method of the running class by its bare name, as most languages other than Python allow."""
    from prefixlint.code._engine import Closure

    frame = engine.frame
    found = frame.owner.method(name) if frame.owner is not None else None
    if found is None:
        return frame.owner.attr(name) if frame.owner is not None else None
    func, where = found
    receiver = next((v for n in ("this", "self") if (v := frame.scope.find(n)) is not None), None)
    closure = Closure(func, where.scope, where.module, None if func.is_static else receiver, where)
    if not func.params and (
        engine.module.lang.name == "ruby"
        or any(isinstance(d, ir.Name) and d.name == "property" for d in func.decorators)
    ):
        return engine.invoke(closure, {})
    return Value(ref=closure)


def loud(name: str) -> Value:
    """Return an unknown value; a constant with a prompt's name counts as a long static text."""
    if name.isupper() and ("PROMPT" in name or "INSTRUCTION" in name or name in ("SYSTEM", "PREAMBLE", "PERSONA")):
        from prefixlint.code._values import LOUD_SIZE

        return Value(text="\x00", size=LOUD_SIZE, name=name)
    if _ROLE_NAME.search(name):
        return Value(text="\x00", name=name)
    return UNKNOWN


_ROLE_NAME = re.compile(r"(?i)^(?:.*role_?)?(?:system|developer|user|assistant|human)(?:role)?$")


def path_of(engine: Engine, node: ir.Node) -> str:
    """Return the dotted path of an expression, with import aliases spelled out."""
    path = ir.dotted(node)
    if not path:
        return ""
    head, dot, rest = path.partition(".")
    bare = head.removesuffix("()")
    if bare in engine.frame.scope.names or (bare in engine.module.lang.self_names):
        return path
    item = engine.module.imports.get(bare)
    if item is None:
        return path
    full = ".".join(p for p in (item.module.replace("/", "."), item.name) if p)
    return full + ("()" if head != bare else "") + dot + rest


def attr(engine: Engine, node: ir.Attr) -> Value:
    """Evaluate a member access."""
    source = lookup(engine.module.lang.members, path_of(engine, node))
    if source is not None:
        return taint_of(engine, source, node)
    base = engine.eval(node.base)
    if base.kind == "environ" and base.taints:
        return _calls.environment(engine, text_value(node.name), node)
    return member(engine, base, node.name, node)


def member(engine: Engine, base: Value, key: str, node: ir.Node) -> Value:
    """Return the member ``key`` of a value: a field, a method, a class attribute or what is known by type."""
    from prefixlint.code._engine import ClassRef, Closure

    if base is UNKNOWN:
        return loud(key)
    if base.fields is not None and key in base.fields:
        return counted(engine, base, key, base.fields[key], node)
    owner = base.ref
    if isinstance(owner, ClassRef):
        found = owner.method(key)
        if found is not None:
            func, where = found
            closure = Closure(func, where.scope, where.module, None if func.is_static else base, where)
            if any(
                isinstance(d, ir.Name) and d.name in ("property", "cached_property") for d in func.decorators
            ) or any(isinstance(d, ir.Attr) and d.name == "cached_property" for d in func.decorators):
                return engine.invoke(closure, {p.name: UNKNOWN for p in func.params if p.name != func.self_name})
            return Value(ref=closure)
        value = owner.attr(key)
        if value is None and (declared := owner.field_type(key)):
            value = engine.typed(declared, key)
        if value is not None:
            if base.fields is not None:
                base.fields[key] = value
            return counted(engine, base, key, value, node)
        return counted(engine, base, key, UNKNOWN, node)
    if hasattr(owner, "tree") and owner is not None:
        exported = engine.world.by_name(owner, key) if owner.scope.find(key) is None else owner.scope.find(key)
        return exported if exported is not None else loud(key)
    if base.taints and not base.items:
        return _calls.refined(engine, base, key, node)
    if base.unordered is not None:
        return Value(text="\x00", unordered=base.unordered, depth=base.depth)
    return loud(key)


def counted(engine: Engine, base: Value, key: str, value: Value, node: ir.Node) -> Value:
    """Add a counter's taint to a member that the class increments."""
    from prefixlint.code._engine import ClassRef

    if isinstance(base.ref, ClassRef) and key in base.ref.counters and _sinks.is_counter(key):
        place = engine.place(node)
        taint = Taint("counter", place, steps=((place, engine.text(node)),), confidence="medium")
        return Value((taint,), "\x00", kind="counter")
    return value


def index(engine: Engine, node: ir.Index) -> Value:
    """Evaluate a subscript or a slice."""
    base = engine.eval(node.base)
    if isinstance(node.key, ir.Slice):
        return _slice(engine, node, node.key, base)
    if base.kind == "environ" and base.taints:
        return _calls.environment(engine, engine.eval(node.key), node)
    key = engine.eval(node.key)
    if base.fields is not None and key.const is not None and key.const in base.fields:
        return base.fields[key.const]
    if base.items and isinstance(node.key, ir.Const) and node.key.number:
        raw = engine.module.data[node.key.start : node.key.end]
        if raw.isdigit() and int(raw) < len(base.items):
            return base.items[int(raw)]
    if base.taints and base.kind == "split" and _calls.cuts_time(engine, node.key):
        return _calls.as_date(base)
    if base.items or base.fields:
        return engine.element(Value(items=[*(base.items or []), *(base.fields or {}).values()]))
    if base.unordered is not None:
        return UNKNOWN
    return Value(tuple(t for t in base.taints if t.detail not in ("order", "window")), "\x00")


def _slice(engine: Engine, node: ir.Index, key: ir.Slice, base: Value) -> Value:
    for bound in (key.lower, key.upper):
        engine.eval(bound)
    if _sinks.is_window(engine, node, key):
        return _sinks.window(engine, node, base)
    if base.taints and base.items is None and _calls.keeps_date(engine, key):
        return _calls.as_date(base)
    taints = base.taints
    return Value(taints, "\x00", 0, base.items, None, base.unordered, base.kind, is_open=True, depth=base.depth)


def call(engine: Engine, node: ir.Call) -> Value:
    """Evaluate a call."""
    return _calls.call(engine, node)


def spread(engine: Engine, node: ir.Spread) -> Value:
    """Evaluate ``*value`` outside a list."""
    return engine.eval(node.value)


def concatenation(engine: Engine, node: ir.Concat) -> Value:
    """Evaluate glued text, or lists joined by ``+``."""
    values: list[Value] = []
    outer = engine.outer_before
    for part in node.parts:
        value = engine.eval(part)
        values.append(settled(engine, value, part))
        if value.size:
            engine.outer_before += value.size
    engine.outer_before = outer
    if any(v.items is not None for v in values):
        return joined_lists(engine, values, node)
    return concat(values)


def settled(engine: Engine, value: Value, node: ir.Node) -> Value:
    """Turn a container without order into text at ``node``: its order shows now."""
    if value.unordered is None:
        return value
    taint = engine.iterate(value, node)
    assert taint is not None
    return Value((*value.taints, taint), "\x00", value.size, depth=value.depth)


def joined_lists(engine: Engine, values: list[Value], node: ir.Node) -> Value:
    """Join lists; a user message with more messages behind it is no last turn."""
    made = Value(text="", items=[], depth=engine.order_depth)
    assert made.items is not None
    for value in values:
        made.taints = (*made.taints, *value.taints)
        if value.items is None:
            made.items.append(value if value.taints or value.fields else Value(text="\x00", is_open=True))
            made.is_open = True
        else:
            made.items += value.items
            if value.is_open:
                made.items.append(Value(text="\x00", is_open=True))
    mark_front(made.items)
    return made


def mark_front(items: list[Value]) -> None:
    """Mark each user message of a literal list that has a later user message or unknown ones behind it."""
    for i, item in enumerate(items[:-1]):
        if item.role == "user" and any(x.role == "user" or (not x.role and x.is_open) for x in items[i + 1 :]):
            item.front = True


def formatted(engine: Engine, node: ir.Formatted) -> Value:
    """Evaluate one hole of a formatted string."""
    value = settled(engine, engine.eval(node.value), node.value)
    if value.items is not None or value.fields is not None:
        flat = flatten(value)
        value = Value(tuple(flat.taints), "\x00", flat.size)
    if node.spec and value.kind in ("datetime", "date") and _is_date_spec(node.spec):
        return _calls.as_date(value)
    if node.spec.endswith("n") and not value.taints:
        return taint_of(engine, Source("number-format", confidence="low"), node)
    return value


def _is_date_spec(spec: str) -> bool:
    return spec in "dDmMyY" if len(spec) == 1 else not HAS_TIME.search(spec)


def seq(engine: Engine, node: ir.Seq) -> Value:
    """Evaluate a list, tuple or set literal."""
    made = Value(text="", items=[], depth=engine.order_depth)
    assert made.items is not None
    outer = engine.outer_before
    for item in node.items:
        value = engine.eval(item.value if isinstance(item, ir.Spread) else item)
        if isinstance(item, ir.Spread):
            _spread_into(engine, made, value, item)
        else:
            made.items.append(value)
        engine.outer_before += flatten(value).size if value.role == "system" or not value.role else 0
    engine.outer_before = outer
    if node.kind == "set":
        if any(not isinstance(i, ir.Const) or i.text is not None for i in node.items) and len(node.items) > 1:
            made.unordered = Taint("list-order", engine.place(node), detail="order", fix="container")
        return made
    if len(made.items) == 2 and not made.role:
        _role_pair(made, node)
        if str(made.role) == "system":
            _sinks.message(engine, made.items[1], node, '("system", ...)')
    mark_front(made.items)
    return made


def _role_pair(made: Value, node: ir.Seq) -> None:
    assert made.items is not None
    role = made.items[0].const
    if role in ("system", "developer", "human", "user", "ai", "assistant") and len(made.items) == 2:
        made.role = {"human": "user", "ai": "assistant", "developer": "system"}.get(role, role)


def _spread_into(engine: Engine, made: Value, value: Value, node: ir.Spread) -> None:
    assert made.items is not None
    order = engine.iterate(value, node.value)
    made.taints = (*made.taints, *value.taints, *((order,) if order and order not in value.taints else ()))
    if value.items is not None:
        made.items += value.items
    if value.items is None or value.is_open:
        made.items.append(Value(text="\x00", is_open=True))
        made.is_open = True


def mapping(engine: Engine, node: ir.Map) -> Value:
    """Evaluate a mapping or struct literal, and see whether it is a message, a tool or a request."""
    made = Value(text="", fields={}, depth=engine.order_depth, kind=node.type_name)
    assert made.fields is not None
    for i, (key, item) in enumerate(node.pairs):
        value = engine.eval(item)
        if key is None:
            made.fields.update(value.fields or {})
            made.taints = (*made.taints, *value.taints)
            continue
        spelled = key.name if isinstance(key, ir.Name) and node.type_name else engine.eval(key).const
        made.fields[spelled if spelled is not None else f"[{i}]"] = value
    _sinks.literal(engine, made, node)
    return made


def comp(engine: Engine, node: ir.Comp) -> Value:
    """Evaluate a comprehension."""
    scope = engine.frame.scope
    before = dict(scope.names)
    order: Taint | None = None
    depth = len(engine.loops)
    from prefixlint.code._engine import Active

    for gen in node.gens:
        source = engine.eval(gen.source)
        found = engine.iterate(source, gen.source)
        order = order or found
        engine.assign_quietly(gen.target, engine.element(source))
        fake = ir.Loop(gen.source.start, gen.source.end, None, gen.source, [])
        engine.loops.append(Active(fake, _sinks.words(gen.source), None))
        for test in gen.tests:
            engine.eval(test)
    key = engine.eval(node.key) if node.key is not None else None
    value = engine.eval(node.value)
    del engine.loops[depth:]
    scope.names = before
    if node.kind == "set":
        unordered = Taint("list-order", engine.place(node), detail="order", fix="container")
        return Value(text="\x00", items=[value], unordered=unordered, is_open=True, depth=depth)
    made = Value((order,) if order is not None else (), "", items=[value], is_open=True, depth=depth)
    if node.kind == "map":
        made.items, made.fields = None, {f"[{key.const if key and key.const else 0}]": value}
    return made


def choice(engine: Engine, node: ir.Choice) -> Value:
    """Evaluate a value that is picked at run time."""
    for test in node.tests:
        engine.eval(test)
    return union([engine.eval(o) for o in node.options])


def op(engine: Engine, node: ir.Op) -> Value:
    """Evaluate arithmetic; ``%`` on text formats, ``|`` chains templates and joins sets and mappings."""
    values = [engine.eval(o) for o in node.operands]
    left = values[0]
    if node.op in ("Mod", "%") and left.text is not None and left.size and len(values) == 2:
        return _calls.percent(engine, left, values[1], node)
    if node.op in ("Mult", "*") and len(values) == 2 and left.items is not None:
        return left
    if any(v.unordered is not None for v in values) and node.op in ("BitOr", "BitAnd", "Sub", "BitXor", "-", "|", "&"):
        return Value(text="\x00", unordered=next(v.unordered for v in values if v.unordered is not None))
    if node.op in ("BitOr", "|") and ((left.text is not None and left.size) or left.items or left.fields):
        return left
    taints = tuple(t for v in values for t in v.taints if t.detail == "value")
    is_duration = left.kind == "epoch" and len(values) == 2 and not isinstance(node.operands[1], ir.Const)
    if node.op in ("Sub", "-") and len(values) == 2 and (is_duration or all(v.taints for v in values)):
        return UNKNOWN  # the difference of two clocks is a duration
    kind = left.kind if len(values) > 1 else ""
    return Value(taints, "\x00", kind=kind) if taints else UNKNOWN


def other(engine: Engine, node: ir.Other) -> Value:
    """Evaluate children for their effects only."""
    for child in node.children:
        engine.eval(child)
    return UNKNOWN


def block(engine: Engine, node: ir.Block) -> Value:
    """Evaluate statements; the last one is the value."""
    return engine.exec(node.body) or UNKNOWN


def func(engine: Engine, node: ir.Func) -> Value:
    """Bind a function; decorators of the package are run on it."""
    from prefixlint.code._engine import Closure

    value = Value(ref=Closure(node, engine.frame.scope, engine.module, owner=engine.frame.owner))
    plain = value
    for decorator in reversed(node.decorators):
        made = engine.eval(decorator)
        _sinks.decorated(engine, node, decorator, plain)
        if isinstance(made.ref, Closure):
            arguments = _calls.Args([value], {})
            result = engine.invoke(made.ref, _calls.bind(engine, made.ref, arguments))
            value = result if isinstance(result.ref, Closure) else value
    if node.name:
        engine.frame.scope.names[node.name] = value
        if engine.frame.func is not None and not node.decorators:
            engine.call_nested(value)
    return value


def class_(engine: Engine, node: ir.Class) -> Value:
    """Bind a class and run its body for the attributes."""
    from prefixlint.code._engine import ClassRef, Frame, Scope

    bases = [v.ref for v in (engine.eval(b) for b in node.bases) if isinstance(v.ref, ClassRef)]
    scope = Scope({}, engine.frame.scope)
    methods = {f.name: f for f in node.body if isinstance(f, ir.Func) and f.name}
    ref = ClassRef(node, engine.module, engine.frame.scope, methods, {}, bases)
    ref.counters = _sinks.incremented(engine, node) | {c for b in bases for c in b.counters}
    frame = Frame(engine.module, scope, None, owner=ref)
    engine.frames.append(frame)
    for item in node.body:
        if isinstance(item, ir.Func):
            for decorator in item.decorators:
                engine.eval(decorator)
                _sinks.decorated(engine, item, decorator, Value(ref=None))
        else:
            engine.eval(item)
    engine.frames.pop()
    ref.attrs = dict(scope.names)
    value = Value(ref=ref)
    engine.frame.scope.names[node.name] = value
    return value


def assign(engine: Engine, node: ir.Assign) -> Value:
    """Run an assignment; augmented ones accumulate."""
    from prefixlint.code._engine import add_text

    if node.value is None:
        for target in node.targets:
            if isinstance(target, ir.Name) and node.type_text:
                engine.frame.scope.names[target.name] = engine.typed(node.type_text, target.name)
        return UNKNOWN
    value = engine.eval(node.value)
    if node.op:
        old = engine.eval(node.targets[0])
        if node.op == "+":
            if isinstance(node.value, ir.Const) and node.value.number:
                return UNKNOWN  # counters are found by _sinks.incremented
            value = add_text(engine, old, settled(engine, value, node.value))
        elif node.op in ("BitOr", "|") and old.fields is not None and value.fields is not None:
            old.fields.update(value.fields)
            value = old
        else:
            return UNKNOWN
    elif _extends_itself(node):
        value = _self_extended(engine, node, value)
    elif node.type_text and value.unordered is None and value.ref is None:
        pattern = engine.module.lang.unordered_types
        if pattern is not None and pattern.search(node.type_text) and not value.taints:
            value = replace(
                value, unordered=Taint("list-order", engine.place(node.value), detail="order", fix="container")
            )
    for target in node.targets:
        engine.assign(target, value)
    return value


def _extends_itself(node: ir.Assign) -> bool:
    value = node.value
    if not isinstance(value, ir.Concat) or len(node.targets) != 1:
        return False
    target = ir.dotted(node.targets[0])
    return bool(target) and any(ir.dotted(p) == target for p in value.parts)


def _self_extended(engine: Engine, node: ir.Assign, value: Value) -> Value:
    old = engine.eval(node.targets[0])
    orders = engine.orders(old.depth)
    value = replace(value, depth=old.depth)
    if orders:
        value.taints = (*value.taints, *orders)
    return value


def return_(engine: Engine, node: ir.Return) -> Value:
    """Run a return or yield."""
    value = engine.eval(node.value)
    frame = engine.frame
    if node.is_yield:
        if frame.yields is None:
            frame.yields = Value(text="", items=[], is_open=True, depth=0)
        assert frame.yields.items is not None
        frame.yields.items.append(value)
        started = len(engine.loops)
        frame.yields.taints = (*frame.yields.taints, *engine.orders(max(0, started - _inner_loops(engine))))
        return UNKNOWN
    if node.value is not None:
        frame.returns.append(stepped(value, engine.place(node), f"return {engine.text(node.value)}"))
    return UNKNOWN


def _inner_loops(engine: Engine) -> int:
    func = engine.frame.func
    if func is None:
        return 0
    return sum(func.start <= a.node.start and a.node.end <= func.end for a in engine.loops)


def if_(engine: Engine, node: ir.If) -> Value:
    """Run a branch."""
    for test in node.tests:
        engine.eval(test)
    value = engine.branch(node.blocks)
    return value if value is not None else UNKNOWN


def loop(engine: Engine, node: ir.Loop) -> Value:
    """Run a loop body once, knowing what it walks over and what it counts."""
    from prefixlint.code._engine import Active

    source = engine.eval(node.source)
    order = None
    if node.source is not None:
        at = node if source.unordered is not None and engine.module.lang.name != "python" else node.source
        order = engine.iterate(source, node.source, at)
    before = dict(engine.frame.scope.names)
    engine.loops.append(Active(node, _sinks.words(node.source) if node.source else frozenset(), order))
    if node.target is not None:
        engine.assign_quietly(node.target, _sinks.loop_value(engine, node, source))
    for counter in sorted(_sinks.incremented(engine, node)):
        if counter in before and _sinks.is_counter(counter):
            engine.frame.scope.names[counter] = _sinks.counter_value(engine, node, counter)
    engine.eval(node.test)
    engine.exec(node.body)
    engine.loops.pop()
    engine.frame.scope.names = {**before, **engine.frame.scope.names}
    return UNKNOWN


def delete(engine: Engine, node: ir.Delete) -> Value:
    """Run a ``del``."""
    for target in node.targets:
        if isinstance(target, ir.Name):
            engine.frame.scope.names.pop(target.name, None)
    return UNKNOWN


def import_(engine: Engine, node: ir.Import) -> Value:
    """Bind an import."""
    engine.module.imports[node.alias] = node
    if node.alias == "*":
        engine.world.imported(engine.module, node)
    return UNKNOWN


def slice_(engine: Engine, node: ir.Slice) -> Value:
    """Evaluate the bounds of a slice that stands alone."""
    engine.eval(node.lower)
    engine.eval(node.upper)
    return UNKNOWN


TABLE: dict[type, Callable[[Engine, Any], Value]] = {
    ir.Const: const,
    ir.Name: name,
    ir.Attr: attr,
    ir.Index: index,
    ir.Slice: slice_,
    ir.Call: call,
    ir.Spread: spread,
    ir.Concat: concatenation,
    ir.Formatted: formatted,
    ir.Seq: seq,
    ir.Map: mapping,
    ir.Comp: comp,
    ir.Choice: choice,
    ir.Op: op,
    ir.Other: other,
    ir.Block: block,
    ir.Func: func,
    ir.Class: class_,
    ir.Assign: assign,
    ir.Return: return_,
    ir.If: if_,
    ir.Loop: loop,
    ir.Delete: delete,
    ir.Import: import_,
}


def place_text(place: Place) -> str:
    """Format a place for debugging."""
    return f"{place.path}[{place.start}:{place.end}]"
