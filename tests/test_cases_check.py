"""The collected cases: each flagged place has a finding of the named rule, and each clean file none above info."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.check import check_paths

CASES = Path(__file__).parent / "cases"


def load(folder: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    return case


ALL = [f.parent for f in sorted(CASES.glob("*/expect.json"))]
FILES = [f for f in ALL if load(f)["layout"] == "files"]


@pytest.mark.parametrize("folder", [f for f in FILES if load(f).get("flags")], ids=lambda f: f.name)
def test_flagged_places(folder: Path) -> None:
    case = load(folder)
    findings = check_paths([str(folder / name) for name in case["inputs"]]).findings
    for flag in case["flags"]:
        there = [
            f
            for f in findings
            if Path(f.span.path).name == flag["file"]
            and f.span.line == flag["line"]
            and f.span.column < flag["col"] + len(flag["text"])
            and (f.span.end_line > f.span.line or f.span.end_column > flag["col"])
        ]
        assert case["cause"] in {f.rule for f in there}


@pytest.mark.parametrize("folder", [f for f in FILES if load(f)["cause"] == "none"], ids=lambda f: f.name)
def test_clean_files(folder: Path) -> None:
    findings = check_paths([str(folder / name) for name in load(folder)["inputs"]]).findings
    assert [f for f in findings if f.severity != "info"] == []
