"""Go."""

from __future__ import annotations

import re

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, parse

NAME = "go"
SUFFIXES = (".go",)
PACKAGE = "tree_sitter_go"

LANG = Lang(
    name="go",
    calls=table(
        """
timestamp kind=datetime: time.Now
epoch: time.Since
uuid kind=uuid: uuid.New uuid.NewString uuid.NewRandom uuid.NewUUID uuid.NewV4 uuid.NewV7 uuid.Must
random-id: xid.New ulid.Make ulid.New ksuid.New shortuuid.New gonanoid.New nanoid.New cuid.New os.Getpid
random-id: syscall.Getpid os.Getppid
random-id kind=random: rand.Int rand.Intn rand.IntN rand.Int63 rand.Int31 rand.Int63n rand.Float64
random-id kind=random: rand.Uint32 rand.Uint64 rand.Int64 rand.N rand.Text
list-order kind=random: rand.Perm
user-or-host: os.Hostname user.Current os.Getuid os.UserHomeDir
cwd-or-env: os.Getwd os.Environ
temp-path: os.MkdirTemp os.CreateTemp os.TempDir ioutil.TempDir ioutil.TempFile
list-order kind=listing: maps.Keys maps.Values reflect.MapKeys .MapKeys
"""
    ),
    unordered_types=re.compile(r"^\*?map\[|^sync\.Map|^\*?mapset\.|^\*?sets\."),
    json_calls=frozenset(),
)


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    root = parse(PACKAGE, data)
    return ir.Tree(_with_methods(_Go(data).body(root)))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


def _with_methods(body: list[ir.Node]) -> list[ir.Node]:
    # Methods stand outside their struct: put them in, so that the fields of the receiver are known.
    classes = {n.name: n for n in body if isinstance(n, ir.Class)}
    for node in body:
        if isinstance(node, ir.Func) and node.owner:
            owner = classes.get(node.owner)
            if owner is None:
                owner = classes[node.owner] = ir.Class(node.start, node.start, node.owner, [], [])
            owner.body.append(node)
    left = [n for n in body if not (isinstance(n, ir.Func) and n.owner)]
    known = {id(n) for n in left}
    return sorted(
        [*left, *(c for c in classes.values() if id(c) not in known)], key=lambda n: not isinstance(n, ir.Class)
    )


class _Go(Lowerer):
    NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"})
    PASS = frozenset(
        {"parenthesized_expression", "expression_statement", "literal_element", "go_statement", "defer_statement"}
    )
    BLOCKS = frozenset({"block", "statement_list"})
    STRINGS = frozenset({"interpreted_string_literal", "raw_string_literal", "rune_literal"})
    NUMBERS = frozenset({"int_literal", "float_literal"})
    CONTENT = frozenset({"interpreted_string_literal_content", "raw_string_literal_content", "escape_sequence"})

    def body(self, node: Syntax | None) -> list[ir.Node]:
        found: list[ir.Node] = []
        for child in self.named(node) if node is not None else []:
            if child.type == "statement_list":
                found += self.body(child)
                continue
            made = self.maybe(child)
            if isinstance(made, ir.Block) and child.type in (
                "import_declaration",
                "type_declaration",
                "var_declaration",
                "const_declaration",
            ):
                found += made.body
            elif made is not None:
                found.append(made)
        return found

    def n_import_declaration(self, node: Syntax) -> ir.Node:
        specs = [c for c in node.named_children if c.type == "import_spec"]
        specs += [c for part in node.named_children if part.type == "import_spec_list" for c in part.named_children]
        found: list[ir.Node] = []
        for spec in specs:
            path = self.text(self.field(spec, "path")).strip('"`')
            alias = (
                self.text(self.field(spec, "name"))
                or re.sub(r"^v\d+$", "", path.rsplit("/", 1)[-1])
                or path.split("/")[-2]
            )
            module = "math.rand" if path.startswith("math/rand") else path
            found.append(ir.Import(*self.at(spec), module, "", alias))
        return ir.Block(*self.at(node), found)

    def n_type_declaration(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), [m for c in node.named_children if (m := self.type_spec(c)) is not None])

    def type_spec(self, node: Syntax) -> ir.Node | None:
        kind = self.field(node, "type")
        if kind is None:
            return None
        fields: dict[str, str] = {}
        for part in kind.named_children if kind.type == "struct_type" else ():
            for declared in part.named_children:
                for name in declared.children_by_field_name("name"):
                    fields[self.text(name)] = self.text(self.field(declared, "type"))
        return ir.Class(*self.at(node), self.text(self.field(node, "name")), [], [], fields)

    def n_function_declaration(self, node: Syntax) -> ir.Node:
        made = self.func(
            node,
            self.text(self.field(node, "name")),
            self.params(self.field(node, "parameters")),
            self.statements(self.field(node, "body")),
        )
        made.returns = self.text(self.field(node, "result"))
        return made

    def n_method_declaration(self, node: Syntax) -> ir.Node:
        made = self.n_function_declaration(node)
        assert isinstance(made, ir.Func)
        receiver = self.params(self.field(node, "receiver"))
        if receiver:
            made.self_name = receiver[0].name
            made.owner = receiver[0].type_text.strip("*").split("[")[0]
        as_methods([made], made.self_name)
        return made

    def n_func_literal(self, node: Syntax) -> ir.Node:
        return self.func(
            node, "", self.params(self.field(node, "parameters")), self.statements(self.field(node, "body"))
        )

    def params(self, node: Syntax | None) -> list[ir.Param]:
        found: list[ir.Param] = []
        for item in self.named(node) if node is not None else []:
            kind = self.text(self.field(item, "type"))
            rest = "rest" if item.type == "variadic_parameter_declaration" else "plain"
            found += [ir.Param(self.text(n), None, kind, rest) for n in item.children_by_field_name("name")]
        return found

    def n_short_var_declaration(self, node: Syntax) -> ir.Node:
        return self.pairs(node, self.field(node, "left"), self.field(node, "right"), "")

    def n_assignment_statement(self, node: Syntax) -> ir.Node:
        return self.pairs(node, self.field(node, "left"), self.field(node, "right"), self.operator(node).rstrip("="))

    def pairs(self, node: Syntax, left: Syntax | None, right: Syntax | None, op: str) -> ir.Node:
        targets = self.exprs(self.named(left)) if left is not None else []
        values = self.exprs(self.named(right)) if right is not None else []
        if len(targets) == len(values):
            made: list[ir.Node] = [
                ir.Assign(*self.at(node), [t], v, op=op) for t, v in zip(targets, values, strict=True)
            ]
            return made[0] if len(made) == 1 else ir.Block(*self.at(node), made)
        # value, err := f(): the value is what counts
        return ir.Assign(*self.at(node), targets[:1], values[0] if values else None, op=op)

    def n_var_declaration(self, node: Syntax) -> ir.Node:
        specs = [c for c in node.named_children if c.type in ("var_spec", "const_spec")]
        specs += [c for part in node.named_children if part.type == "var_spec_list" for c in part.named_children]
        found: list[ir.Node] = []
        for spec in specs:
            values = self.field(spec, "value")
            lowered = self.exprs(self.named(values)) if values is not None else []
            for i, name in enumerate(spec.children_by_field_name("name")):
                value = lowered[i] if i < len(lowered) else None
                found.append(
                    ir.Assign(*self.at(spec), [self.name(name)], value, type_text=self.text(self.field(spec, "type")))
                )
        return ir.Block(*self.at(node), found)

    n_const_declaration = n_var_declaration

    def n_inc_statement(self, node: Syntax) -> ir.Node:
        return self.increment(node, node.named_children[0])

    def n_selector_expression(self, node: Syntax) -> ir.Node:
        return ir.Attr(*self.at(node), self.lower(self.field(node, "operand")), self.text(self.field(node, "field")))

    def n_call_expression(self, node: Syntax) -> ir.Node:
        func = self.lower(self.field(node, "function"))
        args: list[ir.Node] = []
        arguments = self.field(node, "arguments")
        for item in self.named(arguments) if arguments is not None else []:
            if item.type == "variadic_argument":
                args.append(ir.Spread(*self.at(item), self.through(item)))
            elif item.type.endswith("_type") and not args:
                args.append(self.typed(item))
            else:
                args.append(self.lower(item))
        return self.known(ir.Call(*self.at(node), func, args))

    def typed(self, node: Syntax) -> ir.Node:
        return ir.Name(*self.at(node), self.text(node))

    def known(self, node: ir.Call) -> ir.Node:
        """Give the formatting and building calls of the standard library their meaning."""
        path = ir.dotted(node.func)
        if path in ("fmt.Sprintf", "fmt.Errorf") and node.args and isinstance(node.args[0], ir.Const):
            values = ir.Seq(node.start, node.end, node.args[1:], "tuple")
            return ir.Op(node.start, node.end, "%", [node.args[0], values])
        if path == "fmt.Fprintf" and len(node.args) > 1:
            values = ir.Seq(node.start, node.end, node.args[2:], "tuple")
            text = ir.Op(node.start, node.end, "%", [node.args[1], values])
            return ir.Call(
                node.start, node.end, ir.Attr(node.start, node.end, self.plain(node.args[0]), "WriteString"), [text]
            )
        if path in ("fmt.Fprintln", "fmt.Fprint") and node.args:
            return ir.Call(
                node.start,
                node.end,
                ir.Attr(node.start, node.end, self.plain(node.args[0]), "WriteString"),
                node.args[1:],
            )
        if path in ("fmt.Sprint", "fmt.Sprintln"):
            return ir.Concat(node.start, node.end, node.args)
        if path == "make" and node.args:
            kind = node.args[0].name if isinstance(node.args[0], ir.Name) else ""
            is_map = kind.startswith("map[")
            made: ir.Node = ir.Map(node.start, node.end, [], kind) if is_map else ir.Seq(node.start, node.end, [])
            return made
        return node

    def plain(self, node: ir.Node) -> ir.Node:
        return node.operands[0] if isinstance(node, ir.Op) and node.op == "&" else node

    def n_unary_expression(self, node: Syntax) -> ir.Node:
        inner = self.lower(self.field(node, "operand"))
        if self.operator(node) in ("&", "*"):
            return inner
        return ir.Other(*self.at(node), [inner]) if self.operator(node) == "!" else ir.Op(*self.at(node), "-", [inner])

    def n_binary_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "left", "right", self.operator(node))

    def n_composite_literal(self, node: Syntax) -> ir.Node:
        kind = self.text(self.field(node, "type"))
        return self.literal(node, self.field(node, "body"), kind)

    def n_literal_value(self, node: Syntax) -> ir.Node:
        return self.literal(node, node, "")

    def literal(self, node: Syntax, body: Syntax | None, kind: str) -> ir.Node:
        items = self.named(body) if body is not None else []
        keyed = [c for c in items if c.type == "keyed_element"]
        if keyed or kind.startswith("map["):
            pairs: list[tuple[ir.Node | None, ir.Node]] = []
            for item in keyed:
                key, value = self.named(item)[:2]
                lowered = self.lower(key)
                if isinstance(lowered, ir.Name) and not kind.startswith("map["):
                    lowered = ir.Const(lowered.start, lowered.end, lowered.name)
                pairs.append((lowered, self.lower(value)))
            return (
                ir.Map(
                    *self.at(node), pairs, kind.rsplit(".", 1)[-1] if not kind.startswith("map[") or not keyed else kind
                )
                if keyed
                else ir.Map(*self.at(node), [], kind)
            )
        if kind.startswith("[") or not kind:
            return ir.Seq(*self.at(node), self.exprs(items))
        return ir.Call(*self.at(node), ir.Name(*self.at(node), kind.rsplit(".", 1)[-1]), self.exprs(items), is_new=True)

    def n_index_expression(self, node: Syntax) -> ir.Node:
        return ir.Index(*self.at(node), self.lower(self.field(node, "operand")), self.lower(self.field(node, "index")))

    def n_slice_expression(self, node: Syntax) -> ir.Node:
        start, end = self.field(node, "start"), self.field(node, "end")
        key = ir.Slice(*self.at(node), self.lower(start) if start else None, self.lower(end) if end else None)
        return ir.Index(*self.at(node), self.lower(self.field(node, "operand")), key)

    def n_type_conversion_expression(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "operand"))

    def n_type_assertion_expression(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "operand"))

    def n_return_statement(self, node: Syntax) -> ir.Node:
        inner = self.child(node, "expression_list")
        values = self.exprs(self.named(inner)) if inner is not None else []
        return ir.Return(*self.at(node), values[0] if values else None)

    def n_if_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        before = self.field(node, "initializer")
        other = self.field(node, "alternative")
        made = ir.If(
            *place,
            [self.lower(self.field(node, "condition"))],
            [self.statements(self.field(node, "consequence")), self.statements(other)],
        )
        return ir.Block(*place, [self.lower(before), made]) if before is not None else made

    def n_for_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        body = self.statements(self.field(node, "body"))
        clause = self.child(node, "range_clause")
        if clause is not None:
            left = self.field(clause, "left")
            targets = self.exprs(self.named(left)) if left is not None else []
            target = ir.Seq(*self.at(clause), targets, "tuple") if len(targets) > 1 else targets[0] if targets else None
            return ir.Loop(*place, target, self.lower(self.field(clause, "right")), body)
        clause = self.child(node, "for_clause")
        if clause is None:
            inner = [c for c in self.named(node) if c.type != "block"]
            return ir.Loop(*place, None, None, body, self.lower(inner[0]) if inner else None)
        first = self.field(clause, "initializer")
        update = self.field(clause, "update")
        loop = ir.Loop(
            *place,
            None,
            None,
            [*body, *([self.lower(update)] if update else [])],
            self.lower(self.field(clause, "condition")),
        )
        return ir.Block(*place, [self.lower(first), loop]) if first is not None else loop

    def cases(self, node: Syntax) -> ir.Node:
        blocks = [
            self.body(c)
            for c in node.named_children
            if c.type in ("expression_case", "type_case", "default_case", "communication_case")
        ]
        value = self.field(node, "value")
        return ir.If(*self.at(node), [self.lower(value)] if value is not None else [], blocks or [[]])

    n_expression_switch_statement = n_type_switch_statement = n_select_statement = cases
