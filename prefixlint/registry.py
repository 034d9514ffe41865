"""Find the modules of a stage: a new file in its folder is all that a new format, rule check or report needs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def names(stage: str) -> list[str]:
    """List the module names of the stage folder, sorted, without importing them; ``_private`` ones are left out."""
    folder = Path(__file__).parent / stage
    return sorted(m.name for m in pkgutil.iter_modules([str(folder)]) if not m.name.startswith("_"))


def module(stage: str, name: str) -> ModuleType:
    """Import one module of a stage."""
    return importlib.import_module(f"prefixlint.{stage}.{name}")


def modules(stage: str, attribute: str = "") -> Iterator[ModuleType]:
    """Import the modules of a stage in name order, only those that define ``attribute`` when it is given."""
    for name in names(stage):
        found = module(stage, name)
        if not attribute or hasattr(found, attribute):
            yield found
