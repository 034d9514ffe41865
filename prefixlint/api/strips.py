"""One row a request, one cell a piece of prompt: shared, forked, sent before but computed again, or new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from prefixlint.diff.engine import Step
from prefixlint.diff.sequence import Sequence
from prefixlint.diff.store import Store

MOST_SESSIONS = 40
MOST_ROWS = 60  # rows of one session; the ones in the middle are left out
MOST_CELLS = 24  # cells of one row; neighbours of one state are joined
Cell = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one request; ``fork`` counts the forks of the log up to it, None where it has none."""

    label: str
    cells: tuple[Cell, ...]
    fork: int | None


@dataclass(slots=True)
class Strips:
    """Collect rows while a log is compared; memory is bounded by sessions times rows."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    forks: int = 0
    hidden: int = 0

    def take(self, step: Step, store: Store) -> None:
        """Take what the engine made of one request."""
        fork = None
        if step.fork is not None:
            fork, self.forks = self.forks, self.forks + 1
        name = step.sequence.session or "no session id"
        if name not in self.rows and len(self.rows) >= MOST_SESSIONS:
            self.hidden += 1
            return
        rows = self.rows.setdefault(name, [])
        self.requests[name] = self.requests.get(name, 0) + 1
        if len(rows) >= MOST_ROWS:
            del rows[MOST_ROWS // 2]
        span = step.sequence.span
        rows.append(Row(f"{span.path}:{span.line}", _cells(step, store), fork))


def _cells(step: Step, store: Store) -> tuple[Cell, ...]:
    """Cut a request into cells at its parts, and at the fork."""
    sequence, fork = step.sequence, step.fork
    shared = fork.shared_tokens if fork else max(step.arrival.shared_tokens, 0)
    known = _ids(step.before or step.previous)
    cells: list[Cell] = []
    at, forked = 0, False
    for label, element in _elements(sequence, store):
        tokens = store.tokens(element, sequence.tokenizer)
        inside = min(max(shared - at, 0), tokens)
        at += tokens
        if inside:
            cells.append((label, inside, "cached"))
        rest = tokens - inside
        if rest and fork and not forked:
            forked = True
            mark = max(1, min(rest, sequence.tokens // 100))
            cells.append((label, mark, "forked"))
            rest -= mark
            element_is_old = rest <= fork.lost_tokens
        else:
            element_is_old = fork is not None and element in known
        if rest:
            cells.append((label, rest, "repeated" if element_is_old else "new"))
    return tuple(_joined(cells))


def _ids(sequence: Sequence | None) -> frozenset[int]:
    if sequence is None:
        return frozenset()
    return frozenset(i for part in (*sequence.front, sequence.talk) for i in part.ids)


def _elements(sequence: Sequence, store: Store) -> Iterator[tuple[str, int]]:
    for part in sequence.front:
        for element in part.ids:
            yield part.part.member, element
    for index, element in enumerate(sequence.talk.ids):
        role = store.role(element) or "message"
        yield role if index < sequence.lead else f"{role} {index}", element


def _joined(cells: list[Cell]) -> Iterator[Cell]:
    """Join neighbours of one part and state; where there are still too many, neighbours of one state."""
    loose = len(cells) > MOST_CELLS
    held: Cell | None = None
    for cell in cells:
        if held and held[2] == cell[2] and (loose or held[0] == cell[0]):
            label = held[0] if held[0] == cell[0] else f"{held[0].split(' … ')[0]} … {cell[0]}"
            held = (label, held[1] + cell[1], cell[2])
            continue
        if held:
            yield held
        held = cell
    if held:
        yield held
