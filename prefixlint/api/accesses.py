"""Turn the requests of a log into what cache models take: packed token ids, blocks, boundaries, times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from prefixlint import cards
from prefixlint.api.keeping import Keeping
from prefixlint.api.render import layout
from prefixlint.api.tokens import tokenizer_for
from prefixlint.caches._base import KEPT_SESSIONS, WIDTH, Access, Mark, Packer
from prefixlint.diff.engine import Engine, Step
from prefixlint.diff.sequence import ASSISTANT_ROLES, PartIds
from prefixlint.elements import Layout
from prefixlint.errors import ConfigError, InputError, PrefixlintError
from prefixlint.model import Fork, Request, Tokenizer, Trust

_TTL_S = {"5m": 300.0, "1h": 3600.0, "30m": 1800.0, "24h": 86400.0}
# What ends a prefix for the automatic breakpoints of OpenAI 5.6: user messages and tool responses.
_ELIGIBLE = frozenset(("user", "tool", "function"))
_HIDDEN = b"\xfe\xff\xff\xff"  # the token id that stands for text that a transcript leaves out
_SPEAKERS = frozenset(("user", "assistant", "model", "tool", "function"))


@dataclass(slots=True)
class Served:
    """Hold an access beside the request it was made from.

    ``echo`` is the request before it in its conversation, now with the answer that this one repeats: an engine that
    keeps what it generated held it already. ``fork`` is where the conversation parted from its history.
    """

    access: Access
    request: Request
    elements: tuple[int, ...] = ()
    fork: Fork | None = None
    echo: Access | None = None


@dataclass(slots=True)
class Reader:
    """Read requests into accesses; text that was seen before is neither decoded nor tokenized again.

    ``answers`` adds the echoes. ``marks`` says for which requests boundaries are wanted; those are counted as the
    tokenizer counts (the ids of an estimate are those of its base vocabulary, and fewer).
    """

    tokenizer: str | None = None
    model: str | None = None
    api: str | None = None
    answers: bool = True
    marks: Callable[[Request], bool] = lambda request: False
    packer: Packer = field(default_factory=Packer)
    tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    engine: Engine = field(init=False)
    _packed: dict[tuple[int, str], bytes] = field(default_factory=dict)
    _blocks_of: dict[tuple[int, str], list[tuple[str, int]]] = field(default_factory=dict)
    _layouts: dict[str, Layout] = field(default_factory=dict)
    _trusts: dict[str, Trust] = field(default_factory=dict)
    _heads: dict[int, int] = field(default_factory=dict)
    _told: dict[int, list[Mark]] = field(default_factory=dict)
    _before: dict[str, Access] = field(default_factory=dict)
    _count: int = 0

    def __post_init__(self) -> None:
        """Build the engine that compares the requests."""
        self.engine = Engine(self._layout_of, self.of, self._trust)

    def read(self, items: Iterator[Request | InputError]) -> Iterator[Served]:
        """Yield one access per request that holds a prompt; what it cannot use is counted in ``notes``."""
        for item in items:
            if isinstance(item, InputError):
                continue
            served = self.one(item)
            if served is None or not served.access.prompt_tokens:
                self._note("records hold no prompt and were left out")
                continue
            self._count += 1
            yield served

    def _note(self, text: str) -> None:
        self.notes[text] = self.notes.get(text, 0) + 1

    def one(self, request: Request) -> Served | None:
        """Build the access of one request, None when nothing in it can be sent to a model."""
        if request.tokens is not None:
            return Served(self._ids(request), request)
        if request.blocks is not None:
            return Served(self._blocks(request), request)
        if request.no_prompt or (not request.members and request.text is None):
            return None
        if request.truncated:
            self._note("prompts were cut by the logger; what lies behind the cut is not replayed")
        try:
            return self._prompt(request, self.engine.add(request))
        except ConfigError:
            if self.api or self.tokenizer:
                raise
            self._note(f"requests of provider {request.provider!r} were left out: their send order is not known")
            return None

    def _access(self, request: Request, prompt: int, output: int, packed: bytes) -> Access:
        key = request.members.get("prompt_cache_key", b"").decode("utf-8", "replace")
        scope = "\0".join((request.model or "", request.scope, key))
        return Access(self._count, prompt, output, packed, scope, request.at_s, request.session or "")

    def _ids(self, request: Request) -> Access:
        tokens, output = request.tokens or (), request.output or ()
        packed = self.packer.pack([*tokens, *output] if output else tokens)
        access = self._access(request, len(tokens), len(output), packed)
        access.weights = _numbers(request.members.get("importance"))
        return access

    def _blocks(self, request: Request) -> Access:
        usage = request.usage
        blocks, size = request.blocks or (), request.block_size
        prompt = usage.input_tokens if usage and usage.input_tokens else len(blocks) * size
        access = self._access(request, prompt, (usage.output_tokens or 0) if usage else 0, b"")
        access.blocks, access.block_tokens = blocks, size
        return access

    def of(self, request: Request) -> Tokenizer:
        """Return the tokenizer of a request; it keeps the ids of what it counts."""
        model = self.model or request.model or ""
        found = self.tokenizers.get(model)
        if found is None:
            found = self.tokenizers[model] = Keeping(tokenizer_for(model or None, self.tokenizer), self.packer)
        return found

    def _layout_of(self, request: Request) -> Layout:
        name = self.api or request.provider
        if name not in self._layouts:
            self._layouts[name] = layout(name)
        return self._layouts[name]

    def _trust(self, rule: str) -> Trust:
        if rule not in self._trusts:
            try:
                self._trusts[rule] = cards.rule(rule).fix
            except PrefixlintError:
                self._trusts[rule] = "display"
        return self._trusts[rule]

    def _prompt(self, request: Request, step: Step) -> Served:
        sequence = step.sequence
        tokenizer = sequence.tokenizer
        parts = (*sequence.front, sequence.talk)
        ids = tuple(i for part in parts for i in part.ids)
        visible = b"".join([self._element(i, tokenizer) for i in ids])
        packed = self._hidden(request, step, len(visible) // WIDTH) + visible
        output = self._answer(request, tokenizer) if request.completion and self.answers else b""
        access = self._access(request, len(packed) // WIDTH, len(output) // WIDTH, packed + output)
        access.session = access.session or self._conversation(step)
        if self.marks(request):
            self._mark(access, request, step, parts)
        echo = self._echo(step, access, tokenizer) if self.answers and not access.marks else None
        return Served(access, request, ids, step.fork, echo)

    def _hidden(self, request: Request, step: Step, visible: int) -> bytes:
        """Stand in for what a transcript leaves out (system prompt, tools): as many tokens as its first count says."""
        if not request.partial:
            return b""
        key = step.strand.number if step.strand else -1
        if key not in self._heads:
            usage = request.usage
            self._heads[key] = max((usage.input_tokens or 0) - visible, 0) if usage else 0
        return _HIDDEN * self._heads[key]

    def _mark(self, access: Access, request: Request, step: Step, parts: tuple[PartIds, ...]) -> None:
        """Give an access its boundaries: the marked ones, or for transcripts those that the recorded usage tells of."""
        usage = request.usage
        if request.partial and usage is not None and usage.input_tokens and usage.cache_read is not None:
            access.prompt_tokens = usage.input_tokens
            access.marks = self._recorded(request, step)
            return
        access.prompt_tokens = step.sequence.tokens
        access.marks = self._marks(request, parts, step.sequence.tokenizer)
        access.mode = _mode(request)

    def _recorded(self, request: Request, step: Step) -> list[Mark]:
        """Put the last marker where the recorded reads and writes end; earlier ones count while the history stands."""
        usage = request.usage
        assert usage is not None
        key = step.strand.number if step.strand else -1
        earlier = self._told.get(key, []) if step.fork is None else []
        end = (usage.cache_read or 0) + (usage.cache_write or 0)
        marks = [Mark(m.tokens, m.key) for m in earlier if m.tokens <= end]
        if end and (not marks or marks[-1].tokens < end):
            marks.append(Mark(end, (key, end, request.span.record), "explicit", 300.0))
        elif marks:
            marks[-1].kind, marks[-1].ttl_s = "explicit", 300.0
        self._told[key] = marks
        return marks

    def _answer(self, request: Request, tokenizer: Tokenizer) -> bytes:
        return self.packer.pack(tokenizer.encode(request.completion or ""))

    def _conversation(self, step: Step) -> str:
        """Name the conversation of a request that the log puts into no session."""
        if step.strand is None:
            return ""
        return f"conversation {step.strand.number + 1}"

    def _echo(self, step: Step, access: Access, tokenizer: Tokenizer) -> Access | None:
        """Return the previous request of the conversation with the answer that this request repeats behind it."""
        before = self._before.pop(access.session, None) if access.session else None
        if access.session:
            self._before[access.session] = access
        if len(self._before) > KEPT_SESSIONS:
            del self._before[next(iter(self._before))]
        if before is None or before.output_tokens or step.previous is None or step.fork is not None:
            return None
        known, talk = len(step.previous.talk.ids), step.sequence.talk.ids
        if known >= len(talk) or self.engine.store.role(talk[known]) not in ASSISTANT_ROLES:
            return None
        answer = self._element(talk[known], tokenizer)
        if not access.packed.startswith(before.packed):
            return None
        return Access(
            before.record, before.prompt_tokens, len(answer) // WIDTH + 1, before.packed + answer + b"\0" * WIDTH,
            before.scope, before.at_s, before.session,
        )  # fmt: skip

    def _element(self, index: int, tokenizer: Tokenizer) -> bytes:
        """Return the packed tokens of an element; pieces are tokenized one by one, as the counts are."""
        key = (index, tokenizer.name)
        found = self._packed.get(key)
        if found is None:
            pieces = self.engine.store.element(index).pieces
            kept = tokenizer if isinstance(tokenizer, Keeping) else Keeping(tokenizer, self.packer)
            found = self._packed[key] = b"".join([kept.packed(piece.text) for piece in pieces])
        return found

    def _marks(self, request: Request, parts: tuple[PartIds, ...], tokenizer: Tokenizer) -> list[Mark]:
        """List the boundaries in send order: one position per tool, system block and content block, keys chained.

        Settings stand where the send order has them, so a change of one moves the keys of everything behind it, as
        the vendor's invalidation matrix has it.
        """
        marks: list[Mark] = []
        tokens, key, lead = 0, hash(request.model), True
        for part in parts:
            for index, one in enumerate(part.ids):
                markers = [(place, ttl) for at, place, ttl in part.marks if at == index]
                role = self.engine.store.role(one)
                lead = lead and role not in _SPEAKERS
                positions = self._positions(one, tokenizer)
                for number, (place, count) in enumerate(positions):
                    last = number == len(positions) - 1
                    tokens += count
                    key = hash((key, one, number))
                    ttl = _marker(markers, place, last=last)
                    kind = (
                        "end" if role in _ELIGIBLE else "developer" if lead and part.part.part != "tools" else "block"
                    )
                    marks.append(Mark(tokens, key, "explicit" if ttl else kind if last else "block", ttl))
        raw = request.members.get("cache_control")
        if raw and raw.startswith(b"{") and marks and marks[-1].kind != "explicit":  # automatic mode
            marks[-1].kind, marks[-1].ttl_s = "explicit", 3600.0 if b'"1h"' in raw else 300.0
        return marks

    def _positions(self, one: int, tokenizer: Tokenizer) -> list[tuple[str, int]]:
        """Return the content blocks of an element with their tokens; what stands before the first joins it."""
        known = self._blocks_of.get((one, tokenizer.name))
        if known is not None:
            return known
        found: list[tuple[str, int]] = []
        for piece in self.engine.store.element(one).pieces:
            place = "/".join(piece.pointer.split("/")[:3]) if piece.pointer.startswith(("/content/", "/parts/")) else ""
            count = tokenizer.count(piece.text)
            if found and (found[-1][0] in ("", place) or not place):
                found[-1] = (found[-1][0] or place, found[-1][1] + count)
            else:
                found.append((place, count))
        self._blocks_of[one, tokenizer.name] = found
        return found


def _marker(markers: list[tuple[str, str]], place: str, *, last: bool) -> float:
    """Return the lifetime that a marker on this block asks for, 0 without one; one on a message means its end."""
    for at, ttl in markers:
        if (at == place and place) or (last and not (at.startswith(("/content/", "/parts/")) and at != place)):
            return _TTL_S.get(ttl, 300.0)
    return 0.0


def _numbers(raw: bytes | None) -> list[float] | None:
    """Read the share of important KV that a trace gives for each chunk of a prompt."""
    if not raw or not raw.startswith(b"["):
        return None
    return [float(n) for n in orjson.loads(raw) if isinstance(n, int | float)]


def _mode(request: Request) -> str:
    """Return the breakpoint mode that a request to OpenAI 5.6 or later asks for."""
    raw = request.members.get("prompt_cache_options", b"")
    return "explicit" if b'"explicit"' in raw else "implicit"
