"""The examples of docs/library.md run as they stand."""

from __future__ import annotations

import gc
import logging
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]
DOCS = Path(__file__).parents[2] / "docs" / "library.md"
BLOCK = re.compile(r"^```(python[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    if not DOCS.exists():
        pytest.skip("the sdist has no docs")
    return [code for name, code in BLOCK.findall(DOCS.read_text(encoding="utf-8")) if name == kind]


def test_python_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("openai", "httpx2", "requests", "urllib3", "aiohttp", "langchain_core", "opentelemetry"):
        pytest.importorskip(package)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    names: dict[str, Any] = {}
    logger = logging.getLogger("prefixlint.guard")
    filters = logger.filters[:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in blocks("python"):
            exec(compile(code, str(DOCS), "exec"), names)
        checked, guard = names["checked"], names["guard"]
        names.clear()
        gc.collect()
    logger.filters = filters
    assert checked.fork is None
    assert guard.totals.requests == 3
    assert guard.totals.errors == 0


def test_pytest_blocks_pass(pytester: pytest.Pytester) -> None:
    from tests.runtime.test_pytest_plugin import LOAD

    pytester.makepyfile(test_docs="\n".join(blocks("python pytest")))
    pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider").assert_outcomes(passed=2)
