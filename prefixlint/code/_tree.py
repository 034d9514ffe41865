"""What the tree-sitter languages share: walking concrete syntax into the neutral tree."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from prefixlint.code import _ir as ir

Syntax = Any  # a tree_sitter.Node: the package ships no complete types
DEEP = 400  # nested expressions in generated files beyond this are cut off

_ESCAPES = {
    "\\n": "\n",
    "\\t": "\t",
    "\\r": "\r",
    "\\\\": "\\",
    '\\"': '"',
    "\\'": "'",
    "\\0": "0",
    "\\`": "`",
    "\\$": "$",
}


@lru_cache(maxsize=32)
def parser(package: str, function: str = "language") -> Any:
    """Return the parser of a grammar package; ImportError when it is not installed."""
    import tree_sitter

    grammar = importlib.import_module(package)
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function)()))


def parse(package: str, data: bytes, function: str = "language") -> Syntax:
    """Parse a file; SyntaxError when most of it makes no sense in the language."""
    root = parser(package, function).parse(data).root_node
    if root.has_error and _is_hopeless(root, len(data)):
        row, column = _first_error(root)
        raise SyntaxError("syntax error", (None, row + 1, column + 1, None))
    return root


def _is_hopeless(root: Syntax, size: int) -> bool:
    # tree-sitter recovers from anything; a file whose errors cover a third of it is not worth following.
    if root.type == "ERROR":
        return True
    broken: int = sum(c.end_byte - c.start_byte for c in root.children if c.type == "ERROR")
    return bool(broken * 3 > size)


def _first_error(node: Syntax) -> tuple[int, int]:
    while True:
        inner = next((c for c in node.children if c.has_error or c.type == "ERROR" or c.is_missing), None)
        if inner is None:
            return int(node.start_point[0]), int(node.start_point[1])
        node = inner


class Lowerer:
    """Lower one file. Subclasses map node types to methods: ``KINDS`` for common shapes, ``n_TYPE`` for the rest."""

    NAMES: frozenset[str] = frozenset({"identifier"})
    PASS: frozenset[str] = frozenset()
    SKIP: frozenset[str] = frozenset({"comment", "line_comment", "block_comment", "multiline_comment"})
    BLOCKS: frozenset[str] = frozenset({"block"})
    STRINGS: frozenset[str] = frozenset()
    NUMBERS: frozenset[str] = frozenset()
    CONTENT: frozenset[str] = frozenset({"string_content", "string_fragment", "escape_sequence"})
    HOLES: frozenset[str] = frozenset({"interpolation", "template_substitution"})

    def __init__(self, data: bytes, delta: int = 0) -> None:
        self.data = data
        self.delta = delta
        self.deep = 0
        self.owner = ""
        self.table: dict[str, Callable[[Syntax], ir.Node | None]] = {}

    # access

    def text(self, node: Syntax | None) -> str:
        """Return the source of a node."""
        return "" if node is None else bytes(node.text).decode("utf-8", "replace")

    def at(self, node: Syntax) -> tuple[int, int]:
        """Return the byte range of a node in the file."""
        return node.start_byte + self.delta, node.end_byte + self.delta

    def field(self, node: Syntax, name: str) -> Syntax | None:
        """Return a child by field name."""
        return node.child_by_field_name(name)

    def named(self, node: Syntax) -> list[Syntax]:
        """List the named children without comments."""
        return [c for c in node.named_children if c.type not in self.SKIP]

    def child(self, node: Syntax, *types: str) -> Syntax | None:
        """Return the first child of one of the types."""
        return next((c for c in node.named_children if c.type in types), None)

    # lowering

    def lower(self, node: Syntax | None) -> ir.Node:
        """Lower one node to an expression or statement; Other where nothing is known of it."""
        if node is None:
            return ir.Other(0, 0, [])
        made = self.maybe(node)
        return made if made is not None else ir.Other(*self.at(node), [])

    def maybe(self, node: Syntax) -> ir.Node | None:
        """Lower one node, None for comments and declarations that hold no values."""
        if self.deep > DEEP:
            return None
        self.deep += 1
        try:
            return self._method(node.type)(node)
        finally:
            self.deep -= 1

    def _method(self, kind: str) -> Callable[[Syntax], ir.Node | None]:
        method = self.table.get(kind)
        if method is None:
            method = self._find(kind)
            self.table[kind] = method
        return method

    def _find(self, kind: str) -> Callable[[Syntax], ir.Node | None]:
        own: Callable[[Syntax], ir.Node | None] | None = getattr(self, f"n_{kind}", None)
        if own is not None:
            return own
        for kinds, method in (
            (self.NAMES, self.name),
            (self.PASS, self.through),
            (self.SKIP, self.skip),
            (self.BLOCKS, self.block),
            (self.STRINGS, self.string),
            (self.NUMBERS, self.number),
        ):
            if kind in kinds:
                return method
        return self.other

    def name(self, node: Syntax) -> ir.Node:
        """Lower an identifier."""
        return ir.Name(*self.at(node), self.text(node))

    def through(self, node: Syntax) -> ir.Node:
        """Lower a wrapper: its first named child stands for it."""
        inner = self.named(node)
        return self.lower(inner[0]) if inner else ir.Other(*self.at(node), [])

    def skip(self, node: Syntax) -> None:
        """Leave a node out."""

    def number(self, node: Syntax) -> ir.Node:
        """Lower a number."""
        return ir.Const(*self.at(node), None, number=True)

    def other(self, node: Syntax) -> ir.Node:
        """Lower the children for their effects."""
        return ir.Other(*self.at(node), self.body(node))

    def body(self, node: Syntax | None) -> list[ir.Node]:
        """Lower all named children."""
        if node is None:
            return []
        found = []
        for child in self.named(node):
            made = self.maybe(child)
            if made is not None:
                found.append(made)
        return found

    def block(self, node: Syntax) -> ir.Node:
        """Lower a block."""
        return ir.Block(*self.at(node), self.body(node))

    def statements(self, node: Syntax | None) -> list[ir.Node]:
        """Lower a block to its statements, any other node to a list of itself."""
        if node is None:
            return []
        if node.type in self.BLOCKS:
            return self.body(node)
        made = self.maybe(node)
        return [made] if made is not None else []

    def exprs(self, nodes: list[Syntax]) -> list[ir.Node]:
        """Lower a list of nodes."""
        return [m for n in nodes if (m := self.maybe(n)) is not None]

    # strings

    def string(self, node: Syntax) -> ir.Node:
        """Lower a string with holes to a Concat, one without to a Const."""
        parts = list(self.pieces(node))
        if not parts:
            return ir.Const(*self.at(node), self.bare(node))
        if all(isinstance(p, ir.Const) for p in parts):
            return ir.Const(*self.at(node), "".join(p.text or "" for p in parts if isinstance(p, ir.Const)))
        return ir.Concat(*self.at(node), parts)

    def bare(self, node: Syntax) -> str:
        """Return the text of a string literal that has no content nodes."""
        return re.sub(r"^[@$rbuRL#]*([\"'`]+)(.*?)\1#*$", r"\2", self.text(node), flags=re.DOTALL)

    def pieces(self, node: Syntax) -> Iterator[ir.Node]:
        """Yield the literal pieces and holes of a string."""
        for child in node.named_children:
            if child.type in self.CONTENT:
                raw = self.text(child)
                yield ir.Const(*self.at(child), _ESCAPES.get(raw, raw))
            elif child.type in self.HOLES:
                yield self.hole(child)

    def hole(self, node: Syntax) -> ir.Node:
        """Lower an interpolation."""
        return ir.Formatted(*self.at(node), self.through(node))

    # shapes that most languages share

    def added(self, node: Syntax, left: str, right: str, operator: str) -> ir.Node:
        """Lower a binary expression: ``+`` glues, comparisons stop the flow, ``??`` and ``||`` choose."""
        place = self.at(node)
        sides = [self.lower(self.field(node, left)), self.lower(self.field(node, right))]
        if operator == "+":
            first = sides[0]
            if isinstance(first, ir.Concat) and self.field(node, left).type == node.type:  # type: ignore[union-attr]
                return ir.Concat(*place, [*first.parts, sides[1]])
            return ir.Concat(*place, sides)
        if operator in ("??", "||", "?:", "or"):
            return ir.Choice(*place, sides)
        if operator in ("&&", "and"):
            return ir.Choice(*place, sides[1:], sides[:1])
        if operator in ("-", "*", "/", "%", "|", "&", "^", "**", ">>"):
            return ir.Op(*place, operator, sides)
        return ir.Other(*place, sides)

    def operator(self, node: Syntax) -> str:
        """Return the operator token of a binary or assignment node."""
        found = self.field(node, "operator")
        if found is not None:
            return self.text(found)
        return next((self.text(c) for c in node.children if not c.is_named), "")

    def assign(self, node: Syntax, left: Syntax | None, right: Syntax | None, operator: str = "=") -> ir.Node:
        """Lower an assignment."""
        op = operator.rstrip("=") if operator not in ("=", ":=", "||=", "??=") else ""
        targets = self.targets(left)
        return ir.Assign(*self.at(node), targets, self.lower(right), op=op)

    def targets(self, node: Syntax | None) -> list[ir.Node]:
        """Lower the left side of an assignment."""
        return [self.lower(node)] if node is not None else []

    def increment(self, node: Syntax, target: Syntax | None) -> ir.Node:
        """Lower ``x++``."""
        place = self.at(node)
        raw = self.text(node)
        return ir.Assign(
            *place, [self.lower(target)], ir.Const(*place, None, number=True), op="+" if "++" in raw else "-"
        )

    def func(
        self, node: Syntax, name: str, params: list[ir.Param], body: list[ir.Node], *, returns: str = ""
    ) -> ir.Func:
        """Make a function; a method when a class is being lowered."""
        made = ir.Func(*self.at(node), name, params, body, owner=self.owner)
        made.returns = returns
        return made

    def inside(self, owner: str, lower: Callable[[], list[ir.Node]]) -> list[ir.Node]:
        """Lower the body of a class."""
        outer, self.owner = self.owner, owner
        try:
            return lower()
        finally:
            self.owner = outer


def as_methods(body: list[ir.Node], self_name: str) -> list[ir.Node]:
    """Mark the functions of a class body as methods with an implicit receiver."""
    for node in body:
        if isinstance(node, ir.Func) and not node.is_static:
            node.self_name = node.self_name or self_name
    return body


def implicit_fields(body: list[ir.Node], fields: dict[str, str], self_name: str) -> None:
    """Rewrite bare names of fields inside methods to members of the receiver (Java, C#, Swift, Kotlin)."""
    for node in body:
        if isinstance(node, ir.Func) and node.self_name:
            bound = {p.name for p in node.params}
            _qualify(node, fields, self_name, bound)


def _qualify(func: ir.Func, fields: dict[str, str], self_name: str, bound: set[str]) -> None:
    local = set(bound)
    for node in ir.walk(func.body):
        if isinstance(node, ir.Assign) and node.type_text == "declared":
            local |= {t.name for t in node.targets if isinstance(t, ir.Name)}
        elif isinstance(node, ir.Loop) and isinstance(node.target, ir.Name):
            local.add(node.target.name)
        elif isinstance(node, ir.Func):
            local |= {p.name for p in node.params}
    wanted = {f for f in fields if f not in local}
    if wanted:
        for node in [func, *ir.walk(func.body)]:
            _rewrite(node, wanted, self_name)


def _rewrite(node: ir.Node, wanted: set[str], self_name: str) -> None:
    for slot in ir.slots(node):
        value = getattr(node, slot)
        if isinstance(value, ir.Node):
            setattr(node, slot, _member(value, wanted, self_name))
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, ir.Node):
                    value[i] = _member(item, wanted, self_name)
                elif isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], ir.Node):
                    value[i] = (item[0], _member(item[1], wanted, self_name))
                elif isinstance(item, list):
                    item[:] = [_member(x, wanted, self_name) if isinstance(x, ir.Node) else x for x in item]


def _member(node: ir.Node, wanted: set[str], self_name: str) -> ir.Node:
    if isinstance(node, ir.Name) and node.name in wanted:
        return ir.Attr(node.start, node.end, ir.Name(node.start, node.end, self_name), node.name)
    return node
