"""Every hazard of the fixtures is found at its line and nothing else; the healthy twins are silent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prefixlint.api.source import SourceOptions, check_sources
from prefixlint.model import Finding

DATA = Path(__file__).parent.parent / "data" / "source"
MARK = re.compile(r"(?:#|//) hazard: ([\w-]+)")


def findings(path: Path) -> list[Finding]:
    """Lint one file in this process."""
    return [f for f in check_sources([str(path)], SourceOptions(jobs=1)) if isinstance(f, Finding)]


def marked(path: Path) -> set[tuple[int, str]]:
    """Read the expected findings from the trailing comments of a fixture."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {(i, rule) for i, line in enumerate(lines, 1) for rule in MARK.findall(line)}


@pytest.mark.parametrize("path", sorted(DATA.glob("hazards.*")), ids=lambda p: p.suffix[1:])
def test_every_hazard_at_its_line(path: Path) -> None:
    assert {(f.span.line, f.rule) for f in findings(path)} == marked(path)


@pytest.mark.parametrize("path", sorted(DATA.glob("healthy.*")), ids=lambda p: p.suffix[1:])
def test_healthy_twins_are_silent(path: Path) -> None:
    assert [(f.span.line, f.rule) for f in findings(path)] == []


@pytest.mark.parametrize("suffix", ["py", "ts"])
def test_twenty_hazards_and_twins(suffix: str) -> None:
    assert len(marked(DATA / f"hazards.{suffix}")) >= 20
    assert (DATA / f"healthy.{suffix}").read_text(encoding="utf-8").count(f"{'#' if suffix == 'py' else '//'} ") >= 20
