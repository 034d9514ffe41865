"""The guard between real SDKs and a server: all planted forks named, no other, and the bytes of the wire the same."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest

import prefixlint as pl
from tests.runtime.recording_server import Wire, recording


@pytest.fixture
def wire() -> Iterator[Wire]:
    with recording() as found, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield found
        gc.collect()


def test_planted_forks_are_named_and_no_other(wire: Wire) -> None:
    for package in ("openai", "anthropic", "httpx2"):
        pytest.importorskip(package)
    sdk = pytest.importorskip("benchmarks.guard_sdk")  # not in the sdist
    found: list[pl.Fork] = []
    guard = pl.Guard(found.append, limit_mb=1)  # so little that it has to forget several times
    guarded, plain = sdk.Sender(wire.url, guard), sdk.Sender(wire.url)
    forked, planted = [], []
    for number, step in enumerate(sdk.steps(220)):
        before = len(found)
        guarded.send(step)
        plain.send(step)
        forked += [number] * (len(found) - before)
        planted += [number] * step[5]
    assert forked == planted
    assert len(planted) >= 2
    assert wire.bodies[::2] == wire.bodies[1::2]
    assert (guard.totals.errors, guard.totals.skipped) == (0, 0)
