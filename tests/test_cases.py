"""Every case from public reports gives its place and cause; every clean one gives nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.diff import diff
from prefixlint.api.read import open_log
from prefixlint.model import DiffResult, Fork

CASES = Path(__file__).parent / "cases"
IN_FINDINGS = {"breakpoint-misplaced", "below-minimum", "routing-key"}


def expected() -> list[dict[str, Any]]:
    """Load what each case for ``diff`` must give: logs, bodies and texts, and files that are two renderings of one."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*/expect.json"))]
    return [case for case in found if case["layout"] != "files" or case.get("fork")]


def run(case: dict[str, Any]) -> DiffResult:
    """Compare the inputs of a case."""
    return diff(open_log([str(CASES / case["id"] / name) for name in case["inputs"]]).requests())


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in expected() if c["cause"] == "none"])
def test_clean(case: dict[str, Any]) -> None:
    result = run(case)
    assert not [f for f in result.forks if not f.wanted]
    assert not [f for f in result.findings if f.severity != "info"]


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in expected() if c["cause"] != "none"])
def test_fault(case: dict[str, Any]) -> None:
    result = run(case)
    forks = _of_request(case, [f for f in result.forks if not f.wanted])
    fork = case["fork"]
    if fork is None:
        assert not forks
    else:
        assert {(f.pointer, f.char_offset, f.kind) for f in forks} == {(fork["pointer"], fork["offset"], fork["kind"])}
        if "token" in fork:
            assert [(f.left, f.right) for f in forks] == [(fork["token"]["left"], fork["token"]["right"])]
    names = {f.cause for f in forks} | {f.rule for f in result.findings if case["cause"] in IN_FINDINGS}
    assert case["cause"] in names
    told = names | {name for f in forks for name in f.also}
    assert set(case.get("also", [])) <= told


def _of_request(case: dict[str, Any], forks: list[Fork]) -> list[Fork]:
    if case["layout"] != "jsonl" or not case["fork"]:
        return forks
    return [f for f in forks if f.after.record == case["fork"]["request"][1]]
