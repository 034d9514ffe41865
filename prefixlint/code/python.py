"""Python, by the standard library's own parser."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from prefixlint.code import _ir as ir
from prefixlint.code._python_table import LANG as LANG

NAME = "python"
SUFFIXES = (".py", ".pyi")
COMMENT = "#"


def lower(data: bytes) -> ir.Tree:
    """Parse a file; SyntaxError, ValueError or RecursionError say that it cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the linted file are none of our business
        tree = ast.parse(data)
    return ir.Tree(_Lowerer(data).block(tree.body))


def parses(data: bytes) -> None:
    """Only parse, raising as ``lower`` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(data)


class _Lowerer:
    """Turn ``ast`` nodes into the neutral tree; one method for each node type, found by name."""

    def __init__(self, data: bytes) -> None:
        # ast counts lines of the decoded text: \r and \r\n end lines too, and a BOM is not counted in columns.
        self.bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        starts = [self.bom]
        at = self.bom
        for line in data[self.bom :].splitlines(keepends=True):
            at += len(line)
            starts.append(at)
        self.starts = starts
        self.table: dict[type, Callable[[Any], ir.Node]] = {}
        self.owner = ""

    def place(self, node: Any) -> tuple[int, int]:
        starts = self.starts
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def block(self, nodes: Sequence[ast.stmt]) -> list[ir.Node]:
        found: list[ir.Node] = []
        for node in nodes:
            made = self.statement(node)
            if isinstance(made, list):
                found += made
            elif made is not None:
                found.append(made)
        return found

    def statement(self, node: ast.stmt) -> ir.Node | list[ir.Node] | None:
        method = getattr(self, f"s_{type(node).__name__}", None)
        return method(node) if method else None

    def expr(self, node: ast.expr | None) -> ir.Node:
        assert node is not None
        kind = type(node)
        method = self.table.get(kind)
        if method is None:
            found: Callable[[Any], ir.Node] = getattr(self, f"e_{kind.__name__}", self.e_other)
            method = self.table[kind] = found
        return method(node)

    def maybe(self, node: ast.expr | None) -> ir.Node | None:
        return None if node is None else self.expr(node)

    def exprs(self, nodes: Sequence[ast.expr]) -> list[ir.Node]:
        return [self.expr(n) for n in nodes]

    # expressions

    def e_other(self, node: ast.expr) -> ir.Node:
        inner = [self.expr(c) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        return ir.Other(*self.place(node), inner)

    def e_Constant(self, node: ast.Constant) -> ir.Node:
        value = node.value
        text = value if isinstance(value, str) else None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        made = ir.Const(*self.place(node), text, is_number)
        if value is None:
            made.text = None
        return made

    def e_Name(self, node: ast.Name) -> ir.Node:
        return ir.Name(*self.place(node), node.id)

    def e_Attribute(self, node: ast.Attribute) -> ir.Node:
        return ir.Attr(*self.place(node), self.expr(node.value), node.attr)

    def e_Subscript(self, node: ast.Subscript) -> ir.Node:
        return ir.Index(*self.place(node), self.expr(node.value), self.expr(node.slice))

    def e_Slice(self, node: ast.Slice) -> ir.Node:
        return ir.Slice(*self.place(node), self.maybe(node.lower), self.maybe(node.upper))

    def e_Call(self, node: ast.Call) -> ir.Node:
        named = [(k.arg, self.expr(k.value)) for k in node.keywords]
        return ir.Call(*self.place(node), self.expr(node.func), self.exprs(node.args), named)

    def e_Starred(self, node: ast.Starred) -> ir.Node:
        return ir.Spread(*self.place(node), self.expr(node.value))

    def e_JoinedStr(self, node: ast.JoinedStr) -> ir.Node:
        return ir.Concat(*self.place(node), self.exprs(node.values))

    def e_FormattedValue(self, node: ast.FormattedValue) -> ir.Node:
        spec = ""
        if isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(str(v.value) for v in node.format_spec.values if isinstance(v, ast.Constant))
        return ir.Formatted(*self.place(node), self.expr(node.value), spec)

    e_TemplateStr = e_JoinedStr
    e_Interpolation = e_FormattedValue

    def e_BinOp(self, node: ast.BinOp) -> ir.Node:
        place = self.place(node)
        if isinstance(node.op, ast.Add):
            return ir.Concat(*place, self.added(node))
        return ir.Op(*place, type(node.op).__name__, [self.expr(node.left), self.expr(node.right)])

    def added(self, node: ast.expr) -> list[ir.Node]:
        # Iterative: generated code holds sums of thousands of strings.
        parts: list[ir.Node] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts.append(self.expr(node.right))
            node = node.left
        parts.append(self.expr(node))
        return parts[::-1]

    def e_BoolOp(self, node: ast.BoolOp) -> ir.Node:
        values = self.exprs(node.values)
        if isinstance(node.op, ast.And):
            return ir.Choice(*self.place(node), values[-1:], values[:-1])
        return ir.Choice(*self.place(node), values)

    def e_UnaryOp(self, node: ast.UnaryOp) -> ir.Node:
        if isinstance(node.op, ast.Not):
            return ir.Other(*self.place(node), [self.expr(node.operand)])
        return ir.Op(*self.place(node), type(node.op).__name__, [self.expr(node.operand)])

    def e_IfExp(self, node: ast.IfExp) -> ir.Node:
        options = [self.expr(node.body), self.expr(node.orelse)]
        return ir.Choice(*self.place(node), options, [self.expr(node.test)])

    def e_List(self, node: ast.List) -> ir.Node:
        return ir.Seq(*self.place(node), self.exprs(node.elts))

    def e_Tuple(self, node: ast.Tuple) -> ir.Node:
        return ir.Seq(*self.place(node), self.exprs(node.elts), "tuple")

    def e_Set(self, node: ast.Set) -> ir.Node:
        return ir.Seq(*self.place(node), self.exprs(node.elts), "set")

    def e_Dict(self, node: ast.Dict) -> ir.Node:
        pairs = [(self.maybe(k), self.expr(v)) for k, v in zip(node.keys, node.values, strict=True)]
        return ir.Map(*self.place(node), pairs)

    def generators(self, node: Any) -> list[ir.Generator]:
        return [ir.Generator(self.expr(g.target), self.expr(g.iter), self.exprs(g.ifs)) for g in node.generators]

    def e_ListComp(self, node: ast.ListComp) -> ir.Node:
        return ir.Comp(*self.place(node), self.expr(node.elt), self.generators(node))

    def e_GeneratorExp(self, node: ast.GeneratorExp) -> ir.Node:
        return ir.Comp(*self.place(node), self.expr(node.elt), self.generators(node))

    def e_SetComp(self, node: ast.SetComp) -> ir.Node:
        return ir.Comp(*self.place(node), self.expr(node.elt), self.generators(node), "set")

    def e_DictComp(self, node: ast.DictComp) -> ir.Node:
        key, value = self.expr(node.key), self.expr(node.value)
        return ir.Comp(*self.place(node), value, self.generators(node), "map", key)

    def e_Lambda(self, node: ast.Lambda) -> ir.Node:
        start, end = self.place(node)
        body: list[ir.Node] = [ir.Return(start, end, self.expr(node.body))]
        return ir.Func(start, end, "", self.params(node.args), body)

    def e_Await(self, node: ast.Await) -> ir.Node:
        return self.expr(node.value)

    def e_NamedExpr(self, node: ast.NamedExpr) -> ir.Node:
        place = self.place(node)
        target = self.expr(node.target)
        return ir.Block(*place, [ir.Assign(*place, [target], self.expr(node.value)), target])

    def e_Yield(self, node: ast.Yield) -> ir.Node:
        return ir.Block(*self.place(node), [ir.Return(*self.place(node), self.maybe(node.value), is_yield=True)])

    def e_YieldFrom(self, node: ast.YieldFrom) -> ir.Node:
        return ir.Block(*self.place(node), [ir.Return(*self.place(node), self.expr(node.value))])

    # statements

    def s_Expr(self, node: ast.Expr) -> ir.Node:
        return self.expr(node.value)

    def s_Assign(self, node: ast.Assign) -> ir.Node:
        return ir.Assign(*self.place(node), self.exprs(node.targets), self.expr(node.value))

    def s_AnnAssign(self, node: ast.AnnAssign) -> ir.Node:
        text = ast.unparse(node.annotation)
        return ir.Assign(*self.place(node), [self.expr(node.target)], self.maybe(node.value), type_text=text)

    def s_AugAssign(self, node: ast.AugAssign) -> ir.Node:
        op = "+" if isinstance(node.op, ast.Add) else type(node.op).__name__
        return ir.Assign(*self.place(node), [self.expr(node.target)], self.expr(node.value), op=op)

    def s_Return(self, node: ast.Return) -> ir.Node:
        return ir.Return(*self.place(node), self.maybe(node.value))

    def s_Delete(self, node: ast.Delete) -> ir.Node:
        return ir.Delete(*self.place(node), self.exprs(node.targets))

    def s_If(self, node: ast.If) -> ir.Node:
        return ir.If(*self.place(node), [self.expr(node.test)], [self.block(node.body), self.block(node.orelse)])

    def s_For(self, node: ast.For | ast.AsyncFor) -> list[ir.Node]:
        start, end = self.place(node)
        made = ir.Loop(start, end, self.expr(node.target), self.expr(node.iter), self.block(node.body))
        return [made, *self.block(node.orelse)]

    s_AsyncFor = s_For

    def s_While(self, node: ast.While) -> list[ir.Node]:
        made = ir.Loop(*self.place(node), None, None, self.block(node.body), self.expr(node.test))
        return [made, *self.block(node.orelse)]

    def s_With(self, node: ast.With | ast.AsyncWith) -> list[ir.Node]:
        found: list[ir.Node] = []
        for item in node.items:
            value = self.expr(item.context_expr)
            if item.optional_vars is not None:
                value = ir.Assign(value.start, value.end, [self.expr(item.optional_vars)], value)
            found.append(value)
        return found + self.block(node.body)

    s_AsyncWith = s_With

    def s_Try(self, node: Any) -> ir.Node:
        start, end = self.place(node)
        # The handlers are alternatives to the rest of the body.
        blocks = [self.block(node.orelse), *(self.block(h.body) for h in node.handlers)]
        body = [*self.block(node.body), ir.If(start, end, [], [b for b in blocks if b] or [[]])]
        return ir.Block(start, end, body + self.block(node.finalbody))

    s_TryStar = s_Try

    def s_Match(self, node: ast.Match) -> ir.Node:
        blocks = [self.block(c.body) for c in node.cases]
        return ir.If(*self.place(node), [self.expr(node.subject)], blocks)

    def s_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ir.Node:
        start, end = self.place(node)
        owner, self.owner = self.owner, ""
        decorators = self.exprs(node.decorator_list)
        is_static = any(isinstance(d, ir.Name) and d.name == "staticmethod" for d in decorators)
        params = self.params(node.args)
        made = ir.Func(start, end, node.name, params, self.block(node.body), decorators, owner, is_static=is_static)
        made.returns = ast.unparse(node.returns) if node.returns else ""
        if owner and not is_static and params:
            made.self_name = params[0].name
        self.owner = owner
        return made

    s_AsyncFunctionDef = s_FunctionDef

    def params(self, node: ast.arguments) -> list[ir.Param]:
        plain = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults)) + list(node.defaults)
        pairs = [*zip(plain, defaults, strict=True)]
        found = [ir.Param(a.arg, self.maybe(d), _annotation(a)) for a, d in pairs]
        if node.vararg:
            found.append(ir.Param(node.vararg.arg, kind="rest"))
        for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            found.append(ir.Param(arg.arg, self.maybe(default), _annotation(arg), kind="named"))
        if node.kwarg:
            found.append(ir.Param(node.kwarg.arg, kind="mapping"))
        return found

    def s_ClassDef(self, node: ast.ClassDef) -> ir.Node:
        owner, self.owner = self.owner, node.name
        start, end = self.place(node)
        made = ir.Class(start, end, node.name, self.exprs(node.bases), self.block(node.body))
        made.decorators = self.exprs(node.decorator_list)
        self.owner = owner
        return made

    def s_Import(self, node: ast.Import) -> list[ir.Node]:
        place = self.place(node)
        return [
            ir.Import(*place, a.name if a.asname else a.name.split(".")[0], "", a.asname or a.name.split(".")[0])
            for a in node.names
        ]

    def s_ImportFrom(self, node: ast.ImportFrom) -> list[ir.Node]:
        place = self.place(node)
        return [ir.Import(*place, node.module or "", a.name, a.asname or a.name, node.level) for a in node.names]


def _annotation(arg: ast.arg) -> str:
    return ast.unparse(arg.annotation) if arg.annotation is not None else ""
