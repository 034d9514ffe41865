"""Turn the requests of a log into what cache models take: packed token ids, blocks, boundaries, times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from prefixlint.caches._base import Access, Mark, Packer
from prefixlint.diff.sequence import Growing, PartIds, SequenceReader
from prefixlint.diff.store import Store
from prefixlint.elements import Layout
from prefixlint.errors import InputError
from prefixlint.model import Request, Tokenizer

_TTL_S = {"5m": 300.0, "1h": 3600.0, "30m": 1800.0, "24h": 86400.0}
# What ends a prefix for the automatic breakpoints of OpenAI 5.6: user messages and tool responses.
_ELIGIBLE = frozenset(("user", "tool", "function"))
_GROWING = 64


@dataclass(slots=True)
class Served:
    """Hold an access beside the request it was made from."""

    access: Access
    request: Request
    elements: tuple[int, ...] = ()


@dataclass(slots=True)
class Reader:
    """Read requests into accesses; text that was seen before is neither decoded nor tokenized again.

    ``with_output`` appends the recorded answer where the log has it. ``scaled`` counts boundaries as an estimating
    tokenizer does (its ids are those of its base vocabulary).
    """

    tokenizer: str | None = None
    model: str | None = None
    api: str | None = None
    with_output: bool = True
    store: Store = field(default_factory=Store)
    packer: Packer = field(default_factory=Packer)
    tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    _packed: dict[tuple[int, str], bytes] = field(default_factory=dict)
    _texts: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _talks: dict[str, list[Growing]] = field(default_factory=dict)
    _blocks_of: dict[tuple[int, str], list[tuple[str, int]]] = field(default_factory=dict)
    _sequences: SequenceReader | None = None
    _count: int = 0

    def read(self, items: Iterator[Request | InputError]) -> Iterator[Served]:
        """Yield one access per request that holds a prompt; what it cannot use is counted in ``notes``."""
        for item in items:
            if isinstance(item, InputError):
                continue
            if item.no_prompt:
                self._note("requests hold no prompt and were left out")
                continue
            served = self.one(item)
            if served.access.prompt_tokens:
                self._count += 1
                yield served
            else:
                self._note("requests are empty and were left out")

    def _note(self, text: str) -> None:
        self.notes[text] = self.notes.get(text, 0) + 1

    def one(self, request: Request) -> Served:
        """Build the access of one request."""
        if request.tokens is not None:
            return Served(self._ids(request), request)
        if request.blocks is not None:
            return Served(self._blocks(request), request)
        if request.truncated:
            self._note("prompts were cut by the logger; what lies behind the cut is not replayed")
        if request.text is not None:
            return Served(self._text(request), request)
        return self._body(request)

    def _common(self, request: Request, prompt: int, output: int, packed: bytes) -> Access:
        key = request.members.get("prompt_cache_key", b"").decode("utf-8", "replace")
        scope = "\0".join((request.model or "", request.scope, key))
        return Access(
            self._count, prompt, output, packed, scope, request.at_s, request.session or "", slot=None
        )  # fmt: skip

    def _ids(self, request: Request) -> Access:
        tokens, output = request.tokens or (), request.output or ()
        packed = self.packer.pack([*tokens, *output] if output else tokens)
        return self._common(request, len(tokens), len(output), packed)

    def _blocks(self, request: Request) -> Access:
        usage = request.usage
        blocks, size = request.blocks or (), request.block_size
        prompt = usage.input_tokens if usage and usage.input_tokens else len(blocks) * size
        access = self._common(request, prompt, (usage.output_tokens or 0) if usage else 0, b"")
        access.blocks, access.block_tokens = blocks, size
        return access

    def of(self, request: Request) -> Tokenizer:
        """Return the tokenizer of a request."""
        from prefixlint.api.tokens import tokenizer_for

        model = self.model or request.model or ""
        found = self.tokenizers.get(model)
        if found is None:
            found = self.tokenizers[model] = tokenizer_for(model or None, self.tokenizer)
        return found

    def _text(self, request: Request) -> Access:
        tokenizer = self.of(request)
        prompt = self._piece(request.text or "", tokenizer)
        output = self._piece(request.completion, tokenizer) if request.completion and self.with_output else b""
        return self._common(request, len(prompt) // 4, len(output) // 4, prompt + output)

    def _piece(self, text: str, tokenizer: Tokenizer) -> bytes:
        """Tokenize a text once by content; long unique prompts are not kept."""
        if len(text) > 100_000:
            return self.packer.pack(tokenizer.encode(text))
        key = (tokenizer.name, text)
        found = self._texts.get(key)
        if found is None:
            found = self.packer.pack(tokenizer.encode(text))
            if len(self._texts) > 50_000:
                self._texts.clear()
            self._texts[key] = found
        return found

    def _body(self, request: Request) -> Served:
        from prefixlint.api.render import layout

        found, tokenizer = layout(self.api or request.provider), self.of(request)
        if self._sequences is None:
            self._sequences = SequenceReader(self.store)
        front = self._sequences.front(found, request)
        parts = (*front, *self._talk(found, request))
        ids = tuple(i for part in parts for i in part.ids)
        packed = b"".join([self._element(i, tokenizer) for i in ids])
        output = b""
        if self.with_output and request.completion:
            output = self._piece(request.completion, tokenizer)
        access = self._common(request, len(packed) // 4, len(output) // 4, packed + output)
        access.marks, access.mode = self._marks(request, parts, tokenizer)
        return Served(access, request, ids)

    def _talk(self, found: Layout, request: Request) -> list[PartIds]:
        raw = request.members.get(found.PARTS[-1].member)
        if raw is None or self._sequences is None:
            return []
        key = request.session or ""
        known = self._talks.setdefault(key, [])
        base = max((g for g in known[-_GROWING:] if g.is_continued_by(raw)), key=lambda g: g.open_bytes, default=None)
        part, growing = self._sequences.talk(found, raw, base or (known[-1] if known else None))
        if growing is not None:
            if base is not None:
                known[:] = [g for g in known if g is not base]  # replaced by what continues it
            known.append(growing)
            del known[:-_GROWING]
        return [part] if part.ids else []

    def _element(self, index: int, tokenizer: Tokenizer) -> bytes:
        """Return the packed tokens of an element; pieces are tokenized one by one, as the counts are."""
        key = (index, tokenizer.name)
        found = self._packed.get(key)
        if found is None:
            element = self.store.element(index)
            ids = [t for piece in element.pieces for t in (tokenizer.encode(piece.text) if piece.text else ())]
            found = self._packed[key] = self.packer.pack(ids)
        return found

    def _marks(self, request: Request, parts: tuple[PartIds, ...], tokenizer: Tokenizer) -> tuple[list[Mark], str]:
        """List the boundaries in send order: one position per tool, system block and content block, keys chained.

        Settings stand where the send order has them, so a change of one moves the keys of everything behind it, as
        the vendor's invalidation matrix has it.
        """
        marks: list[Mark] = []
        tokens, key, lead = 0, hash(request.model), True
        for part in parts:
            for index, one in enumerate(part.ids):
                markers = [(place, ttl) for at, place, ttl in part.marks if at == index]
                role = self.store.role(one)
                lead = lead and role not in ("user", "assistant", "model", "tool")
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
        return self._automatic(request, marks), _mode(request)

    def _positions(self, one: int, tokenizer: Tokenizer) -> list[tuple[str, int]]:
        """Return the content blocks of an element with their tokens; what stands before the first joins it."""
        known = self._blocks_of.get((one, tokenizer.name))
        if known is not None:
            return known
        found: list[tuple[str, int]] = []
        for piece in self.store.element(one).pieces:
            place = "/".join(piece.pointer.split("/")[:3]) if piece.pointer.startswith(("/content/", "/parts/")) else ""
            count = tokenizer.count(piece.text)
            if found and (found[-1][0] in ("", place) or not place):
                found[-1] = (found[-1][0] or place, found[-1][1] + count)
            else:
                found.append((place, count))
        self._blocks_of[one, tokenizer.name] = found
        return found

    def _automatic(self, request: Request, marks: list[Mark]) -> list[Mark]:
        """Add the marker that a top-level ``cache_control`` puts on the last block."""
        raw = request.members.get("cache_control")
        if raw and raw.startswith(b"{") and marks and marks[-1].kind != "explicit":
            marks[-1].kind, marks[-1].ttl_s = "explicit", 3600.0 if b'"1h"' in raw else 300.0
        return marks


def _marker(markers: list[tuple[str, str]], place: str, *, last: bool) -> float:
    """Return the lifetime that a marker on this block asks for, 0 without one; one on a message means its end."""
    for at, ttl in markers:
        if (at == place and place) or (last and not (at.startswith(("/content/", "/parts/")) and at != place)):
            return _TTL_S.get(ttl, 300.0)
    return 0.0


def _mode(request: Request) -> str:
    """Return the breakpoint mode that a request to OpenAI 5.6 or later asks for."""
    raw = request.members.get("prompt_cache_options", b"")
    return "explicit" if b'"explicit"' in raw else "implicit"
