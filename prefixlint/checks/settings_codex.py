"""Check Codex ``config.toml``: the provider it names must be defined, with a wire API that Codex speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prefixlint import kinds
from prefixlint.model import Hit, Settings, Tokenizer
from prefixlint.names import suggestion

KINDS = ("codex",)

# Built into Codex (codex-rs/core model_provider_info.rs, 2026-11); a config may refer to them without defining them.
BUILT_IN = ("openai", "ollama", "lmstudio", "oss", "amazon-bedrock", "ollama-chat")
WIRE_APIS = ("responses", "chat")


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield providers and wire APIs that Codex does not know."""
    defined = [p.rpartition("/")[2] for p, _ in kinds.select(settings.value, "/model_providers/*")]
    for pattern in ("/model_provider", "/profiles/*/model_provider"):
        for pointer, name in kinds.select(settings.value, pattern):
            if isinstance(name, str) and name not in (*defined, *BUILT_IN):
                message = f"model_provider {name!r} is not defined; {suggestion(name, [*defined, *BUILT_IN])}"
                yield Hit("unknown-provider", pointer, 0, len(name), message=message)
    for pointer, name in kinds.select(settings.value, "/model_providers/*/wire_api"):
        if isinstance(name, str) and name not in WIRE_APIS:
            message = f"wire_api {name!r} is not known; {suggestion(name, WIRE_APIS)}"
            yield Hit("unknown-provider", pointer, 0, len(name), message=message)
    for pointer, provider in kinds.select(settings.value, "/model_providers/*"):
        if isinstance(provider, dict) and "base_url" not in provider and pointer.rpartition("/")[2] not in BUILT_IN:
            yield Hit("unknown-provider", pointer, message="this provider has no base_url", on_key=True)
