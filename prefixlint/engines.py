"""Find a cache model by name: dated parameters from ``data/engines/*.toml``, or the facts of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from prefixlint.errors import ConfigError
from prefixlint.facts import Facts, provider_facts
from prefixlint.names import suggestion

FOLDER = Path(__file__).parent / "data" / "engines"


@dataclass(frozen=True, slots=True)
class Engine:
    """Hold a cache by name: ``family`` names the file in ``caches/`` and ``params`` what its ``make`` is given.

    Hosted caches have ``facts``; their parameters come from there.
    """

    name: str
    title: str
    family: str
    params: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    as_of: str = ""
    facts: Facts | None = None
    provider: str = ""

    @property
    def is_hosted(self) -> bool:
        """Return True for a provider's cache, whose capacity nobody can set."""
        return bool(self.provider)


def names() -> list[str]:
    """List the cache names, without aliases."""
    return sorted(_documents())


def engine(name: str, model: str | None = None) -> Engine:
    """Return a cache by name or alias; ``model`` chooses the facts of a hosted one.

    Raises ConfigError for an unknown name, and lists the known ones.
    """
    wanted = name.strip().lower()
    for known, row in _documents().items():
        if wanted == known or wanted in row.get("aliases", ()):
            return _hosted(known, row, model) if "provider" in row else _served(known, row)
    raise ConfigError(f"unknown cache {name!r}: {suggestion(wanted, names())}")


def _served(name: str, row: dict[str, Any]) -> Engine:
    return Engine(name, row["title"], row["family"], row["params"], row["source"], row["as_of"])


def _hosted(name: str, row: dict[str, Any], model: str | None) -> Engine:
    provider = row["provider"]
    facts = provider_facts(row.get("model") or model, provider) or provider_facts(row.get("default_model"), provider)
    assert facts is not None, name
    return Engine(
        name, row["title"], facts.cache, hosted_params(facts), facts.source, facts.as_of, facts, provider
    )  # fmt: skip


def hosted_params(facts: Facts) -> dict[str, Any]:
    """Turn facts into the parameters of their family."""
    params: dict[str, Any] = {"min_tokens": facts.min_tokens.tokens, "ttl_s": facts.ttl_s.value or None}
    if facts.cache == "block_hash":
        return {
            **params,
            "block_size": facts.granularity.tokens,
            "exact_resend_full": _flag(facts, "exact_resend_full"),
        }
    if facts.cache == "breakpoint":
        lookback = facts.lookback.tokens or 20
        return {**params, "rules": facts.rules, "lookback": lookback, "max_breakpoints": facts.max_breakpoints}
    # the best case: the finest step, the shortest minimum, the longest life that any source gives
    best = {"granularity": int(facts.granularity.low), "min_tokens": int(facts.min_tokens.low)}
    return {**params, **best, "ttl_s": facts.ttl_s.high or None, "interval": facts.extra.get("interval", 0)}


def _flag(facts: Facts, name: str) -> bool:
    return bool(facts.extra.get(name, False))


@cache
def _documents() -> dict[str, dict[str, Any]]:
    import tomllib

    return {p.stem: tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted(FOLDER.glob("*.toml"))}
