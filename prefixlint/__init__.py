"""prefixlint: find what breaks a prompt cache, and make prefixes match byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefixlint.api.library import Canonical, canonical_bytes, canonicalize, check, count, fork
    from prefixlint.errors import CardError, ConfigError, FixError, InputError, PrefixlintError
    from prefixlint.model import Finding, Fork, Request, Span
    from prefixlint.runtime.guard import Checked, ForkError, Guard

__version__ = "0.1.0"
__all__ = [
    "Canonical",
    "CardError",
    "Checked",
    "ConfigError",
    "Finding",
    "FixError",
    "Fork",
    "ForkError",
    "Guard",
    "InputError",
    "PrefixlintError",
    "Request",
    "Span",
    "__version__",
    "canonical_bytes",
    "canonicalize",
    "check",
    "count",
    "fork",
]

_HOME = {
    **dict.fromkeys(("Canonical", "canonical_bytes", "canonicalize", "check", "count", "fork"), "api.library"),
    **dict.fromkeys(("CardError", "ConfigError", "FixError", "InputError", "PrefixlintError"), "errors"),
    **dict.fromkeys(("Finding", "Fork", "Request", "Span"), "model"),
    **dict.fromkeys(("Checked", "ForkError", "Guard"), "runtime.guard"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import prefixlint`` costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'prefixlint' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"prefixlint.{_HOME[name]}"), name)
