"""A pytest plugin: prompts are built under changed surroundings, and their prefix must not move.

Loaded by the entry point ``prefixlint``; ``-p no:prefixlint`` turns it off. It imports the rest of prefixlint only when
one of its fixtures is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prefixlint.api.stable import Until
    from prefixlint.model import Request

__tracebackhide__ = True
FOLDER = "__prefixes__"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--prefixlint-update``."""
    group = parser.getgroup("prefixlint")
    group.addoption("--prefixlint-update", action="store_true", help="store the prefixes of prefix_snapshot anew")


@pytest.fixture
def prefix_stable(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Build a prompt under changed surroundings and fail where its prefix moves.

    ``prefix_stable(build, *, variations=..., until="last-turn", tokenizer=None)``: ``build`` takes no arguments and
    returns a request body, messages, a text, or a list of bodies; it may be async. ``variations`` names some of clock,
    random, hash-seed, time-zone, locale, host, user, home, temp-dir, env, cpus, umask, directory-order and cwd; all by
    default. ``until`` says how far the prompts have to agree: the fresh last turn, ``"end"``, a JSON pointer, or a
    number of tokens.
    """

    def check(
        build: Callable[[], object],
        *,
        variations: Iterable[str] | None = None,
        until: Until = "last-turn",
        tokenizer: str | None = None,
    ) -> None:
        __tracebackhide__ = True
        from prefixlint.runtime.stability import Trial

        trial = Trial(build, tmp_path_factory.mktemp("prefixlint"), until, tokenizer)
        problems = list(trial.problems(None if variations is None else tuple(variations)))
        if problems:
            pytest.fail("\n\n".join(problems), pytrace=False)

    return check


def assert_prefix_of(earlier: object, later: object, *, tokenizer: str | None = None) -> None:
    """Fail unless the prompt of one body begins with the whole prompt of another, with the report of ``diff``."""
    __tracebackhide__ = True
    from prefixlint.api.stable import continues

    found = continues(_one(earlier), _one(later), tokenizer=tokenizer)
    if found:
        pytest.fail(f"the earlier prompt is no prefix of the later one\n\n{found.report}", pytrace=False)


@pytest.fixture(name="assert_prefix_of")
def _assert_prefix_of() -> Callable[..., None]:
    """Fail unless the prompt of one body begins with the whole prompt of another."""
    return assert_prefix_of


def _one(value: object) -> Request:
    from prefixlint.api.stable import built

    return built(value)[0]


@pytest.fixture
def prefix_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare the prefix of a prompt with the one that is stored beside the test.

    ``prefix_snapshot(body, *, name="", until="last-turn")``. Stored in ``__prefixes__/<module>/<test>.json`` with its
    token count; ``pytest --prefixlint-update`` writes it anew. Each test has files of its own, so xdist may run them.
    """
    folder = Path(str(request.node.path)).parent / FOLDER / Path(str(request.node.path)).stem
    update = bool(request.config.getoption("--prefixlint-update"))

    def check(body: object, *, name: str = "", until: Until = "last-turn", tokenizer: str | None = None) -> None:
        __tracebackhide__ = True
        from prefixlint.runtime.stability import snapshot

        path = _file(folder, request.node, name)
        problem = snapshot(_one(body), path, until=until, tokenizer=tokenizer, update=update)
        if problem:
            pytest.fail(problem, pytrace=False)

    return check


def _file(folder: Path, node: Any, name: str) -> Path:
    """Name the file of a test; what no file name can hold becomes a line."""
    import re

    owner = f"{node.cls.__name__}." if getattr(node, "cls", None) else ""
    whole = owner + node.name + (f".{name}" if name else "")
    return folder / (re.sub(r"[^\w.=\[\]-]", "_", whole)[:120] + ".json")
