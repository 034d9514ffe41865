"""Evaluate calls: volatile sources, sorting and other sanitizers, containers, templates, known functions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prefixlint.code import _expr, _methods, _names, _shell, _sinks
from prefixlint.code import _ir as ir
from prefixlint.code._lang import HAS_TIME, Source, lookup
from prefixlint.code._values import UNKNOWN, Taint, Value, concat, flatten, stepped
from prefixlint.model import Confidence

if TYPE_CHECKING:
    from prefixlint.code._engine import ClassRef, Closure, Engine

SHORT = 800  # bytes of a function that is run anew for each set of constant arguments
CONSTRUCTORS = ("__init__", "__post_init__", "constructor", "initialize", "init")

# Calls whose result is their text arguments in another form.
_PASS = re.compile(
    r"^(?:str|repr|format|string|text|to_string|list|tuple|dict|array|from|of|int|float|round|abs|reversed|"
    r"enumerate|zip|iter|chain|from_iterable|dedent|indent|fill|wrap|escape|quote|unescape|sprint|sprintf|"
    r"sprintln|format_args|format_time|strftime|isoformat|concat|bytes|bytearray|encode|decode|b64encode|"
    r"urlsafe_b64encode|md5|sha1|sha256|hexdigest|cast|deepcopy|copy|clone|to_owned|into|unwrap|some|ok|box|"
    r"promise_resolve|resolve|as_str|fromtimestamp|utcfromtimestamp|datetime|filter|map|values_of|some_new|optional_of|"
    r"decode_uri|must|from_utf8_lossy|from_utf8|markdown|to_text|to_str|string_value|number|ascii|path|"
    r"purepath|posixpath|join_all|gather|to_list|textcontent|"
    r"textblock|text_block|text_part|textpart|part|content|text_content|collect|ref|arc|rc|pointer|ptr|render|print|"
    r".*(?:prompt|message|template|_text|_block|_section|_line|_header|instructions|context|_str|_string))$"
)
_READS = frozenset(
    "read_text read_bytes read open exists is_file is_dir stat load load_text readlines tzname utcoffset".split()
)
_FORMAT_METHODS = frozenset(
    "format render substitute safe_substitute format_map format_messages format_prompt invoke partial ainvoke "
    "aformat render_async assign formatMessages formatPromptValue formatPrompt".split()
)
_PLACEHOLDER = r"(?:\{\{-?\s*\.?%s\b[^}]*\}\}|\$?\{\s*%s\b[^}]*\}|\$%s\b|<%%=\s*%s\b[^>]*>)"


@dataclass(slots=True)
class Args:
    """The evaluated arguments of a call; ``spread`` holds the values of spread mappings."""

    plain: list[Value]
    named: dict[str, Value]
    is_open: bool = False

    def get(self, position: int, *names: str) -> Value | None:
        """Return the argument at a position or under one of the names."""
        for name in names:
            if name in self.named:
                return self.named[name]
        return self.plain[position] if 0 <= position < len(self.plain) else None

    def values(self) -> list[Value]:
        """List all argument values."""
        return [*self.plain, *self.named.values()]


def bind(engine: Engine, closure: Closure, args: Args) -> dict[str, Value]:
    """Bind arguments to the parameters of a function, defaults included."""
    from prefixlint.code._engine import Frame

    bound: dict[str, Value] = {}
    func = closure.func
    params = [p for p in func.params if not (closure.bound is not None and p.name == func.self_name)]
    rest = list(args.plain)
    named = dict(args.named)
    for param in params:
        if param.kind == "rest":
            bound[param.name] = Value(text="", items=rest, is_open=args.is_open, depth=engine.order_depth)
            rest = []
        elif param.kind == "mapping":
            bound[param.name] = Value(text="", fields=dict(named), depth=engine.order_depth)
        elif param.name in named:
            bound[param.name] = named.pop(param.name)
        elif rest and param.kind != "named":
            bound[param.name] = rest.pop(0)
        elif param.default is not None:
            with engine.framed(Frame(closure.module, closure.scope, None, owner=closure.owner)):
                bound[param.name] = engine.eval(param.default)
        else:
            bound[param.name] = engine.parameter(param, closure)
    return bound


def call(engine: Engine, node: ir.Call) -> Value:
    """Evaluate a call in this order: source, receiver method, known function or class, sink, pass-through."""
    path = _expr.path_of(engine, node.func)
    method = node.func.name if isinstance(node.func, (ir.Attr, ir.Name)) else ""
    source = _source(engine, node, path)
    if source is not None:
        args = arguments(engine, node)
        return _from_source(engine, node, source, args, path)
    receiver = engine.eval(node.func.base) if isinstance(node.func, ir.Attr) else None
    is_tail = engine.is_tail
    if receiver is not None and method in _methods.APPEND:
        engine.is_tail = _methods.is_tail(engine, receiver, node)
    args = arguments(engine, node)
    engine.is_tail = is_tail
    if receiver is not None:
        made = _methods.method(engine, node, receiver, method, args)
        if made is not None:
            return made
    target = _target(engine, node, receiver, method)
    _sinks.called(engine, node, path, receiver, args)
    made = _known(engine, node, target, args)
    if made is not None:
        return made
    return _unknown(engine, node, path, method, receiver, args)


def arguments(engine: Engine, node: ir.Call) -> Args:
    """Evaluate the arguments of a call, spreading mappings and lists of known content."""
    args = Args([], {})
    for item in node.args:
        if isinstance(item, ir.Spread):
            value = engine.eval(item.value)
            args.plain += value.items or []
            args.is_open = True
        else:
            args.plain.append(engine.eval(item))
    for name, item in node.named:
        value = engine.eval(item)
        if name is None:
            args.named.update(value.fields or {})
        else:
            args.named[name] = value
    return args


def _source(engine: Engine, node: ir.Call, path: str) -> Source | None:
    if not path:
        return None
    lang = engine.module.lang
    if node.is_new:
        source = lang.calls.get(f"new:{path.rsplit('.', 1)[-1]}") or lookup(lang.calls, path)
    else:
        source = lookup(lang.calls, path)
    if (
        source is None
        and isinstance(node.func, ir.Name)
        and node.func.name in engine.module.imports
        and not node.is_new
    ):
        source = lang.calls.get(engine.module.imports[node.func.name].name or node.func.name)
    if source is None:
        return None
    head = path.split(".", 1)[0]
    if "." not in path and (engine.frame.scope.find(head) is not None and head not in engine.module.imports):
        return None  # shadowed by a function of the file
    count = len(node.args) + len(node.named)
    if (source.when == "bare" and count) or (source.when == "few" and len(node.args) > 1):
        return None
    if source.kind == "random" and (engine.module.is_seeded or head in engine.frame.scope.names):
        return None
    return source


def _from_source(engine: Engine, node: ir.Call, source: Source, args: Args, path: str) -> Value:
    if source.kind == "struct":
        value = _expr.taint_of(engine, source, node)
        form = args.get(0, "format")
        return as_date(value) if form is not None and form.const and not HAS_TIME.search(form.const) else value
    if source.kind == "environ":
        return environment(engine, args.get(0) or UNKNOWN, node)
    if source.kind == "listing" and args.plain and any(t.detail == "order" for t in args.plain[0].taints):
        return args.plain[0]
    if source.rule == "image-reencode" and not _sinks.rebuilds(engine):
        return UNKNOWN
    return _expr.taint_of(engine, source, node)


_ENV_USER = re.compile(r"^(?:USER|USERNAME|LOGNAME|HOME|USERPROFILE|HOSTNAME|HOST|COMPUTERNAME|POD_NAME|NODE_NAME)$")
_ENV_QUIET = re.compile(
    r"PROMPT|INSTRUCT|MODEL|KEY|TOKEN|SECRET|URL|PERSONA|SYSTEM|LANG|CONFIG|NAME|VERSION|COMPANY|PRODUCT|ENDPOINT"
)


def environment(engine: Engine, key: Value, node: ir.Node) -> Value:
    """Return the value of an environment variable; configuration of the prompt itself is no surprise."""
    name = key.const or ""
    if _ENV_USER.match(name):
        return _expr.taint_of(engine, Source("user-or-host", confidence="medium"), node)
    if name and _ENV_QUIET.search(name):
        return UNKNOWN
    return _expr.taint_of(engine, Source("cwd-or-env", confidence="medium" if name else "low"), node)


def _target(engine: Engine, node: ir.Call, receiver: Value | None, method: str) -> Value:
    if receiver is not None:
        return _expr.member(engine, receiver, method, node.func) if receiver is not UNKNOWN else UNKNOWN
    return engine.eval(node.func)


def _known(engine: Engine, node: ir.Call, target: Value, args: Args) -> Value | None:
    from prefixlint.code._engine import ClassRef, Closure

    if isinstance(target.ref, Closure):
        return run(engine, node, target.ref, args)
    if isinstance(target.ref, ClassRef) and target.ref.instance is not target:
        return new(engine, node, target.ref, args)
    return None


def run(engine: Engine, node: ir.Call, closure: Closure, args: Args) -> Value:
    """Run a known function inline; equal plain calls are run once."""
    key, store = _memo_key(engine, closure, args)
    known = store.get(key)
    if known is not None:
        return known[0]
    place = engine.place(node)
    label = f"{engine.text(node.func)}(...)"
    passed = Args(
        [stepped(v, place, label) for v in args.plain],
        {k: stepped(v, place, label) for k, v in args.named.items()},
        args.is_open,
    )
    result = engine.invoke(closure, bind(engine, closure, passed))
    result = stepped(result, place, label) if result.taints else result
    store[key] = (result, args, closure)  # the arguments stay alive, so that no other object gets their id
    return result


def _memo_key(engine: Engine, closure: Closure, args: Args) -> tuple[object, dict[object, tuple[Value, Args, Closure]]]:
    values = args.values()
    bound = closure.bound
    is_plain = not any(v.taints or v.items or v.fields or v.unordered or v.ref for v in values)
    if is_plain and (bound is None or not any(v.taints or v.unordered for v in (bound.fields or {}).values())):
        # A summary: equal for all callers, so it outlives the file. Short functions are told apart by constants.
        is_short = closure.func.end - closure.func.start < SHORT
        texts = tuple(v.text for v in values) if is_short else ()
        return (
            id(closure.func),
            id(bound.ref) if bound is not None else 0,
            texts,
            bool(engine.loops),
        ), engine.summaries
    plain = tuple(_value_key(v) for v in args.plain)
    named = tuple((n, _value_key(v)) for n, v in args.named.items())
    return (id(closure.func), id(bound), bool(engine.loops), engine.is_tail, plain, named), engine.memo


def _value_key(value: Value) -> object:
    if value.taints or value.items or value.fields or value.unordered or value.ref:
        return id(value)
    return value.text, value.size


def new(engine: Engine, node: ir.Call, owner: ClassRef, args: Args) -> Value:
    """Make an object of a known class: constructor, or fields by keyword for dataclasses and models."""
    value = Value(text="", fields={}, ref=owner, depth=engine.order_depth, kind=owner.node.name)
    assert value.fields is not None
    if any(owner.method(n) for n in CONSTRUCTORS) and len(engine.frames) < 8:
        engine.construct(owner, value, args)
    else:
        fields = [n for n in [*owner.attrs, *owner.node.fields] if not n.startswith("__")]
        for name, attr in owner.attrs.items():
            if attr.taints or attr.size:
                value.fields[name] = attr
        for name, arg in zip(dict.fromkeys(fields), args.plain, strict=False):
            value.fields[name] = arg
    for name, arg in args.named.items():
        value.fields.setdefault(name, arg)
    _sinks.made(engine, value, owner.node.name, args, node)
    return value


def _unknown(engine: Engine, node: ir.Call, path: str, method: str, receiver: Value | None, args: Args) -> Value:
    special = _special(engine, node, path, method, receiver, args)
    if special is not None:
        return special
    spelled = _names.snake(method)
    if receiver is not None and receiver.taints and receiver.items is None and receiver.fields is None:
        if method in _READS and receiver.kind not in ("proc", "BytesIO", "image"):
            return UNKNOWN
        return Value(receiver.taints, "\x00", kind=receiver.kind)
    if method[:1].isupper() or node.is_new:
        return _constructed(engine, node, method, args)
    if _PASS.match(spelled) and args.values():
        parts = [_expr.settled(engine, v, node) for v in args.values()]
        if any(v.taints or v.items or v.fields for v in parts) or spelled in (
            "str",
            "string",
            "dedent",
            "text",
            "from",
            "to_string",
        ):
            return _passed(engine, node, spelled, args)
    return Value(text="\x00", name=method, is_open=True, depth=engine.order_depth)


def _passed(engine: Engine, node: ir.Call, spelled: str, args: Args) -> Value:
    values = args.values()
    first = values[0]
    if len(values) == 1 and (
        first.items is not None or first.fields is not None or first.unordered is not None or first.const is not None
    ):
        if spelled in (
            "list",
            "tuple",
            "array",
            "from",
            "of",
            "collect",
            "iter",
            "enumerate",
            "to_list",
            "chain",
            "dict",
            "copy",
            "deepcopy",
            "reversed",
            "values_of",
            "map",
            "filter",
            "cast",
        ):
            return relisted(engine, first, node)
        if first.const is not None and first.items is None:
            return first
    made = concat([_expr.settled(engine, v, node) for v in values])
    made.kind = first.kind
    return made


def relisted(engine: Engine, value: Value, node: ir.Call) -> Value:
    """Return ``list(value)``: a container without order becomes a list whose order varies."""
    if value.unordered is None:
        return value
    wrap = node.args[0] if node.args else node
    taint = engine.iterate(value, wrap)
    assert taint is not None
    return Value((*value.taints, taint), "", items=list(value.items or []), is_open=True, depth=engine.order_depth)


def _constructed(engine: Engine, node: ir.Call, method: str, args: Args) -> Value:
    value = Value(text="", fields={}, depth=engine.order_depth, kind=method)
    assert value.fields is not None
    if args.plain and all(v.fields is not None and not v.role for v in args.plain[:1]) and node.is_new:
        value.fields.update(args.plain[0].fields or {})
        value.fields.pop("__type", None)
    elif args.plain:
        for i, arg in enumerate(args.plain):
            value.fields[f"[{i}]"] = arg
    value.fields.update(args.named)
    if method in engine.module.lang.unordered_calls:
        return _unordered(engine, node, args)
    _sinks.made(engine, value, method, args, node)
    return value


def _unordered(engine: Engine, node: ir.Node, args: Args) -> Value:
    taint = Taint("list-order", engine.place(node), detail="order", fix="container")
    taints = tuple(t for a in args.plain for t in a.taints if t.detail != "order")
    return Value(taints, "\x00", unordered=taint, depth=engine.order_depth, kind="unordered")


def _special(engine: Engine, node: ir.Call, path: str, method: str, receiver: Value | None, args: Args) -> Value | None:
    lang = engine.module.lang
    tail2 = ".".join(path.split(".")[-2:])
    if tail2 in lang.unordered_calls or (method in lang.unordered_calls and "." not in path):
        return _unordered(engine, node, args)
    if (
        path in lang.json_calls
        or tail2 in lang.json_calls
        or (receiver is not None and f".{method}" in lang.json_calls)
    ):
        return dumped(engine, node, args, receiver)
    if receiver is None and method in _methods.SORTERS and args.plain:
        return _methods.sorted_value(args.plain[0])
    if tail2 in _methods.SORT_CALLS and args.plain:
        return _methods.sort_in_place(args.plain[0])
    if (
        tail2 in ("random.shuffle", "rng.shuffle", "Collections.shuffle", "_.shuffle", "lodash.shuffle")
        or method == "shuffle"
    ):
        return _methods.shuffle(engine, node, receiver, args)
    if tail2 in ("random.seed", "np.random.seed", "rand.Seed") and node.args:
        return UNKNOWN
    if tail2 in ("random.Random", "random.default_rng") and not node.args:
        return Value(text="\x00", kind="rng")
    if tail2 in _shell.CALLS or method in _shell.METHODS:
        return _shell.run(engine, node, args)
    if method in ("from", "of", "from_text", "fromText", "ofText", "create", "new", "systemMessage") and "." in path:
        owner = path.rsplit(".", 2)[-2].removesuffix("()")
        if owner.endswith(("Message", "Prompt", "MessageParam")) and owner[:1].isupper():
            return _constructed(engine, node, owner, args)
    if method in ("content", "text", "set_content") and args.plain and (built := _ROLE_BUILDER.search(path)):
        return _constructed(engine, node, f"{built[1]}Message", args)
    if method in ("Array", "ArrayList", "List", "Vec") and len(args.plain) == 1 and args.plain[0].unordered is not None:
        return relisted(engine, args.plain[0], node)
    if tail2 == "rand.Shuffle" and len(node.args) == 2:
        return _methods.swapped(engine, node)
    if method in _ROLE_CALLS and args.values() and path.rsplit(".", 2)[-2:-1] and path.rsplit(".", 2)[-2][:1].isupper():
        return _constructed(engine, node, f"{_ROLE_CALLS[method]}Message", args)
    if method in _TEMPLATES and args.values():
        return template(engine, node, path, args)
    if method in ("field", "Field") and "default_factory" in args.named:
        return _factory(engine, node)
    if method in ("append", "add") and receiver is None and args.plain:
        return _methods.go_append(engine, node, args)
    if method in ("expanduser",) and args.plain and (args.plain[0].const or "").startswith("~"):
        return _expr.taint_of(engine, Source("user-or-host", confidence="low"), node)
    if tail2 in (
        "os.getenv",
        "environ.get",
        "env.get",
        "os.Getenv",
        "env.var",
        "System.getenv",
        "ENV.fetch",
        "Environment.GetEnvironmentVariable",
    ):
        return environment(engine, args.get(0) or UNKNOWN, node)
    if method == "getattr" and len(args.plain) >= 2 and args.plain[1].const:
        return _expr.member(engine, args.plain[0], args.plain[1].const, node)
    if method in ("partial",) and args.plain and receiver is None:
        return args.plain[0]
    return None


_ROLE_BUILDER = re.compile(r"(System|Developer|User|Assistant)\w*Message")
_ROLE_CALLS = {
    **dict.fromkeys(
        ("from_system", "fromSystem", "ofSystem", "system", "developer", "from_developer", "CreateSystemMessage"),
        "System",
    ),
    **dict.fromkeys(("from_user", "fromUser", "ofUser", "user", "human", "CreateUserMessage"), "User"),
    **dict.fromkeys(("from_assistant", "fromAssistant", "ofAssistant", "assistant"), "Assistant"),
}
_TEMPLATES = frozenset(
    "from_messages from_template from_string fromTemplate fromMessages PromptTemplate "
    "ChatPromptTemplate Template compile".split()
)


def template(engine: Engine, node: ir.Call, path: str, args: Args) -> Value | None:
    """Return the text or messages that a template object holds."""
    held = args.get(0, "template", "messages", "source")
    if held is None or (held.text is None and held.items is None) or not (held.size or held.items):
        return None
    if "System" in path:
        return Value(text="", fields={"content": held}, role="system")
    return replace(held) if held.items is None else held


def _factory(engine: Engine, node: ir.Call) -> Value:
    made = next(item for name, item in node.named if name == "default_factory")
    fake = ir.Call(made.start, made.end, made, [])
    if isinstance(made, ir.Func):
        return engine.invoke(engine.eval(made).ref, {})
    return engine.eval(fake)


def dumped(engine: Engine, node: ir.Call, args: Args, receiver: Value | None) -> Value:
    """Return serialised JSON; key order varies unless keys are sorted or the mapping is a literal."""
    lang = engine.module.lang
    value = args.plain[0] if args.plain else receiver if receiver is not None else UNKNOWN
    flat = flatten(value)
    taints = tuple(flat.taints)
    raw = engine.module.data[node.start : node.end].decode("utf-8", "replace")
    if lang.json_safe is not None and lang.json_safe.search(raw):
        taints = tuple(t for t in taints if t.detail != "order" or t.fix != "container")
        return Value(taints, "\x00", flat.size)
    if not lang.json_calls or not _keys_vary(engine, node, value):
        return Value(taints, "\x00", flat.size, kind="json")
    place = engine.place(node)
    taint = Taint(
        "key-order",
        place,
        steps=((place, engine.text(node)),),
        confidence=_key_confidence(engine, value),
        fix="sort_keys",
    )
    return Value((*taints, taint), "\x00", flat.size, kind="json")


def _keys_vary(engine: Engine, node: ir.Call, value: Value) -> bool:
    if engine.module.lang.map_json_only:
        return value.unordered is not None or any(t.detail == "order" for t in value.taints)
    item = node.args[0] if node.args else None
    if isinstance(item, (ir.Const, ir.Seq, ir.Concat)) or value.const is not None:
        return False
    if isinstance(item, ir.Comp) and item.kind != "map":
        return False
    if isinstance(item, ir.Call):
        last = ir.dotted(item.func).rsplit(".", 1)[-1]
        if re.search(
            r"schema|model_description|dump|asdict|to_dict|as_dict|sorted|toJSON|list$|str$|dict$", last, re.IGNORECASE
        ):
            return False
    if item is not None and re.search(rb"schema", engine.module.data[item.start : item.end], re.IGNORECASE):
        return False  # schemas are generated from definitions, in one order
    return value.fields is None or any(k.startswith("[") for k in value.fields)


def _key_confidence(engine: Engine, value: Value) -> Confidence:
    return "medium" if any(t.detail == "order" for t in value.taints) else "low"


def refined(engine: Engine, base: Value, key: str, node: ir.Node) -> Value:
    """Return a member of a volatile value, such as ``now.year`` or ``uuid4().hex``."""
    spelled = _names.snake(key)
    if base.kind in ("datetime", "date") and spelled in (
        "year",
        "month",
        "day",
        "date",
        "weekday",
        "day_of_week",
        "today",
    ):
        return as_date(base)
    if spelled in ("tzinfo", "tzname", "tz", "utcoffset", "timezone"):
        return UNKNOWN
    if spelled in (
        "time_interval_since1970",
        "ticks",
        "epoch_second",
        "unix_timestamp",
        "epoch_seconds",
        "time_in_millis",
    ):
        return Value(
            tuple(replace(t, rule="epoch") if t.rule == "timestamp" else t for t in base.taints), "\x00", kind="epoch"
        )
    if base.kind == "proc" and spelled in ("returncode", "return_code", "pid", "status"):
        return UNKNOWN
    return Value(base.taints, "\x00", kind=base.kind)


def as_date(value: Value) -> Value:
    """Return the value cut down to whole days: clocks become dates."""
    taints = tuple(replace(t, rule="date") if t.rule in ("timestamp", "epoch") else t for t in value.taints)
    return Value(taints, "\x00", value.size, kind="date")


def keeps_date(engine: Engine, key: ir.Slice) -> bool:
    """Tell whether a slice keeps only the date of an ISO timestamp."""
    upper = key.upper
    if not isinstance(upper, ir.Const) or not upper.number:
        return False
    raw = engine.module.data[upper.start : upper.end]
    return raw.isdigit() and int(raw) <= 10


def cuts_time(engine: Engine, key: ir.Node) -> bool:
    """Tell whether an index picks the first piece of a split timestamp."""
    return isinstance(key, ir.Const) and engine.module.data[key.start : key.end] == b"0"


def percent(engine: Engine, left: Value, right: Value, node: ir.Op) -> Value:
    """Evaluate ``text % values``."""
    values = right.items if right.items is not None else [right]
    pieces = re.split(r"(%\(\w+\)[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]|%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z])", left.text or "")
    found: list[Value] = [Value(left.taints)] if left.taints else []
    at = 0
    for piece in pieces:
        named = re.match(r"%\((\w+)\)", piece)
        if named:
            found.append((right.fields or {}).get(named[1], Value(text="\x00")))
        elif piece.startswith("%") and piece != "%%" and len(piece) > 1:
            value = values[at] if at < len(values) else UNKNOWN
            found.append(_expr.settled(engine, value, node))
            at += 1
        else:
            found.append(Value(text=piece, size=len(piece)))
    return concat(found)


def fill(engine: Engine, template: Value, args: Args, node: ir.Node) -> Value:
    """Fill the placeholders of a template with the arguments, by name or in order."""
    named = dict(args.named)
    for value in args.plain:
        if value.fields is not None:
            named.update(value.fields)
    if template.items is not None:
        made = Value(
            template.taints, "", items=[fill(engine, i, args, node) for i in template.items], is_open=template.is_open
        )
        made.role, made.front = template.role, template.front
        return made
    if template.fields is not None:
        filled = {k: fill(engine, v, args, node) for k, v in template.fields.items()}
        return Value(
            template.taints, template.text, template.size, fields=filled, role=template.role, kind=template.kind
        )
    text = template.text or ""
    if not template.size:
        values = [
            _expr.settled(engine, v, node) for v in [*named.values(), *(p for p in args.plain if p.fields is None)]
        ]
        return concat([template, *values])
    return _filled(engine, template, text, named, args, node)


def _filled(engine: Engine, template: Value, text: str, named: dict[str, Value], args: Args, node: ir.Node) -> Value:
    spots: list[tuple[int, int, Value]] = []
    for name, value in named.items():
        escaped = re.escape(name)
        for found in re.finditer(_PLACEHOLDER % (escaped, escaped, escaped, escaped), text):
            spec = re.search(r":(?!:)([^}]*)", found[0])
            shown = as_date(value) if spec and value.kind == "datetime" and not HAS_TIME.search(spec[1]) else value
            spots.append((found.start(), found.end(), _expr.settled(engine, shown, node)))
    for i, found in enumerate(re.finditer(r"\{(\d*)(?:![rsa])?(?::[^{}]*)?\}", text)):
        at = int(found[1]) if found[1] else i
        if at < len(args.plain) and args.plain[at].fields is None:
            spots.append((found.start(), found.end(), _expr.settled(engine, args.plain[at], node)))
    pieces: list[Value] = [Value(template.taints, "")] if template.taints else []
    end = 0
    for start, stop, value in sorted(spots, key=lambda s: s[0]):
        if start < end:
            continue
        pieces += [Value(text=text[end:start], size=len(text[end:start].replace("\x00", ""))), value]
        end = stop
    pieces.append(Value(text=text[end:], size=len(text[end:].replace("\x00", ""))))
    return concat(pieces)


def is_template_call(method: str) -> bool:
    """Tell whether a method fills a template."""
    return method in _FORMAT_METHODS
