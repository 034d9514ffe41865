"""The jinja2 environment of chat templates, as transformers sets it up, fenced against templates that never end.

Source: transformers 5.24.0 (2026), utils/chat_template_utils.py: an immutable sandbox with trimmed blocks, loop
controls, ``{% generation %}``, ``raise_exception``, ``strftime_now`` and a ``tojson`` that is plain ``json.dumps``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from jinja2 import Template, nodes, pass_environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import Environment
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.filters import do_format, do_indent, make_attrgetter
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from prefixlint.render import _traced

MAX_STEPS = 5_000_000  # turns of all loops of one rendering
MAX_CHARS = 200_000_000  # of any string
MAX_ITEMS = 5_000_000  # of any list
MAX_NUMBER = 10**18
WIDE = re.compile(r"\d{6}|\*|\{[^}]*\{")  # a width of six digits, or one that is computed
PADDING = frozenset(("center", "ljust", "rjust", "zfill", "expandtabs"))


class Generation(Extension):
    """Read ``{% generation %}`` as transformers does when no mask is asked for: its body, in a scope of its own."""

    tags = {"generation"}  # noqa: RUF012 - the attribute that jinja2 reads

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse up to ``{% endgeneration %}``."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class TracingGenerator(CodeGenerator):
    """Compile ``~`` to a concatenation that keeps places."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """Write a call of the environment's own concatenation."""
        self.write("environment.concat((")
        for arg in node.nodes:
            self.visit(arg, frame)
            self.write(", ")
        self.write("))")


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """Render chat templates; all loops together may take ``MAX_STEPS`` turns, and no string grows beyond reason."""

    code_generator_class = TracingGenerator
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, strftime_now: Callable[[str], str]) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension])
        self.steps = 0
        self.filters |= {"tojson": tojson, "join": _join, "replace": _replace, "ticked": self._ticked}
        self.filters |= {"format": _format, "indent": _indent}
        for name in ("random", "center"):  # another text every time; a text of any length
            self.filters.pop(name)
        self.globals.pop("lipsum")
        self.globals |= {"raise_exception": raise_exception, "strftime_now": strftime_now}

    def _ticked(self, items: Any) -> Iterator[Any]:
        for item in items:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise SecurityError(f"the loops of the template take more than {MAX_STEPS:,} turns")
            yield item

    def _generate(self, source: nodes.Template, *args: Any, **options: Any) -> str:
        """Count the turns of every loop."""
        for loop in list(source.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, "ticked", [], [], None, None).set_lineno(loop.lineno)
        return super()._generate(source, *args, **options)

    def concat(self, parts: Iterable[Any]) -> str:
        """Concatenate what the template yields, with places, up to a length."""
        return _traced.concat(self._bounded(parts))

    def _bounded(self, parts: Iterable[Any]) -> Iterator[Any]:
        length = 0
        for part in parts:
            length += len(part) if isinstance(part, str) else 20
            if length > MAX_CHARS:
                raise SecurityError(f"the template writes more than {MAX_CHARS:,} characters")
            yield part

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Refuse operations whose result would be huge."""
        if _is_huge(operator, left, right):
            raise SecurityError(f"the result of {operator} is too large")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, function: Any, /, *args: Any, **options: Any) -> Any:
        """Refuse replacements whose result would be huge."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str) and function.__name__ == "replace" and len(args) > 1:
            _check_replace(owner, str(args[0]), str(args[1]))
        return super().call(context, function, *args, **options)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Refuse formats that pad to any length."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None and WIDE.search(value.__self__):
            raise SecurityError("a format is too wide")
        return wrapped

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse the methods of strings that pad to any length."""
        return not (isinstance(obj, str) and attr in PADDING) and super().is_safe_attribute(obj, attr, value)

    def template(self, code: CodeType) -> Template:
        """Make compiled code a template of this environment."""
        return Template.from_code(self, code, self.make_globals(None))


def _is_huge(operator: str, left: Any, right: Any) -> bool:
    """Tell from the operands whether a result would be larger than any prompt needs."""
    if operator == "%":
        return isinstance(left, str) and bool(WIDE.search(left))
    if operator == "**":
        return not all(isinstance(value, (int, float)) and abs(value) <= 1_000 for value in (left, right))
    if operator == "*":
        return (
            _size(left) * _times(right) > 1
            or _size(right) * _times(left) > 1
            or _times(left) * _times(right) > MAX_NUMBER
        )
    return _size(left) + _size(right) > 1


def _size(value: Any) -> float:
    """Measure a string or list in parts of the largest one allowed."""
    if isinstance(value, str):
        return len(value) / MAX_CHARS
    return len(value) / MAX_ITEMS if isinstance(value, (list, tuple)) else 0


def _times(value: Any) -> int:
    return abs(value) if isinstance(value, int) else 0


def _check_replace(text: str, old: str, new: str) -> None:
    times = text.count(old) if old else len(text) + 1
    if times * len(new) > MAX_CHARS:
        raise SecurityError("the result of replace is too large")


def _replace(text: Any, old: Any, new: Any, count: int | None = None) -> str:
    """Replace as jinja2's own filter does, with places."""
    text, old, new = str(text), str(old), str(new)
    _check_replace(text, old, new)
    replaced: str = text.replace(old, new, -1 if count is None else count)
    return replaced


def _format(value: Any, *args: Any, **options: Any) -> str:
    if WIDE.search(str(value)):
        raise SecurityError("a format is too wide")
    return do_format(str(value), *args, **options)


def _indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    if isinstance(width, int) and width > 1_000:
        raise SecurityError("an indent is too wide")
    return do_indent(str(s), width, first, blank)


def raise_exception(message: str) -> None:
    """Let a template refuse a conversation."""
    raise TemplateError(message)


def tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Write JSON as transformers does: keys in their order, no escapes for HTML or beyond ASCII."""
    return _traced.dump(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@pass_environment
def _join(environment: Environment, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    """Join as jinja2's own filter does, with places."""
    parts = map(make_attrgetter(environment, attribute), value) if attribute is not None else value
    return _traced.joined(d, parts)
