"""Swift."""

from __future__ import annotations

import re

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, implicit_fields, parse

NAME = "swift"
SUFFIXES = (".swift",)
PACKAGE = "tree_sitter_swift"

UNORDERED = re.compile(r"^\[[^\[\]]+:.+\]\??$|^(?:Dictionary|Set|NSDictionary|NSSet)\b")
LANG = Lang(
    name="swift",
    calls=table(
        """
timestamp kind=datetime when=bare: Date NSDate
timestamp kind=datetime: Date.now DispatchTime.now
epoch kind=epoch: CFAbsoluteTimeGetCurrent Date().timeIntervalSince1970
uuid kind=uuid when=bare: UUID NSUUID CFUUIDCreate
random-id: ProcessInfo.processInfo.processIdentifier getpid
random-id kind=random: Int.random Double.random UInt64.random UInt32.random Bool.random arc4random
random-id kind=random: arc4random_uniform
list-order kind=random: .shuffled .randomElement
user-or-host: NSUserName NSFullUserName NSHomeDirectory Host.current gethostname
temp-path: NSTemporaryDirectory
list-order kind=listing: .contentsOfDirectory .enumerator .subpathsOfDirectory .subpaths
"""
    ),
    members=table(
        """
timestamp kind=datetime: Date.now
user-or-host: processInfo.hostName processInfo.userName processInfo.fullUserName
user-or-host: FileManager.default.homeDirectoryForCurrentUser
random-id: processInfo.processIdentifier processInfo.globallyUniqueString
cwd-or-env: default.currentDirectoryPath
cwd-or-env kind=environ: processInfo.environment
temp-path: default.temporaryDirectory FileManager.temporaryDirectory
"""
    ),
    unordered_types=UNORDERED,
    unordered_calls=frozenset({"Set", "Dictionary"}),
    json_calls=frozenset({".encode", "JSONSerialization.data"}),
    json_safe=re.compile(r"sortedKeys"),
    map_json_only=True,
)


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    return ir.Tree(_merged(_Swift(data).body(parse(PACKAGE, data))))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


def _merged(body: list[ir.Node]) -> list[ir.Node]:
    classes: dict[str, ir.Class] = {}
    rest: list[ir.Node] = []
    for node in body:
        known = classes.get(node.name) if isinstance(node, ir.Class) else None
        if known is not None and isinstance(node, ir.Class):
            known.body += node.body
        elif isinstance(node, ir.Class):
            classes[node.name] = node
        else:
            rest.append(node)
    return [*classes.values(), *rest]


class _Swift(Lowerer):
    NAMES = frozenset({"simple_identifier", "self_expression", "super_expression", "type_identifier", "identifier"})
    PASS = frozenset(
        {
            "try_expression",
            "await_expression",
            "directly_assignable_expression",
            "pattern",
            "interpolated_expression",
            "tuple_expression",
            "postfix_expression",
            "value_argument",
            "as_expression",
            "optional_chain_marker",
        }
    )
    SKIP = frozenset(
        {
            "comment",
            "multiline_comment",
            "modifiers",
            "try_operator",
            "value_binding_pattern",
            "type_annotation",
            "protocol_declaration",
            "wildcard_pattern",
            "typealias_declaration",
            "attribute",
            "user_type",
            "as_operator",
        }
    )
    BLOCKS = frozenset({"statements", "function_body", "class_body", "computed_property", "enum_class_body"})
    STRINGS = frozenset({"line_string_literal", "multi_line_string_literal", "raw_string_literal"})
    NUMBERS = frozenset({"integer_literal", "real_literal"})
    CONTENT = frozenset({"line_str_text", "multi_line_str_text", "str_escaped_char", "raw_str_part"})
    HOLES = frozenset({"interpolated_expression", "raw_str_interpolation"})

    def statements(self, node: Syntax | None) -> list[ir.Node]:
        if node is not None and node.type == "function_body":
            inner = self.named(node)
            return [s for c in inner for s in self.statements(c)]
        return super().statements(node)

    def n_import_declaration(self, node: Syntax) -> ir.Node | None:
        return None

    def n_class_declaration(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name")).split("<")[0]
        body = self.inside(name, lambda: self.body(self.field(node, "body")))
        fields = {
            t.name: n.type_text if n.type_text != "declared" else ""
            for n in body
            if isinstance(n, ir.Assign)
            for t in n.targets
            if isinstance(t, ir.Name)
        }
        fields.update({n.name: "" for n in body if isinstance(n, ir.Func) and n.decorators})
        bases: list[ir.Node] = []
        for item in node.named_children:
            if item.type == "inheritance_specifier":
                bases.append(ir.Name(*self.at(item), self.text(item)))
        made = ir.Class(*self.at(node), name, bases, as_methods(body, "self"), fields)
        implicit_fields(body, fields, "self")
        return made

    def n_property_declaration(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        pattern = self.field(node, "name")
        name = self.text(pattern)
        kind = self.child(node, "type_annotation")
        type_text = self.text(kind).lstrip(": ") if kind is not None else ""
        computed = self.field(node, "computed_value")
        if computed is not None:
            getter = self.child(computed, "computed_getter")
            body = self.statements(self.child(getter or computed, "statements"))
            made = self.func(node, name, [], body)
            made.decorators = [ir.Name(*place, "property")]
            return made
        value = self.field(node, "value")
        target: ir.Node = ir.Name(*self.at(pattern), name) if pattern is not None else ir.Other(*place, [])
        lowered = self.lower(value) if value is not None else None
        return ir.Assign(
            *place,
            [target],
            lowered,
            type_text=type_text if UNORDERED.search(type_text) or value is None else "declared",
        )

    def n_function_declaration(self, node: Syntax) -> ir.Node:
        params: list[ir.Param] = []
        returns = ""
        seen_name = False
        for i, child in enumerate(node.children):
            role = node.field_name_for_child(i)
            if child.type == "parameter":
                params.append(self.param(child))
            elif role == "default_value" and params:
                params[-1].default = self.lower(child)
            elif role == "name" and seen_name:
                returns = self.text(child)
            elif role == "name":
                seen_name = True
            elif role == "return_type":
                returns = self.text(child)
        made = self.func(
            node,
            self.text(self.field(node, "name")),
            params,
            self.statements(self.field(node, "body")),
            returns=returns,
        )
        made.is_static = "static " in self.text(self.child(node, "modifiers"))
        return made

    def n_init_declaration(self, node: Syntax) -> ir.Node:
        params = [self.param(c) for c in node.named_children if c.type == "parameter"]
        return self.func(node, "init", params, self.statements(self.field(node, "body")))

    def param(self, node: Syntax) -> ir.Param:
        names = list(node.children_by_field_name("name"))
        name = self.text(names[0]) if names else ""
        return ir.Param(name, None, self.text(names[1]) if len(names) > 1 else "")

    def n_lambda_literal(self, node: Syntax) -> ir.Node:
        kind = self.field(node, "type")
        params: list[str] = []
        if kind is not None:
            params = [
                self.text(self.field(p, "name") or p)
                for part in kind.named_children
                for p in part.named_children
                if p.type == "lambda_parameter"
            ]
        return self.func(
            node, "", [ir.Param(p) for p in params or ["$0", "$1"]], self.statements(self.child(node, "statements"))
        )

    def n_navigation_expression(self, node: Syntax) -> ir.Node:
        suffix = self.field(node, "suffix")
        name = self.text(self.field(suffix, "suffix")) if suffix is not None else ""
        return ir.Attr(*self.at(node), self.lower(self.field(node, "target")), name)

    def n_prefix_expression(self, node: Syntax) -> ir.Node:
        target = self.field(node, "target")
        raw = self.text(node)
        if raw.startswith("."):
            return ir.Const(*self.at(node), self.text(target))
        inner = self.lower(target)
        return (
            ir.Op(*self.at(node), "-", [inner])
            if raw.startswith("-")
            else inner
            if raw.startswith("&")
            else ir.Other(*self.at(node), [inner])
        )

    def n_call_expression(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        parts = self.named(node)
        if parts[0].type == "additive_expression":
            # "a" + f(x): the grammar reads the sum as the function that is called
            left = self.lower(self.field(parts[0], "lhs"))
            right = self.called(self.field(parts[0], "rhs"), parts[1:], place)
            first = self.field(parts[0], "lhs")
            is_sum = isinstance(left, ir.Concat) and first is not None and first.type == "additive_expression"
            known = left.parts if isinstance(left, ir.Concat) and is_sum else [left]
            return ir.Concat(*place, [*known, right])
        return self.called(parts[0], parts[1:], place)

    def called(self, func: Syntax | None, suffixes: list[Syntax], place: tuple[int, int]) -> ir.Node:
        args: list[ir.Node] = []
        named: list[tuple[str | None, ir.Node]] = []
        for suffix in suffixes:
            for part in self.named(suffix):
                if part.type == "value_arguments":
                    self.arguments(part, args, named)
                elif part.type == "lambda_literal":
                    args.append(self.lower(part))
        lowered = self.lower(func)
        if func is not None:
            place = (self.at(func)[0], place[1])
        last = ir.dotted(lowered).rsplit(".", 1)[-1]
        bracketed = any(self.text(s).startswith("[") for s in suffixes)
        if bracketed and args:
            return ir.Index(*place, lowered, args[0])
        if last == "String" and (args or named):
            values = [v for k, v in named if k not in ("encoding", "format", "arguments", "as")]
            fmt = next((v for k, v in named if k == "format"), None)
            if fmt is not None:
                return ir.Op(*place, "%", [_percent(fmt), ir.Seq(*place, args, "tuple")])
            return ir.Concat(*place, [*args, *values])
        if isinstance(lowered, ir.Attr) and last == "joined" and named:
            return ir.Call(*place, lowered, [named[0][1]])
        return ir.Call(*place, lowered, args, named, is_new=last[:1].isupper())

    def arguments(self, node: Syntax, args: list[ir.Node], named: list[tuple[str | None, ir.Node]]) -> None:
        for item in self.named(node):
            label = self.field(item, "name")
            value = self.field(item, "value")
            if value is None:
                continue
            if label is not None:
                named.append((self.text(label), self.lower(value)))
            else:
                args.append(self.lower(value))

    def n_array_literal(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)))

    def n_dictionary_literal(self, node: Syntax) -> ir.Node:
        keys = [self.lower(c) for c in node.children_by_field_name("key")]
        values = [self.lower(c) for c in node.children_by_field_name("value")]
        return ir.Map(*self.at(node), [*zip(keys, values, strict=False)])

    def n_additive_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "lhs", "rhs", self.operator(node))

    n_multiplicative_expression = n_additive_expression

    def n_nil_coalescing_expression(self, node: Syntax) -> ir.Node:
        return ir.Choice(
            *self.at(node), [self.lower(self.field(node, "value")), self.lower(self.field(node, "if_nil"))]
        )

    def n_ternary_expression(self, node: Syntax) -> ir.Node:
        options = [self.lower(self.field(node, "if_true")), self.lower(self.field(node, "if_false"))]
        return ir.Choice(*self.at(node), options, [self.lower(self.field(node, "condition"))])

    def n_assignment(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "target"), self.field(node, "result"), self.operator(node))

    def n_control_transfer_statement(self, node: Syntax) -> ir.Node:
        inner = self.field(node, "result")
        if not self.text(node).startswith("return"):
            return ir.Other(*self.at(node), self.body(node))
        return ir.Return(*self.at(node), self.lower(inner) if inner is not None else None)

    def n_if_statement(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(c) for c in node.named_children if c.type == "statements"]
        other = self.child(node, "if_statement")
        if other is not None:
            blocks.append([self.lower(other)])
        bound = self.bindings(node)
        made = ir.If(*self.at(node), [], [*blocks, []] if len(blocks) < 2 else blocks)
        return ir.Block(*self.at(node), [*bound, made])

    def n_guard_statement(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(c) for c in node.named_children if c.type == "statements"]
        return ir.Block(*self.at(node), [*self.bindings(node), ir.If(*self.at(node), [], [*blocks, []])])

    def bindings(self, node: Syntax) -> list[ir.Node]:
        """Lower the conditions: ``let a = b`` binds."""
        found: list[ir.Node] = []
        names: list[Syntax] = []
        for i, child in enumerate(node.children):
            role = node.field_name_for_child(i)
            if role == "bound_identifier":
                names.append(child)
            elif role == "condition" and child.type != "value_binding_pattern" and child.is_named:
                value = self.lower(child)
                found.append(
                    ir.Assign(*self.at(child), [self.name(names.pop())], value, type_text="declared")
                    if names
                    else value
                )
        return found

    def n_for_statement(self, node: Syntax) -> ir.Node:
        item = self.field(node, "item")
        parts = [c for c in item.named_children if c.type == "pattern"] if item is not None else []
        target = ir.Seq(*self.at(item), [self.lower(p) for p in parts], "tuple") if len(parts) > 1 else self.lower(item)
        source = self.field(node, "collection")
        lowered = self.lower(source)
        if source is not None and source.type == "range_expression":
            lowered = ir.Call(*self.at(source), ir.Name(*self.at(source), "range"), [])
        return ir.Loop(*self.at(node), target, lowered, self.statements(self.child(node, "statements")))

    def n_while_statement(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node), None, None, [*self.bindings(node), *self.statements(self.child(node, "statements"))]
        )

    n_repeat_while_statement = n_while_statement

    def n_switch_statement(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(self.child(c, "statements")) for c in node.named_children if c.type == "switch_entry"]
        return ir.If(*self.at(node), [self.lower(self.field(node, "expr"))], blocks or [[]])

    def n_do_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        body = [s for c in node.named_children if c.type == "statements" for s in self.statements(c)]
        caught = [
            s
            for c in node.named_children
            if c.type == "catch_block"
            for s in self.statements(self.child(c, "statements"))
        ]
        return ir.Block(*place, [*body, ir.If(*place, [], [[], caught])])


def _percent(node: ir.Node) -> ir.Node:
    if isinstance(node, ir.Const) and node.text is not None:
        node.text = node.text.replace("%@", "%s").replace("%ld", "%d")
    return node
