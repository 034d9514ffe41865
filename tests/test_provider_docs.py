"""The pages of providers and engines are those that the dated facts give."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_pages_are_in_step_with_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "scripts")
    import build_provider_docs

    for path, text in build_provider_docs.files().items():
        assert path.read_text(encoding="utf-8") == text, path
