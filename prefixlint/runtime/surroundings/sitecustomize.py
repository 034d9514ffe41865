"""Pin or change the surroundings of a Python program from the outside; put on PYTHONPATH by ``prefixlint vary``.

What to do stands in ``PREFIXLINT_VARY``, a JSON object of wishes (see ``prefixlint_patches.patches``).
"""

from __future__ import annotations

import builtins
import json
import os
import sys
from typing import Any


def _apply(wishes: dict[str, Any]) -> None:
    import prefixlint_patches  # type: ignore[import-not-found]  # beside this file, found by PYTHONPATH

    for owner, name, value in prefixlint_patches.patches(wishes):
        setattr(owner, name, value)
    if "random" in wishes:
        import random

        random.seed(wishes["random"])


def _next_sitecustomize() -> None:
    """Run the program's own sitecustomize, which this one stands in front of."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != here]  # noqa: PTH100
    ours = sys.modules.pop("sitecustomize")
    try:
        builtins.__import__("sitecustomize")
    except ImportError:
        pass
    finally:
        sys.modules.setdefault("sitecustomize", ours)


_apply(json.loads(os.environ.get("PREFIXLINT_VARY", "{}")))
_next_sitecustomize()
