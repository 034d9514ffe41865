"""Decide where a prompt is made and whether a volatile piece in it does harm."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from prefixlint.code import _ir as ir
from prefixlint.code import _names
from prefixlint.code._values import HOLE, UNKNOWN, Flat, Place, Taint, Value, flatten
from prefixlint.model import Confidence

if TYPE_CHECKING:
    from prefixlint.code._calls import Args
    from prefixlint.code._engine import Engine

LONG_PREFIX = 200  # static characters ahead of a volatile piece after which it costs little
SHORT_REST = 20  # static characters behind it in a one-shot prompt under which nothing is lost


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """Names that a user says hold prompts, tools or messages: name -> part."""

    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """One hazard: what varies, from where, and the prompt that it reaches."""

    rule: str
    taint: Taint
    sink: Place
    sink_text: str
    part: str
    confidence: Confidence


_RANK = {"low": 0, "medium": 1, "high": 2}

_LLM_CALL = re.compile(
    r"(?:^|\.)(?:(?:completions?|responses|messages|chat|assistants|threads|runs|conversations|models|"
    r"message|response)\.(?:create|parse|stream|"
    r"new|new_streaming|create_and_run|create_and_poll|complete|complete_async|create_streaming|"
    r"create_async|count_tokens|with_raw_response\.create|send|chat)"
    r"|a?(?:text_)?completion|generate_content(?:_stream|_async)?|start_chat|converse(?:_stream)?|invoke_model\w*|"
    r"generate_text|stream_text|generate_object|stream_object|apply_chat_template|"
    r"create_chat_completion\w*|complete_chat\w*|"
    r"create_message\w*|chat_completions?|create_completion\w*|create_response|stream_chat|achat|"
    r"chat_stream|create_react_agent|"
    r"create_agent|create_tool_calling_agent|call_llm|query_llm|ask_llm|call_model|llm_call|get_completion|"
    r"new_message|messages_stream|"
    r"get_response_async|get_chat_message_content\w*|get_streaming_response_async|complete_chat_async)$"
)
_LLM_NAME = re.compile(
    r"(?:^|_)(?:llm|model|chat|chain|client|agent|gpt|claude|gemini|openai|anthropic|lm|engine|generator|"
    r"completion|pipeline|pipe)(?:_|$|\d)"
)
_LLM_VERB = re.compile(
    r"^(?:chat|generate|invoke|ainvoke|complete|acomplete|stream|astream|run|predict|apredict|ask|send|"
    r"respond|batch|call|__call__|send_message|prompt|query)$"
)
_AGENT = re.compile(r"(?:Agent|Crew|Assistant|GenerativeModel|ChatEngine|Task|ChatBot|LanguageModelSession)$")
_SYSTEM_CTOR = re.compile(
    r"^(?:chat_?)?(?:.*_)?(?:system|developer)_?(?:chat_?)?(?:message|prompt|msg)?(?:_(?:param|prompt|"
    r"template|args|prompt_template|content|chunk))*$"
)
_USER_CTOR = re.compile(
    r"^(?:.*_)?(?:human|user)_?(?:chat_?)?(?:message|msg)(?:_(?:param|prompt|template|prompt_template|args))*$"
)
_OTHER_CTOR = re.compile(r"^(?:.*_)?(?:ai|assistant|tool|function)_?(?:message|msg)(?:_param)?$")
_TOOL_CTOR = re.compile(
    r"^(?:.*_)?(?:tool|structured_tool|function_tool|function_declaration|function_definition|"
    r"tool_definition|tool_spec|tool_param|function_tool_param)$"
)
_CALL_ID = frozenset("tool_call_id call_id tool_use_id toolcallid tooluseid".split())
_CONVERT = re.compile(
    r"(?:^|_)(?:to|convert|format|serialize|render|as|dump|prepare|replay|rebuild|build|restore|translate|"
    r"transform|map|normalize|adapt|history)(?:_|$)"
)
_NOT_CONVERT = re.compile(
    r"(?:^|_)(?:parse|from|response|result|stream|delta|chunk|output|completion|extract|decode|receive|"
    r"handle|process_response|emit|event)(?:_|$)"
)
_SETTINGS = frozenset(
    "model max_tokens temperature stream tools top_p max_output_tokens generation_config model_id stop "
    "tool_choice inference_config max_completion_tokens".split()
)
_ROUTING = frozenset("prompt_cache_key cache_salt cache_key_prefix lora_request".split())
_COUNTER = re.compile(
    r"(?:^|_)(?:counter|count|turns?|steps?|iterations?|iters?|rounds?|attempts?|idx|index|i|n|k|seq|"
    r"sequence|requests?|num|ticks?|calls?|cycles?|epoch|no|number|visits|serial|loops?)(?:_|$)"
)
_LABEL = re.compile(
    r"(?im)(?:^|[\n.>#*\-\s(\[])(?:current |today'?s |local |session |request |generated |run )?(?:date|"
    r"time|timestamp|now|datetime|date/time|session(?: id)?|request(?: id)?|run(?: id)?|generated(?: at)?|"
    r"id|uuid|host|user|cwd|working directory)\b[^\n\x00]{0,24}[:=]\W{0,4}\x00"
)
_TALK = re.compile(
    r"(?im)\bmodel\s*[:=]|\bassistant\b|^you are\b|\bagents?\b|knowledge cutoff|\bllm\b|conversation|"
    r"\btools?\s*:|instructions|your role|the user"
)
_TERMINAL = re.compile(r"(?i)\bpress (?:enter|any|\[)|\[y/n\]|\(y/n\)|[>$%] ?$")
_VOLATILE = frozenset(
    "timestamp date epoch uuid random-id counter commit-hash temp-path user-or-host git-status cwd-or-env".split()
)


@lru_cache(maxsize=4096)
def words(node: ir.Node | None) -> frozenset[str]:
    """List all names in an expression."""
    if node is None:
        return frozenset()
    return frozenset(n.name for n in ir.walk([node]) if isinstance(n, (ir.Name, ir.Attr)))


# counters


def is_counter(name: str) -> bool:
    """Tell whether a name says that it counts turns, steps or requests."""
    spelled = _names.snake(name)
    return bool(_COUNTER.search(spelled)) and "token" not in spelled and "cost" not in spelled


def incremented(engine: Engine, node: ir.Loop | ir.Class) -> set[str]:
    """List the names that are increased by one somewhere in a loop or class."""
    found = engine.increments.get(node)
    if found is None:
        found = engine.increments[node] = _incremented(node.body)
    return found


def _incremented(nodes: list[ir.Node]) -> set[str]:
    found: set[str] = set()
    for node in ir.walk(nodes):
        if isinstance(node, ir.Assign) and node.op == "+" and isinstance(node.value, ir.Const) and node.value.number:
            target = node.targets[0]
            if isinstance(target, (ir.Name, ir.Attr)):
                found.add(target.name)
    return found


def counter_value(engine: Engine, node: ir.Loop, name: str) -> Value:
    """Return a counter that changes while a loop runs."""
    place = Place(engine.module.path, node.start, node.end)
    return Value(
        (Taint("counter", place, loop=node.start + 1, steps=((place, name),), confidence="medium"),),
        HOLE,
        kind="counter",
    )


def loop_value(engine: Engine, node: ir.Loop, source: Value) -> Value:
    """Return what a loop binds: elements, or a counter for ranges and enumerations."""
    path = ir.dotted(node.source.func) if isinstance(node.source, ir.Call) else ""
    last = path.rsplit(".", 1)[-1]
    if last in ("range", "count"):
        return counter_value(engine, node, engine.text(node.target or node))
    if last == "enumerate":
        return Value(items=[counter_value(engine, node, engine.text(node.target or node)), engine.element(source)])
    return engine.element(source)


# sliding windows


def is_window(engine: Engine, node: ir.Index, key: ir.Slice) -> bool:
    """Tell whether a slice keeps the last messages of a history, more than one."""
    lower = key.lower
    if lower is None or not _names.is_history(ir.dotted(node.base).rsplit(".", 1)[-1]):
        return False
    if key.upper is not None and not isinstance(key.upper, ir.Other):
        return False
    raw = engine.module.data[lower.start : lower.end].replace(b" ", b"")
    if raw == b"-1":
        return False
    return (
        raw.startswith(b"-")
        or b"len(" in raw
        or b".length" in raw
        or b".len()" in raw
        or b".count" in raw
        or b".size" in raw
    )


def is_window_call(engine: Engine, node: ir.Call) -> bool:
    """Tell whether ``history.slice(-n)`` keeps the last messages."""
    base = ir.dotted(node.func.base).rsplit(".", 1)[-1] if isinstance(node.func, ir.Attr) else ""
    if len(node.args) != 1 or not _names.is_history(base):
        return False
    raw = engine.module.data[node.args[0].start : node.args[0].end].strip()
    return raw.startswith(b"-") and raw != b"-1"


def window(engine: Engine, node: ir.Node, base: Value) -> Value:
    """Return the kept part of a history: its first message moves every turn."""
    place = engine.place(node)
    taint = Taint("sliding-window", place, detail="window", steps=((place, engine.text(node)),), confidence="medium")
    return Value((*base.taints, taint), HOLE, items=base.items, is_open=True, depth=base.depth)


# verdicts


def verdict(
    engine: Engine, taint: Taint, part: str, flat: Flat, before: int, *, is_cached: bool, has_marker: bool
) -> str:
    """Return the rule under which a piece is reported, "" when it does no harm there."""
    rule = taint.rule
    if taint.detail == "window":
        return rule if part == "messages" else ""
    if not taint.place.path or (
        part == "messages" and taint.confidence == "low" and rule in ("key-order", "list-order")
    ):
        return ""  # a container that is never walked over in sight; tool arguments and rows of a history
    if rule == "key-order" and part == "built" and flat.size < SHORT_REST:
        return ""
    if taint.loop and not any(a.node.start + 1 == taint.loop for a in engine.loops):
        return ""
    if rule == "image-reencode":
        return rule if part == "messages" else ""
    if part == "tools":
        return "tool-order" if rule == "list-order" else rule
    if taint.cached or (is_cached and not taint.tail):
        return rule
    if has_marker or taint.tail:
        return ""
    if taint.before + before >= LONG_PREFIX:
        return ""
    if part == "prompt":
        rest = flat.size - taint.before
        return rule if rest >= SHORT_REST else ""
    if part == "built":
        is_prompt = flat.size >= SHORT_REST or taint.detail == "order"
        return rule if is_prompt and not _TERMINAL.search(flat.text) else ""
    return rule


def fire(
    engine: Engine, parts: list[tuple[str, Value]], node: ir.Node, label: str, confidence: Confidence = "high"
) -> None:
    """Check the parts of one request, in the order in which they are sent."""
    order = {"tools": 0, "setting": 1, "system": 2}
    laid = [(part, value, flatten(value)) for part, value in sorted(parts, key=lambda p: order.get(p[0], 3))]
    before = engine.outer_before
    for i, (part, _value, flat) in enumerate(laid):
        is_cached = any(later.marked for _, _, later in laid[i + 1 :])
        for taint in flat.taints:
            has_marker = flat.marked and not taint.cached
            rule = verdict(engine, taint, part, flat, before, is_cached=is_cached, has_marker=has_marker)
            if rule:
                _report(engine, rule, taint, node, label, part, confidence)
        before += flat.size if part != "tools" else 0


def _report(
    engine: Engine, rule: str, taint: Taint, node: ir.Node, label: str, part: str, confidence: Confidence
) -> None:
    place = taint.place if taint.place.path else engine.place(node)
    sure = min(confidence, taint.confidence, key=lambda c: _RANK[c])
    made = Found(rule, replace(taint, place=place), engine.place(node), label, part, sure)
    key = (rule, place)
    if rule != "tool-call-id" and ("tool-call-id", place) in engine.found:
        return
    if rule == "tool-call-id":
        for other in [k for k in engine.found if k[1] == place]:
            del engine.found[other]
    old = engine.found.get(key)
    if old is None or _RANK[sure] > _RANK[old.confidence]:
        engine.found[key] = made


def _part_of_name(engine: Engine, name: str) -> str:
    configured = engine.options.names.get(name)
    if configured:
        return configured
    if not engine.module.has_evidence:
        return ""
    if _names.is_system(name) or name in ("SYSTEM", "INSTRUCTIONS"):
        return "system"
    if _names.is_tools(name):
        return "tools"
    return "built" if _names.is_prompt(name) else ""


def named(engine: Engine, name: str, value: Value, node: ir.Node) -> None:
    """See a value bound to a name that says it is a prompt; lists may still be sorted, so their order waits."""
    if value is UNKNOWN or not (value.taints or value.items or value.fields or value.unordered):
        return
    part = _part_of_name(engine, name)
    if not part or engine.is_tail:
        return
    flat = flatten(value)
    kept = Value(
        tuple(
            t
            for t in flat.taints
            if (t.detail != "order" or part != "tools") and not t.loop and not _is_bare_json(t, flat)
        ),
        HOLE,
        flat.size,
    )
    if part == "tools":
        if value.text is not None and value.size and value.items is None:
            kept.taints = ()
        kept.taints = tuple(
            t for t in kept.taints if t.rule in _VOLATILE and t.rule not in ("cwd-or-env", "user-or-host")
        )
    if flat.marked or not kept.taints:
        return
    if (
        part == "system"
        and not any(t.detail == "order" for t in kept.taints)
        and value.text is not None
        and HOLE in value.text
        and not value.size
    ):
        kept.taints = tuple(t for t in kept.taints if t.rule not in ("cwd-or-env",))
    fire(engine, [(part, kept)], node, name, "medium")


def _is_bare_json(taint: Taint, flat: Flat) -> bool:
    # A function that only serialises what it is given says nothing about how that is built.
    return taint.rule == "key-order" and taint.confidence == "low" and flat.size < SHORT_REST


def keyed(engine: Engine, base: Value, key: str, value: Value, node: ir.Node) -> None:
    """See ``mapping[key] = value``: the mapping may be a request or a message."""
    spelled = _names.snake(key)
    if spelled in _names.SYSTEM_KEYS and engine.module.has_evidence:
        flat = flatten(value)
        kept = tuple(t for t in flat.taints if not _is_bare_json(t, flat))
        fire(engine, [("system", value if flat.marked else Value(kept, HOLE, flat.size))], node, f"[{key!r}]")
    elif base.fields is not None and spelled in ("system", "messages", "tools", "content"):
        if spelled == "content" and _role(base.fields) == "system":
            message(engine, value, node, "system message")
        elif _is_request(base.fields):
            fire(engine, _request_parts(base.fields), node, "request body")


def _role(fields: dict[str, Value]) -> str:
    value = fields.get("role") or fields.get("Role")
    role = value.const if value is not None else None
    if role is None and value is not None and value.name:
        role = _names.snake(value.name).split("_")[-1]
    if role is None:
        return "other" if value is not None and value.text is not None else ""
    role = role.lower()
    return "system" if role in _names.SYSTEM_ROLES else "user" if role in ("user", "human") else role


def _is_request(fields: dict[str, Value]) -> bool:
    keys = {_names.snake(k) for k in fields}
    bearing = keys & {"messages", "contents", "input", "prompt", "system", "instructions", "system_instruction"}
    return bool(bearing) and bool(keys & _SETTINGS)


def _request_parts(fields: dict[str, Value]) -> list[tuple[str, Value]]:
    parts = []
    is_marked = any(k in fields for k in ("cache_control",))
    for key, value in fields.items():
        part = _part_of_key(_names.snake(key))
        if part:
            parts.append((part, value))
    if is_marked:
        parts.append(("setting_end", Value(fields={"cache_control": UNKNOWN})))
    return parts


def _part_of_key(key: str) -> str:
    if key in _names.SYSTEM_KEYS or key in ("system", "developer"):
        return "system"
    if key in _names.TOOL_KEYS:
        return "tools"
    if key in ("messages", "contents", "history", "chat_history", "input"):
        return "messages"
    if key in _names.PROMPT_KEYS:
        return "prompt"
    return "setting" if key in ("response_format", "output_schema", "response_schema") else ""


def message(engine: Engine, content: Value, node: ir.Node, label: str) -> None:
    """Check the content of a system message."""
    if engine.is_tail:
        return
    if any(t.loop for t in flatten(content).taints):
        content = _without_loops(content)
    fire(engine, [("system", content)], node, label)


def _without_loops(value: Value) -> Value:
    flat = flatten(value)
    return Value(tuple(t for t in flat.taints if not t.loop), HOLE, flat.size)


def messages(engine: Engine, value: Value, node: ir.Node, label: str) -> None:
    """Check a list of messages."""
    fire(engine, [("messages", value)], node, label)


def literal(engine: Engine, made: Value, node: ir.Map) -> None:
    """See whether a mapping literal is a message, a tool call, a tool definition or a request."""
    fields = made.fields
    assert fields is not None
    made.role = made.role or _role(fields)
    keys = {_names.snake(k): k for k in fields}
    if made.role == "system":
        content = (
            fields.get(keys.get("content", "")) or fields.get(keys.get("parts", "")) or fields.get(keys.get("text", ""))
        )
        if content is not None:
            message(engine, content, node, "system message")
    call_ids(engine, fields, made.kind)
    if _is_request(fields):
        fire(engine, _request_parts(fields), node, "request body")
        routing(engine, fields, node)
    else:
        _strong_keys(engine, fields, keys, node)
    if {"description", "name"} <= set(keys) and set(keys) & {"input_schema", "parameters", "inputschema"}:
        _tool(engine, fields, node)


def _strong_keys(engine: Engine, fields: dict[str, Value], keys: dict[str, str], node: ir.Node) -> None:
    for spelled, key in keys.items():
        value = fields[key]
        if (
            spelled in _names.SYSTEM_KEYS
            and engine.module.has_evidence
            and (value.taints or value.items or value.fields or value.unordered)
        ):
            fire(engine, [("system", value)], node, key)


_TOOL_TEXT = frozenset("name description parameters input_schema inputSchema schema function".split())


def _tool(engine: Engine, fields: dict[str, Value], node: ir.Node) -> None:
    if isinstance(node, ir.Call):
        fields = {k: v for k, v in fields.items() if k in _TOOL_TEXT}
    fields = {k: v for k, v in fields.items() if v.ref is None}
    kept = [Value(tuple(t for t in flatten(v).taints if not t.loop), HOLE) for v in fields.values()]
    fire(engine, [("tools", Value(items=kept))], node, "tool definition")


def call_ids(engine: Engine, fields: dict[str, Value], kind: str) -> None:
    """Find random ids given to tool calls while a history is rebuilt."""
    keys = {_names.snake(k).replace("_", ""): k for k in fields}
    type_value = fields.get("type") or fields.get("Type")
    type_text = (type_value.const if type_value is not None else "") or ""
    is_call = type_text in ("function", "tool_use", "function_call", "tool_call", "tool-call") or bool(
        re.search(r"tool_?(?:call|use)|function_?call", _names.snake(kind))
    )
    names = [keys[k.replace("_", "")] for k in _CALL_ID if k.replace("_", "") in keys]
    if is_call and "id" in keys:
        names.append(keys["id"])
    for name in names:
        for taint in fields[name].taints:
            if (
                taint.rule in ("uuid", "random-id", "timestamp", "epoch", "counter")
                and not taint.loop
                and rebuilds(engine)
            ):
                _report(
                    engine, "tool-call-id", taint, ir.Node(taint.place.start, taint.place.end), name, "messages", "high"
                )


def rebuilds(engine: Engine) -> bool:
    """Tell whether the running code turns a history into a request again."""
    start = engine.frame.func.start if engine.frame.func is not None else 0
    if engine.frame.func is not None and _NOT_CONVERT.search(_names.snake(engine.frame.func.name)):
        return False
    for active in engine.loops:
        if any(_names.is_history(w) for w in active.names) and not any(
            re.search(
                r"response|choices|output|chunk|delta|candidate|completion|result|stream|event|contents|parts",
                _names.snake(w),
            )
            for w in active.names
        ):
            return True
    func = engine.frame.func
    if func is None or start < 0:
        return False
    spelled = _names.snake(func.name)
    takes = any(
        _names.snake(p.name) in ("message", "msg", "messages", "history", "turn", "conversation") for p in func.params
    )
    return takes and bool(_CONVERT.search(spelled)) and not _NOT_CONVERT.search(spelled)


def routing(engine: Engine, fields: dict[str, Value], node: ir.Node) -> None:
    """Find keys that choose the cache and change although the prompt does not."""
    for key, value in fields.items():
        spelled = _names.snake(key)
        rule = "routing-key" if spelled in _ROUTING else "model-switch" if spelled == "model" else ""
        for taint in value.taints if rule else ():
            if (
                taint.rule in ("uuid", "random-id", "timestamp", "epoch", "date", "counter", "list-order")
                and not taint.loop
            ):
                _report(engine, rule, taint, node, key, "setting", "high")


@lru_cache(maxsize=20000)
def call_kind(path: str) -> tuple[str, bool, bool]:
    """Return the spelled method of a call, whether it sends a prompt by name alone, and whether it makes an agent."""
    spelled = ".".join(_names.snake(p.removesuffix("()")) for p in path.split(".")) if path else ""
    method = spelled.rsplit(".", 1)[-1]
    head = spelled.rsplit(".", 2)[-2] if spelled.count(".") else ""
    is_llm = bool(_LLM_CALL.search(spelled)) or (bool(_LLM_VERB.match(method)) and bool(_LLM_NAME.search(head)))
    return method, is_llm, bool(_AGENT.search(path.rsplit(".", 1)[-1]))


def called(engine: Engine, node: ir.Call, path: str, receiver: Value | None, args: Args) -> None:
    """See whether a call sends a prompt, and check its parts."""
    named_args = dict(args.named)
    method, is_llm, is_agent = call_kind(path)
    if args.plain and args.plain[0].fields is not None and not args.plain[0].role and not args.named:
        fields = args.plain[0].fields
        if is_llm or _is_request(fields):
            named_args = {**fields, **named_args}
    keys = {_names.snake(k) for k in named_args}
    last = path.rsplit(".", 1)[-1]
    is_llm = is_llm or ("messages" in keys and bool(keys & (_SETTINGS | {"system"}))) or is_agent
    parts = [
        p
        for k, v in named_args.items()
        if (p := _argument(engine, _names.snake(k), v, is_llm=is_llm, is_agent=is_agent))
    ]
    parts += _positional(engine, method, args, is_llm=is_llm and not is_agent)
    parts += [(_configured(v, engine.options.names[last]), v) for v in args.values() if last in engine.options.names]
    if "cache_control" in keys and is_llm:
        parts.append(("setting_end", Value(fields={"cache_control": UNKNOWN})))
    if (
        method in _FLUENT
        and len(args.plain) == 1
        and engine.module.has_evidence
        and engine.module.lang.name != "python"
    ):
        parts.append(("system", args.plain[0]))
    if "tool" in _names.snake(path) and not last[:1].isupper():
        _described(engine, node, method, args)
    if parts:
        fire(engine, parts, node, f"{path.rsplit('.', 2)[-1] if not path else '.'.join(path.split('.')[-3:])}(...)")
    if keys & _ROUTING or (is_llm and "model" in keys):
        routing(engine, named_args, node)


def _described(engine: Engine, node: ir.Call, method: str, args: Args) -> None:
    """Check the description in ``tool({description})``, ``StructuredTool.from_function(...)``, ``server.tool(...)``."""
    fields = {**next((v.fields for v in args.plain if v.fields), {}), **args.named}
    texts = {k: v for k, v in fields.items() if k in _TOOL_TEXT} if "description" in fields else {}
    if method in ("tool", "register_tool", "add_tool") and len(args.plain) > 1 and args.plain[1].fields is None:
        texts["description"] = args.plain[1]
    if texts:
        _tool(engine, texts, node)


_FLUENT = frozenset(
    "system system_prompt default_system with_system_message system_message with_system_prompt "
    "set_system_prompt with_instructions set_instructions system_instruction preamble".split()
)


def _argument(engine: Engine, key: str, value: Value, *, is_llm: bool, is_agent: bool) -> tuple[str, Value] | None:
    if value is UNKNOWN:
        return None
    if key in _names.SYSTEM_KEYS and (is_llm or engine.module.has_evidence):
        return "system", value
    if key in _names.WEAK_SYSTEM_KEYS and (is_agent or (is_llm and key in ("system", "developer"))):
        return "system", value
    if key == "description" and is_agent and engine.module.has_evidence:
        return None
    part = _part_of_key(key)
    if part == "messages" and (is_llm or _has_roles(value)):
        return (
            "prompt"
            if value.items is None and value.fields is None and not value.taints[:0] and value.text and value.size
            else "messages"
        ), value
    if part == "prompt" and is_llm:
        return ("messages" if value.items is not None and _has_roles(value) else "prompt"), value
    if part in ("tools", "setting") and is_llm:
        return part, value
    return None


def _configured(value: Value, part: str) -> str:
    return "messages" if _has_roles(value) else part


def _has_roles(value: Value) -> bool:
    return any(i.role for i in value.items or ()) or any(t.detail == "window" for t in value.taints)


def _positional(engine: Engine, method: str, args: Args, *, is_llm: bool) -> list[tuple[str, Value]]:
    found: list[tuple[str, Value]] = []
    if method in ("bind_tools", "with_tools", "set_tools") and args.plain:
        return [("tools", args.plain[0])]
    if not is_llm:
        return found
    for value in args.plain:
        if value is UNKNOWN or value.role:
            continue
        if value.items is not None and (_has_roles(value) or method == "apply_chat_template"):
            found.append(("messages", value))
        elif value.text is not None and value.size and value.taints and value.items is None and value.fields is None:
            found.append(("prompt", value))
    return found


def made(engine: Engine, value: Value, name: str, args: Args, node: ir.Node) -> None:
    """See an object made by a constructor: a message, a tool, a request."""
    spelled = _names.snake(name)
    if (
        _SYSTEM_CTOR.match(spelled)
        and ("system" in spelled or "developer" in spelled)
        and re.search(r"message|prompt|msg|chat", spelled)
    ):
        value.role = "system"
        message(engine, _content(args), node, name)
    elif _USER_CTOR.match(spelled):
        value.role = "user"
    elif _OTHER_CTOR.match(spelled):
        value.role = "assistant"
    elif value.fields is not None and re.search(r"message|msg|content|turn", spelled):
        value.role = _ctor_role(value.fields, args)
        if value.role == "system":
            message(engine, _content(args), node, name)
    if value.fields is not None:
        call_ids(engine, value.fields, name)
        if _TOOL_CTOR.match(spelled) and "description" in value.fields:
            _tool(engine, value.fields, node)
        if re.search(r"request|params|options|body|config|args|input", spelled):
            fire(engine, [p for p in _request_parts(value.fields) if p[0] != "prompt"], node, name)


def _ctor_role(fields: dict[str, Value], args: Args) -> str:
    role = _role(fields)
    if not role and args.plain:
        first = args.plain[0]
        spelled = (first.const or first.name or "").lower()
        role = "system" if spelled in _names.SYSTEM_ROLES else "user" if spelled in ("user", "human") else ""
    return role


def _content(args: Args) -> Value:
    for key in ("content", "text", "parts", "template", "prompt", "Content", "contents"):
        if key in args.named:
            return args.named[key]
    return args.plain[-1] if args.plain else UNKNOWN


_DECORATED = {
    "system_prompt": "system",
    "instructions": "system",
    "dynamic_prompt": "system",
    "system": "system",
    "list_tools": "tools",
}


def decorated(engine: Engine, func: ir.Func, decorator: ir.Node, value: Value) -> None:
    """Remember that a decorator makes a function's result part of the prompt."""
    path = ir.dotted(decorator).replace("()", "")
    part = _DECORATED.get(path.rsplit(".", 1)[-1])
    if part and ("." in path or part == "system"):
        engine.marks[func] = part


def returned(engine: Engine, func: ir.Func, value: Value) -> None:
    """Check what a function returns when its name, decorator or result type says that it builds a prompt."""
    _pending_order(engine)
    if value is UNKNOWN or engine.is_tail:
        return
    part = engine.marks.get(func) or engine.options.names.get(func.name, "")
    if not part and engine.module.has_evidence:
        part = _names.builds(func.name)
    if not part and func.returns and _names.is_tool_type(func.returns):
        part = "tools"
    if part:
        _fire_returned(engine, func, value, "built" if part == "prompt" else part)
    elif value.text and _is_prompt_text(value):
        fire(engine, [("system", value)], func, f"text returned by {func.name}", "medium")


def _counts(taint: Taint, flat: Flat) -> bool:
    is_untouched = taint.fix == "container" and taint.wrap is None  # a set that is returned as it is
    return not taint.loop and bool(taint.place.path) and not is_untouched and not _is_bare_json(taint, flat)


def _fire_returned(engine: Engine, func: ir.Func, value: Value, part: str) -> None:
    flat = flatten(value)
    if not flat.taints:
        return
    taints = tuple(t for t in flat.taints if _counts(t, flat))
    if (
        part == "tools"
        and engine.module.lang.unordered_types
        and engine.module.lang.unordered_types.search(func.returns)
    ):
        return
    if part == "tools" and not _names.builds(func.name) and value.items is None and value.unordered is None:
        return
    if part == "tools":
        taints = tuple(
            t
            for t in taints
            if t.detail == "order" or (t.rule in _VOLATILE and t.rule not in ("cwd-or-env", "user-or-host"))
        )
    if part == "messages":
        _without = Value(value.taints, "", items=value.items, is_open=True)
        fire(engine, [("messages", _without)], func, f"returned by {func.name}", "medium")
        return
    if flat.marked:
        fire(engine, [(part, value)], func, f"returned by {func.name}", "medium")
        return
    if part == "system" and not flat.size and all(t.rule in ("cwd-or-env",) for t in taints):
        return
    fire(engine, [(part, Value(taints, HOLE, flat.size))], func, f"returned by {func.name}", "medium")


def _is_prompt_text(value: Value) -> bool:
    text = value.text or ""
    return (
        any(t.rule in _VOLATILE for t in value.taints)
        and text.count("\n") >= 2
        and bool(_LABEL.search(text))
        and bool(_TALK.search(text))
    )


def _pending_order(engine: Engine) -> None:
    """Check the order of tool lists when the function that fills them is done."""
    scope = engine.frame.scope
    for name, value in list(scope.names.items()):
        if (
            value is not UNKNOWN
            and (value.taints or value.unordered)
            and value.items is not None
            and value.fields is None
        ) and _part_of_name(engine, name) == "tools":
            orders = tuple(t for t in value.taints if t.detail == "order" and not t.loop)
            if orders:
                fire(engine, [("tools", Value(orders, HOLE))], engine.frame.func or ir.Node(0, 0), name, "medium")
