"""The import law of the architecture, with an empty exception list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "prefixlint"
STAGES = {"sources", "render", "tokens", "checks", "code", "diff", "caches", "canon", "report"}
MODEL = {"model", "errors"}
BASE = {f.stem for f in ROOT.glob("*.py")} - MODEL - {"__init__", "__main__"}


def allowed(layer: str) -> set[str]:
    """Return the layers that a layer may import, its own included."""
    if layer in MODEL:
        return MODEL
    if layer in BASE:
        return MODEL | BASE
    return {
        "api": MODEL | BASE | STAGES | {"api"},
        "runtime": MODEL | BASE | {"api", "runtime"},
        "cli": MODEL | BASE | {"api", "report", "cli"},
    }.get(layer, MODEL | BASE | {layer})


def imports(path: Path) -> set[str]:
    """Collect the layers of prefixlint that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{a.name}" for a in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("prefixlint.")} - {"__version__"}
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_layers(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if layer in ("__init__", "__main__"):
        return
    extra = imports(path) - allowed(layer)
    assert not extra, f"{layer} must not import {sorted(extra)}"
