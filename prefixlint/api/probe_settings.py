"""Read the base URL, the model and the name of the key's variable out of a settings file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefixlint.errors import InputError


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what a settings file says; empty where it says nothing. A literal key in the file is never read."""

    base_url: str = ""
    model: str = ""
    api_key_env: str = ""


def read(path: Path) -> Found:
    """Read ``settings.json``, ``config.toml`` or a Codex ``config.toml``.

    Raises InputError when the file is neither JSON nor TOML.
    """
    data = path.read_text(encoding="utf-8-sig")
    try:
        document = tomllib.loads(data) if path.suffix == ".toml" else json.loads(data)
    except ValueError as error:
        raise InputError(f"cannot be read: {error}", path=str(path)) from error
    return _codex(document) if "model_providers" in document else _pair(document)


def _pair(document: dict[str, Any]) -> Found:
    server, model = document.get("server", {}), document.get("model", {})
    return Found(
        document.get("api_base") or server.get("api_base", ""),
        document.get("default_model") or (model.get("name", "") if isinstance(model, dict) else str(model)),
        document.get("api_key_env", ""),
    )


def _codex(document: dict[str, Any]) -> Found:
    provider = document["model_providers"].get(document.get("model_provider", ""), {})
    return Found(provider.get("base_url", ""), document.get("model", ""), provider.get("env_key", ""))
