"""A compiled chat template: which form of messages it reads, and where in it an error lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import TemplateError, TemplateSyntaxError, UndefinedError

from prefixlint.errors import InputError
from prefixlint.model import Place
from prefixlint.render._chat_messages import Message, parts_of, with_objects, with_texts
from prefixlint.render._jinja import ChatEnvironment
from prefixlint.render._traced import Traced, joined

FAULTS = (
    TemplateError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)


class Compiled:
    """Render conversations with one template."""

    def __init__(self, path: str, name: str, source: str) -> None:
        self.path = path if name == "default" and not path.endswith(".json") else f"{path}#{name}"
        self._clock: Callable[[str], str] = str
        self._environment = ChatEnvironment(lambda form: self._clock(form))
        try:
            tree = self._environment.parse(source, filename=self.path)
            code = self._environment.compile(source, filename=self.path)
        except TemplateSyntaxError as error:
            raise InputError(
                f"the template does not compile: {error.message}", path=self.path, line=error.lineno
            ) from error
        except RecursionError as error:
            raise InputError("the template is nested too deeply", path=self.path) from error
        self._template = self._environment.template(code)
        self._reads_parts = _iterates_content(tree)
        self._tests_none = _tests_content_for_none(tree)
        self._knows_developer = "developer" in source

    def render(
        self, messages: list[Message], variables: dict[str, Any], clock: Callable[[str], str]
    ) -> tuple[str, tuple[Place, ...]]:
        """Return the text and the places of its characters."""
        self._clock = clock
        ready = [self._message(message) for message in messages]
        try:
            return self._run(list(map(with_objects, ready)), variables)
        except TypeError as error:
            if not any(message.get("tool_calls") for message in ready):
                raise self._fault(error) from error
        try:  # some templates join the arguments of calls as text
            return self._run(list(map(with_texts, ready)), variables)
        except TypeError as error:
            raise self._fault(error) from error

    def _run(self, messages: list[Message], variables: dict[str, Any]) -> tuple[str, tuple[Place, ...]]:
        self._environment.steps = 0
        try:
            text = self._template.render(messages=messages, **variables)
        except TypeError:
            raise
        except FAULTS as error:
            raise self._fault(error) from error
        return (str.__str__(text), text.places) if isinstance(text, Traced) else (text, ())

    def _fault(self, error: BaseException) -> InputError:
        """Say where in the template an error came up."""
        line, trace = 0, error.__traceback__
        while trace:
            line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == self.path else line
            trace = trace.tb_next
        kind = "" if type(error) is TemplateError else f"{_KINDS.get(type(error), type(error).__name__)}: "
        return InputError(f"the chat template fails: {kind}{error}", path=self.path, line=line)

    def _message(self, message: Message) -> Message:
        """Give a message the form that this template reads, as vLLM finds it out from the template."""
        content, role = message.get("content"), message.get("role")
        if role == "developer" and not self._knows_developer:
            role = "system"
        if isinstance(content, list):
            content = parts_of(content) if self._reads_parts else _text(content)
        elif content is None and not self._tests_none:
            content = ""
        return {**message, "role": role, "content": content}


_KINDS: dict[type[BaseException], str] = {UndefinedError: "undefined value", MemoryError: "out of memory"}


def _text(content: list[Any]) -> str:
    return joined("\n", (part["text"] for part in parts_of(content) if part["type"] == "text"))


def _is_content(node: nodes.Node | None) -> bool:
    """Tell whether an expression is ``message.content`` or ``message['content']``, whatever the message is called."""
    if isinstance(node, nodes.Filter):
        return _is_content(node.node)
    if isinstance(node, nodes.Getattr):
        return node.attr == "content"
    return isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and node.arg.value == "content"


def _names_of_content(tree: nodes.Template) -> set[str]:
    """Collect the variables and macro parameters that hold content."""
    names = {
        assign.target.name
        for assign in tree.find_all(nodes.Assign)
        if isinstance(assign.target, nodes.Name) and any(map(_is_content, _within(assign.node)))
    }
    return names | {"content"}


def _within(node: nodes.Node) -> list[nodes.Node]:
    return [node, *node.find_all((nodes.Getattr, nodes.Getitem))]


def _iterates_content(tree: nodes.Template) -> bool:
    """Tell whether the template goes through the parts of content, rather than printing it as a string."""
    names = _names_of_content(tree)
    loops = tree.find_all(nodes.For)
    return any(
        _is_content(loop.iter) or (isinstance(loop.iter, nodes.Name) and loop.iter.name in names) for loop in loops
    )


def _tests_content_for_none(tree: nodes.Template) -> bool:
    """Tell whether the template knows content that is null, as messages with tool calls have it."""
    return any(test.name == "none" and _is_content(test.node) for test in tree.find_all(nodes.Test))
