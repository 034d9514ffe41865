"""Java."""

from __future__ import annotations

import re

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, implicit_fields, parse

NAME = "java"
SUFFIXES = (".java",)
PACKAGE = "tree_sitter_java"

UNORDERED = re.compile(
    r"^(?:java\.util\.)?(?:concurrent\.)?(?:Mutable)?(?:HashMap|HashSet|ConcurrentHashMap|Hashtable|"
    r"IdentityHashMap|WeakHashMap|ConcurrentMap)\b"
)
CALLS = table(
    """
timestamp kind=datetime: LocalDateTime.now ZonedDateTime.now OffsetDateTime.now Instant.now LocalTime.now
timestamp kind=datetime: Clock.systemUTC Calendar.getInstance System.now
timestamp kind=datetime when=bare: new:Date Date
date kind=date: LocalDate.now
epoch kind=epoch: System.currentTimeMillis System.nanoTime
uuid kind=uuid: UUID.randomUUID Generators.timeBasedGenerator Uuid.random
random-id: ProcessHandle.current RandomStringUtils.randomAlphanumeric RandomStringUtils.random
random-id: UlidCreator.getUlid ObjectId.get NanoIdUtils.randomNanoId new:ObjectId System.identityHashCode
random-id kind=random: Math.random ThreadLocalRandom.current Random.nextInt random.nextInt random.nextLong
random-id kind=random: Random.nextLong rnd.nextInt rand.nextInt
list-order kind=random: Collections.shuffle
user-or-host: InetAddress.getLocalHost InetAddress.getHostName
temp-path: Files.createTempFile Files.createTempDirectory File.createTempFile createTempFile
temp-path: createTempDirectory
list-order kind=listing: Files.list Files.walk Files.newDirectoryStream .listFiles .listDirectoryEntries
"""
)
LANG = Lang(
    name="java",
    calls=CALLS,
    unordered_types=UNORDERED,
    unordered_calls=frozenset(
        "HashMap HashSet ConcurrentHashMap Hashtable IdentityHashMap Set.of Map.of Map.ofEntries "
        "Set.copyOf Map.copyOf Collectors.toSet Collectors.toMap".split()
    ),
    json_calls=frozenset({".writeValueAsString", ".toJson"}),
    json_safe=re.compile(r"ORDER_MAP_ENTRIES_BY_KEYS"),
    map_json_only=True,
)


_LISTS = frozenset("List.of Arrays.asList ImmutableList.of Stream.of Collections.singletonList".split())


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    return ir.Tree(_Java(data).body(parse(PACKAGE, data)))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


class _Java(Lowerer):
    NAMES = frozenset({"identifier", "this", "super", "type_identifier", "scoped_type_identifier"})
    PASS = frozenset({"parenthesized_expression", "expression_statement", "condition"})
    SKIP = frozenset(
        {
            "line_comment",
            "block_comment",
            "modifiers",
            "package_declaration",
            "interface_declaration",
            "annotation_type_declaration",
            "dimensions",
        }
    )
    BLOCKS = frozenset({"block", "constructor_body"})
    STRINGS = frozenset({"string_literal", "text_block", "character_literal"})
    NUMBERS = frozenset({"decimal_integer_literal", "decimal_floating_point_literal", "hex_integer_literal"})
    CONTENT = frozenset({"string_fragment", "multiline_string_fragment", "escape_sequence"})

    def body(self, node: Syntax | None) -> list[ir.Node]:
        found: list[ir.Node] = []
        for child in self.named(node) if node is not None else []:
            made = self.maybe(child)
            if isinstance(made, ir.Block) and child.type in ("local_variable_declaration", "field_declaration"):
                found += made.body
            elif made is not None:
                found.append(made)
        return found

    def n_import_declaration(self, node: Syntax) -> ir.Node:
        path = self.text(node.named_children[0]) if node.named_children else ""
        module, _, name = path.rpartition(".")
        return ir.Import(
            *self.at(node), module.rsplit(".", 1)[-1] if module.rsplit(".", 1)[-1][:1].isupper() else "", name, name
        )

    def n_class_declaration(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name"))
        body = self.inside(name, lambda: self.body(self.field(node, "body")))
        fields = {
            t.name: n.type_text for n in body if isinstance(n, ir.Assign) for t in n.targets if isinstance(t, ir.Name)
        }
        parameters = self.field(node, "parameters")
        for param in self.params(parameters) if parameters is not None else []:
            fields[param.name] = param.type_text
        base = self.child(node, "superclass")
        bases = [self.through(base)] if base is not None else []
        made = ir.Class(*self.at(node), name, bases, as_methods(body, "this"), fields)
        implicit_fields(body, fields, "this")
        return made

    n_record_declaration = n_enum_declaration = n_class_declaration

    def n_field_declaration(self, node: Syntax) -> ir.Node:
        kind = self.text(self.field(node, "type"))
        return ir.Block(*self.at(node), [self.declared(c, kind) for c in node.children_by_field_name("declarator")])

    def n_local_variable_declaration(self, node: Syntax) -> ir.Node:
        return self.n_field_declaration(node)

    def declared(self, node: Syntax, kind: str) -> ir.Node:
        value = self.field(node, "value")
        name = self.lower(self.field(node, "name"))
        text = kind if UNORDERED.search(kind) or value is None else "declared"
        return ir.Assign(*self.at(node), [name], self.lower(value) if value is not None else None, type_text=text)

    def n_method_declaration(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name"))
        made = self.func(
            node, name, self.params(self.field(node, "parameters")), self.statements(self.field(node, "body"))
        )
        made.returns = self.text(self.field(node, "type"))
        modifiers = self.child(node, "modifiers")
        made.is_static = modifiers is not None and "static" in self.text(modifiers).split()
        return made

    def n_constructor_declaration(self, node: Syntax) -> ir.Node:
        made = self.n_method_declaration(node)
        assert isinstance(made, ir.Func)
        made.name, made.returns = "constructor", ""
        return made

    def params(self, node: Syntax | None) -> list[ir.Param]:
        found = []
        for item in self.named(node) if node is not None else []:
            name = self.text(self.field(item, "name") or item)
            found.append(
                ir.Param(
                    name,
                    None,
                    self.text(self.field(item, "type")),
                    "rest" if item.type == "spread_parameter" else "plain",
                )
            )
        return found

    def n_lambda_expression(self, node: Syntax) -> ir.Node:
        listed = self.field(node, "parameters")
        params = (
            [ir.Param(self.text(listed))] if listed is not None and listed.type == "identifier" else self.params(listed)
        )
        body = self.field(node, "body")
        lowered: list[ir.Node] = self.statements(body)
        if body is not None and body.type not in self.BLOCKS:
            lowered = [ir.Return(*self.at(body), lowered[0] if lowered else None)]
        return self.func(node, "", params, lowered)

    def n_method_reference(self, node: Syntax) -> ir.Node:
        return ir.Other(*self.at(node), [])

    def n_method_invocation(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        base = self.field(node, "object")
        name = self.text(self.field(node, "name"))
        arguments = self.field(node, "arguments")
        args = self.exprs(self.named(arguments)) if arguments is not None else []
        if name in ("format", "formatted") and args:
            return self.formatted(node, base, name, args)
        if base is not None and f"{self.text(base)}.{name}" in _LISTS:
            return ir.Seq(*place, args)
        if base is not None and f"{self.text(base)}.{name}" in ("Map.of", "ImmutableMap.of") and len(args) % 2 == 0:
            return ir.Map(*place, [*zip(args[::2], args[1::2], strict=True)])
        func: ir.Node = ir.Attr(*place, self.lower(base), name) if base is not None else ir.Name(*place, name)
        return self.builder(ir.Call(*place, func, args))

    def formatted(self, node: Syntax, base: Syntax | None, name: str, args: list[ir.Node]) -> ir.Node:
        place = self.at(node)
        if name == "formatted" and base is not None:
            return ir.Op(*place, "%", [self.lower(base), ir.Seq(*place, args, "tuple")])
        if self.text(base) != "String":
            return ir.Call(
                *place, ir.Attr(*place, self.lower(base), name) if base is not None else ir.Name(*place, name), args
            )
        if not isinstance(args[0], (ir.Const, ir.Concat)) and len(args) > 1:
            args = args[1:]  # String.format(Locale, format, ...)
        return ir.Op(*place, "%", [args[0], ir.Seq(*place, args[1:], "tuple")])

    def builder(self, node: ir.Call) -> ir.Node:
        """Turn ``X.builder().system(s).model(m).build()`` into one call with named arguments."""
        if not (isinstance(node.func, ir.Attr) and node.func.name == "build"):
            return node
        named: list[tuple[str | None, ir.Node]] = []
        at: ir.Node = node.func.base
        while isinstance(at, ir.Call) and isinstance(at.func, ir.Attr):
            if at.func.name in ("builder", "newBuilder"):
                start = ir.dotted(at.func.base).rsplit(".", 1)[-1]
                return ir.Call(node.start, node.end, ir.Name(node.start, node.end, start), [], named[::-1], is_new=True)
            if len(at.args) == 1:
                key = re.sub(r"^(?:add|set|with)(?=[A-Z])", "", at.func.name)
                named.append((key[:1].lower() + key[1:], at.args[0]))
            elif len(at.args) == 2:
                named.append((at.func.name, at.args[1]))
            at = at.func.base
        if isinstance(at, ir.Call) and at.is_new:
            return ir.Call(node.start, node.end, at.func, at.args, named[::-1], is_new=True)
        return node

    def n_object_creation_expression(self, node: Syntax) -> ir.Node:
        kind = re.sub(r"<.*", "", self.text(self.field(node, "type")))
        arguments = self.field(node, "arguments")
        args = self.exprs(self.named(arguments)) if arguments is not None else []
        if (
            kind in ("ArrayList", "LinkedList", "ArrayDeque", "LinkedHashMap", "TreeMap", "LinkedHashSet", "TreeSet")
            and not args
        ):
            place = self.at(node)
            return ir.Map(*place, []) if kind.endswith("Map") else ir.Seq(*place, [])
        if kind in ("TreeMap", "TreeSet") and args:
            return ir.Call(*self.at(node), ir.Name(*self.at(node), "sorted"), args)
        if kind in ("ArrayList", "LinkedList", "LinkedHashSet", "LinkedHashMap") and len(args) == 1:
            return ir.Call(*self.at(node), ir.Name(*self.at(node), "list"), args)
        if kind in ("StringBuilder", "StringBuffer"):
            return ir.Concat(*self.at(node), args)
        return ir.Call(*self.at(node), ir.Name(*self.at(node), kind.rsplit(".", 1)[-1]), args, is_new=True)

    def n_field_access(self, node: Syntax) -> ir.Node:
        return ir.Attr(*self.at(node), self.lower(self.field(node, "object")), self.text(self.field(node, "field")))

    def n_array_access(self, node: Syntax) -> ir.Node:
        return ir.Index(*self.at(node), self.lower(self.field(node, "array")), self.lower(self.field(node, "index")))

    def n_array_initializer(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)))

    def n_array_creation_expression(self, node: Syntax) -> ir.Node:
        value = self.field(node, "value")
        return self.lower(value) if value is not None else ir.Seq(*self.at(node), [])

    def n_cast_expression(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "value"))

    def n_binary_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "left", "right", self.operator(node))

    def n_unary_expression(self, node: Syntax) -> ir.Node:
        inner = self.lower(self.field(node, "operand"))
        return ir.Op(*self.at(node), "-", [inner]) if self.operator(node) == "-" else ir.Other(*self.at(node), [inner])

    def n_update_expression(self, node: Syntax) -> ir.Node:
        return self.increment(node, self.named(node)[0])

    def n_assignment_expression(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"), self.operator(node))

    def n_ternary_expression(self, node: Syntax) -> ir.Node:
        options = [self.lower(self.field(node, "consequence")), self.lower(self.field(node, "alternative"))]
        return ir.Choice(*self.at(node), options, [self.lower(self.field(node, "condition"))])

    def n_return_statement(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None)

    def n_if_statement(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(self.field(node, "consequence")), self.statements(self.field(node, "alternative"))]
        return ir.If(*self.at(node), [self.lower(self.field(node, "condition"))], blocks)

    def n_enhanced_for_statement(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            self.lower(self.field(node, "name")),
            self.lower(self.field(node, "value")),
            self.statements(self.field(node, "body")),
        )

    def n_for_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        body = self.statements(self.field(node, "body"))
        update = self.field(node, "update")
        first = self.field(node, "init")
        loop = ir.Loop(
            *place,
            None,
            None,
            [*body, *([self.lower(update)] if update else [])],
            self.lower(self.field(node, "condition")),
        )
        return ir.Block(*place, [*([self.lower(first)] if first else []), loop])

    def n_while_statement(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            None,
            None,
            self.statements(self.field(node, "body")),
            self.lower(self.field(node, "condition")),
        )

    n_do_statement = n_while_statement

    def n_switch_expression(self, node: Syntax) -> ir.Node:
        body = self.field(node, "body")
        blocks = []
        for item in body.named_children if body is not None else ():
            blocks.append(
                [m for c in self.named(item) if c.type != "switch_label" and (m := self.maybe(c)) is not None]
            )
        return ir.If(*self.at(node), [self.lower(self.field(node, "condition"))], blocks or [[]])

    def n_try_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        resources = self.field(node, "resources")
        before = [self.resource(r) for r in self.named(resources)] if resources is not None else []
        body = [*before, *self.statements(self.field(node, "body"))]
        caught = [self.statements(self.field(c, "body")) for c in node.named_children if c.type == "catch_clause"]
        last = self.child(node, "finally_clause")
        return ir.Block(
            *place,
            [
                *body,
                ir.If(*place, [], [[], *caught]),
                *(self.statements(self.named(last)[0]) if last is not None else []),
            ],
        )

    n_try_with_resources_statement = n_try_statement

    def resource(self, node: Syntax) -> ir.Node:
        return ir.Assign(
            *self.at(node),
            self.targets(self.field(node, "name")),
            self.lower(self.field(node, "value")),
            type_text="declared",
        )
