"""Every format is documented, tested and discovered without a list."""

from __future__ import annotations

import sys
from pathlib import Path

from prefixlint import registry
from tests.sources.test_samples import CASES

ROOT = Path(__file__).parent.parent.parent


def test_page_is_up_to_date() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import build_format_docs
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    written = build_format_docs.PATH.read_text(encoding="utf-8")
    assert written == build_format_docs.text(), "run python scripts/build_format_docs.py"


def test_every_format_of_a_tool_has_a_sample() -> None:
    generic = {"block-trace", "length-trace", "tau-bench"}  # data sets; their tests make a few lines themselves
    tools = {m.NAME for m in registry.modules("sources", "claims") if not getattr(m, "GENERIC", False)}
    assert tools - generic <= {case.format for case in CASES}


def test_names_are_unique_and_say_the_file() -> None:
    names = [m.NAME for m in registry.modules("sources", "claims")]
    assert len(set(names)) == len(names)
