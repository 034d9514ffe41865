"""Build the radix tree of a log: which prefixes are shared, by how many requests, and what stands where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from prefixlint import shapes
from prefixlint.api.accesses import Reader, Served
from prefixlint.api.read import open_log
from prefixlint.api.replay import expanded, make_reader
from prefixlint.api.replay_options import ReplayOptions
from prefixlint.api.replay_runs import Run
from prefixlint.caches._base import WIDTH, Access, lcp_tokens, unpack
from prefixlint.diff.store import Store
from prefixlint.elements import Piece
from prefixlint.errors import InputError
from prefixlint.model import Tokenizer
from prefixlint.trees import Edge, State, Tree

BEFORE_CHARS = 24  # text shown in front of the place where siblings part
TEXT_CHARS = 40  # the longest text shown behind it


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """Say what of the tree is wanted; 0 is all. The cache that ``replay`` names gives the state of each edge."""

    replay: ReplayOptions = field(default_factory=ReplayOptions)
    top: int = 20
    depth: int = 0


@dataclass(slots=True, eq=False)
class _Node:
    """One span; ``served`` is the first request that came through."""

    key: bytes
    start: int
    served: Served
    requests: int = 0
    children: dict[bytes, _Node] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.start + len(self.key) // WIDTH


def tree(paths: Sequence[str], options: TreeOptions) -> Tree:
    """Read logs and build their tree. Raises InputError when no request was read."""
    asked = options.replay
    log = open_log(paths, asked.read)
    run = Run(asked)
    reader = make_reader(replace(asked, with_output=False), run)
    reader.marks = lambda request: False
    building = _Building(reader.engine.store, run if asked.cache != "none" else None)
    for served in reader.read(log.requests()):
        building.add(served)
    if not building.roots:
        reasons = [e for i in log.inputs() for e in i.errors] or ["no request with a prompt was read"]
        raise InputError(reasons[0], path="" if reasons[0].startswith(tuple(paths)) else paths[0])
    found = building.tree(reader, options)
    return replace(found, inputs=log.inputs(), notes=(*log.notes(), *found.notes))


@dataclass(slots=True)
class _Building:
    """Insert prompts; a node splits where two part."""

    store: Store
    run: Run | None
    roots: dict[str, _Node] = field(default_factory=dict)
    requests: int = 0
    prompt_tokens: int = 0
    distinct: int = 0
    edges: int = 0

    def add(self, served: Served) -> None:
        """Insert one request, and serve it to the cache whose state is wanted."""
        access = served.access
        if access.blocks is not None:
            access.packed, access.blocks = expanded(access), None
        if self.run is not None:
            self.run.serve(access, served.request)
        prompt = access.packed[: access.prompt_tokens * WIDTH]
        root = self.roots.setdefault(access.scope, _Node(b"", 0, served))
        self.requests += 1
        self.prompt_tokens += access.prompt_tokens
        node, at = root, 0
        node.requests += 1
        while at < len(prompt):
            child = node.children.get(prompt[at : at + WIDTH])
            if child is None:
                self._leaf(node, prompt, at, served)
                return
            shared = lcp_tokens(child.key, prompt[at : at + len(child.key)]) * WIDTH
            if shared < len(child.key):
                child = self._split(node, child, shared)
            child.requests += 1
            at += shared
            node = child

    def _leaf(self, node: _Node, prompt: bytes, at: int, served: Served) -> None:
        leaf = _Node(prompt[at:], at // WIDTH, served, 1)
        node.children[prompt[at : at + WIDTH]] = leaf
        self.distinct += len(leaf.key) // WIDTH
        self.edges += 1

    def _split(self, parent: _Node, child: _Node, shared: int) -> _Node:
        top = _Node(child.key[:shared], child.start, child.served, child.requests)
        top.children[child.key[shared : shared + WIDTH]] = child
        parent.children[child.key[:WIDTH]] = top
        child.start += shared // WIDTH
        child.key = child.key[shared:]
        self.edges += 1
        return top

    def tree(self, reader: Reader, options: TreeOptions) -> Tree:
        """Choose what is shown and describe it."""
        kept = _heaviest(self.roots.values(), options.top)
        writing = _Writing(self.store, reader, self.run, kept, options.depth)
        roots = tuple(e for root in self.roots.values() for e in writing.edges(root))
        tokenizers = list(reader.tokenizers.values())
        setups = list(self.run.setups.values()) if self.run else []
        return Tree(
            inputs=(),
            tokenizer=", ".join(dict.fromkeys(t.name for t in tokenizers)) or "token ids",
            exact=all(t.exact for t in tokenizers),
            requests=self.requests,
            prompt_tokens=self.prompt_tokens,
            distinct_tokens=self.distinct,
            edges=self.edges,
            roots=roots,
            scopes=tuple(scope.split("\0")[0] for scope in self.roots),
            cache=setups[0].engine.name if setups else "",
            capacity=options.replay.capacity or "",
            held_tokens=self.run.used_tokens if self.run else 0,
            notes=tuple(f"{count:,} {text}" for text, count in reader.notes.items()),
        )


def _heaviest(roots: object, top: int) -> set[int] | None:
    """Return the nodes to show: the ``top`` ones with the most tokens sent through them, and all above them."""
    if not top:
        return None
    weighed: list[tuple[int, list[_Node]]] = []
    stack: list[list[_Node]] = [[root] for root in roots]  # type: ignore[attr-defined]
    while stack:
        path = stack.pop()
        node = path[-1]
        weighed.append((len(node.key) // WIDTH * node.requests, path))
        stack += [[*path, child] for child in node.children.values()]
    weighed.sort(key=lambda item: -item[0])
    return {id(node) for _, path in weighed[:top] for node in path}


@dataclass(slots=True)
class _Writing:
    """Describe nodes as edges."""

    store: Store
    reader: Reader
    run: Run | None
    kept: set[int] | None
    depth: int

    def edges(self, node: _Node, above: int = 0) -> tuple[Edge, ...]:
        """Describe the children of a node, most shared first."""
        children = sorted(node.children.values(), key=lambda n: (-n.requests, -len(n.key), n.start))
        if self.depth and above >= self.depth:
            return ()
        shown = [c for c in children if self.kept is None or id(c) in self.kept]
        return tuple(self._edge(c, children, above) for c in shown)

    def _edge(self, node: _Node, siblings: list[_Node], above: int) -> Edge:
        below = self.edges(node, above + 1)
        hidden = [n for c in node.children.values() if not self._is_shown(c, above + 1) for n in _all(c)]
        request = node.served.request
        edge = Edge(
            node.start, node.end, node.requests, request.span.record, request.span.path,
            state=self._state(node), children=below, hidden_edges=len(hidden),
            hidden_tokens=sum(len(n.key) // WIDTH for n in hidden),
        )  # fmt: skip
        return self._with_text(edge, node, siblings)

    def _is_shown(self, node: _Node, above: int) -> bool:
        return (self.kept is None or id(node) in self.kept) and not (self.depth and above >= self.depth)

    def _state(self, node: _Node) -> State:
        """Ask the cache how much of the way to the end of this span it still holds."""
        if self.run is None:
            return "unknown"
        access = node.served.access
        probe = Access(0, node.end + 1, 0, access.packed[: node.end * WIDTH] + b"\0" * WIDTH, access.scope)
        fleet = self.run.fleet(probe, node.served.request)
        held = max(cache.peek(probe) for cache in fleet.caches)
        setup = self.run.setup(probe, node.served.request)
        if held + setup.block_tokens > node.end:
            return "cached"
        return "partly" if held > node.start else "evicted"

    def _with_text(self, edge: Edge, node: _Node, siblings: list[_Node]) -> Edge:
        served = node.served
        if not served.elements:
            ids = ", ".join(map(str, unpack(node.key[: 6 * WIDTH])))
            return replace(edge, part="tokens", text=f"{ids}{' ...' if len(node.key) > 6 * WIDTH else ''}")
        other = next((s for s in siblings if s is not node), None)
        if other is not None and other.served.elements:
            return self._parted(edge, served, other.served)
        place = self._place(served, node.start)
        if place is None:
            return edge
        piece, offset, part = place
        return replace(edge, part=part, pointer=piece.pointer, text=piece.text[offset : offset + TEXT_CHARS])

    def _parted(self, edge: Edge, served: Served, other: Served) -> Edge:
        """Show the text where a span leaves its sibling, the differing value marked by the shape that covers it."""
        left, right = list(self._pieces(served)), list(self._pieces(other))
        for number, (piece, part) in enumerate(left):
            against = right[number][0].text if number < len(right) else ""
            if piece.text == against:
                continue
            at = _first_difference(piece.text, against)
            start = max(at - BEFORE_CHARS, 0)
            shape = next(iter(shapes.covering(piece.text, at)), None) if at < len(piece.text) else None
            low, high = (shape.start_char, shape.end_char) if shape else (at, min(at + 8, len(piece.text)))
            start = min(start, low)
            text = piece.text[start : max(at + TEXT_CHARS - (at - start), high)][: TEXT_CHARS * 2]
            mark = (low - start, min(high - start, len(text)))
            return replace(edge, part=part, pointer=piece.pointer, text=text, mark_start=mark[0], mark_end=mark[1],
                           rule=shape.rule if shape else "")  # fmt: skip
        return replace(edge, part="end")

    def _pieces(self, served: Served) -> Iterator[tuple[Piece, str]]:
        for one in served.elements:
            role = self.store.role(one)
            for piece in self.store.element(one).pieces:
                yield piece, role

    def _place(self, served: Served, token: int) -> tuple[Piece, int, str] | None:
        """Find the piece in which a token begins, and the character at which it does, to the nearest chunk."""
        tokenizer = self.reader.of(served.request)
        hidden = served.access.prompt_tokens - sum(len(tokenizer.encode(p.text)) for p, _ in self._pieces(served))
        at = max(hidden, 0)
        for piece, part in self._pieces(served):
            count = len(tokenizer.encode(piece.text)) if piece.text else 0
            if at + count > token:
                return piece, _char_of(piece.text, token - at, tokenizer), part
            at += count
        return None


def _all(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.children.values():
        yield from _all(child)


def _first_difference(left: str, right: str) -> int:
    end = min(len(left), len(right))
    low, high = 0, end
    if left[:end] == right[:end]:
        return end
    while high - low > 1:
        middle = (low + high) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle
    return low


def _char_of(text: str, token: int, tokenizer: Tokenizer) -> int:
    """Return the character at which a token of a text begins, by halving."""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if len(tokenizer.encode(text[:middle])) <= token:
            low = middle
        else:
            high = middle
    return low if token else 0


__all__ = ["Tree", "TreeOptions", "tree"]
