"""Hazards of shape, not of flow: tools changed between calls, settings flipped, history trimmed or rewritten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefixlint.code import _ir as ir
from prefixlint.code import _names, _sinks
from prefixlint.code._values import Place, Taint
from prefixlint.model import Confidence

if TYPE_CHECKING:
    from prefixlint.code._engine import Engine, Module

_MUTATE = frozenset(
    "append insert extend remove pop clear push unshift splice shift add Add Remove delete retain "
    "reverse push_back addAll removeAt removeIf removeFirst".split()
)
_FRONT_CUT = frozenset("popleft shift removeFirst pop_front RemoveAt removeAt drain remove_first".split())
_PARAMS = frozenset(
    "tool_choice thinking reasoning_effort reasoning parallel_tool_calls response_format tool_config "
    "effort output_config thinking_config".split()
)
_VARYING = re.compile(
    r"(?:^|_)(?:i|n|idx|index|turns?|steps?|iterations?|rounds?|attempts?|query|question|message|msg|user|"
    r"request|input|text|history|messages|retries|last|first|first_turn|is_last|response|prompt|topic|"
    r"intent|task)(?:_|$)"
)
_INPUT = frozenset({"input_tokens", "inputtokens"})
_OUTPUT = frozenset({"output_tokens", "outputtokens"})


def scan(engine: Engine, module: Module) -> None:
    """Report the hazards of one module."""
    if not (module.has_evidence or b"messages" in module.data):
        return
    nodes = ir.walk(module.tree.body)
    funcs = [n for n in nodes if isinstance(n, ir.Func)]
    callers = {f.name for f in funcs if f.name and _llm_calls(f.body)}
    for scope in [*funcs, ir.Func(0, len(module.data), "", [], module.tree.body)]:
        body = [
            n
            for n in ir.walk(scope.body, into_functions=False)
            if not (n in scope.body and isinstance(n, (ir.Func, ir.Class)))
        ]
        _function(engine, module, scope, body, callers)


def _function(engine: Engine, module: Module, func: ir.Func, body: list[ir.Node], callers: set[str]) -> None:
    own = _own(func)
    for node in own:
        if isinstance(node, ir.Loop):
            _loop(engine, module, func, node, callers)
    calls = [c for c in own if isinstance(c, ir.Call) and is_llm_call(c)]
    if calls:
        _persistent_tools(engine, module, own, calls)
        _branch_tools(engine, module, own, calls)
    _history(engine, module, func, own)
    _arithmetic(engine, module, func, own)


def _own(func: ir.Func) -> list[ir.Node]:
    """List the nodes of a function without those of functions inside it."""
    found: list[ir.Node] = []
    stack = list(reversed(func.body))
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, (ir.Func, ir.Class)):
            stack.extend(reversed(ir.children(node)))
    return found


def is_llm_call(node: ir.Call) -> bool:
    """Tell by shape alone whether a call sends a prompt."""
    path = ir.dotted(node.func)
    spelled = ".".join(_names.snake(p.removesuffix("()")) for p in path.split("."))
    keys = set(arguments(node))
    method = spelled.rsplit(".", 1)[-1]
    head = spelled.rsplit(".", 2)[-2] if "." in spelled else ""
    if _sinks._LLM_CALL.search(spelled):
        return True
    return ("messages" in keys and bool(keys & {"model", "tools", "system", "max_tokens"})) or (
        bool(_sinks._LLM_VERB.match(method)) and bool(_sinks._LLM_NAME.search(head)) and method != "run"
    )


def arguments(node: ir.Call) -> dict[str, ir.Node]:
    """Map the named arguments of a call, those of an options literal included."""
    found = {_names.snake(k): v for k, v in node.named if k}
    for item in node.args:
        if isinstance(item, ir.Map):
            found |= members(item)
    return found


def members(node: ir.Map) -> dict[str, ir.Node]:
    """Map the literal keys of a mapping."""
    found = {}
    for key, value in node.pairs:
        if isinstance(key, ir.Name) or (isinstance(key, ir.Const) and key.text):
            found[_names.snake(key.name if isinstance(key, ir.Name) else key.text or "")] = value
    return found


def _llm_calls(body: list[ir.Node]) -> list[ir.Call]:
    return [n for n in ir.walk(body) if isinstance(n, ir.Call) and is_llm_call(n)]


def report(
    engine: Engine,
    module: Module,
    rule: str,
    node: ir.Node,
    sink: ir.Node,
    label: str,
    confidence: Confidence = "medium",
) -> None:
    """Record a hazard of shape."""
    place = Place(module.path, node.start, node.end)
    raw = module.data[node.start : node.end].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    taint = Taint(rule, place, steps=((place, raw[:60]),), confidence=confidence, detail="shape")
    found = _sinks.Found(rule, taint, Place(module.path, sink.start, sink.end), label, "shape", confidence)
    engine.found.setdefault((rule, place), found)


def _loop(engine: Engine, module: Module, func: ir.Func, loop: ir.Loop, callers: set[str]) -> None:
    inside = _own(ir.Func(loop.start, loop.end, "", [], loop.body))
    calls = [c for c in inside if isinstance(c, ir.Call) and is_llm_call(c)]
    through = [c for c in inside if isinstance(c, ir.Call) and ir.dotted(c.func).rsplit(".", 1)[-1] in callers]
    if not calls and not through:
        return
    bound = _bound(loop, inside)
    for call in calls:
        named = {**_spread(call, inside), **arguments(call)}
        for key in ("tools", "functions"):
            if key in named:
                _tools(engine, module, named[key], inside, call, bound)
        _flips(engine, module, named, inside, call, func, loop, bound)
    _system(engine, module, inside, (calls + through)[0])


def _spread(call: ir.Call, inside: list[ir.Node]) -> dict[str, ir.Node]:
    """Map the members of the literal mappings that the loop makes and spreads into the call."""
    names = {ir.dotted(v) for k, v in call.named if k is None} - {""}
    found: dict[str, ir.Node] = {}
    for node in inside:
        if (
            isinstance(node, ir.Assign)
            and isinstance(node.value, ir.Map)
            and any(ir.dotted(t) in names for t in node.targets)
        ):
            found |= members(node.value)
    return found


def _bound(loop: ir.Loop, inside: list[ir.Node]) -> set[str]:
    found = set(_sinks.words(loop.target)) if loop.target is not None else set()
    for node in inside:
        if isinstance(node, ir.Assign):
            found |= {ir.dotted(t) for t in node.targets}
    return found - {""}


def _tools(
    engine: Engine, module: Module, value: ir.Node, inside: list[ir.Node], call: ir.Call, bound: set[str]
) -> None:
    label = "tools of a call in a loop"
    if (isinstance(value, ir.Choice) and value.tests) or (
        isinstance(value, ir.Comp) and any(_sinks.words(t) & bound for g in value.gens for t in g.tests)
    ):
        report(engine, module, "tool-set-change", value, call, label)
    name = ir.dotted(value)
    for node in inside if name else ():
        if _mutates(node, name):
            report(engine, module, "tool-set-change", node, call, label)
        elif isinstance(node, ir.Assign) and not node.op and any(ir.dotted(t) == name for t in node.targets):
            if _selects(node.value, bound):
                report(engine, module, "tool-set-change", node, call, label)
        elif isinstance(node, ir.Assign) and node.op and ir.dotted(node.targets[0]) == name:
            report(engine, module, "tool-set-change", node, call, label)


def _selects(value: ir.Node | None, bound: set[str]) -> bool:
    if isinstance(value, ir.Choice) and value.tests:
        return True
    if isinstance(value, ir.Comp):
        return any(_sinks.words(t) & bound for g in value.gens for t in g.tests)
    if isinstance(value, ir.Concat):
        return any(isinstance(p, ir.Seq) for p in value.parts)
    if isinstance(value, (ir.Seq, ir.Index)):
        return True
    if isinstance(value, ir.Call):
        last = _names.snake(ir.dotted(value.func).rsplit(".", 1)[-1])
        return bool(re.search(r"select|filter|pick|choose|relevant|route|retrieve", last)) and bool(
            _sinks.words(value) & bound
        )
    return False


def _mutates(node: ir.Node, name: str) -> bool:
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr) and node.func.name in _MUTATE:
        return ir.dotted(node.func.base) == name
    if isinstance(node, ir.Delete):
        return any(isinstance(t, ir.Index) and ir.dotted(t.base) == name for t in node.targets)
    return isinstance(node, ir.Assign) and any(
        isinstance(t, ir.Index) and ir.dotted(t.base) == name for t in node.targets
    )


def _persistent_tools(engine: Engine, module: Module, own: list[ir.Node], calls: list[ir.Call]) -> None:
    for call in calls:
        value = arguments(call).get("tools")
        name = ir.dotted(value) if value is not None else ""
        if "." not in name or name.split(".")[0] not in ("self", "this"):
            continue
        for node in own:
            if _mutates(node, name):
                report(engine, module, "tool-set-change", node, call, "tools of the next call")


def _branch_tools(engine: Engine, module: Module, own: list[ir.Node], calls: list[ir.Call]) -> None:
    names = {ir.dotted(v) for c in calls if (v := arguments(c).get("tools")) is not None} - {""}
    for node in own:
        if not isinstance(node, ir.If) or not names:
            continue
        if not any(_VARYING.search(_names.snake(w)) for t in node.tests for w in _sinks.words(t)):
            continue
        for inner in [n for block in node.blocks for n in ir.walk(block, into_functions=False)]:
            if any(_mutates(inner, n) or _extends(inner, n) for n in names):
                report(engine, module, "tool-set-change", inner, calls[0], "tools of a call", "medium")


def _extends(node: ir.Node, name: str) -> bool:
    return isinstance(node, ir.Assign) and bool(node.op) and ir.dotted(node.targets[0]) == name


def _flips(
    engine: Engine,
    module: Module,
    named: dict[str, ir.Node],
    inside: list[ir.Node],
    call: ir.Call,
    func: ir.Func,
    loop: ir.Loop,
    bound: set[str],
) -> None:
    for key, value in named.items():
        is_sent = _sinks.call_kind(ir.dotted(call.func))[1]
        rule = "param-change" if key in _PARAMS else "model-switch" if key == "model" and is_sent else ""
        if not rule:
            continue
        if (
            isinstance(value, ir.Choice)
            and value.tests
            and any(_sinks.words(t) & bound or rule == "param-change" for t in value.tests)
        ) or (isinstance(value, ir.Map) and any(isinstance(v, ir.Choice) and v.tests for _, v in value.pairs)):
            report(engine, module, rule, value, call, key)
        name = ir.dotted(value)
        if name and rule:
            _reassigned(engine, module, rule, name, inside, call, func, loop)
    fresh = {ir.dotted(t) for n in inside if isinstance(n, ir.Assign) and not n.op for t in n.targets}
    for node in inside:
        if isinstance(node, ir.Assign):
            _spread_flip(engine, module, node, call, fresh)


def _spread_flip(engine: Engine, module: Module, node: ir.Assign, call: ir.Call, fresh: set[str]) -> None:
    spreads = {ir.dotted(v) for k, v in call.named if k is None} | {ir.dotted(a) for a in call.args}
    spreads -= fresh  # made anew for each call
    for target in node.targets:
        if (
            isinstance(target, ir.Index)
            and isinstance(target.key, ir.Const)
            and target.key.text
            and ir.dotted(target.base) in spreads
        ):
            key = _names.snake(target.key.text)
        elif isinstance(target, ir.Attr) and ir.dotted(target.base) in spreads - {""}:
            key = _names.snake(target.name)
        else:
            continue
        if key in _PARAMS:
            report(engine, module, "param-change", node, call, key)


def _reassigned(
    engine: Engine,
    module: Module,
    rule: str,
    name: str,
    inside: list[ir.Node],
    call: ir.Call,
    func: ir.Func,
    loop: ir.Loop,
) -> None:
    assigned = [n for n in inside if isinstance(n, ir.Assign) and any(ir.dotted(t) == name for t in n.targets)]
    earlier = [
        n
        for n in ir.walk(func.body)
        if isinstance(n, ir.Assign) and n.start < loop.start and any(ir.dotted(t) == name for t in n.targets)
    ]
    is_param = any(p.name == name for p in func.params)
    if not assigned:
        return
    if earlier or is_param or len(assigned) > 1:
        varying = [
            n
            for n in assigned
            if not (
                len(assigned) == 1 and n in loop.body and n.start < call.start and not isinstance(n.value, ir.Choice)
            )
        ]
        if varying:
            report(engine, module, rule, varying[-1], call, name)
    elif isinstance(assigned[0].value, ir.Choice) and assigned[0].value.tests:
        report(engine, module, rule, assigned[0].value, call, name)


def _system(engine: Engine, module: Module, inside: list[ir.Node], call: ir.Call) -> None:
    for node in inside:
        if isinstance(node, ir.Assign) and node.value is not None and not _is_fixed(node.value):
            for target in node.targets:
                if _is_first(module, target):
                    report(engine, module, "instructions-edited", node, call, "system message of a call in a loop")
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr) and _inserts_first(module, node):
            report(engine, module, "message-inserted", node, call, "front of the history of a call in a loop")


def _is_fixed(value: ir.Node) -> bool:
    names = [n for n in ir.walk([value]) if isinstance(n, (ir.Name, ir.Call, ir.Attr))]
    return all(isinstance(n, ir.Name) and n.name.isupper() for n in names)


def _is_first(module: Module, target: ir.Node) -> bool:
    while isinstance(target, (ir.Index, ir.Attr)):
        if (
            isinstance(target, ir.Index)
            and _raw(module, target.key) == b"0"
            and _names.is_history(ir.dotted(target.base).rsplit(".", 1)[-1])
        ):
            return True
        target = target.base
    return False


def _raw(module: Module, node: ir.Node) -> bytes:
    return module.data[node.start : node.end].strip()


def _inserts_first(module: Module, node: ir.Call) -> bool:
    assert isinstance(node.func, ir.Attr)
    if not _names.is_history(ir.dotted(node.func.base).rsplit(".", 1)[-1]):
        return False
    if node.func.name in ("unshift", "appendleft", "prepend", "push_front"):
        return True
    return (
        node.func.name in ("insert", "Insert", "add")
        and len(node.args) == 2
        and _raw(module, node.args[0]) in (b"0", b"1")
    )


# history


def _history(engine: Engine, module: Module, func: ir.Func, own: list[ir.Node]) -> None:
    if not module.has_evidence:
        return
    if not re.search(rb"role|messages|Message|chat", module.data):
        return
    guarded = _guarded(module, func.body)
    for node in own:
        if (_is_front_cut(module, node) and id(node) in guarded) or _is_self_window(engine, module, node):
            report(engine, module, "sliding-window", node, node, "history that goes into the next request")


_LENGTH = re.compile(rb"len\b|\.length|\.size|\.count|Count|token|limit|max|budget|window|too_long", re.IGNORECASE)


def _guarded(module: Module, body: list[ir.Node]) -> set[int]:
    """List the nodes below a test of length: a cut without one is no window."""
    found: set[int] = set()
    for node in ir.walk(body):
        tests = (
            node.tests
            if isinstance(node, ir.If)
            else [node.test]
            if isinstance(node, ir.Loop) and node.test is not None
            else []
        )
        if any(_LENGTH.search(_raw(module, t)) for t in tests):
            inner = (
                [n for block in node.blocks for n in block]
                if isinstance(node, ir.If)
                else node.body
                if isinstance(node, ir.Loop)
                else []
            )
            found |= {id(n) for n in ir.walk(inner)}
    return found


def _is_front_cut(module: Module, node: ir.Node) -> bool:
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr):
        base = ir.dotted(node.func.base).rsplit(".", 1)[-1]
        if not _names.is_history(base):
            return False
        first = _raw(module, node.args[0]) if node.args else b""
        if node.func.name in ("pop", "remove", "delete_at", "RemoveAt", "removeAt", "remove_at"):
            return first in (b"0", b"1", b"2") or first.startswith(b"at:")
        if node.func.name in ("splice", "drain", "RemoveRange", "removeSubrange"):
            return first[:1] in (b"0", b"1", b".") and (node.func.name != "splice" or len(node.args) == 2)
        return node.func.name in _FRONT_CUT
    if isinstance(node, ir.Delete):
        return any(_is_front_item(module, t) for t in node.targets)
    return False


def _is_front_item(module: Module, target: ir.Node) -> bool:
    if not isinstance(target, ir.Index) or not _names.is_history(ir.dotted(target.base).rsplit(".", 1)[-1]):
        return False
    if isinstance(target.key, ir.Slice):
        lower = _raw(module, target.key.lower) if target.key.lower is not None else b"0"
        return lower in (b"0", b"1", b"2") and target.key.upper is not None
    return _raw(module, target.key) in (b"0", b"1", b"2")


def _is_self_window(engine: Engine, module: Module, node: ir.Node) -> bool:
    if not isinstance(node, ir.Assign) or node.value is None or node.op:
        return False
    target = ir.dotted(node.targets[0])
    if isinstance(node.targets[0], ir.Index) and isinstance(node.targets[0].key, ir.Slice):
        target = ir.dotted(node.targets[0].base)
    if not target or not _names.is_history(target.rsplit(".", 1)[-1]) or target.count(".") > 1:
        return False
    if "." in target and target.split(".")[0] not in module.lang.self_names:
        return False
    return any(_cuts(engine, module, n, target) for n in ir.walk([node.value]))


def _cuts(engine: Engine, module: Module, node: ir.Node, target: str) -> bool:
    if isinstance(node, ir.Index) and isinstance(node.key, ir.Slice) and ir.dotted(node.base) == target:
        lower = node.key.lower
        if lower is None or node.key.upper is not None:
            return False
        raw = _raw(module, lower).replace(b" ", b"")
        return raw != b"-1" and (raw.startswith(b"-") or b"len" in raw or b"count" in raw or b"size" in raw)
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr) and ir.dotted(node.func.base) == target:
        raw = _raw(module, node.args[0]) if node.args else b""
        if node.func.name == "slice":
            return len(node.args) == 1 and raw.startswith(b"-") and raw != b"-1"
        return node.func.name in ("last", "suffix", "takeLast", "TakeLast") and bool(node.args)
    return False


# cached tokens


def _arithmetic(engine: Engine, module: Module, func: ir.Func, own: list[ir.Node]) -> None:
    raw = module.data
    if b"nthropic" not in raw and b"claude" not in raw and b"cache_read" not in raw and b"cacheRead" not in raw:
        return
    seen = {_names.snake(n.name) for n in own if isinstance(n, (ir.Attr, ir.Name))}
    seen |= {_names.snake(n.text) for n in own if isinstance(n, ir.Const) and n.text and n.text.isidentifier()}
    if any("cache" in s for s in seen):
        return
    if b"openai" in raw.lower() and not any(
        "claude" in s or "anthropic" in s for s in [*seen, _names.snake(func.name)]
    ):
        return  # there input tokens hold the cached ones
    for node in own:
        if isinstance(node, ir.Concat) and len(node.parts) == 2 and _is_usage_sum(node):
            report(engine, module, "cached-tokens-dropped", node, node, "sum of input and output tokens", "medium")


def _is_usage_sum(node: ir.Concat) -> bool:
    names = [_field(p).replace("_", "") for p in node.parts]
    return any(n in _INPUT for n in names) and any(n in _OUTPUT for n in names)


def _field(node: ir.Node) -> str:
    if isinstance(node, ir.Attr) and "usage" in _names.snake(ir.dotted(node.base)):
        return _names.snake(node.name)
    if isinstance(node, ir.Index) and isinstance(node.key, ir.Const) and "usage" in _names.snake(ir.dotted(node.base)):
        return node.key.text or ""
    return ""


def places(found: Iterator[_sinks.Found]) -> list[Place]:
    """List the places of findings."""
    return [f.taint.place for f in found]
