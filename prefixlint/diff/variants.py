"""Collect values that no rule knows, until so many variants of one template were seen that they must be volatile."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from prefixlint.diff.clash import Cause
from prefixlint.model import Fork

ENOUGH = 3
MOST_PLACES = 2_000


@dataclass(slots=True)
class _Place:
    values: set[str] = field(default_factory=set)
    requests: int = 0


class Variants:
    """Count the values seen at each place of a template that different sessions share."""

    def __init__(self) -> None:
        self._places: OrderedDict[tuple[str, str, str], _Place] = OrderedDict()

    def add(self, fork: Fork, cause: Cause) -> Fork | None:
        """Take one more variant; return the fork, named by the shape of its values, once there are enough.

        Few words that differ are another agent by design; a number or an id that is new in every request is not.
        """
        key = (fork.pointer, cause.context[0][-16:], cause.context[1][:16])
        place = self._places.setdefault(key, _Place())
        self._places.move_to_end(key)
        if len(self._places) > MOST_PLACES:
            self._places.popitem(last=False)
        place.requests += 1
        place.values |= {fork.left, fork.right}
        if len(place.values) <= ENOUGH or len(place.values) < 0.6 * place.requests:
            return None
        if not all(any(c.isdigit() for c in value) for value in place.values):
            return None
        rule = "counter" if all(v.strip(".,").isdecimal() for v in place.values) else "random-id"
        return replace(fork, cause=rule)
