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
from jinja2.filters import make_attrgetter
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from prefixlint.render import _traced

MAX_STEPS = 5_000_000  # turns of all loops of one rendering
MAX_CHARS = 400_000_000
MAX_REPEAT = 1_000_000
WIDE = re.compile(r"\d{6}")
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
    intercepted_binops = frozenset(("*", "**", "%"))

    def __init__(self, strftime_now: Callable[[str], str]) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension])
        self.steps = 0
        self.filters |= {"tojson": tojson, "join": _join, "ticked": self._ticked}
        for name in ("random", "center"):  # one gives another text every time, the other any length
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
        if operator == "%" and isinstance(left, str) and WIDE.search(left):
            raise SecurityError("a format is too wide")
        if operator != "%" and _is_huge(operator, left, right):
            raise SecurityError(f"the result of {operator} is too large")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse the methods of strings that pad to any length, and formats that do."""
        if isinstance(obj, str) and (attr in PADDING or (attr.startswith("format") and WIDE.search(obj))):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def template(self, code: CodeType) -> Template:
        """Make compiled code a template of this environment."""
        return Template.from_code(self, code, self.make_globals(None))


def _is_huge(operator: str, left: Any, right: Any) -> bool:
    if operator == "**":
        return not all(isinstance(value, (int, float)) and abs(value) <= 1_000 for value in (left, right))
    sized = [value for value in (left, right) if isinstance(value, (str, list, tuple))]
    times = [value for value in (left, right) if isinstance(value, int)]
    return bool(sized and times) and len(sized[0]) * times[0] > MAX_REPEAT


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
