"""Follow values through lowered code: statements, scopes, functions and classes.

An abstract interpreter in the style of a taint analysis: every function is run once with unknown arguments, calls to
known functions are run inline with what is known of their arguments, branches are joined, loops run once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from prefixlint.code import _calls, _expr, _sinks
from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang
from prefixlint.code._values import UNKNOWN, Place, Taint, Value, concat, stepped, union

DEPTH = 6  # calls followed inside each other
BUDGET = 200_000  # nodes evaluated for one file, so that generated code cannot stall a run
ROOT_BUDGET = 15_000  # nodes evaluated for one function with all that it calls


@dataclass(slots=True)
class Module:
    """One file under analysis."""

    path: str
    data: bytes
    lang: Lang
    tree: ir.Tree
    scope: Scope
    has_evidence: bool
    imports: dict[str, ir.Import] = field(default_factory=dict)
    counters: set[str] = field(default_factory=set)
    is_seeded: bool = False
    is_done: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one function, or of a module where ``parent`` is None."""

    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    func: ir.Func | None = None

    def find(self, name: str) -> Value | None:
        """Look the name up here and outwards."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(name)
            if value is not None:
                return value
            scope = scope.parent
        return None


@dataclass(slots=True, eq=False)
class Closure:
    """A function with the scope it was defined in and, for methods, its object."""

    func: ir.Func
    scope: Scope
    module: Module
    bound: Value | None = None
    owner: ClassRef | None = None


@dataclass(slots=True, eq=False)
class ClassRef:
    """A class with its methods, the values of its attributes and its bases."""

    node: ir.Class
    module: Module
    scope: Scope
    methods: dict[str, ir.Func]
    attrs: dict[str, Value]
    bases: list[ClassRef] = field(default_factory=list)
    instance: Value | None = None
    counters: set[str] = field(default_factory=set)

    def method(self, name: str) -> tuple[ir.Func, ClassRef] | None:
        """Find a method here or in a base."""
        if name in self.methods:
            return self.methods[name], self
        for base in self.bases:
            found = base.method(name) if base is not self else None
            if found:
                return found
        return None

    def attr(self, name: str) -> Value | None:
        """Find a class attribute here or in a base."""
        if name in self.attrs:
            return self.attrs[name]
        return next((v for b in self.bases if b is not self and (v := b.attr(name)) is not None), None)

    def field_type(self, name: str) -> str:
        """Return the declared type of a field, "" when unknown."""
        return self.node.fields.get(name) or next(
            (t for b in self.bases if b is not self and (t := b.field_type(name))), ""
        )


@dataclass(slots=True, eq=False)
class Frame:
    """One running function."""

    module: Module
    scope: Scope
    func: ir.Func | None
    returns: list[Value] = field(default_factory=list)
    yields: Value | None = None
    owner: ClassRef | None = None


@dataclass(slots=True)
class Active:
    """One running loop: which one, what it walks over, and the order taint of its source."""

    node: ir.Loop
    names: frozenset[str]
    order: Taint | None


class World(Protocol):
    """What the engine asks of the project: other modules, functions and types by name."""

    def imported(self, module: Module, item: ir.Import) -> Value | None:
        """Resolve an import to a value (module, function, class, constant)."""

    def by_name(self, module: Module, name: str) -> Value | None:
        """Resolve a name that the file does not define, in languages where a package shares one scope."""


@dataclass
class Engine:
    """Run modules; findings gather in ``found``, keyed by rule and source."""

    world: World
    options: _sinks.SinkOptions
    found: dict[tuple[str, Place], _sinks.Found] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    loops: list[Active] = field(default_factory=list)
    memo: dict[Any, Any] = field(default_factory=dict)
    summaries: dict[Any, Any] = field(default_factory=dict)
    increments: dict[ir.Node, set[str]] = field(default_factory=dict)
    marks: dict[ir.Node, str] = field(default_factory=dict)
    budget: int = BUDGET
    outer_before: int = 0
    is_tail: bool = False

    # places and names

    @property
    def frame(self) -> Frame:
        """Return the running frame."""
        return self.frames[-1]

    @property
    def module(self) -> Module:
        """Return the file that is running."""
        return self.frames[-1].module

    def place(self, node: ir.Node) -> Place:
        """Return where a node of the running file lies."""
        return Place(self.frames[-1].module.path, node.start, node.end)

    def text(self, node: ir.Node, limit: int = 60) -> str:
        """Return the first line of a node's source, for messages."""
        raw = self.module.data[node.start : node.end].split(b"\n", 1)[0]
        return raw.decode("utf-8", "replace").strip()[:limit]

    def eval(self, node: ir.Node | None) -> Value:
        """Evaluate one expression (or statement)."""
        if node is None:
            return UNKNOWN
        self.budget -= 1
        if self.budget < 0:
            return UNKNOWN
        return _expr.TABLE[type(node)](self, node)

    # running

    def run_module(self, module: Module) -> None:
        """Run the statements of a module once, so that its names are known."""
        if module.is_done:
            return
        module.is_done = True
        with self.framed(Frame(module, module.scope, None)):
            self.exec(module.tree.body)

    def run_roots(self, module: Module) -> None:
        """Run every function and method of a module with unknown arguments."""
        self.run_module(module)
        with self.framed(Frame(module, module.scope, None)):
            for node in module.tree.body:
                self._root(node, module.scope)

    def _root(self, node: ir.Node, scope: Scope) -> None:
        if isinstance(node, ir.Func):
            value = scope.find(node.name)
            closure = value.ref if value is not None and isinstance(value.ref, Closure) else None
            if closure is None or closure.func is not node:
                closure = Closure(node, scope, self.module)
            self.call_root(closure)
            if value is not None and value.ref is not None and node.decorators:
                self.call_decorated(node, value)
        elif isinstance(node, ir.Class):
            value = scope.find(node.name)
            if value is not None and isinstance(value.ref, ClassRef) and value.ref.node is node:
                self._root_class(value.ref)
        elif isinstance(node, (ir.If, ir.Block)):
            for inner in [b for block in node.blocks for b in block] if isinstance(node, ir.If) else node.body:
                self._root(inner, scope)

    def _root_class(self, owner: ClassRef) -> None:
        instance = self.instance(owner)
        for func in owner.methods.values():
            if func.name not in _calls.CONSTRUCTORS:
                self.call_root(Closure(func, owner.scope, owner.module, instance, owner))
        for node in owner.node.body:
            if isinstance(node, ir.Class):
                inner = owner.attrs.get(node.name)
                if inner is not None and isinstance(inner.ref, ClassRef):
                    self._root_class(inner.ref)

    def call_root(self, closure: Closure) -> Value:
        """Run a function with unknown arguments."""
        func = closure.func
        args = {
            p.name: self.parameter(p, closure) for p in func.params if not (closure.bound and p.name == func.self_name)
        }
        left = self.budget
        self.budget = granted = min(left, ROOT_BUDGET)
        result = self.invoke(closure, args)
        self.budget += left - granted
        return result

    def call_decorated(self, node: ir.Func, value: Value) -> None:
        """Run a function as its decorators left it, so that what they add reaches the sink of its name."""
        if isinstance(value.ref, Closure) and value.ref.func is node:
            return
        if isinstance(value.ref, Closure):
            result = self.call_root(value.ref)
            _sinks.returned(self, node, result)

    def parameter(self, param: ir.Param, closure: Closure) -> Value:
        """Make the value of an argument of which only name and type are known."""
        if param.default is not None:
            with self.framed(Frame(closure.module, closure.scope, None, owner=closure.owner)):
                value = self.eval(param.default)
            if value.taints or value.unordered:
                return stepped(value, Place(closure.module.path, param.default.start, param.default.end), param.name)
        value = self.typed(param.type_text, param.name)
        if param.kind == "mapping":
            value.fields = {}
        return value

    def typed(self, type_text: str, name: str = "") -> Value:
        """Make an unknown value of a declared type."""
        value = Value(text="\x00", name=name, is_open=True, depth=self.order_depth, kind=type_text)
        pattern = self.module.lang.unordered_types
        if type_text and pattern is not None and pattern.search(type_text):
            value.unordered = Taint("list-order", Place("", 0, 0), detail="order", fix="container")
        elif type_text and self.frames:
            found = self.world_type(type_text)
            if found is not None:
                value.ref = found
                value.fields = {}
        return value

    def world_type(self, type_text: str) -> ClassRef | None:
        """Find the class or struct that a type text names, for the types of its fields."""
        name = type_text.strip("*&?! ").removeprefix("mut ").strip().split("<")[0].split(".")[-1]
        if not name.isidentifier() or self.module.lang.name == "python":
            return None
        value = self.module.scope.find(name) or self.world.by_name(self.module, name)
        return value.ref if value is not None and isinstance(value.ref, ClassRef) else None

    def instance(self, owner: ClassRef) -> Value:
        """Return the object on which the methods of a class are run, built once by its constructor."""
        if owner.instance is None:
            owner.instance = Value(text="\x00", fields={}, ref=owner, depth=0)
            self.construct(owner, owner.instance, None)
        return owner.instance

    def construct(self, owner: ClassRef, value: Value, args: _calls.Args | None) -> None:
        """Run the constructor of a class on ``value``."""
        for name in _calls.CONSTRUCTORS:
            found = owner.method(name)
            if found is None:
                continue
            func, where = found
            closure = Closure(func, where.scope, where.module, value, where)
            if args is None:
                self.call_root(closure)
            else:
                self.invoke(closure, _calls.bind(self, closure, args))
            return

    def invoke(self, closure: Closure, args: dict[str, Value]) -> Value:
        """Run a function body with bound arguments and return the union of what it returns."""
        func = closure.func
        if len(self.frames) > DEPTH + 2 or any(f.func is func for f in self.frames) or self.budget < 0:
            return UNKNOWN
        scope = Scope(dict(args), closure.scope, func)
        if closure.bound is not None and func.self_name:
            scope.names[func.self_name] = closure.bound
        frame = Frame(closure.module, scope, func, owner=closure.owner)
        with self.framed(frame):
            tail = self.exec(func.body)
            if not frame.returns and frame.yields is None and tail is not None and closure.module.lang.name != "python":
                frame.returns.append(tail)
            result = union(frame.returns) if frame.returns else UNKNOWN
            if frame.yields is not None:
                result = frame.yields
            _sinks.returned(self, func, result)
        return result

    @contextmanager
    def framed(self, frame: Frame) -> Iterator[None]:
        """Run inside a frame."""
        if frame.yields is None and frame.func is not None:
            frame.scope.func = frame.func
        self.frames.append(frame)
        outer, self.outer_before, is_tail, self.is_tail = self.outer_before, 0, self.is_tail, False
        try:
            yield
        finally:
            self.frames.pop()
            self.outer_before, self.is_tail = outer, is_tail

    @property
    def order_depth(self) -> int:
        """Return how many loops run, so that a container knows which of them it was made in."""
        return len(self.loops)

    def orders(self, depth: int) -> tuple[Taint, ...]:
        """Return the order taints of the loops that run inside the one in which a container was made."""
        return tuple(a.order for a in self.loops[depth:] if a.order is not None)

    # statements

    def exec(self, body: list[ir.Node]) -> Value | None:
        """Run statements; return the value of the last one when it is an expression."""
        last: Value | None = None
        for node in body:
            last = self.eval(node)
        return last

    def assign(self, target: ir.Node, value: Value) -> None:
        """Bind a value to a target of any shape."""
        if isinstance(target, ir.Name):
            scope = self.frame.scope
            if not value.name:
                value = value if value is not UNKNOWN else Value(text="\x00", name=target.name)
            scope.names[target.name] = stepped(value, self.place(target), target.name) if value.taints else value
            _sinks.named(self, target.name, value, target)
        elif isinstance(target, ir.Attr):
            self._assign_attr(target, value)
        elif isinstance(target, ir.Index):
            self._assign_item(target, value)
        elif isinstance(target, ir.Seq):
            self._unpack(target, value)
        elif isinstance(target, ir.Spread):
            self.assign(target.value, value)
        else:
            self.eval(target)

    def _unpack(self, target: ir.Seq, value: Value) -> None:
        for i, item in enumerate(target.items):
            if value.items is not None and i < len(value.items) and not value.is_open:
                self.assign(item, value.items[i])
            else:
                self.assign(item, Value(value.taints, "\x00", depth=self.order_depth))

    def assign_quietly(self, target: ir.Node, value: Value) -> None:
        """Bind a loop target: names alone make no sink of an element."""
        if isinstance(target, ir.Name):
            self.frame.scope.names[target.name] = (
                value if value is not UNKNOWN else Value(text="\x00", name=target.name)
            )
        elif isinstance(target, ir.Seq):
            for i, item in enumerate(target.items):
                known = value.items is not None and i < len(value.items) and not value.is_open
                self.assign_quietly(item, value.items[i] if known and value.items else Value(value.taints, "\x00"))

    def call_nested(self, value: Value) -> None:
        """Run a function defined inside another with unknown arguments."""
        if len(self.frames) < 4 and isinstance(value.ref, Closure):
            self.call_root(value.ref)

    def _assign_attr(self, target: ir.Attr, value: Value) -> None:
        base = self.eval(target.base)
        stored = stepped(value, self.place(target), self.text(target)) if value.taints else value
        if base is not UNKNOWN:
            if base.fields is None:
                base.fields = {}
            old = base.fields.get(target.name)
            base.fields[target.name] = union([old, stored]) if old is not None and old.taints and base.ref else stored
        _sinks.named(self, target.name, value, target)

    def _assign_item(self, target: ir.Index, value: Value) -> None:
        base = self.eval(target.base)
        key = self.eval(target.key)
        if base is UNKNOWN:
            return
        orders = self.orders(base.depth)
        if orders and key.const is None and base.items is None:
            base.taints = (*base.taints, *orders)
        if key.const is not None:
            if base.fields is None:
                base.fields = {}
            base.fields[key.const] = value
            _sinks.keyed(self, base, key.const, value, target)
        elif isinstance(target.key, ir.Const) and base.items is not None:
            base.items.append(value)
        elif base.fields is not None or base.items is not None:
            if base.fields is None:
                base.fields = {}
            base.fields[f"[{len(base.fields)}]"] = value

    def branch(self, blocks: list[list[ir.Node]]) -> Value | None:
        """Run alternatives on copies of the names and join what they leave behind."""
        scope = self.frame.scope
        before = scope.names
        outcomes: list[dict[str, Value]] = []
        tails: list[Value] = []
        for block in blocks:
            scope.names = dict(before)
            tail = self.exec(block)
            tails.append(tail if tail is not None else UNKNOWN)
            if not _leaves(block):
                outcomes.append(scope.names)
        scope.names = _joined(before, outcomes)
        return union(tails) if tails else None

    def iterate(self, value: Value, node: ir.Node, at: ir.Node | None = None) -> Taint | None:
        """Return the order taint that walking over ``value`` causes, None for ordered ones."""
        if value.unordered is not None:
            return ordered_at(value.unordered, self.place(at or node), self.place(node))
        return next((t for t in value.taints if t.detail == "order"), None)

    def element(self, value: Value) -> Value:
        """Return what one element of a container may be."""
        if value.items:
            picked = union(value.items) if len(value.items) > 1 else value.items[0]
            return replace(picked, depth=self.order_depth) if picked is not UNKNOWN else UNKNOWN
        taints = tuple(t for t in value.taints if t.detail not in ("order", "window"))
        return Value(taints, "\x00", depth=self.order_depth)


def ordered_at(taint: Taint, place: Place, wrap: Place) -> Taint:
    """Place an order taint at the iteration, or keep it at the listing call that made the order."""
    if taint.fix in ("listing", "iterated"):
        return replace(taint, detail="order", wrap=taint.wrap or taint.place)
    steps = ((taint.place, "unordered container"),) if taint.place.path and taint.place != place else ()
    return replace(taint, place=place, detail="order", wrap=wrap, steps=(*steps, *taint.steps))


def _leaves(block: list[ir.Node]) -> bool:
    last = block[-1] if block else None
    return isinstance(last, ir.Return) and not last.is_yield


def _joined(before: dict[str, Value], outcomes: list[dict[str, Value]]) -> dict[str, Value]:
    if not outcomes:
        return before
    if len(outcomes) == 1:
        return outcomes[0]
    names: dict[str, Value] = {}
    for outcome in outcomes:
        for name, value in outcome.items():
            old = names.get(name)
            names[name] = value if old is None or old is value else union([old, value])
    return names


def add_text(engine: Engine, old: Value, value: Value) -> Value:
    """Extend a text or list in an accumulating statement, with the order of the loops around it."""
    if old.items is not None or value.items is not None:
        if old.items is None:
            old = Value(old.taints, old.text, old.size, [], is_open=True, depth=old.depth, name=old.name)
        old.items = [*(old.items or []), *(value.items if value.items is not None else [value])]
        old.taints = (*old.taints, *engine.orders(old.depth), *(t for t in value.taints if value.items is not None))
        return old
    made = concat([old, value])
    made.depth = old.depth
    orders = tuple(replace(t, before=old.size) for t in engine.orders(old.depth))
    made.taints = (*made.taints, *orders)
    return made
