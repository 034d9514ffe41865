"""Ruby."""

from __future__ import annotations

import re

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, parse

NAME = "ruby"
SUFFIXES = (".rb", ".rake")
PACKAGE = "tree_sitter_ruby"

LANG = Lang(
    name="ruby",
    comment="#",
    calls=table(
        """
timestamp kind=datetime when=bare: Time.new
timestamp kind=datetime: Time.now DateTime.now Time.current Time.zone.now zone.now DateTime.current
date kind=date: Date.today Date.current zone.today
epoch kind=epoch: Process.clock_gettime
uuid kind=uuid: SecureRandom.uuid SecureRandom.uuid_v7 SecureRandom.uuid_v4 Digest.uuid
random-id: SecureRandom.hex SecureRandom.alphanumeric SecureRandom.random_number SecureRandom.urlsafe_base64
random-id: SecureRandom.base64 Process.pid ULID.generate Nanoid.generate BSON.ObjectId.new .object_id
random-id kind=random: rand Random.rand Kernel.rand
list-order kind=random: .shuffle .sample
user-or-host: Socket.gethostname Etc.getlogin Etc.getpwuid Dir.home
cwd-or-env: Dir.pwd Dir.getwd
temp-path: Dir.tmpdir Dir.mktmpdir Tempfile.new Tempfile.create
list-order kind=listing: Dir.children Dir.entries Dir.each_child Dir.foreach Find.find
"""
    ),
    members=table(
        """
random-id: $$
cwd-or-env kind=environ: ENV
"""
    ),
    json_calls=frozenset({"JSON.generate", "JSON.pretty_generate", "JSON.dump", ".to_json"}),
    json_safe=re.compile(r"\bsort"),
    map_json_only=True,
)


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    return ir.Tree(_Ruby(data).body(parse(PACKAGE, data)))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


class _Ruby(Lowerer):
    NAMES = frozenset({"identifier", "constant", "self", "global_variable", "class_variable"})
    PASS = frozenset(
        {"parenthesized_statements", "then", "else", "argument_list", "block_argument", "ensure", "pattern"}
    )
    BLOCKS = frozenset(
        {"body_statement", "block_body", "then", "do", "else", "begin", "parenthesized_statements", "ensure"}
    )
    STRINGS = frozenset({"string", "chained_string", "bare_string"})
    NUMBERS = frozenset({"integer", "float"})
    SKIP = frozenset({"comment", "heredoc_end"})

    def __init__(self, data: bytes, delta: int = 0) -> None:
        super().__init__(data, delta)
        self.heredocs: list[Syntax] = []

    def body(self, node: Syntax | None) -> list[ir.Node]:
        if node is None:
            return []
        # A heredoc's text follows the statement that begins it.
        bodies = [c for c in node.named_children if c.type == "heredoc_body"]
        self.heredocs += bodies
        found = []
        for child in self.named(node):
            if child.type in ("heredoc_body", "rescue"):
                continue
            made = self.maybe(child)
            if made is not None:
                found.append(made)
        return found

    def n_heredoc_beginning(self, node: Syntax) -> ir.Node:
        waiting = sorted((b for b in self.heredocs if b.start_byte > node.start_byte), key=lambda b: int(b.start_byte))
        if not waiting:
            after = self._later(node)
            waiting = [after] if after is not None else []
        if not waiting:
            return ir.Const(*self.at(node), "")
        body = waiting[0]
        if body in self.heredocs:
            self.heredocs.remove(body)
        parts: list[ir.Node] = []
        for child in body.named_children:
            if child.type == "heredoc_content":
                parts.append(ir.Const(*self.at(child), self.text(child)))
            elif child.type == "interpolation":
                parts.append(self.hole(child))
        return ir.Concat(*self.at(node), parts)

    def _later(self, node: Syntax) -> Syntax | None:
        above = node.parent
        while above is not None:
            found = next(
                (c for c in above.named_children if c.type == "heredoc_body" and c.start_byte > node.start_byte), None
            )
            if found is not None:
                return found
            above = above.parent
        return None

    def n_instance_variable(self, node: Syntax) -> ir.Node:
        start, end = self.at(node)
        return ir.Attr(start, end, ir.Name(start, end, "self"), self.text(node).lstrip("@"))

    def n_simple_symbol(self, node: Syntax) -> ir.Node:
        return ir.Const(*self.at(node), self.text(node).lstrip(":"))

    def n_hash_key_symbol(self, node: Syntax) -> ir.Node:
        return ir.Const(*self.at(node), self.text(node).rstrip(":"))

    def n_class(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name")).rsplit("::", 1)[-1]
        body = self.inside(name, lambda: self.body(self.field(node, "body")))
        base = self.field(node, "superclass")
        bases = [self.through(base)] if base is not None else []
        return ir.Class(*self.at(node), name, bases, as_methods(body, "self"))

    def n_module(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), self.body(self.field(node, "body")))

    def n_method(self, node: Syntax) -> ir.Node:
        body = self.field(node, "body")
        made = self.func(
            node,
            self.text(self.field(node, "name")),
            self.params(self.field(node, "parameters")),
            self.statements(body),
        )
        made.is_static = node.type == "singleton_method"
        return made

    n_singleton_method = n_method

    def params(self, node: Syntax | None) -> list[ir.Param]:
        found = []
        for item in self.named(node) if node is not None else []:
            default = self.field(item, "value")
            kind = {"hash_splat_parameter": "mapping", "splat_parameter": "rest", "keyword_parameter": "named"}.get(
                item.type, "plain"
            )
            name = self.text(self.field(item, "name") or item)
            found.append(ir.Param(name, self.lower(default) if default is not None else None, "", kind))
        return found

    def n_call(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        receiver = self.field(node, "receiver")
        name = self.text(self.field(node, "method")) or "call"
        arguments = self.field(node, "arguments")
        args: list[ir.Node] = []
        named: list[tuple[str | None, ir.Node]] = []
        for item in self.named(arguments) if arguments is not None else []:
            if item.type == "pair":
                key = self.lower(self.field(item, "key"))
                named.append((key.text if isinstance(key, ir.Const) else "", self.lower(self.field(item, "value"))))
            elif item.type == "hash_splat_argument":
                named.append((None, self.through(item)))
            elif item.type != "block_argument":
                args.append(self.lower(item))
        block = self.field(node, "block")
        if name == "require_relative" and args:
            return ir.Other(*place, [])
        if receiver is None and not args and not named and block is None and arguments is None:
            return ir.Call(*place, ir.Name(*place, name), [])
        func: ir.Node = ir.Attr(*place, self.lower(receiver), name) if receiver is not None else ir.Name(*place, name)
        if name in ("format", "sprintf") and args and receiver is None:
            return ir.Op(*place, "%", [args[0], ir.Seq(*place, args[1:], "tuple")])
        if name == "new" and receiver is not None and self.text(receiver) not in ("Random", "Tempfile", "Time", "Set"):
            if self.text(receiver) == "String":
                return ir.Concat(*place, args)
            return ir.Call(*place, self.lower(receiver), args, named, is_new=True)
        if block is not None:
            if name in ("each", "each_with_index", "each_pair", "each_value", "times", "each_with_object"):
                return self.loop(node, func, args, block)
            if name == "loop":
                return ir.Loop(*place, None, None, self.statements(self.field(block, "body")))
            args.append(self.closure(block))
        return ir.Call(*place, func, args, named)

    def loop(self, node: Syntax, func: ir.Node, args: list[ir.Node], block: Syntax) -> ir.Node:
        params = self.params(self.field(block, "parameters"))
        names: list[ir.Node] = [ir.Name(*self.at(block), p.name) for p in params]
        target: ir.Node | None = (
            names[0] if len(names) == 1 else ir.Seq(*self.at(block), names, "tuple") if names else None
        )
        assert isinstance(func, ir.Attr)
        source: ir.Node = func.base
        if func.name == "times":
            source = ir.Call(func.start, func.end, ir.Name(func.start, func.end, "range"), [])
        return ir.Loop(*self.at(node), target, source, self.statements(self.field(block, "body")))

    def closure(self, node: Syntax) -> ir.Func:
        return self.func(
            node, "", self.params(self.field(node, "parameters")), self.statements(self.field(node, "body"))
        )

    n_block = n_do_block = n_lambda = closure

    def n_subshell(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        return ir.Call(*place, ir.Name(*place, "`"), [self.string(node)])

    def n_assignment(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"))

    def n_operator_assignment(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"), self.operator(node))

    def n_left_assignment_list(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)), "tuple")

    def n_binary(self, node: Syntax) -> ir.Node:
        if self.operator(node) == "<<":
            place = self.at(node)
            return ir.Call(
                *place,
                ir.Attr(*place, self.lower(self.field(node, "left")), "<<"),
                [self.lower(self.field(node, "right"))],
            )
        return self.added(node, "left", "right", self.operator(node))

    def n_unary(self, node: Syntax) -> ir.Node:
        raw = self.text(node)
        inner = self.lower(self.field(node, "operand"))
        return (
            inner
            if raw.startswith("+")
            else ir.Op(*self.at(node), "-", [inner])
            if raw.startswith("-")
            else ir.Other(*self.at(node), [inner])
        )

    def n_array(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)))

    def n_splat_argument(self, node: Syntax) -> ir.Node:
        return ir.Spread(*self.at(node), self.through(node))

    def n_hash(self, node: Syntax) -> ir.Node:
        pairs: list[tuple[ir.Node | None, ir.Node]] = []
        for item in self.named(node):
            if item.type == "pair":
                value = self.field(item, "value")
                key = self.lower(self.field(item, "key"))
                lowered = (
                    self.lower(value)
                    if value is not None
                    else ir.Name(*self.at(item), key.text if isinstance(key, ir.Const) and key.text else "")
                )
                pairs.append((key, lowered))
            elif item.type == "hash_splat_argument":
                pairs.append((None, self.through(item)))
        return ir.Map(*self.at(node), pairs)

    def n_element_reference(self, node: Syntax) -> ir.Node:
        parts = self.named(node)
        key: ir.Node
        if len(parts) == 3:
            key = ir.Slice(*self.at(node), self.lower(parts[1]), None)
        elif len(parts) > 1 and parts[1].type == "range":
            begin, end = self.field(parts[1], "begin"), self.field(parts[1], "end")
            is_open = end is None or self.text(end) == "-1"
            key = ir.Slice(
                *self.at(node), self.lower(begin) if begin is not None else None, None if is_open else self.lower(end)
            )
        else:
            key = self.lower(parts[1]) if len(parts) > 1 else ir.Other(*self.at(node), [])
        return ir.Index(*self.at(node), self.lower(parts[0]), key)

    def n_scope_resolution(self, node: Syntax) -> ir.Node:
        scope = self.field(node, "scope")
        name = self.text(self.field(node, "name"))
        return ir.Attr(*self.at(node), self.lower(scope), name) if scope is not None else ir.Name(*self.at(node), name)

    def n_return(self, node: Syntax) -> ir.Node:
        inner = self.child(node, "argument_list")
        values = self.exprs(self.named(inner)) if inner is not None else []
        return ir.Return(*self.at(node), values[0] if values else None)

    def branch(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(self.field(node, "consequence")), self.statements(self.field(node, "alternative"))]
        return ir.If(*self.at(node), [self.lower(self.field(node, "condition"))], blocks)

    n_if = n_unless = n_elsif = branch

    def n_conditional(self, node: Syntax) -> ir.Node:
        options = [self.lower(self.field(node, "consequence")), self.lower(self.field(node, "alternative"))]
        return ir.Choice(*self.at(node), options, [self.lower(self.field(node, "condition"))])

    def modified(self, node: Syntax) -> ir.Node:
        return ir.If(
            *self.at(node), [self.lower(self.field(node, "condition"))], [self.statements(self.field(node, "body")), []]
        )

    n_if_modifier = n_unless_modifier = modified

    def n_while_modifier(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            None,
            None,
            self.statements(self.field(node, "body")),
            self.lower(self.field(node, "condition")),
        )

    n_until_modifier = n_while_modifier

    def n_while(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            None,
            None,
            self.statements(self.field(node, "body")),
            self.lower(self.field(node, "condition")),
        )

    n_until = n_while

    def n_for(self, node: Syntax) -> ir.Node:
        value = self.field(node, "value")
        return ir.Loop(
            *self.at(node),
            self.lower(self.field(node, "pattern")),
            self.through(value) if value is not None else None,
            self.statements(self.field(node, "body")),
        )

    def n_case(self, node: Syntax) -> ir.Node:
        blocks = [
            self.statements(self.field(c, "body") if c.type == "when" else c)
            for c in node.named_children
            if c.type in ("when", "else")
        ]
        return ir.If(*self.at(node), [self.lower(self.field(node, "value"))], blocks or [[]])

    def n_begin(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), self.body(node))
