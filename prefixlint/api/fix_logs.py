"""Fix request bodies and logs: several requests are canonicalized with knowledge of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from prefixlint.api import documents, write
from prefixlint.api.files import Target
from prefixlint.api.fix import FixOptions, Run, read
from prefixlint.api.fix_files import lock_orders, to_bytes
from prefixlint.canon import agree, lone, splice, verify
from prefixlint.canon import body as canon_body
from prefixlint.canon import edits as byte_edits
from prefixlint.canon.changes import changes
from prefixlint.display import plural
from prefixlint.errors import FixError, InputError
from prefixlint.json_spans import parse
from prefixlint.model import Edit, FixNote, Json, Request

_TURN_MARKS = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "[INST]", "<|start|>", "<|turn>")
_PLAIN = (".txt", ".text", ".prompt", ".md", ".mdc", ".prompty", ".xml", ".rst", ".markdown")
_LISTS = ("requests", "data", "records", "logs", "items", "bodies")


Orders = dict[frozenset[str], tuple[str, ...]]  # of tool names, by the set of them


@dataclass(slots=True)
class Draft:
    """Hold one request while it is worked on; ``old`` never changes, ``new`` is what it is to become.

    ``causes`` maps pointers to the causes of forks for which they were changed; ``interned`` spells the bodies.
    """

    request: Request
    old: Json
    new: Json
    causes: dict[str, str] = field(default_factory=dict)
    interned: splice.Interned = field(default_factory=splice.Interned)

    @property
    def path(self) -> str:
        """Return the file that the request is in."""
        return self.request.span.path

    @property
    def family(self) -> str:
        """Return the provider API of the body."""
        return self.request.provider


@dataclass(slots=True)
class LogFile:
    """Hold one file of a log, decompressed."""

    data: bytes
    compression: str
    edits: list[Edit] = field(default_factory=list)
    failed: bool = False


def is_log(target: Target, data: bytes) -> bool:
    """Return whether a file holds request bodies, a log or raw prompts of a conversation, not settings or text."""
    if target.sort == "log":
        return True
    if target.sort == "prompt":
        head = data[:4000].decode("utf-8", "ignore")
        is_plain = target.path.lower().endswith(_PLAIN)
        return (is_plain and any(m in head for m in _TURN_MARKS)) or (not is_plain and _is_known_log(target.path))
    if target.sort != "json":
        return False
    loaded = documents.load(target.path, target.sort, data)
    if documents.body_pointer(loaded) is not None:
        return True
    value = loaded.value
    if isinstance(value, dict):
        value = next((value[k] for k in _LISTS if isinstance(value.get(k), list)), None)
    if isinstance(value, list) and bool(value) and all(map(_holds_body, value)):
        return True
    return loaded.kind.name == "unknown" and _is_known_log(target.path)


def _is_known_log(path: str) -> bool:
    """Return whether a log format claims a file by more than its name."""
    from prefixlint import registry
    from prefixlint.sources._head import Head
    from prefixlint.sources._stream import Input

    source = Input(path)
    try:
        modules = (m for m in registry.modules("sources", "claims") if not getattr(m, "GENERIC", False))
        return any(m.claims(Head(source)) for m in modules)
    finally:
        source.close()


def _holds_body(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    inside = (value, *(value[k] for k in documents._WRAPPERS if isinstance(value.get(k), dict)))
    return any(documents._is_body(v) for v in inside)


def fix(run: Run, targets: list[Target]) -> None:
    """Fix all request logs as one: learn from every request, rewrite each, verify, then hand over the edits."""
    opened = {t.path: _open(t.path) for t in targets}
    drafts = list(_drafts(run, [t.path for t in targets], opened))
    orders = lock_orders(run, targets[0].path)
    _rewrite(run, drafts, orders)
    for draft in drafts:
        if draft.new is not draft.old:
            try:
                opened[draft.path].edits += edits_of(draft, opened[draft.path].data)
            except FixError as error:
                opened[draft.path].failed = True
                run.errors.append(error)
    for path, file in opened.items():
        if not file.failed:
            run.add(path, file.data, file.edits, file.compression)


def fixed_requests(requests: Iterable[Request], options: FixOptions) -> list[Request]:
    """Return the requests of a log as they would be after ``fix``; those without a whole body stay as they are."""
    interned = splice.Interned()
    found: list[Request | Draft] = []
    for request in requests:
        found.append(_decoded(request, interned) or request)
    drafts = [d for d in found if isinstance(d, Draft)]
    if drafts:
        _rewrite(Run(options), drafts, {})
    return [request_with(d, d.new) if isinstance(d, Draft) and d.new is not d.old else _request(d) for d in found]


def _request(item: Request | Draft) -> Request:
    return item.request if isinstance(item, Draft) else item


def _decoded(request: Request, interned: splice.Interned) -> Draft | None:
    """Decode the body of a request, or its raw prompt; None where it has none that can be worked on."""
    if request.text is not None:
        body = {"prompt": request.text}
        return Draft(request, body, body, interned=interned)
    if request.tokens is not None or request.no_prompt or not request.members:
        return None
    try:
        old = interned.body(request.members)
    except (ValueError, RecursionError):
        return None
    return Draft(request, old, old, interned=interned)


def _rewrite(run: Run, drafts: list[Draft], orders: Orders) -> None:
    """Set the new body of every draft: the safe one, and if that proves no worse, the one with all wanted edits."""
    safe = canonical([d.old for d in drafts], run.options, orders)
    for draft, new in zip(drafts, safe, strict=True):
        draft.new = new
    if len(drafts) > 1:
        _move(run, drafts, orders)
    elif drafts and run.options.unsafe and drafts[0].request.text is None:
        _move_alone(run, drafts[0], orders)
    message = _fault(run, drafts, orders)
    if message and run.options.unsafe:
        run.notes.append(FixNote(drafts[0].path, f"only safe edits were made: with the others {message}"))
        for draft, new in zip(drafts, safe, strict=True):
            draft.new, draft.causes = new, {}
        message = _fault(run, drafts, orders)
    if message:
        run.errors.append(FixError(f"{drafts[0].path}: {message}; nothing was written"))
        for draft in drafts:
            draft.new = draft.old


def canonical(bodies: list[Json], options: FixOptions, orders: Orders) -> list[Json]:
    """Return the canonical bodies: one alone in pure form, several in the form that they agree on."""
    chosen = canon_body.Options(options.all_roles, options.all_blanks, options.unsafe)
    if len(bodies) == 1:
        return [settled(bodies[0], lone.canonical(bodies[0], canon_body.Walk(chosen, None, orders)))]
    agreement = agree.Agreement(chosen, tool_orders=dict(orders))
    for body in bodies:
        agreement.learn(body)
    return [settled(body, agreement.rewrite(body)) for body in bodies]


def _move(run: Run, drafts: list[Draft], orders: Orders) -> None:
    """Work on the forks that are left, then agree again: text that moved may have hidden what else differs."""
    from prefixlint.api import fix_moves

    options = run.options
    bodies, notes = fix_moves.apply(drafts, request_with, unsafe=options.unsafe, all_roles=options.all_roles)
    run.notes += notes
    for draft, body, new in zip(drafts, bodies, canonical(bodies, run.options, orders), strict=True):
        draft.new = settled(draft.old, new if new is not body else body)


def _move_alone(run: Run, draft: Draft, orders: Orders) -> None:
    """Move labelled lines of a single body into its last turn."""
    from prefixlint.api import fix_alone
    from prefixlint.api.render import render

    prompt = render(request_with(draft, draft.new))
    body, draft.causes = fix_alone.moved_in_body(draft.new, prompt)
    if draft.causes:
        draft.new = settled(draft.old, canonical([body], run.options, orders)[0])


def settled(old: Json, new: Json) -> Json:
    """Return the old object where nothing changed, so that ``is`` tells."""
    return old if verify.equal(old, new) else new


def _open(path: str) -> LogFile:
    data = read(path)
    return LogFile(write.expand(data), write.compression_of(data))


def _drafts(run: Run, paths: list[str], opened: dict[str, LogFile]) -> Iterator[Draft]:
    """Read every request with the place of its body; what has no place in a file is noted and left alone."""
    from prefixlint.api import read as reading

    left: dict[str, int] = {}
    interned = splice.Interned()
    for request in reading.open_log(paths).requests():
        if isinstance(request, InputError):
            run.errors.append(request)
            continue
        draft = _draft(request, opened[request.span.path].data, interned)
        if draft is not None:
            yield draft
        elif not request.no_prompt:
            left[request.span.path] = left.get(request.span.path, 0) + 1
    for path, count in left.items():
        message = f"{plural(count, 'record')} without a whole request body, which could be edited in place"
        run.notes.append(FixNote(path, message))


def _draft(request: Request, data: bytes, interned: splice.Interned) -> Draft | None:
    """Take a request that can be edited where it stands in the file."""
    if request.text is None and (request.rebuilt or not _is_in_place(request, data)):
        return None
    draft = _decoded(request, interned)
    if draft is not None:  # the bytes of a log that repeats itself would stay in memory once more for each request
        draft.request = replace(request, members={})
    return draft


def _is_in_place(request: Request, data: bytes) -> bool:
    """Return whether the record that a request is from can be a JSON object that holds its body."""
    span = request.span
    return data[span.start_byte : span.start_byte + 1] == b"{" and data[span.end_byte - 1 : span.end_byte] == b"}"


def edits_of(draft: Draft, data: bytes) -> list[Edit]:
    """Return the edits of the file that make one request new. Raises FixError when they would do anything else."""
    if draft.request.text is not None:
        found = list(splice.text_edits(draft.old["prompt"], draft.new["prompt"]))
        rule = next(iter(draft.causes.values()), "trailing-whitespace")
        return [replace(e, rule=rule) for e in to_bytes(draft.old["prompt"], found)]
    span, pointer = draft.request.span, draft.request.body_pointer
    document = parse(data[span.start_byte : span.end_byte], path=draft.path)
    node = document.node(pointer)
    if node is None or node.kind != "object":
        raise FixError(f"{draft.path}: request {span.record} lies inside a string and cannot be edited in place")
    edits = list(splice.splice(document, node, draft.old, draft.new))
    verify.same(byte_edits.apply(document.data, edits), pointer, draft.new, draft.path)
    rules = {c.pointer: c.rule for c in changes(draft.old, draft.new)}
    if draft.causes:  # where text moved, lists are out of step, and only changes of whole lists are what they seem
        rules = {p: r for p, r in rules.items() if r in ("tool-order", "key-order")} | draft.causes
    return [byte_edits.moved(replace(e, rule=e.rule or _rule(rules, e.pointer)), span.start_byte) for e in edits]


def _rule(rules: dict[str, str], pointer: str) -> str:
    """Name the rule of the change at an edit's pointer, or else of the nearest one around or below it."""
    place = pointer
    while place:
        if place in rules:
            return rules[place]
        place = place.rpartition("/")[0]
    below = (rule for found, rule in rules.items() if found.startswith(f"{pointer}/"))
    return next(below, "") or rules.get("") or next(iter(rules.values()), "")


def request_with(draft: Draft, body: Json) -> Request:
    """Return the request of a draft with another body, for rendering."""
    if draft.request.text is not None:
        return replace(draft.request, text=body["prompt"])
    return replace(draft.request, members={key: draft.interned.spell(value) for key, value in body.items()})


def shared(drafts: list[Draft], *, new: bool) -> int:
    """Measure how many characters of the prompts begin an earlier prompt alike."""
    sharing = verify.Sharing()
    for draft in drafts:
        scope = f"{draft.request.model}\0{draft.request.scope}"
        sharing.add(scope, draft.new if new else draft.old)
    return sharing.total


def _fault(run: Run, drafts: list[Draft], orders: Orders) -> str:
    """Say what is wrong with the new bodies: a second pass would change them, or the log would share less."""
    if all(d.new is d.old for d in drafts):
        return ""
    now = [d.new for d in drafts]
    if any(a is not b for a, b in zip(canonical(now, run.options, orders), now, strict=True)):
        return "a second pass would change the result again"
    if len(drafts) > 1:
        before, after = shared(drafts, new=False), shared(drafts, new=True)
        if after < before:
            return f"the shared prefix would shrink from {before} to {after} characters"
    return ""
