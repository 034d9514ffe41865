"""JavaScript and TypeScript, JSX included."""

from __future__ import annotations

import re

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, parse

NAME = "javascript"
SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
PACKAGE = "tree_sitter_javascript"

LANG = Lang(
    name="javascript",
    calls=table(
        """
timestamp kind=datetime when=bare: new:Date Date dayjs moment DateTime.now DateTime.local DateTime.utc
timestamp kind=datetime when=bare: moment.utc dayjs.utc Now.instant Now.zonedDateTimeISO
timestamp kind=datetime when=bare: Now.plainDateTimeISO
date kind=date: Now.plainDateISO
epoch kind=epoch: Date.now performance.now process.hrtime hrtime.bigint process.uptime
uuid kind=uuid: crypto.randomUUID randomUUID uuidv4 uuid.v4 uuid.v1 uuid.v7 uuidv7 uuidv1 v4 v1 v7 uuid
random-id: nanoid ulid cuid cuid2.createId createId customAlphabet crypto.randomBytes randomBytes
random-id: crypto.getRandomValues crypto.randomInt randomInt hyperid shortid.generate ObjectId new:ObjectId
random-id kind=random: Math.random _.random lodash.random faker.string.uuid
list-order kind=random: _.shuffle _.sampleSize _.sample lodash.shuffle
user-or-host: os.hostname os.userInfo os.homedir hostname userInfo homedir
cwd-or-env: process.cwd cwd Deno.cwd
temp-path: os.tmpdir tmpdir fs.mkdtempSync fs.mkdtemp mkdtemp mkdtempSync tmp.dirSync tmp.fileSync
temp-path: tempy.directory
list-order kind=listing: fs.readdirSync fs.readdir fsp.readdir promises.readdir readdirSync readdir
list-order kind=listing: glob.sync globSync fg.sync fg.glob fastGlob.sync globby glob fg
image-reencode medium: .toDataURL
"""
    ),
    members=table(
        """
random-id: process.pid process.ppid
cwd-or-env kind=environ: process.env Deno.env Bun.env
user-or-host: navigator.userAgent
"""
    ),
    json_calls=frozenset({"JSON.stringify"}),
    json_safe=re.compile(r"stableStringify|sort"),
    map_json_only=True,
)


def _package(path: str) -> tuple[str, str]:
    suffix = path.rsplit(".", 1)[-1]
    if suffix in ("ts", "mts", "cts"):
        return "tree_sitter_typescript", "language_typescript"
    if suffix == "tsx":
        return "tree_sitter_typescript", "language_tsx"
    return PACKAGE, "language"


def lower_file(path: str, data: bytes) -> ir.Tree:
    """Parse a file by the grammar that its suffix asks for."""
    package, function = _package(path)
    return ir.Tree(_JavaScript(data).body(parse(package, data, function)))


def lower(data: bytes) -> ir.Tree:
    """Parse TypeScript with JSX, which holds most JavaScript too."""
    return lower_file("x.tsx", data)


def parses(data: bytes) -> None:
    """Do nothing: a file without prompts is not parsed, as tree-sitter accepts nearly anything."""


class _JavaScript(Lowerer):
    NAMES = frozenset(
        {
            "identifier",
            "property_identifier",
            "shorthand_property_identifier",
            "this",
            "super",
            "private_property_identifier",
            "type_identifier",
            "shorthand_property_identifier_pattern",
        }
    )
    PASS = frozenset(
        {
            "parenthesized_expression",
            "expression_statement",
            "await_expression",
            "as_expression",
            "satisfies_expression",
            "non_null_expression",
            "type_assertion",
            "jsx_expression",
            "export_statement",
            "else_clause",
            "computed_property_name",
        }
    )
    SKIP = frozenset(
        {
            "comment",
            "interface_declaration",
            "type_alias_declaration",
            "ambient_declaration",
            "type_annotation",
            "hash_bang_line",
            "decorator",
        }
    )
    BLOCKS = frozenset({"statement_block", "class_body", "program"})
    STRINGS = frozenset({"string", "template_string"})
    NUMBERS = frozenset({"number"})

    def body(self, node: Syntax | None) -> list[ir.Node]:
        found: list[ir.Node] = []
        for child in self.named(node) if node is not None else []:
            made = self.maybe(child)
            if isinstance(made, ir.Block) and child.type in (
                "import_statement",
                "lexical_declaration",
                "variable_declaration",
                "export_statement",
            ):
                found += made.body
            elif made is not None:
                found.append(made)
        return found

    def n_export_statement(self, node: Syntax) -> ir.Node:
        inner = self.field(node, "declaration") or self.field(node, "value")
        return self.lower(inner) if inner is not None else ir.Other(*self.at(node), [])

    def n_import_statement(self, node: Syntax) -> ir.Node:
        source = self.text(self.field(node, "source")).strip("\"'`").removeprefix("node:")
        found: list[ir.Node] = []
        clause = self.child(node, "import_clause")
        for part in clause.named_children if clause is not None else ():
            if part.type == "identifier":
                found.append(
                    ir.Import(*self.at(part), source, "" if not source.startswith(".") else "default", self.text(part))
                )
            elif part.type == "namespace_import":
                found.append(ir.Import(*self.at(part), source, "", self.text(part.named_children[0])))
            for item in part.named_children if part.type == "named_imports" else ():
                name = self.text(self.field(item, "name"))
                found.append(ir.Import(*self.at(item), source, name, self.text(self.field(item, "alias")) or name))
        return ir.Block(*self.at(node), found)

    def n_lexical_declaration(self, node: Syntax) -> ir.Node:
        found: list[ir.Node] = []
        for item in node.named_children:
            if item.type == "variable_declarator":
                found += self.declared(item)
        return ir.Block(*self.at(node), found)

    n_variable_declaration = n_lexical_declaration

    def declared(self, node: Syntax) -> list[ir.Node]:
        value = self.field(node, "value")
        name = self.field(node, "name")
        if (
            value is not None
            and name is not None
            and value.type == "call_expression"
            and self.text(self.field(value, "function")) == "require"
        ):
            source = re.sub(r"^\(\s*[\"'`](?:node:)?|[\"'`]\s*\)$", "", self.text(self.field(value, "arguments")))
            names = [name] if name.type == "identifier" else self.named(name)
            return [
                ir.Import(*self.at(n), source, "" if name.type == "identifier" else self.text(n), self.text(n))
                for n in names
            ]
        kind = self.text(self.field(node, "type")).lstrip(": ")
        if value is None or name is None:
            return [ir.Assign(*self.at(node), [self.lower(name)], None, type_text=kind)]
        lowered = self.lower(value)
        if isinstance(lowered, ir.Func) and name.type == "identifier":
            lowered.name = self.text(name)
            return [lowered]
        if name.type == "object_pattern":
            return [
                ir.Assign(*self.at(node), [t], ir.Attr(*self.at(node), lowered, key)) for key, t in self.pattern(name)
            ]
        return [ir.Assign(*self.at(node), self.targets(name), lowered, type_text=kind)]

    def pattern(self, node: Syntax) -> list[tuple[str, ir.Node]]:
        return [pair for item in self.named(node) for pair in self.pattern_of(item)]

    def pattern_of(self, item: Syntax) -> list[tuple[str, ir.Node]]:
        """Return key and target of one member of an object pattern."""
        if item.type == "pair_pattern":
            return [(self.text(self.field(item, "key")), self.lower(self.field(item, "value")))]
        if item.type == "object_assignment_pattern":
            left = self.field(item, "left")
            return [(self.text(left), self.lower(left))]
        if item.type == "shorthand_property_identifier_pattern":
            return [(self.text(item), self.name(item))]
        return []

    def n_array_pattern(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)), "tuple")

    def n_class_declaration(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name"))
        heritage = self.child(node, "class_heritage")
        bases = (
            [self.lower(self.field(c, "value")) for c in heritage.named_children if c.type == "extends_clause"]
            if heritage is not None
            else []
        )
        body = self.inside(name, lambda: self.body(self.field(node, "body")))
        constructor = next((f for f in body if isinstance(f, ir.Func) and f.name == "constructor"), None)
        fields = {p.name: p.type_text for p in constructor.params} if constructor else {}
        made = ir.Class(*self.at(node), name, bases, as_methods(body, "this"), {})
        if constructor is not None:
            # constructor(private client: Client): the parameter is a field too
            start, end = self.at(node)
            for item in [i for i in fields if i]:
                this = ir.Attr(start, end, ir.Name(start, end, "this"), item)
                constructor.body.insert(0, ir.Assign(start, end, [this], ir.Name(start, end, item)))
        return made

    n_class = n_abstract_class_declaration = n_class_declaration

    def n_public_field_definition(self, node: Syntax) -> ir.Node | None:
        value = self.field(node, "value")
        name = self.field(node, "name") or self.field(node, "property")
        if value is None or name is None:
            return None
        lowered = self.lower(value)
        if isinstance(lowered, ir.Func):
            lowered.name = self.text(name)
            return lowered
        return ir.Assign(
            *self.at(node), [self.name(name)], lowered, type_text=self.text(self.field(node, "type")).lstrip(": ")
        )

    n_field_definition = n_public_field_definition

    def function(self, node: Syntax) -> ir.Func:
        params = self.params(self.field(node, "parameters") or self.field(node, "parameter"))
        body = self.field(node, "body")
        if body is not None and body.type not in self.BLOCKS:
            lowered: list[ir.Node] = [ir.Return(*self.at(body), self.lower(body))]
        else:
            lowered = self.statements(body)
        unpacked = self.unpacked(self.field(node, "parameters"), params)
        made = self.func(node, self.text(self.field(node, "name")), params, [*unpacked, *lowered])
        made.returns = self.text(self.field(node, "return_type")).lstrip(": ")
        made.is_static = any(self.text(c) == "static" for c in node.children if not c.is_named)
        if node.type == "method_definition" and any(self.text(c) == "get" for c in node.children if not c.is_named):
            made.decorators = [ir.Name(*self.at(node), "property")]
        return made

    n_function_declaration = n_function_expression = n_arrow_function = n_method_definition = function
    n_generator_function_declaration = n_generator_function = function

    def unpacked(self, node: Syntax | None, params: list[ir.Param]) -> list[ir.Node]:
        """Turn ``({ system = text, tools })`` into assignments from the members of one parameter."""
        found: list[ir.Node] = []
        items = self.named(node) if node is not None and node.type != "identifier" else []
        for i, item in enumerate(items):
            pattern = self.field(item, "pattern") or self.field(item, "left") or item
            if pattern.type != "object_pattern" or i >= len(params):
                continue
            place = self.at(pattern)
            params[i].name = f"$parameter{i}"
            for part in self.named(pattern):
                default = self.field(part, "right") if part.type == "object_assignment_pattern" else None
                for key, target in self.pattern_of(part):
                    value: ir.Node = ir.Attr(*place, ir.Name(*place, params[i].name), key)
                    if default is not None:
                        value = ir.Choice(*place, [value, self.lower(default)])
                    found.append(ir.Assign(*self.at(part), [target], value))
        return found

    def params(self, node: Syntax | None) -> list[ir.Param]:
        if node is None:
            return []
        if node.type == "identifier":
            return [ir.Param(self.text(node))]
        found = []
        for item in self.named(node):
            pattern = self.field(item, "pattern") or self.field(item, "left") or item
            default = self.field(item, "value") or self.field(item, "right")
            kind = "rest" if pattern.type == "rest_pattern" else "plain"
            name = self.text(pattern).lstrip(".") if pattern.type in ("identifier", "rest_pattern", "this") else ""
            found.append(
                ir.Param(
                    name,
                    self.lower(default) if default is not None else None,
                    self.text(self.field(item, "type")).lstrip(": "),
                    kind,
                )
            )
        return found

    def n_member_expression(self, node: Syntax) -> ir.Node:
        return ir.Attr(*self.at(node), self.lower(self.field(node, "object")), self.text(self.field(node, "property")))

    def n_subscript_expression(self, node: Syntax) -> ir.Node:
        return ir.Index(*self.at(node), self.lower(self.field(node, "object")), self.lower(self.field(node, "index")))

    def n_call_expression(self, node: Syntax) -> ir.Node:
        arguments = self.field(node, "arguments")
        func = self.field(node, "function")
        if arguments is not None and arguments.type == "template_string":
            return self.string(arguments)  # a tagged template: the tag seldom changes the text
        return ir.Call(*self.at(node), self.lower(func), self.args(arguments))

    def n_new_expression(self, node: Syntax) -> ir.Node:
        return ir.Call(
            *self.at(node),
            self.lower(self.field(node, "constructor")),
            self.args(self.field(node, "arguments")),
            is_new=True,
        )

    def args(self, node: Syntax | None) -> list[ir.Node]:
        return self.exprs(self.named(node)) if node is not None else []

    def n_spread_element(self, node: Syntax) -> ir.Node:
        return ir.Spread(*self.at(node), self.through(node))

    def n_array(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)))

    def n_object(self, node: Syntax) -> ir.Node:
        pairs: list[tuple[ir.Node | None, ir.Node]] = []
        for item in self.named(node):
            place = self.at(item)
            if item.type == "pair":
                pairs.append((self.key(self.field(item, "key")), self.lower(self.field(item, "value"))))
            elif item.type == "shorthand_property_identifier":
                pairs.append((ir.Const(*place, self.text(item)), self.name(item)))
            elif item.type == "spread_element":
                pairs.append((None, self.through(item)))
            elif item.type == "method_definition":
                pairs.append((ir.Const(*place, self.text(self.field(item, "name"))), self.function(item)))
        return ir.Map(*self.at(node), pairs)

    def key(self, node: Syntax | None) -> ir.Node:
        assert node is not None
        if node.type == "property_identifier":
            return ir.Const(*self.at(node), self.text(node))
        return self.lower(node)

    def n_template_substitution(self, node: Syntax) -> ir.Node:
        return self.hole(node)

    def n_binary_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "left", "right", self.operator(node))

    def n_unary_expression(self, node: Syntax) -> ir.Node:
        inner = self.lower(self.field(node, "argument"))
        operator = self.operator(node)
        if operator == "-":
            return ir.Op(*self.at(node), "-", [inner])
        if operator == "delete":
            return ir.Delete(*self.at(node), [inner])
        return ir.Other(*self.at(node), [inner])

    def n_ternary_expression(self, node: Syntax) -> ir.Node:
        options = [self.lower(self.field(node, "consequence")), self.lower(self.field(node, "alternative"))]
        return ir.Choice(*self.at(node), options, [self.lower(self.field(node, "condition"))])

    def n_assignment_expression(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"))

    def n_augmented_assignment_expression(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"), self.operator(node))

    def n_update_expression(self, node: Syntax) -> ir.Node:
        return self.increment(node, self.field(node, "argument"))

    def n_return_statement(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None)

    def n_yield_expression(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None, is_yield=True)

    def n_if_statement(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(self.field(node, "consequence")), self.statements(self.field(node, "alternative"))]
        return ir.If(*self.at(node), [self.lower(self.field(node, "condition"))], blocks)

    def n_else_clause(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Block(*self.at(node), self.statements(inner[0])) if inner else ir.Block(*self.at(node), [])

    def n_for_in_statement(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            self.lower(self.field(node, "left")),
            self.lower(self.field(node, "right")),
            self.statements(self.field(node, "body")),
        )

    def n_for_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        body = self.statements(self.field(node, "body"))
        update = self.field(node, "increment")
        loop = ir.Loop(
            *place,
            None,
            None,
            [*body, *([self.lower(update)] if update else [])],
            self.lower(self.field(node, "condition")),
        )
        return ir.Block(*place, [self.lower(self.field(node, "initializer")), loop])

    def n_while_statement(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            None,
            None,
            self.statements(self.field(node, "body")),
            self.lower(self.field(node, "condition")),
        )

    n_do_statement = n_while_statement

    def n_switch_statement(self, node: Syntax) -> ir.Node:
        body = self.field(node, "body")
        blocks = [
            [m for s in c.children_by_field_name("body") if (m := self.maybe(s)) is not None]
            for c in (body.named_children if body is not None else ())
        ]
        return ir.If(*self.at(node), [self.lower(self.field(node, "value"))], blocks or [[]])

    def n_try_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        handler = self.field(node, "handler")
        body = self.statements(self.field(node, "body"))
        caught = self.statements(self.field(handler, "body")) if handler is not None else []
        return ir.Block(*place, [*body, ir.If(*place, [], [[], caught]), *self.body(self.field(node, "finalizer"))])
