"""Cut prompts into chained blocks: each prompt walks down a tree of elements, and only what is new is hashed."""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from prefixlint.api.render import layout
from prefixlint.diff import split
from prefixlint.elements import Layout, Number, PromptPart, decode
from prefixlint.errors import ConfigError
from prefixlint.model import Json, Request

SYSTEM_ROLES = frozenset(("system", "developer"))
ASSISTANT_ROLES = frozenset(("assistant", "model"))
MEMO_BYTES = 16_000_000
SKETCH_CHARS = 600
SKETCH_WORDS = 24
_WORD = re.compile(r"(?<![\w.:/-])[^\W\d_]{2,}(?![\w.:/-])")


@dataclass(slots=True)
class Node:
    """Hold the state behind one element of a prompt: how many bytes, the chain of whole blocks, the open rest.

    ``old`` and ``new`` are the rows of the blocks that end in this element; ``front`` is the size of tools and system
    prompt.
    """

    number: int
    parent: Node | None
    role: str
    size: int
    chain: int
    rest: bytes
    front: int
    is_front: bool
    old: tuple[int, ...] = ()
    new: range = range(0)
    family: int = 0
    fresh: int = -1


class _Simple(msgspec.Struct, forbid_unknown_fields=True):
    """Hold a message that is only a role and a text, as most are."""

    role: str
    content: str


_SIMPLE = msgspec.json.Decoder(_Simple)


class Blocks:
    """Hold the blocks of one stretch of a log, each once.

    A prompt is the canonical text of its elements in send order, so wire escapes, blanks and cache markers do not
    count. Block hashes are xxh3-64, each seeded with the one before and the first with API, model and scope; they are
    the same on every machine. Among a billion different blocks two are taken for one with a chance of 3 %.
    """

    def __init__(self, block_bytes: int) -> None:
        self._hash, self._digest = _hashes()
        self.block_bytes = block_bytes
        self._roots: dict[tuple[str, str, str], Node] = {}
        self._children: dict[tuple[int, bytes, str, bool, bool], Node] = {}
        self._texts: OrderedDict[tuple[bytes, str, str], tuple[bytes, str]] = OrderedDict()
        self._text_bytes = 0
        self._layouts: dict[str, Layout] = {}
        self._is_plain: dict[str, bool] = {}
        self._rows: dict[int, int] = {}
        self._nodes: list[Node] = []
        self._ends = array("Q")
        self.values, self.parents = array("Q"), array("Q")
        self.positions, self.owners = array("I"), array("I")
        self._owner = 0

    def take(self, request: Request, owner: int) -> Node:
        """Walk a prompt and return its last node; ``owner`` is the number of the request."""
        self._owner = owner
        found = self.layout(request.provider)
        node = self._front(found, request)
        part = found.PARTS[-1]
        if request.text is not None:
            node = self._texted(found, part, node, request.text)
        elif request.tokens is not None:
            node = self._child(node, part, found, array("I", request.tokens).tobytes(), plain=True)
        elif part.member in request.members:
            node = self._talk(found, part, node, request.members[part.member])
        self._ends[node.number] += 1
        return node

    def extend(self, node: Node, provider: str, items: Sequence[bytes], owner: int) -> Node:
        """Walk on from the last node of a prompt that this one begins with."""
        self._owner = owner
        found = self.layout(provider)
        for item in items:
            node = self._child(node, found.PARTS[-1], found, item)
        self._ends[node.number] += 1
        return node

    def layout(self, name: str) -> Layout:
        """Return the send order of an API; token traces are one text."""
        name = "raw" if name == "token-trace" else name
        if name not in self._layouts:
            self._layouts[name] = layout(name)
        return self._layouts[name]

    def _root(self, found: Layout, request: Request) -> Node:
        key = (found.NAME, request.model or "", request.scope)
        if key not in self._roots:
            seed = self._hash("\0".join(key).encode("utf-8", "surrogatepass"))
            self._roots[key] = self._node(None, "", 0, (seed, b""), front=0, is_front=True)
        return self._roots[key]

    def _node(
        self, parent: Node | None, role: str, size: int, state: tuple[int, bytes], *, front: int, is_front: bool
    ) -> Node:
        node = Node(len(self._nodes), parent, role, size, *state, front, is_front)
        self._nodes.append(node)
        self._ends.append(0)
        return node

    def _front(self, found: Layout, request: Request) -> Node:
        node = self._root(found, request)
        for part in found.PARTS[:-1]:
            raw = request.members.get(part.member)
            if raw is not None and raw != b"null":
                node = self._child(node, part, found, raw, whole=True)
        return node

    def _talk(self, found: Layout, part: PromptPart, node: Node, raw: bytes) -> Node:
        if part.items == "text" and raw[:1] == b'"':
            text = decode(raw)
            if isinstance(text, str):
                return self._texted(found, part, node, text)
        if not raw.lstrip().startswith(b"["):
            return node if raw.strip() == b"null" else self._child(node, part, found, raw)
        for item in split.elements(raw):
            node = self._child(node, part, found, item)
        return node

    def _texted(self, found: Layout, part: PromptPart, node: Node, text: str) -> Node:
        """Walk a raw prompt, cut where its turns begin; one without turns is all conversation."""
        cut: Callable[[str], list[int]] = getattr(found, "split", lambda _: [0])
        starts = cut(text)
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            piece = text[start:end].encode("utf-8", "surrogatepass")
            node = self._child(node, part, found, piece, plain=True, whole=len(starts) == 1)
        return node

    def _child(
        self, node: Node, part: PromptPart, found: Layout, raw: bytes, *, whole: bool = False, plain: bool = False
    ) -> Node:
        key = (node.number, self._digest(raw), part.member, plain, whole)
        child = self._children.get(key)
        if child is None:
            text, role = self._text(found, part, raw, key[1], whole=whole, plain=plain)
            same = (node.number, self._digest(text), "", plain, whole)
            child = self._children.get(same)
            if child is None:
                child = self._children[same] = self._grow(node, role, text, part)
            self._children[key] = child
        return child

    def _text(
        self, found: Layout, part: PromptPart, raw: bytes, digest: bytes, *, whole: bool, plain: bool
    ) -> tuple[bytes, str]:
        """Return the canonical text of an element, and who speaks; those that take time are remembered."""
        if plain:
            return _plain(found, raw, whole=whole)
        if not whole and part.part == "message" and self._has_plain_messages(found, part):
            quick = _quick(raw)
            if quick is not None:
                return quick
        key = (digest, part.member, found.NAME)
        known = self._texts.get(key)
        if known is None:
            known = self._texts[key] = _canonical(found, part, raw, whole=whole)
            self._text_bytes += len(known[0])
            while self._text_bytes > MEMO_BYTES and len(self._texts) > 1:
                self._text_bytes -= len(self._texts.popitem(last=False)[1][0])
        else:
            self._texts.move_to_end(key)
        return known

    def _has_plain_messages(self, found: Layout, part: PromptPart) -> bool:
        """Say whether a message of role and content alone stays as it is in this API."""
        if found.NAME not in self._is_plain:
            value = {"role": "user", "content": "a"}
            self._is_plain[found.NAME] = list(found.element(part, value).value.items()) == list(value.items())
        return self._is_plain[found.NAME]

    def _grow(self, node: Node, role: str, text: bytes, part: PromptPart) -> Node:
        """Hash what an element adds to a prompt."""
        is_front = node.is_front and (part.part != "message" or role in SYSTEM_ROLES)
        size = node.size + len(text)
        state, old, new = self._cut(node.chain, node.rest + text, node.size // self.block_bytes)
        role = role if part.part == "message" else ""
        child = self._node(node, role, size, state, front=size if is_front else node.front, is_front=is_front)
        child.old, child.new = old, new
        child.family = node.family or self._family(node, text if is_front else b"")
        return child

    def _family(self, node: Node, text: bytes) -> int:
        """Sketch the first text by its plain words, so that a clock or an id in it makes no new family."""
        words = _WORD.findall(text[: SKETCH_CHARS * 2].decode("utf-8", "ignore")[:SKETCH_CHARS])
        while node.parent is not None:
            node = node.parent
        return self._hash(" ".join(words[:SKETCH_WORDS]).encode("utf-8", "surrogatepass"), node.chain)

    def _cut(self, chain: int, data: bytes, position: int) -> tuple[tuple[int, bytes], tuple[int, ...], range]:
        """Hash whole blocks; behind the first new one all are new, since each hash holds those before it."""
        size, hashed, rows, first = self.block_bytes, self._hash, self._rows, len(self.values)
        end, start, made = len(data) - len(data) % size, chain, []
        for at in range(0, end, size):
            chain = hashed(data[at : at + size], chain)
            made.append(chain)
        known = 0
        while known < len(made) and made[known] in rows:
            known += 1
        old = tuple(rows[value] for value in made[:known])
        new = made[known:]
        if new:
            self.parents.append(made[known - 1] if known else start)
            self.parents.extend(new[:-1])
            self.values.extend(new)
            self.positions.extend(range(position + known, position + len(made)))
            self.owners.extend([self._owner] * len(new))
            rows.update(zip(new, range(first, first + len(new)), strict=True))
        return (chain, data[end:]), old, range(first, len(self.values))

    def rows_of(self, node: Node) -> Iterator[int]:
        """Yield the rows of all blocks of a prompt, first to last."""
        path = []
        step: Node | None = node
        while step is not None:
            path.append(step)
            step = step.parent
        for known in reversed(path):
            yield from known.old
            yield from known.new

    def fresh(self, node: Node) -> int:
        """Return how many whole blocks stand before the last answer, behind which everything is new by right."""
        if node.fresh < 0:
            step = _over(_over(_over(node, answers=True), answers=False), answers=True)
            node.fresh = step.size // self.block_bytes
        return node.fresh

    def seen(self) -> array[int]:
        """Count for each row how many requests hold its block."""
        through = array("Q", self._ends)
        for node in reversed(self._nodes):
            if node.parent is not None:
                through[node.parent.number] += through[node.number]
        counts = array("Q", bytes(8 * len(self.values)))
        for node in self._nodes:
            for row in (*node.old, *node.new):
                counts[row] += through[node.number]
        return counts


def _over(node: Node, *, answers: bool) -> Node:
    """Go back over answers, or over all that is none, never into the front."""
    while node.parent is not None and not node.is_front and (node.role in ASSISTANT_ROLES) is answers:
        node = node.parent
    return node


def _quick(raw: bytes) -> tuple[bytes, str] | None:
    """Write a message that is only a role and a text, None if it is more."""
    try:
        simple = _SIMPLE.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return _said(simple.role, simple.content), simple.role


def _said(role: str, content: str) -> bytes:
    return f"\x1emessage\x1e{role}\x1f{content}".encode("utf-8", "surrogatepass")


def _canonical(found: Layout, part: PromptPart, raw: bytes, *, whole: bool) -> tuple[bytes, str]:
    """Write an element, or a whole part of the front, as text that is equal exactly where ``diff`` sees no fork."""
    value = decode(raw)
    for key in part.path if whole else ():
        value = value.get(key, value) if isinstance(value, dict) else value
    items: list[Json] = value if whole and part.items == "list" and isinstance(value, list) else [value]
    elements = [found.element(part, item) for item in items if item is not None]
    role = elements[-1].role if elements else ""
    if not whole and part.part == "message" and _is_simple(elements[0].value):
        return _said(role, elements[0].value["content"]), role
    texts = [f"\x1e{part.part}\x1f{element.value!r}" for element in elements if element.value != {}]
    return "".join(texts).encode("utf-8", "surrogatepass"), role


def _is_simple(value: Json) -> bool:
    texts = isinstance(value, dict) and value.keys() == {"role", "content"}
    return texts and all(isinstance(v, str) and not isinstance(v, Number) for v in value.values())


def _plain(found: Layout, raw: bytes, *, whole: bool) -> tuple[bytes, str]:
    role_of: Callable[[str], str] = getattr(found, "role_of", lambda _: "")
    return raw, "user" if whole else role_of(raw[:256].decode("utf-8", "ignore"))


def _hashes() -> tuple[Callable[..., int], Callable[[bytes], bytes]]:
    try:
        import xxhash
    except ImportError:
        raise ConfigError("the index needs xxhash: pip install 'prefixlint[scale]'") from None
    return xxhash.xxh3_64_intdigest, xxhash.xxh3_128_digest
