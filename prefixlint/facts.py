"""Load dated provider facts: minimum, step, lifetime, multipliers and prices from ``data/providers/*.toml``.

The data files are the only place that knows a vendor's number. Every fact carries its source and the day of the copy
that was read; one that sources disagree on has ``certain = false`` and a range.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "providers"
# How logs name a provider -> the data file.
_PROVIDERS = {
    "azure_openai": "azure", "azure-openai": "azure", "aws_bedrock": "bedrock", "bedrock_converse": "bedrock",
    "bedrock-converse": "bedrock", "google": "gemini", "google_gemini": "gemini", "vertex": "gemini",
    "vertex_ai": "gemini", "kimi": "moonshot", "moonshotai": "moonshot", "qwen": "dashscope", "alibaba": "dashscope",
    "x-ai": "xai", "grok": "xai", "mistralai": "mistral", "together_ai": "together", "fireworks_ai": "fireworks",
    "openai-chat": "openai", "openai-responses": "openai",
}  # fmt: skip
_GATEWAYS = ("openrouter", "litellm", "vercel", "portkey", "helicone")
_MARKS = re.compile(r"(?:\[[^\]]*\]|:(?:thinking|free|beta|nitro|online|extended)|@.*|-v\d+(?::\d+)?(?::\w+)?)+$")
_DATE = re.compile(r"-(?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest|preview-\d{2}-\d{2,4}|\d{4}|00\d)$")
_REGION = re.compile(r"^(?:us|eu|apac|global|jp|au)\.")


@dataclass(frozen=True, slots=True)
class Fact:
    """Hold one number with its range, source and date; ``low == high == value`` where sources agree."""

    value: float
    low: float
    high: float
    certain: bool
    source: str
    as_of: str
    values: tuple[float, ...] = ()

    @property
    def tokens(self) -> int:
        """Return the value as a whole number."""
        return int(self.value)


@dataclass(frozen=True, slots=True)
class Price:
    """Hold USD per million tokens; ``long_x`` multiplies all of them for prompts above ``long_above`` tokens."""

    input: float
    cached: float | None
    write: float | None
    write_1h: float | None
    output: float | None
    source: str
    as_of: str
    certain: bool = True
    long_above: int | None = None
    long_x: float = 1.0
    storage_hour: float | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Hold what is known about caching of one model at one provider.

    ``cache`` is the family of cache model (block_hash, rounding, breakpoint). Multipliers are relative to the base
    input price. ``price`` is None where no copy of a price list was read.
    """

    provider: str
    family: str
    model: str
    cache: str
    rules: str
    min_tokens: Fact
    granularity: Fact
    ttl_s: Fact
    read_x: Fact
    write_x: Fact
    write_1h_x: Fact
    max_breakpoints: int
    lookback: Fact
    source: str
    as_of: str
    price: Price | None = None
    prefix_order: tuple[str, ...] = ()
    ttl_from: str = "last-use"
    ttl_refreshed: bool = True
    input_includes_cached: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)


def base_model(model: str) -> str:
    """Strip routing prefixes, regions, dates and variants: ``us.anthropic.claude-opus-4-5-20251101-v1:0``.

    gives ``claude-opus-4-5``. Claude names written with dots (``claude-opus-4.5``) get dashes, and the old order
    ``claude-4-5-sonnet`` stays as it is only for the generation that used it.
    """
    name = model.strip().lower().rsplit("/", 1)[-1]
    name = _REGION.sub("", name)
    for vendor in ("anthropic.", "amazon.", "mistral.", "meta."):
        name = name.removeprefix(vendor)
    name = _MARKS.sub("", name)
    while (shorter := _DATE.sub("", name)) != name:
        name = shorter
    return name.replace(".", "-") if name.startswith("claude") else name


def provider_of(model: str | None, provider: str | None = None) -> str | None:
    """Say whose facts apply, from the provider that a log names or from the model's name alone."""
    named = _named(provider) or _prefix(model)
    if named is not None:
        return named
    return _by_pattern(base_model(model)) if model else None


def _named(provider: str | None) -> str | None:
    if not provider:
        return None
    name = _PROVIDERS.get(provider.lower(), provider.lower())
    return name if name in _files() and name != "openrouter" else None


def _prefix(model: str | None) -> str | None:
    """Read the provider off ``bedrock/...``, ``azure/...`` or an ``anthropic.claude`` id of Bedrock."""
    name = (model or "").lower()
    parts = [p for p in name.split("/")[:-1] if p not in _GATEWAYS]
    if parts and (found := _named(parts[0])):
        return found
    return "bedrock" if re.match(r"(?:\w+\.)?(?:anthropic|amazon)\.", name.rsplit("/", 1)[-1]) else None


def _by_pattern(name: str) -> str | None:
    order = ("anthropic", *(p for p in sorted(_files()) if p != "anthropic"))
    for provider in order:
        if any(p != "*" and fnmatch.fnmatchcase(name, p) for f in _families(provider) for p in f["models"]):
            return provider if provider not in ("azure", "bedrock") else _vendor(name)
    return _vendor(name)


def _vendor(name: str) -> str | None:
    for start, provider in (("claude", "anthropic"), ("gpt", "openai"), ("gemini", "gemini"), ("nova", "bedrock")):
        if name.startswith(start):
            return provider
    return None


def provider_facts(model: str | None, provider: str | None = None) -> Facts | None:
    """Return the facts that apply to a model, or None when nothing is known about it.

    ``provider_facts("claude-opus-4-5-20251101").min_tokens.value`` is 4096.
    """
    owner = provider_of(model, provider)
    return _facts(owner, base_model(model or "")) if owner else None


def known_providers() -> tuple[str, ...]:
    """List the providers that have a data file."""
    return tuple(sorted(_files()))


def families(provider: str) -> tuple[Facts, ...]:
    """List all families of one provider, for documentation and tables."""
    return tuple(_make(provider, f, "") for f in _families(provider))


@cache
def _facts(provider: str, name: str) -> Facts | None:
    found = _best(_families(provider), name)
    return _make(provider, found, name) if found else None


def _best(rows: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Pick the row with the longest pattern that matches, an exact one first; dashed suffixes count as variants."""
    best: tuple[int, dict[str, Any]] | None = None
    for row in rows:
        for pattern in row["models"]:
            # `claude-opus-4-1` must not take `claude-opus-4-1x`, but `gpt-4o-2024` style suffixes are variants
            if fnmatch.fnmatchcase(name, pattern):
                weight = len(pattern) * 2 + ("*" not in pattern)
                best = (weight, row) if best is None or weight > best[0] else best
    return best[1] if best else None


def _make(provider: str, family: dict[str, Any], name: str) -> Facts:
    document = _files()[provider]
    row = {**document.get("defaults", {}), **family}
    source, as_of = document["source"], document["as_of"]

    def fact(key: str, default: float) -> Fact:
        return _fact(row.get(key, default), source, as_of)

    price = _best(document.get("price", []), name)
    known = {
        "id", "models", "cache", "rules", "min_tokens", "granularity", "ttl_s", "read_x", "write_x", "write_1h_x",
        "max_breakpoints", "lookback", "prefix_order", "ttl_from", "ttl_refreshed", "input_includes_cached",
    }  # fmt: skip
    return Facts(
        provider=provider, family=family["id"], model=name, cache=row["cache"], rules=row.get("rules", ""),
        min_tokens=fact("min_tokens", 0), granularity=fact("granularity", 1), ttl_s=fact("ttl_s", 0),
        read_x=fact("read_x", 1.0), write_x=fact("write_x", 1.0),
        write_1h_x=fact("write_1h_x", _fact(row.get("write_x", 1.0), source, as_of).value),
        max_breakpoints=row.get("max_breakpoints", 0), lookback=fact("lookback", 0), source=source, as_of=as_of,
        price=_price(price) if price else None, prefix_order=tuple(row.get("prefix_order", ())),
        ttl_from=row.get("ttl_from", "last-use"), ttl_refreshed=row.get("ttl_refreshed", True),
        input_includes_cached=row.get("input_includes_cached", True),
        extra={k: v for k, v in row.items() if k not in known},
    )  # fmt: skip


def _fact(raw: Any, source: str, as_of: str) -> Fact:
    if not isinstance(raw, dict):
        return Fact(raw, raw, raw, True, source, as_of)
    row = {"source": source, "as_of": as_of, "certain": True, "low": raw["value"], "high": raw["value"], **raw}
    return Fact(**{**row, "values": tuple(row.get("values", ()))})


def _price(row: dict[str, Any]) -> Price:
    return Price(
        input=row["input"], cached=row.get("cached"), write=row.get("write"), write_1h=row.get("write_1h"),
        output=row.get("output"), source=row["source"], as_of=row["as_of"], certain=row.get("certain", True),
        long_above=row.get("long_above"), long_x=row.get("long_x", 1.0), storage_hour=row.get("storage_hour"),
    )  # fmt: skip


def _families(provider: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _files()[provider].get("family", [])
    return found


@cache
def _files() -> dict[str, dict[str, Any]]:
    import tomllib

    return {p.stem: tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted(FOLDER.glob("*.toml"))}
