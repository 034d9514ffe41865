"""Kotlin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, implicit_fields, parse
from prefixlint.code.java import CALLS, UNORDERED

NAME = "kotlin"
SUFFIXES = (".kt", ".kts")
PACKAGE = "tree_sitter_kotlin"

LANG = Lang(
    name="kotlin",
    calls={
        **CALLS,
        **table(
            """
timestamp kind=datetime: System.now Clock.System.now
date kind=date: System.todayIn
random-id kind=random: Random.nextInt Random.nextLong Random.nextDouble
uuid kind=uuid: Uuid.random
list-order kind=random: .shuffled
list-order kind=listing: .listFiles .walk .listDirectoryEntries .walkTopDown
"""
        ),
    },
    unordered_types=UNORDERED,
    unordered_calls=frozenset("HashMap HashSet hashMapOf hashSetOf ConcurrentHashMap Set.of Map.of".split()),
    json_calls=frozenset({".writeValueAsString", ".toJson", "Json.encodeToString"}),
    map_json_only=True,
)


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    return ir.Tree(_Kotlin(data).body(parse(PACKAGE, data)))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


class _Kotlin(Lowerer):
    NAMES = frozenset({"identifier", "this_expression", "super_expression", "simple_identifier"})
    PASS = frozenset({"parenthesized_expression", "annotated_lambda", "expression", "spread_expression"})
    SKIP = frozenset(
        {
            "line_comment",
            "block_comment",
            "multiline_comment",
            "modifiers",
            "package_header",
            "type_arguments",
            "user_type",
            "nullable_type",
        }
    )
    BLOCKS = frozenset({"block", "statements", "class_body"})
    STRINGS = frozenset({"string_literal", "multiline_string_literal"})
    NUMBERS = frozenset({"number_literal", "float_literal"})

    def pieces(self, node: Syntax) -> Iterator[ir.Node]:
        """Yield the pieces of a string; ``$name`` comes as two pieces of content."""
        is_name = False
        for child in node.named_children:
            raw = self.text(child)
            if child.type == "string_content" and raw == "$":
                is_name = True
            elif is_name:
                is_name = False
                name = re.match(r"\w+", raw)
                start, end = self.at(child)
                middle = start + (len(name[0].encode()) if name else 0)
                yield ir.Formatted(start, middle, ir.Name(start, middle, name[0] if name else ""))
                if name and raw[name.end() :]:
                    yield ir.Const(middle, end, raw[name.end() :])
            elif child.type in self.CONTENT:
                yield ir.Const(*self.at(child), {"\\n": "\n", "\\t": "\t"}.get(raw, raw))
            elif child.type in self.HOLES:
                yield self.hole(child)

    def n_import(self, node: Syntax) -> ir.Node:
        path = self.text(node.named_children[0]) if node.named_children else ""
        alias = self.text(node.named_children[1]) if len(node.named_children) > 1 else path.rsplit(".", 1)[-1]
        return ir.Import(*self.at(node), "", path.rsplit(".", 1)[-1], alias)

    def n_class_declaration(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name"))
        body = self.inside(name, lambda: self.body(self.child(node, "class_body", "enum_class_body")))
        fields: dict[str, str] = {}
        found: list[ir.Node] = []
        primary = self.child(node, "primary_constructor")
        for param in self.class_params(primary):
            fields[param.name] = param.type_text
            if param.default is not None:
                found.append(
                    ir.Assign(
                        param.default.start, param.default.end, [ir.Name(*self.at(node), param.name)], param.default
                    )
                )
        for item in body:
            if isinstance(item, ir.Assign):
                for target in item.targets:
                    if isinstance(target, ir.Name):
                        fields[target.name] = item.type_text if item.type_text != "declared" else ""
        members = [*found, *body]
        implicit_fields(as_methods(members, "this"), fields, "this")
        return ir.Class(*self.at(node), name, [], members, fields)

    n_object_declaration = n_class_declaration

    def n_companion_object(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), self.body(self.child(node, "class_body")))

    def class_params(self, node: Syntax | None) -> list[ir.Param]:
        listed = self.child(node, "class_parameters") if node is not None else None
        return (
            [self.param(p) for p in listed.named_children if p.type == "class_parameter"] if listed is not None else []
        )

    def param(self, node: Syntax) -> ir.Param:
        parts = [c for c in node.named_children if c.type != "modifiers"]
        kind = self.text(parts[1]) if len(parts) > 1 else ""
        return ir.Param(self.text(parts[0]) if parts else "", self.lower(parts[2]) if len(parts) > 2 else None, kind)

    def n_property_declaration(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        declared = self.child(node, "variable_declaration", "multi_variable_declaration")
        parts = [
            c
            for c in self.named(node)
            if c.type
            not in (
                "variable_declaration",
                "multi_variable_declaration",
                "getter",
                "setter",
                "type_parameters",
                "receiver_type",
            )
        ]
        getter = self.child(node, "getter")
        name = self.text(declared.named_children[0]) if declared is not None and declared.named_children else ""
        if getter is not None and not parts:
            made = self.func(node, name, [], self.function_body(self.child(getter, "function_body")))
            made.decorators = [ir.Name(*place, "property")]
            return made
        kind = (
            self.text(declared.named_children[1])
            if declared is not None and declared.type == "variable_declaration" and len(declared.named_children) > 1
            else ""
        )
        if parts and parts[-1].type == "property_delegate":
            return ir.Assign(
                *place, [ir.Name(*place, name)], self.lower(self.named(parts[-1])[0]), type_text="declared"
            )
        value = self.lower(parts[-1]) if parts else None
        target: ir.Node = ir.Name(*(self.at(declared) if declared is not None else place), name)
        if declared is not None and declared.type == "multi_variable_declaration":
            target = self.n_multi_variable_declaration(declared)
        return ir.Assign(
            *place, [target], value, type_text=kind if UNORDERED.search(kind) or value is None else "declared"
        )

    def n_multi_variable_declaration(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), [self.lower(c) for c in self.named(node)], "tuple")

    def n_variable_declaration(self, node: Syntax) -> ir.Node:
        return self.lower(node.named_children[0])

    def n_function_declaration(self, node: Syntax) -> ir.Node:
        listed = self.child(node, "function_value_parameters")
        params: list[ir.Param] = []
        for item in self.named(listed) if listed is not None else []:
            if item.type == "parameter":
                params.append(self.param(item))
            elif params and item.type != "parameter_modifiers":
                params[-1].default = self.lower(item)
        made = self.func(
            node, self.text(self.field(node, "name")), params, self.function_body(self.child(node, "function_body"))
        )
        kinds = [c for c in node.named_children if c.type in ("user_type", "nullable_type")]
        made.returns = self.text(kinds[-1]) if kinds else ""
        return made

    def function_body(self, node: Syntax | None) -> list[ir.Node]:
        inner = self.named(node) if node is not None else []
        if not inner:
            return []
        if inner[0].type in self.BLOCKS:
            return self.statements(inner[0])
        return [ir.Return(*self.at(inner[0]), self.lower(inner[0]))]

    def n_lambda_literal(self, node: Syntax) -> ir.Node:
        listed = self.child(node, "lambda_parameters")
        names = [self.text(c).split(":")[0].strip() for c in listed.named_children] if listed is not None else ["it"]
        body = [m for c in self.named(node) if c.type != "lambda_parameters" and (m := self.maybe(c)) is not None]
        return self.func(node, "", [ir.Param(n) for n in names], body)

    def n_navigation_expression(self, node: Syntax) -> ir.Node:
        parts = self.named(node)
        return ir.Attr(*self.at(node), self.lower(parts[0]), self.text(parts[-1]))

    def n_call_expression(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        parts = self.named(node)
        func = self.lower(parts[0])
        args: list[ir.Node] = []
        named: list[tuple[str | None, ir.Node]] = []
        for part in parts[1:]:
            if part.type == "value_arguments":
                self.arguments(part, args, named)
            elif part.type in ("annotated_lambda", "lambda_literal"):
                args.append(self.lower(part))
        if isinstance(func, ir.Call) and parts[-1].type == "annotated_lambda":
            return ir.Call(*place, func.func, [*func.args, *args], func.named)
        last = ir.dotted(func).rsplit(".", 1)[-1]
        if last in (
            "listOf",
            "mutableListOf",
            "arrayListOf",
            "emptyList",
            "arrayOf",
            "setOf",
            "mutableSetOf",
            "linkedSetOf",
        ):
            return ir.Seq(*place, args)
        if last in ("mapOf", "mutableMapOf", "linkedMapOf", "buildMap", "buildJsonObject", "emptyMap"):
            return ir.Map(*place, [p for a in args for p in _pair(a)])
        if last in ("buildString", "buildList") and args and isinstance(args[-1], ir.Func):
            return self.built(node, args[-1])
        if last == "StringBuilder":
            return ir.Concat(*place, args)
        return ir.Call(*place, func, args, named, is_new=last[:1].isupper())

    def built(self, node: Syntax, func: ir.Func) -> ir.Node:
        """Lower ``buildString { append(x) }``: the bare calls append to the receiver."""
        place = self.at(node)
        for inner in ir.walk(func.body):
            if (
                isinstance(inner, ir.Call)
                and isinstance(inner.func, ir.Name)
                and inner.func.name in ("append", "appendLine", "add")
            ):
                inner.func = ir.Attr(inner.start, inner.end, ir.Name(inner.start, inner.end, "$built"), inner.func.name)
        start: ir.Node = (
            ir.Concat(*place, [ir.Const(*place, "")]) if "buildString" in self.text(node)[:40] else ir.Seq(*place, [])
        )
        return ir.Block(
            *place, [ir.Assign(*place, [ir.Name(*place, "$built")], start), *func.body, ir.Name(*place, "$built")]
        )

    def arguments(self, node: Syntax, args: list[ir.Node], named: list[tuple[str | None, ir.Node]]) -> None:
        for item in self.named(node):
            parts = self.named(item)
            if (
                len(parts) == 2
                and parts[0].type == "identifier"
                and "=" in self.text(item)[len(self.text(parts[0])) :][:3]
            ):
                named.append((self.text(parts[0]), self.lower(parts[1])))
            elif parts:
                args.append(self.lower(parts[0]))

    def n_index_expression(self, node: Syntax) -> ir.Node:
        parts = self.named(node)
        return ir.Index(*self.at(node), self.lower(parts[0]), self.lower(parts[1]))

    def n_infix_expression(self, node: Syntax) -> ir.Node:
        parts = self.named(node)
        if len(parts) == 3 and self.text(parts[1]) == "to":
            return ir.Seq(*self.at(node), [self.lower(parts[0]), self.lower(parts[2])], "pair")
        return self.other(node)

    def n_binary_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "left", "right", self.operator(node))

    def n_elvis_expression(self, node: Syntax) -> ir.Node:
        return ir.Choice(*self.at(node), self.exprs(self.named(node)))

    def n_as_expression(self, node: Syntax) -> ir.Node:
        return self.through(node)

    def n_unary_expression(self, node: Syntax) -> ir.Node:
        raw = self.text(node)
        inner = self.named(node)[0]
        if "++" in raw or "--" in raw:
            return self.increment(node, inner)
        return (
            self.lower(inner)
            if raw.endswith("!!")
            else ir.Op(*self.at(node), "-", [self.lower(inner)])
            if raw.startswith("-")
            else self.other(node)
        )

    def n_assignment(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"), self.operator(node))

    def n_return_expression(self, node: Syntax) -> ir.Node:
        inner = [c for c in self.named(node) if c.type != "label"]
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None)

    def n_if_expression(self, node: Syntax) -> ir.Node:
        condition = self.field(node, "condition")
        blocks = [self.statements(c) for c in self.named(node) if c != condition]
        return ir.If(*self.at(node), [self.lower(condition)], [*blocks, []] if len(blocks) < 2 else blocks)

    def n_when_expression(self, node: Syntax) -> ir.Node:
        blocks = [
            self.statements(self.named(e)[-1]) for e in node.named_children if e.type == "when_entry" and self.named(e)
        ]
        subject = self.child(node, "when_subject")
        return ir.If(*self.at(node), [self.through(subject)] if subject is not None else [], blocks or [[]])

    def n_for_statement(self, node: Syntax) -> ir.Node:
        parts = self.named(node)
        body = self.statements(parts[-1]) if len(parts) > 2 else []
        return ir.Loop(*self.at(node), self.lower(parts[0]), self.lower(parts[1]), body)

    def n_while_statement(self, node: Syntax) -> ir.Node:
        condition = self.field(node, "condition")
        body = [s for c in self.named(node) if c != condition for s in self.statements(c)]
        return ir.Loop(*self.at(node), None, None, body, self.lower(condition))

    n_do_while_statement = n_while_statement

    def n_try_expression(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        body = [s for c in self.named(node) if c.type == "block" for s in self.statements(c)]
        caught = [
            s
            for c in self.named(node)
            if c.type == "catch_block"
            for b in self.named(c)
            if b.type == "block"
            for s in self.statements(b)
        ]
        return ir.Block(*place, [ir.If(*place, [], [body, caught])])


def _pair(node: ir.Node) -> list[tuple[ir.Node | None, ir.Node]]:
    if isinstance(node, ir.Seq) and node.kind == "pair":
        return [(node.items[0], node.items[1])]
    return []
