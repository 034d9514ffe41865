"""C#."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, as_methods, implicit_fields, parse

NAME = "csharp"
SUFFIXES = (".cs",)
PACKAGE = "tree_sitter_c_sharp"

UNORDERED = re.compile(
    r"^(?:System\.Collections\.(?:Generic|"
    r"Concurrent)\.)?(?:I?ReadOnly)?(?:Concurrent)?(?:Frozen)?(?:I?Dictionary|HashSet|ISet|Hashtable|"
    r"ConcurrentBag|ImmutableDictionary|ImmutableHashSet|FrozenSet)\b"
)
LANG = Lang(
    name="csharp",
    calls=table(
        """
uuid kind=uuid: Guid.NewGuid Guid.CreateVersion7
epoch kind=epoch: Stopwatch.GetTimestamp
random-id kind=random: Random.Next Shared.Next random.Next rng.Next Random.Shared.Next Shared.NextInt64
random-id kind=random: new:Random().Next
random-id: Path.GetRandomFileName RandomNumberGenerator.GetHexString RandomNumberGenerator.GetInt32
random-id: RandomNumberGenerator.GetBytes Ulid.NewUlid ObjectId.GenerateNewId .GetHashCode
list-order kind=random: Shared.Shuffle Random.Shuffle Shared.GetItems
timestamp kind=datetime: TimeProvider.System.GetUtcNow System.GetUtcNow timeProvider.GetUtcNow
timestamp kind=datetime: SystemClock.Instance.GetCurrentInstant
cwd-or-env: Directory.GetCurrentDirectory Environment.GetEnvironmentVariables
user-or-host: Dns.GetHostName WindowsIdentity.GetCurrent
temp-path: Path.GetTempPath Path.GetTempFileName Directory.CreateTempSubdirectory
list-order kind=listing: Directory.GetFiles Directory.EnumerateFiles Directory.GetDirectories
list-order kind=listing: Directory.EnumerateDirectories Directory.GetFileSystemEntries
list-order kind=listing: Directory.EnumerateFileSystemEntries .GetFiles .EnumerateFiles
list-order kind=listing: .EnumerateFileSystemInfos
"""
    ),
    members=table(
        """
timestamp kind=datetime: DateTime.Now DateTime.UtcNow DateTimeOffset.Now DateTimeOffset.UtcNow
date kind=date: DateTime.Today
epoch kind=epoch: Environment.TickCount Environment.TickCount64
user-or-host: Environment.UserName Environment.MachineName Environment.UserDomainName Environment.OSVersion
cwd-or-env: Environment.CurrentDirectory
random-id: Environment.ProcessId Thread.CurrentThread.ManagedThreadId Environment.CurrentManagedThreadId
"""
    ),
    unordered_types=UNORDERED,
    unordered_calls=frozenset({"HashSet", "ConcurrentDictionary", "ConcurrentBag", "Hashtable", "Dictionary"}),
    json_calls=frozenset({"JsonSerializer.Serialize", "JsonConvert.SerializeObject"}),
    map_json_only=True,
)


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    return ir.Tree(_CSharp(data).body(parse(PACKAGE, data)))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


class _CSharp(Lowerer):
    NAMES = frozenset({"identifier", "this", "base", "predefined_type", "this_expression"})
    PASS = frozenset(
        {
            "parenthesized_expression",
            "expression_statement",
            "await_expression",
            "arrow_expression_clause",
            "argument",
            "global_statement",
            "checked_expression",
        }
    )
    SKIP = frozenset(
        {
            "comment",
            "modifier",
            "using_directive",
            "interface_declaration",
            "enum_declaration",
            "delegate_declaration",
            "attribute_list",
            "preproc_region",
            "preproc_endregion",
        }
    )
    BLOCKS = frozenset({"block", "declaration_list"})
    STRINGS = frozenset(
        {"string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"}
    )
    NUMBERS = frozenset({"integer_literal", "real_literal"})
    CONTENT = frozenset({"string_literal_content", "string_content", "escape_sequence", "raw_string_content"})

    def body(self, node: Syntax | None) -> list[ir.Node]:
        found: list[ir.Node] = []
        for child in self.named(node) if node is not None else []:
            made = self.maybe(child)
            flat = ("namespace_declaration", "local_declaration_statement", "field_declaration", "global_statement")
            if isinstance(made, ir.Block) and child.type in flat:
                found += made.body
            elif made is not None:
                found.append(made)
        return found

    def n_namespace_declaration(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), self.body(self.field(node, "body")))

    def n_file_scoped_namespace_declaration(self, node: Syntax) -> ir.Node | None:
        return None

    def hole(self, node: Syntax) -> ir.Node:
        inner = [
            c
            for c in self.named(node)
            if c.type not in ("interpolation_brace", "interpolation_format_clause", "interpolation_alignment_clause")
        ]
        spec = self.text(self.child(node, "interpolation_format_clause")).lstrip(":")
        value = self.lower(inner[0]) if inner else ir.Other(*self.at(node), [])
        return ir.Formatted(value.start, value.end, value, spec)

    def n_class_declaration(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "name"))
        body = self.inside(name, lambda: self.body(self.field(node, "body")))
        fields = {
            t.name: n.type_text if n.type_text != "declared" else ""
            for n in body
            if isinstance(n, ir.Assign)
            for t in n.targets
            if isinstance(t, ir.Name)
        }
        fields.update({n.name: n.returns for n in body if isinstance(n, ir.Func) and n.decorators})
        listed = self.field(node, "parameters") or self.child(node, "parameter_list")
        for param in self.params(listed):
            fields.setdefault(param.name, param.type_text)
        bases: list[ir.Node] = []
        base = self.child(node, "base_list")
        if base is not None:
            bases = [self.lower(c) for c in base.named_children if c.type == "identifier"]
        made = ir.Class(*self.at(node), name, bases, as_methods(body, "this"), fields)
        implicit_fields(body, fields, "this")
        return made

    n_struct_declaration = n_record_declaration = n_record_struct_declaration = n_class_declaration

    def n_field_declaration(self, node: Syntax) -> ir.Node:
        inner = self.child(node, "variable_declaration")
        return self.n_variable_declaration(inner) if inner is not None else ir.Block(*self.at(node), [])

    n_local_declaration_statement = n_field_declaration

    def n_variable_declaration(self, node: Syntax) -> ir.Node:
        kind = self.text(self.field(node, "type"))
        found: list[ir.Node] = []
        for item in node.named_children:
            if item.type != "variable_declarator":
                continue
            parts = [c for c in self.named(item) if c != self.field(item, "name")]
            value = self.lower(parts[-1]) if parts else None
            if parts and parts[-1].type == "implicit_object_creation_expression":
                value = self.created(parts[-1], kind)
            text = kind if UNORDERED.search(kind) or value is None else "declared"
            found.append(ir.Assign(*self.at(item), [self.lower(self.field(item, "name"))], value, type_text=text))
        return ir.Block(*self.at(node), found)

    def n_property_declaration(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        name = self.text(self.field(node, "name"))
        value = self.field(node, "value")
        kind = self.text(self.field(node, "type"))
        accessors = self.field(node, "accessors")
        getter = (
            next(
                (
                    c
                    for c in accessors.named_children
                    if self.text(c).startswith("get") and self.field(c, "body") is not None
                ),
                None,
            )
            if accessors is not None
            else None
        )
        if (value is not None and value.type == "arrow_expression_clause") or getter is not None:
            inner = self.field(getter, "body") if getter is not None else value
            assert inner is not None
            body: list[ir.Node] = (
                self.statements(inner) if inner.type == "block" else [ir.Return(*self.at(inner), self.lower(inner))]
            )
            made = self.func(node, name, [], body, returns=kind)
            made.decorators = [ir.Name(*place, "property")]
            return made
        lowered = None
        if value is not None:
            lowered = (
                self.created(value, kind) if value.type == "implicit_object_creation_expression" else self.lower(value)
            )
        return ir.Assign(
            *place,
            [ir.Name(*place, name)],
            lowered,
            type_text=kind if UNORDERED.search(kind) or value is None else "declared",
        )

    def n_method_declaration(self, node: Syntax) -> ir.Node:
        body = self.field(node, "body")
        arrow = self.child(node, "arrow_expression_clause")
        lowered: list[ir.Node] = (
            [ir.Return(*self.at(arrow), self.lower(arrow))] if arrow is not None else self.statements(body)
        )
        made = self.func(
            node, self.text(self.field(node, "name")), self.params(self.field(node, "parameters")), [*lowered]
        )
        made.returns = self.text(self.field(node, "returns"))
        made.is_static = any(c.type == "modifier" and self.text(c) == "static" for c in node.named_children)
        return made

    n_local_function_statement = n_method_declaration

    def n_constructor_declaration(self, node: Syntax) -> ir.Node:
        return self.func(
            node, "constructor", self.params(self.field(node, "parameters")), self.statements(self.field(node, "body"))
        )

    def params(self, node: Syntax | None) -> list[ir.Param]:
        if node is None:
            return []
        if node.type in ("implicit_parameter", "identifier"):
            return [ir.Param(self.text(node))]
        found = []
        for item in self.named(node):
            name = self.text(self.field(item, "name") or item)
            rest = [c for c in self.named(item) if c not in (self.field(item, "name"), self.field(item, "type"))]
            found.append(ir.Param(name, self.lower(rest[-1]) if rest else None, self.text(self.field(item, "type"))))
        return found

    def n_lambda_expression(self, node: Syntax) -> ir.Node:
        body = self.field(node, "body")
        lowered: list[ir.Node] = self.statements(body)
        if body is not None and body.type != "block":
            lowered = [ir.Return(*self.at(body), lowered[0] if lowered else None)]
        return self.func(node, "", self.params(self.field(node, "parameters")), lowered)

    def n_member_access_expression(self, node: Syntax) -> ir.Node:
        return ir.Attr(
            *self.at(node), self.lower(self.field(node, "expression")), self.member(self.field(node, "name"))
        )

    def member(self, node: Syntax | None) -> str:
        return re.sub(r"<.*", "", self.text(node), flags=re.DOTALL)

    def n_conditional_access_expression(self, node: Syntax) -> ir.Node:
        parts = self.named(node)
        base = self.lower(parts[0])
        last = parts[-1]
        if last.type == "member_binding_expression":
            return ir.Attr(*self.at(node), base, self.text(self.field(last, "name")))
        if last.type == "invocation_expression":
            func = self.field(last, "function")
            args, named = self.arguments(self.field(last, "arguments"))
            return ir.Call(
                *self.at(node),
                ir.Attr(*self.at(node), base, self.text(self.field(func, "name")) if func is not None else ""),
                args,
                named,
            )
        return base

    def n_generic_name(self, node: Syntax) -> ir.Node:
        return ir.Name(*self.at(node), self.member(node))

    def n_qualified_name(self, node: Syntax) -> ir.Node:
        return ir.Attr(*self.at(node), self.lower(self.field(node, "qualifier")), self.member(self.field(node, "name")))

    def n_invocation_expression(self, node: Syntax) -> ir.Node:
        args, named = self.arguments(self.field(node, "arguments"))
        func = self.lower(self.field(node, "function"))
        path = ir.dotted(func)
        if path in ("string.Format", "String.Format") and args:
            return self.composite(node, args)
        if path in ("string.Concat", "String.Concat"):
            return ir.Concat(*self.at(node), args)
        if isinstance(func, ir.Attr) and func.name == "AppendFormat" and args:
            return ir.Call(*self.at(node), func, [self.composite(node, args)])
        return ir.Call(*self.at(node), func, args, named)

    def composite(self, node: Syntax, args: list[ir.Node]) -> ir.Node:
        place = self.at(node)
        at = next((i for i, a in enumerate(args) if isinstance(a, ir.Const) and a.text is not None), 0)
        form, values = args[at], args[at + 1 :]
        if not isinstance(form, ir.Const) or form.text is None:
            return ir.Concat(*place, args)
        parts: list[ir.Node] = []
        for piece in re.split(r"(\{\d+[^{}]*\})", form.text):
            found = re.match(r"\{(\d+)(?:,[^:]*)?(?::(.*))?\}$", piece)
            if found and int(found[1]) < len(values):
                value = values[int(found[1])]
                parts.append(ir.Formatted(value.start, value.end, value, found[2] or ""))
            elif piece:
                parts.append(ir.Const(*place, piece))
        return ir.Concat(*place, parts)

    def arguments(self, node: Syntax | None) -> tuple[list[ir.Node], list[tuple[str | None, ir.Node]]]:
        args: list[ir.Node] = []
        named: list[tuple[str | None, ir.Node]] = []
        for item in self.named(node) if node is not None else []:
            label = self.field(item, "name")
            parts = [c for c in self.named(item) if c != label]
            if not parts:
                continue
            if label is not None:
                named.append((self.text(label), self.lower(parts[-1])))
            else:
                args.append(self.lower(parts[-1]))
        return args, named

    def n_object_creation_expression(self, node: Syntax) -> ir.Node:
        return self.created(node, self.text(self.field(node, "type")))

    def n_implicit_object_creation_expression(self, node: Syntax) -> ir.Node:
        return self.created(node, "")

    def created(self, node: Syntax, kind: str) -> ir.Node:
        place = self.at(node)
        args, named = self.arguments(self.field(node, "arguments") or self.child(node, "argument_list"))
        initial = self.field(node, "initializer") or self.child(node, "initializer_expression")
        bare = self.member_name(kind)
        if initial is not None:
            items = self.named(initial)
            if items and all(i.type == "assignment_expression" for i in items):
                pairs = [self.initialized(i) for i in items]
                if bare.endswith("Dictionary") or any(k is None for k, _ in pairs):
                    return ir.Map(*place, [(k if isinstance(k, ir.Node) else None, v) for k, v in pairs])
                named += [(k.name if isinstance(k, ir.Name) else None, v) for k, v in pairs]
                return ir.Call(*place, ir.Name(*place, bare or "object"), args, named, is_new=True)
            if not UNORDERED.search(bare or "x"):
                return ir.Seq(*place, self.exprs(items))
        if bare in ("List", "Queue", "Stack", "LinkedList", "Collection") and not args:
            return ir.Seq(*place, [])
        if bare in ("List", "Queue") and len(args) == 1:
            return ir.Call(*place, ir.Name(*place, "list"), args)
        if bare in ("SortedDictionary", "SortedSet", "SortedList"):
            return ir.Call(*place, ir.Name(*place, "sorted"), args) if args else ir.Seq(*place, [])
        if bare == "StringBuilder":
            return ir.Concat(*place, args)
        return ir.Call(*place, ir.Name(*place, bare or "object"), args, named, is_new=True)

    def member_name(self, kind: str) -> str:
        return re.sub(r"<.*", "", kind, flags=re.DOTALL).rsplit(".", 1)[-1].strip("?[] ")

    def initialized(self, node: Syntax) -> tuple[ir.Node | None, ir.Node]:
        left, right = self.field(node, "left"), self.field(node, "right")
        if left is not None and left.type == "implicit_element_access":
            inner = [c for part in left.named_children for c in part.named_children] or left.named_children
            return self.lower(inner[0]), self.lower(right)
        return self.lower(left), self.lower(right)

    def n_initializer_expression(self, node: Syntax) -> ir.Node:
        return ir.Seq(*self.at(node), self.exprs(self.named(node)))

    n_implicit_array_creation_expression = n_initializer_expression

    def n_array_creation_expression(self, node: Syntax) -> ir.Node:
        inner = self.child(node, "initializer_expression")
        return self.lower(inner) if inner is not None else ir.Seq(*self.at(node), [])

    n_implicit_array_creation_expression = n_array_creation_expression

    def n_collection_expression(self, node: Syntax) -> ir.Node:
        items: list[ir.Node] = []
        for child in self.named(node):
            inner = self.named(child)
            if child.type == "spread_element" and inner:
                items.append(ir.Spread(*self.at(child), self.lower(inner[0])))
            else:
                items.append(
                    self.lower(inner[0]) if child.type == "expression_element" and inner else self.lower(child)
                )
        return ir.Seq(*self.at(node), items)

    def n_anonymous_object_creation_expression(self, node: Syntax) -> ir.Node:
        pairs: list[tuple[ir.Node | None, ir.Node]] = []
        waiting: Syntax | None = None
        children = [c for c in node.children if c.type not in ("new", "{", "}", ",") and c.type not in self.SKIP]
        for i, child in enumerate(children):
            if child.type == "=":
                continue
            if i + 1 < len(children) and children[i + 1].type == "=":
                waiting = child
            elif waiting is not None:
                pairs.append((ir.Const(*self.at(waiting), self.text(waiting)), self.lower(child)))
                waiting = None
            else:
                pairs.append((ir.Const(*self.at(child), self.text(child).rsplit(".", 1)[-1]), self.lower(child)))
        return ir.Map(*self.at(node), pairs)

    def n_element_access_expression(self, node: Syntax) -> ir.Node:
        subscript = self.field(node, "subscript")
        args, _ = self.arguments(subscript)
        key = args[0] if args else ir.Other(*self.at(node), [])
        return ir.Index(*self.at(node), self.lower(self.field(node, "expression")), key)

    def n_range_expression(self, node: Syntax) -> ir.Node:
        raw = self.text(node)
        inner = self.exprs(self.named(node))
        lower = inner[0] if inner and not raw.startswith("..") else None
        upper = inner[-1] if len(inner) == 2 or (inner and raw.startswith("..")) else None
        return ir.Slice(*self.at(node), lower, upper)

    def n_prefix_unary_expression(self, node: Syntax) -> ir.Node:
        raw = self.text(node)
        if raw.startswith(("++", "--")):
            return self.increment(node, self.named(node)[0])
        inner = self.through(node)
        return ir.Op(*self.at(node), "-", [inner]) if raw.startswith(("-", "^")) else ir.Other(*self.at(node), [inner])

    def n_postfix_unary_expression(self, node: Syntax) -> ir.Node:
        return (
            self.increment(node, self.named(node)[0]) if self.text(node).endswith(("++", "--")) else self.through(node)
        )

    def n_cast_expression(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "value"))

    def n_as_expression(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "left"))

    def n_binary_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "left", "right", self.operator(node))

    def n_assignment_expression(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"), self.operator(node))

    def n_conditional_expression(self, node: Syntax) -> ir.Node:
        options = [self.lower(self.field(node, "consequence")), self.lower(self.field(node, "alternative"))]
        return ir.Choice(*self.at(node), options, [self.lower(self.field(node, "condition"))])

    def n_switch_expression(self, node: Syntax) -> ir.Node:
        arms = [self.lower(self.named(c)[-1]) for c in node.named_children if c.type == "switch_expression_arm"]
        return ir.Choice(*self.at(node), arms, [self.lower(self.named(node)[0])])

    def n_return_statement(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None)

    def n_yield_statement(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None, is_yield=True)

    def n_if_statement(self, node: Syntax) -> ir.Node:
        blocks = [self.statements(self.field(node, "consequence")), self.statements(self.field(node, "alternative"))]
        return ir.If(*self.at(node), [self.lower(self.field(node, "condition"))], blocks)

    def n_foreach_statement(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            self.lower(self.field(node, "left")),
            self.lower(self.field(node, "right")),
            self.statements(self.field(node, "body")),
        )

    def n_for_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        body = self.statements(self.field(node, "body"))
        update, first = self.field(node, "update"), self.field(node, "initializer")
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

    def n_switch_statement(self, node: Syntax) -> ir.Node:
        body = self.field(node, "body")
        blocks = [self.body(c) for c in (body.named_children if body is not None else ())]
        return ir.If(*self.at(node), [self.lower(self.field(node, "value"))], blocks or [[]])

    def n_try_statement(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        caught = [self.statements(self.field(c, "body")) for c in node.named_children if c.type == "catch_clause"]
        return ir.Block(*place, [*self.statements(self.field(node, "body")), ir.If(*place, [], [[], *caught])])

    def n_using_statement(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), self.body(node))

    def pieces(self, node: Syntax) -> Iterator[ir.Node]:
        """Yield the pieces of a string."""
        if node.type == "verbatim_string_literal":
            yield ir.Const(*self.at(node), self.text(node)[2:-1])
            return
        yield from super().pieces(node)
