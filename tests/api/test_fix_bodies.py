"""Bodies in files: disturbed ones get the prompt of the original, alone and beside it, and no byte changes in vain."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prefixlint.api.fix import FixOptions
from prefixlint.api.fix_logs import Draft as LogDraft
from prefixlint.api.fix_logs import canonical, edits_of
from prefixlint.api.read import request_of
from prefixlint.api.render import render
from prefixlint.canon import edits, splice
from tests.canon.bodies import EXAMPLES, SAFE, SAFE_ALL_ROLES, body_of, seeds

some = settings(max_examples=EXAMPLES // 5, deadline=None, suppress_health_check=list(HealthCheck))


def fixed(datas: list[bytes], *, all_roles: bool) -> list[bytes]:
    """Canonicalize the bytes of bodies as one log, as ``fix`` does before it looks for forks."""
    drafts, interned = [], splice.Interned()
    for data in datas:
        request = request_of(data)
        value = interned.body(request.members)
        drafts.append(LogDraft(request, value, value))
    for draft, new in zip(drafts, canonical([d.old for d in drafts], FixOptions(all_roles=all_roles), {}), strict=True):
        draft.new = new
    return [
        edits.apply(data, edits_of(d, data)) if d.new is not d.old else data
        for data, d in zip(datas, drafts, strict=True)
    ]


def prompt(data: bytes) -> list[tuple[str, str]]:
    """Return what the model gets to read."""
    return [(s.role, s.text) for s in render(request_of(data)).segments]


def spelled(body: Any, draw: random.Random) -> bytes:
    """Write a body in some layout."""
    return json.dumps(body, indent=draw.choice([None, 2]), ensure_ascii=draw.random() < 0.5).encode()


@pytest.mark.slow
@some
@given(seeds, st.lists(st.sampled_from(sorted(SAFE_ALL_ROLES)), min_size=1, max_size=3, unique=True), st.booleans())
def test_disturbed_bodies_get_one_prompt(seed: int, kinds: list[str], together: bool) -> None:
    draw = random.Random(seed)
    body = body_of(seed)
    other = body
    for kind in kinds:
        other = SAFE_ALL_ROLES[kind](other, draw)
    datas = [spelled(body, draw), spelled(other, draw)]
    if together:
        new = fixed(datas, all_roles=True)
    else:
        new = [*fixed(datas[:1], all_roles=True), *fixed(datas[1:], all_roles=True)]
    assert prompt(new[0]) == prompt(new[1])
    assert fixed(new, all_roles=True) == new if together else fixed(new[1:], all_roles=True) == new[1:]


@pytest.mark.slow
@some
@given(seeds, st.lists(st.sampled_from(sorted(SAFE)), min_size=1, max_size=3, unique=True))
def test_a_log_that_agrees_stays_byte_for_byte(seed: int, kinds: list[str]) -> None:
    draw = random.Random(seed)
    body = body_of(seed)
    for kind in kinds:
        body = SAFE[kind](body, draw)
    data = spelled(body, draw)
    assert fixed([data, data], all_roles=True) == [data, data]
