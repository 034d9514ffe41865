"""Rust."""

from __future__ import annotations

import re

from prefixlint.code import _ir as ir
from prefixlint.code._lang import Lang, table
from prefixlint.code._tree import Lowerer, Syntax, parse, parser

NAME = "rust"
SUFFIXES = (".rs",)
PACKAGE = "tree_sitter_rust"

LANG = Lang(
    name="rust",
    calls=table(
        """
timestamp kind=datetime: Utc.now Local.now OffsetDateTime.now_utc OffsetDateTime.now_local Zoned.now
timestamp kind=datetime: Timestamp.now DateTime.now
date kind=date: Utc.today Local.today
epoch kind=epoch: SystemTime.now Instant.now UNIX_EPOCH.elapsed
uuid kind=uuid: Uuid.new_v4 Uuid.now_v7 Uuid.now_v1 Uuid.now_v6
random-id: Ulid.new nanoid.nanoid nanoid cuid2.create_id process.id thread.current ObjectId.new
random-id kind=random: rand.random random rng.gen rng.random rng.gen_range rng.random_range thread_rng().gen
random-id kind=random: rng().random fastrand.u32 fastrand.u64 fastrand.usize Alphanumeric.sample_string
user-or-host: hostname.get gethostname whoami.username whoami.hostname whoami.devicename whoami.realname
user-or-host: gethostname.gethostname dirs.home_dir home_dir
cwd-or-env: env.current_dir current_dir env.vars
temp-path: env.temp_dir tempfile.tempdir TempDir.new tempfile.tempfile NamedTempFile.new tempdir
list-order kind=listing: fs.read_dir read_dir glob.glob WalkDir.new
"""
    ),
    unordered_types=re.compile(
        r"^(?:&(?:'\w+ )?(?:mut )?)?(?:(?:Arc|Rc|Box|RwLock|Mutex)<)*(?:std::collections::|"
        r"collections::)?(?:Hash(?:Map|Set)|DashMap|DashSet|FxHashMap|FxHashSet|AHashMap)\b"
    ),
    unordered_calls=frozenset(
        "HashMap.new HashSet.new HashMap.from HashSet.from HashMap.with_capacity HashSet.with_capacity "
        "HashMap.default DashMap.new HashSet.from_iter HashMap.from_iter".split()
    ),
    json_calls=frozenset(
        {"serde_json.to_string", "serde_json.to_string_pretty", "serde_json.to_value", "serde_json.to_vec"}
    ),
    map_json_only=True,
)
_FORMAT = frozenset("format print println write writeln panic anyhow bail format_args concat formatdoc indoc".split())


def lower(data: bytes) -> ir.Tree:
    """Parse a file."""
    return ir.Tree(_with_methods(_Rust(data).body(parse(PACKAGE, data))))


def parses(data: bytes) -> None:
    """Only parse."""
    parse(PACKAGE, data)


def _with_methods(body: list[ir.Node]) -> list[ir.Node]:
    # impl blocks stand outside their struct: put their functions in, so that the fields of self are known.
    classes: dict[str, ir.Class] = {}
    rest: list[ir.Node] = []
    for node in body:
        if isinstance(node, ir.Class):
            known = classes.setdefault(node.name, node)
            if known is not node:
                known.body += node.body
                known.fields.update(node.fields)
        else:
            rest.append(node)
    return [*classes.values(), *rest]


class _Rust(Lowerer):
    NAMES = frozenset(
        {"identifier", "field_identifier", "self", "type_identifier", "shorthand_field_identifier", "crate", "super"}
    )
    PASS = frozenset(
        {
            "parenthesized_expression",
            "expression_statement",
            "await_expression",
            "try_expression",
            "reference_expression",
            "reference_pattern",
            "mut_pattern",
            "else_clause",
            "match_pattern",
            "ref_pattern",
            "captured_pattern",
            "unsafe_block",
            "async_block",
            "const_block",
        }
    )
    SKIP = frozenset(
        {
            "line_comment",
            "block_comment",
            "attribute_item",
            "inner_attribute_item",
            "visibility_modifier",
            "mutable_specifier",
            "enum_item",
            "trait_item",
            "type_item",
            "macro_definition",
            "label",
        }
    )
    BLOCKS = frozenset({"block"})
    STRINGS = frozenset({"string_literal", "raw_string_literal", "char_literal"})
    NUMBERS = frozenset({"integer_literal", "float_literal"})

    def body(self, node: Syntax | None) -> list[ir.Node]:
        found: list[ir.Node] = []
        for child in self.named(node) if node is not None else []:
            made = self.maybe(child)
            if isinstance(made, ir.Block) and child.type in ("use_declaration", "mod_item"):
                found += made.body
            elif made is not None:
                found.append(made)
        return found

    def n_use_declaration(self, node: Syntax) -> ir.Node:
        found: list[ir.Node] = []
        self.used(self.field(node, "argument"), "", found)
        return ir.Block(*self.at(node), found)

    def used(self, node: Syntax | None, prefix: str, found: list[ir.Node]) -> None:
        if node is None:
            return
        if node.type == "use_list":
            for item in node.named_children:
                self.used(item, prefix, found)
        elif node.type == "scoped_use_list":
            inner = self.text(self.field(node, "path")).replace("::", ".")
            self.used(self.field(node, "list"), f"{prefix}{inner}.", found)
        elif node.type == "use_as_clause":
            path = prefix + self.text(self.field(node, "path")).replace("::", ".")
            found.append(ir.Import(*self.at(node), *_split(path), self.text(self.field(node, "alias"))))
        elif node.type in ("scoped_identifier", "identifier", "self"):
            path = prefix + self.text(node).replace("::", ".")
            found.append(ir.Import(*self.at(node), *_split(path), path.rsplit(".", 1)[-1]))

    def n_mod_item(self, node: Syntax) -> ir.Node:
        return ir.Block(*self.at(node), _with_methods(self.body(self.field(node, "body"))))

    def n_struct_item(self, node: Syntax) -> ir.Node:
        fields = {}
        body = self.field(node, "body")
        for item in body.named_children if body is not None else ():
            if item.type == "field_declaration":
                fields[self.text(self.field(item, "name"))] = self.text(self.field(item, "type"))
        return ir.Class(*self.at(node), self.text(self.field(node, "name")), [], [], fields)

    def n_impl_item(self, node: Syntax) -> ir.Node:
        name = re.sub(r"<.*", "", self.text(self.field(node, "type")))
        body = self.inside(name, lambda: self.body(self.field(node, "body")))
        return ir.Class(*self.at(node), name, [], body)

    def n_function_item(self, node: Syntax) -> ir.Node:
        params = []
        has_self = False
        listed = self.field(node, "parameters")
        for item in listed.named_children if listed is not None else ():
            has_self = has_self or item.type == "self_parameter"
            if item.type == "parameter":
                pattern = self.text(self.field(item, "pattern")).removeprefix("mut ")
                params.append(ir.Param(pattern, None, self.text(self.field(item, "type"))))
        made = self.func(node, self.text(self.field(node, "name")), params, self.statements(self.field(node, "body")))
        made.returns = self.text(self.field(node, "return_type"))
        if has_self:
            made.params.insert(0, ir.Param("self"))
            made.self_name = "self"
        else:
            made.is_static = True
        return made

    def n_closure_expression(self, node: Syntax) -> ir.Node:
        listed = self.field(node, "parameters")
        params = []
        for item in listed.named_children if listed is not None else ():
            pattern = self.field(item, "pattern") or item
            params.append(
                ir.Param(self.text(pattern).lstrip("&").removeprefix("mut ").strip("()").split(",")[-1].strip())
            )
        body = self.field(node, "body")
        return self.func(node, "", params, self.statements(body))

    def n_let_declaration(self, node: Syntax) -> ir.Node:
        value = self.field(node, "value")
        lowered = self.lower(value) if value is not None else None
        made = ir.Assign(
            *self.at(node),
            self.targets(self.field(node, "pattern")),
            lowered,
            type_text=self.text(self.field(node, "type")),
        )
        other = self.field(node, "alternative")
        if other is not None:
            return ir.Block(*self.at(node), [made, ir.If(*self.at(other), [], [self.statements(other), []])])
        return made

    def n_const_item(self, node: Syntax) -> ir.Node:
        return ir.Assign(*self.at(node), [self.lower(self.field(node, "name"))], self.lower(self.field(node, "value")))

    n_static_item = n_const_item

    def n_let_condition(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        value = self.lower(self.field(node, "value"))
        return ir.Block(*place, [ir.Assign(*place, self.targets(self.field(node, "pattern")), value)])

    def n_tuple_struct_pattern(self, node: Syntax) -> ir.Node:
        inner = [c for c in self.named(node) if c != self.field(node, "type")]
        return self.lower(inner[0]) if len(inner) == 1 else ir.Seq(*self.at(node), self.exprs(inner), "tuple")

    def sequence(self, node: Syntax) -> ir.Node:
        return ir.Seq(
            *self.at(node), self.exprs(self.named(node)), "list" if node.type == "array_expression" else "tuple"
        )

    n_tuple_pattern = n_tuple_expression = n_array_expression = sequence

    def n_scoped_identifier(self, node: Syntax) -> ir.Node:
        path = self.field(node, "path")
        if path is None:
            return self.lower(self.field(node, "name"))
        return ir.Attr(*self.at(node), self.lower(path), self.text(self.field(node, "name")))

    n_scoped_type_identifier = n_scoped_identifier

    def n_generic_type(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "type"))

    def n_generic_function(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "function"))

    def n_field_expression(self, node: Syntax) -> ir.Node:
        return ir.Attr(*self.at(node), self.lower(self.field(node, "value")), self.text(self.field(node, "field")))

    def n_call_expression(self, node: Syntax) -> ir.Node:
        arguments = self.field(node, "arguments")
        args = self.exprs(self.named(arguments)) if arguments is not None else []
        func = self.lower(self.field(node, "function"))
        if isinstance(func, ir.Name) and func.name in ("Some", "Ok", "Box") and len(args) == 1:
            return args[0]
        return ir.Call(*self.at(node), func, args)

    def n_struct_expression(self, node: Syntax) -> ir.Node:
        pairs: list[tuple[ir.Node | None, ir.Node]] = []
        body = self.field(node, "body")
        for item in self.named(body) if body is not None else []:
            place = self.at(item)
            if item.type == "field_initializer":
                pairs.append(
                    (
                        ir.Const(*place, self.text(self.field(item, "field") or item.named_children[0])),
                        self.lower(self.field(item, "value")),
                    )
                )
            elif item.type == "shorthand_field_initializer":
                pairs.append((ir.Const(*place, self.text(item)), ir.Name(*place, self.text(item))))
        return ir.Map(*self.at(node), pairs, self.text(self.field(node, "name")).rsplit("::", 1)[-1])

    def n_macro_invocation(self, node: Syntax) -> ir.Node:
        name = self.text(self.field(node, "macro")).rsplit("::", 1)[-1]
        tree = self.child(node, "token_tree")
        if tree is None:
            return ir.Other(*self.at(node), [])
        if name in ("json", "serde_json"):
            return self.json(node, tree)
        args = self.tokens(tree)
        if name == "vec":
            return ir.Seq(*self.at(node), args)
        if name in ("write", "writeln") and args:
            place = self.at(node)
            return ir.Call(*place, ir.Attr(*place, args[0], "write_str"), [self.formatted(node, args[1:])])
        if name in _FORMAT:
            return self.formatted(node, args)
        return ir.Call(*self.at(node), ir.Name(*self.at(node), name), args)

    def tokens(self, tree: Syntax) -> list[ir.Node]:
        """Parse the arguments of a macro as those of a call."""
        inner = bytes(tree.text)[1:-1]
        head = b"fn f(){g("
        root = parser(PACKAGE).parse(head + inner + b");}").root_node
        again = _Rust(self.data, tree.start_byte + 1 - len(head) + self.delta)
        call = _first(root, "arguments")
        return again.exprs(list(again.named(call))) if call is not None else []

    def formatted(self, node: Syntax, args: list[ir.Node]) -> ir.Node:
        """Lower ``format!("a {} {name}", value)`` to glued text."""
        place = self.at(node)
        if not args or not isinstance(args[0], ir.Const) or args[0].text is None:
            return ir.Concat(*place, args)
        named = {
            t.name: a.value
            for a in args[1:]
            if isinstance(a, ir.Assign) and a.value is not None
            for t in a.targets
            if isinstance(t, ir.Name)
        }
        rest = [a for a in args[1:] if not isinstance(a, ir.Assign)]
        parts: list[ir.Node] = []
        at = 0
        for piece in re.split(r"(\{\{|\}\}|\{[^{}]*\})", args[0].text):
            if piece in ("{{", "}}") or not piece.startswith("{"):
                parts.append(ir.Const(*place, piece[:1] if piece in ("{{", "}}") else piece))
                continue
            name, _, spec = piece[1:-1].partition(":")
            value: ir.Node
            if name.isdigit() and int(name) < len(rest):
                value = rest[int(name)]
            elif name:
                value = named.get(name, ir.Name(args[0].start, args[0].end, name))
            else:
                value = rest[at] if at < len(rest) else ir.Other(*place, [])
                at += 1
            parts.append(ir.Formatted(value.start, value.end, value, spec))
        return ir.Concat(*place, [p for p in parts if not (isinstance(p, ir.Const) and not p.text)])

    def json(self, node: Syntax, tree: Syntax) -> ir.Node:
        """Lower ``json!({...})``: its tokens read like nested literals."""
        inner = bytes(tree.text)[1:-1]
        # {"a": x} is no Rust expression; as bytes of the same length it becomes a struct literal's cousin, a block
        values = _JsonTokens(self, inner, tree.start_byte + 1 + self.delta)
        return values.value()

    def n_index_expression(self, node: Syntax) -> ir.Node:
        base, key = self.named(node)[:2]
        return ir.Index(*self.at(node), self.lower(base), self.lower(key))

    def n_range_expression(self, node: Syntax) -> ir.Node:
        raw = self.text(node)
        inner = self.exprs(self.named(node))
        lower = inner[0] if inner and not raw.startswith("..") else None
        upper = inner[-1] if len(inner) == 2 or (inner and raw.startswith("..")) else None
        return ir.Slice(*self.at(node), lower, upper)

    def n_binary_expression(self, node: Syntax) -> ir.Node:
        return self.added(node, "left", "right", self.operator(node))

    def n_unary_expression(self, node: Syntax) -> ir.Node:
        inner = self.through(node)
        return (
            inner
            if self.operator(node) == "*"
            else ir.Op(*self.at(node), "-", [inner])
            if self.operator(node) == "-"
            else ir.Other(*self.at(node), [inner])
        )

    def n_type_cast_expression(self, node: Syntax) -> ir.Node:
        return self.lower(self.field(node, "value"))

    def n_assignment_expression(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"))

    def n_compound_assignment_expr(self, node: Syntax) -> ir.Node:
        return self.assign(node, self.field(node, "left"), self.field(node, "right"), self.operator(node))

    def n_return_expression(self, node: Syntax) -> ir.Node:
        inner = self.named(node)
        return ir.Return(*self.at(node), self.lower(inner[0]) if inner else None)

    def n_if_expression(self, node: Syntax) -> ir.Node:
        other = self.field(node, "alternative")
        second = self.statements(self.named(other)[0]) if other is not None and self.named(other) else []
        return ir.If(
            *self.at(node),
            [self.lower(self.field(node, "condition"))],
            [self.statements(self.field(node, "consequence")), second],
        )

    def n_match_expression(self, node: Syntax) -> ir.Node:
        place = self.at(node)
        subject = self.lower(self.field(node, "value"))
        body = self.field(node, "body")
        blocks: list[list[ir.Node]] = []
        for arm in body.named_children if body is not None else ():
            if arm.type != "match_arm":
                continue
            target = self.targets(self.field(arm, "pattern"))
            bound: list[ir.Node] = (
                [ir.Assign(*self.at(arm), target, subject)]
                if target and isinstance(target[0], ir.Name) and target[0].name[:1].islower()
                else []
            )
            blocks.append([*bound, *self.statements(self.field(arm, "value"))])
        return ir.If(*place, [subject], blocks or [[]])

    def n_for_expression(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            self.lower(self.field(node, "pattern")),
            self.lower(self.field(node, "value")),
            self.statements(self.field(node, "body")),
        )

    def n_while_expression(self, node: Syntax) -> ir.Node:
        return ir.Loop(
            *self.at(node),
            None,
            None,
            self.statements(self.field(node, "body")),
            self.lower(self.field(node, "condition")),
        )

    def n_loop_expression(self, node: Syntax) -> ir.Node:
        return ir.Loop(*self.at(node), None, None, self.statements(self.field(node, "body")))


class _JsonTokens:
    """Read the inside of ``json!``: literals by hand, expressions by the Rust parser."""

    def __init__(self, owner: _Rust, raw: bytes, start: int) -> None:
        self.owner, self.raw, self.start, self.at = owner, raw, start, 0

    def skip(self) -> None:
        while self.at < len(self.raw) and self.raw[self.at : self.at + 1] in (b" ", b"\n", b"\t", b"\r", b","):
            self.at += 1

    def value(self) -> ir.Node:
        self.skip()
        first = self.raw[self.at : self.at + 1]
        begin = self.at
        if first == b"{":
            return self.mapping(begin)
        if first == b"[":
            self.at += 1
            items: list[ir.Node] = []
            self.skip()
            while self.at < len(self.raw) and self.raw[self.at : self.at + 1] != b"]":
                items.append(self.value())
                self.skip()
            self.at += 1
            return ir.Seq(self.start + begin, self.start + self.at, items)
        return self.expression(b",]}")

    def mapping(self, begin: int) -> ir.Node:
        self.at += 1
        pairs: list[tuple[ir.Node | None, ir.Node]] = []
        self.skip()
        while self.at < len(self.raw) and self.raw[self.at : self.at + 1] != b"}":
            key = self.expression(b":,}")
            if self.raw[self.at : self.at + 1] == b":":
                self.at += 1
            pairs.append((key, self.value()))
            self.skip()
        self.at += 1
        return ir.Map(self.start + begin, self.start + self.at, pairs)

    def expression(self, stops: bytes) -> ir.Node:
        begin = self.at
        depth = 0
        quoted = False
        while self.at < len(self.raw):
            char = self.raw[self.at]
            if quoted:
                self.at += 2 if char == 0x5C else 1
                quoted = char != 0x22
                continue
            if char == 0x22:
                quoted = True
            elif char in b"([{":
                depth += 1
            elif char in b")]}" and depth:
                depth -= 1
            elif (
                depth == 0
                and char in stops
                and self.raw[self.at : self.at + 2] != b"::"
                and self.raw[self.at - 1 : self.at + 1] != b"::"
            ):
                break
            self.at += 1
        return self.parsed(begin)

    def parsed(self, begin: int) -> ir.Node:
        text = self.raw[begin : self.at]
        if self.at == begin:
            self.at += 1
        head = b"fn f(){g("
        root = parser(PACKAGE).parse(head + text + b");}").root_node
        call = _first(root, "arguments")
        again = _Rust(self.owner.data, self.start + begin - len(head))
        found = again.exprs(again.named(call)) if call is not None else []
        return found[0] if found else ir.Other(self.start + begin, self.start + self.at, [])


def _first(node: Syntax, kind: str) -> Syntax | None:
    stack = [node]
    while stack:
        item = stack.pop(0)
        if item.type == kind:
            return item
        stack += item.named_children
    return None


def _split(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition(".")
    return module, name
