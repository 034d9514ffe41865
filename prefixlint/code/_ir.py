"""The neutral syntax tree into which every language is lowered: just what data flow needs, with byte places."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Node:
    """Hold the half-open byte range ``[start, end)`` in the file."""

    start: int
    end: int


@dataclass(slots=True, eq=False)
class Const(Node):
    """A literal; ``text`` is None for anything but a string, ``number`` says that it is a number."""

    text: str | None = None
    number: bool = False


@dataclass(slots=True, eq=False)
class Name(Node):
    """A bare identifier."""

    name: str


@dataclass(slots=True, eq=False)
class Attr(Node):
    """A member access ``base.name`` (also ``base::name``)."""

    base: Node
    name: str


@dataclass(slots=True, eq=False)
class Index(Node):
    """A subscript; for a slice ``key`` is a Slice."""

    base: Node
    key: Node


@dataclass(slots=True, eq=False)
class Slice(Node):
    """A slice ``[lower:upper]``."""

    lower: Node | None
    upper: Node | None


@dataclass(slots=True, eq=False)
class Call(Node):
    """A call; ``named`` holds keyword arguments, with name None for a spread of a mapping."""

    func: Node
    args: list[Node]
    named: list[tuple[str | None, Node]] = field(default_factory=list)
    is_new: bool = False


@dataclass(slots=True, eq=False)
class Spread(Node):
    """An element that stands for all elements of ``value``."""

    value: Node


@dataclass(slots=True, eq=False)
class Concat(Node):
    """Text glued from parts: f-strings, templates, ``+``; ``spec`` of a part lies in Formatted."""

    parts: list[Node]


@dataclass(slots=True, eq=False)
class Formatted(Node):
    """One hole of a formatted string with its format spec."""

    value: Node
    spec: str = ""


@dataclass(slots=True, eq=False)
class Seq(Node):
    """A list, tuple or set literal."""

    items: list[Node]
    kind: str = "list"


@dataclass(slots=True, eq=False)
class Map(Node):
    """A mapping or struct literal; a key of None spreads another mapping. ``type_name`` for struct literals."""

    pairs: list[tuple[Node | None, Node]]
    type_name: str = ""


@dataclass(slots=True, eq=False)
class Generator:
    """One ``for target in source if tests`` of a comprehension."""

    target: Node
    source: Node
    tests: list[Node]


@dataclass(slots=True, eq=False)
class Comp(Node):
    """A comprehension; ``key`` is set for mappings."""

    value: Node
    gens: list[Generator]
    kind: str = "list"
    key: Node | None = None


@dataclass(slots=True, eq=False)
class Choice(Node):
    """A value picked at run time: ternary, ``or``, ``match``; the tests are only evaluated."""

    options: list[Node]
    tests: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Op(Node):
    """Arithmetic: the result depends on the operands but is no text of them."""

    op: str
    operands: list[Node]


@dataclass(slots=True, eq=False)
class Other(Node):
    """Anything through which no value flows (comparisons, tests, types); children are still evaluated."""

    children: list[Node]


@dataclass(slots=True, eq=False)
class Block(Node):
    """Statements used as a value: the value is that of the last expression."""

    body: list[Node]


@dataclass(slots=True, eq=False)
class Param:
    """One parameter; ``kind`` is plain, rest or mapping."""

    name: str
    default: Node | None = None
    type_text: str = ""
    kind: str = "plain"


@dataclass(slots=True, eq=False)
class Func(Node):
    """A function, method or lambda."""

    name: str
    params: list[Param]
    body: list[Node]
    decorators: list[Node] = field(default_factory=list)
    owner: str = ""
    returns: str = ""
    self_name: str = ""
    is_static: bool = False


@dataclass(slots=True, eq=False)
class Class(Node):
    """A class, struct or interface; ``fields`` maps each declared field to its type text."""

    name: str
    bases: list[Node]
    body: list[Node]
    fields: dict[str, str] = field(default_factory=dict)
    decorators: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Assign(Node):
    """An assignment or declaration; ``op`` is ``"+"`` and the like for augmented ones."""

    targets: list[Node]
    value: Node | None
    op: str = ""
    type_text: str = ""


@dataclass(slots=True, eq=False)
class Return(Node):
    """A return; ``is_yield`` for generators."""

    value: Node | None
    is_yield: bool = False


@dataclass(slots=True, eq=False)
class If(Node):
    """A branch: each of ``blocks`` may run."""

    tests: list[Node]
    blocks: list[list[Node]]


@dataclass(slots=True, eq=False)
class Loop(Node):
    """A loop; ``source`` is None for ``while``, ``target`` None where nothing is bound."""

    target: Node | None
    source: Node | None
    body: list[Node]
    test: Node | None = None


@dataclass(slots=True, eq=False)
class Delete(Node):
    """A ``del`` of places."""

    targets: list[Node]


@dataclass(slots=True, eq=False)
class Import(Node):
    """Bind ``alias`` to ``module`` or to ``module.name``; ``level`` counts leading dots."""

    module: str
    name: str
    alias: str
    level: int = 0


@dataclass(slots=True)
class Tree:
    """A lowered file: statements of the module and the source they point into."""

    body: list[Node]
    package: str = ""


def children(node: Node) -> list[Node]:
    """List the direct sub-nodes, in source order as far as the tree knows it."""
    found: list[Node] = []
    for name in _SLOTS.get(type(node), ()):
        _collect(getattr(node, name), found)
    return found


def _collect(value: object, found: list[Node]) -> None:
    if isinstance(value, Node):
        found.append(value)
    elif isinstance(value, Generator):
        found += [value.target, value.source, *value.tests]
    elif isinstance(value, Param):
        if value.default is not None:
            found.append(value.default)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)


_SLOTS: dict[type, tuple[str, ...]] = {
    Attr: ("base",),
    Index: ("base", "key"),
    Slice: ("lower", "upper"),
    Call: ("func", "args", "named"),
    Spread: ("value",),
    Concat: ("parts",),
    Formatted: ("value",),
    Seq: ("items",),
    Map: ("pairs",),
    Comp: ("value", "key", "gens"),
    Choice: ("options", "tests"),
    Op: ("operands",),
    Other: ("children",),
    Block: ("body",),
    Func: ("decorators", "params", "body"),
    Class: ("decorators", "bases", "body"),
    Assign: ("targets", "value"),
    Return: ("value",),
    If: ("tests", "blocks"),
    Loop: ("source", "target", "test", "body"),
    Delete: ("targets",),
}


def walk(nodes: list[Node], *, into_functions: bool = True) -> list[Node]:
    """List all nodes below, parents first; nested functions only when asked for."""
    found: list[Node] = []
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, (Func, Class)) and not into_functions and len(found) > 1:
            continue
        stack.extend(reversed(children(node)))
    return found


def dotted(node: Node | None) -> str:
    """Return ``a.b.c`` for a chain of names, with ``()`` after a call in the chain, or "" when it is no chain."""
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Attr):
        base = dotted(node.base)
        return f"{base}.{node.name}" if base else ""
    if isinstance(node, Call):
        base = dotted(node.func)
        return f"{base}()" if base else ""
    return ""


def slots(node: Node) -> tuple[str, ...]:
    """List the attributes of a node that hold sub-nodes."""
    return _SLOTS.get(type(node), ())
