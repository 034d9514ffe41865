"""Turn tokens into money with the dated facts of ``data/providers``."""

from __future__ import annotations

from dataclasses import dataclass

from prefixlint.facts import Facts, Price, provider_facts

__all__ = ["Cost", "cost", "input_price", "provider_facts", "saved_per_token"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Hold an amount: ``usd`` is None without a price list; ``equivalents`` counts base-price input tokens."""

    equivalents: float
    usd: float | None
    as_of: str
    source: str
    certain: bool


def cost(
    facts: Facts, *, read: float = 0, write: float = 0, write_1h: float = 0, uncached: float = 0, prompt: int = 0
) -> Cost:
    """Price one request's input; ``prompt`` (tokens of the whole prompt) chooses the long-context tier.

    Read 1,000, 1 h write 2,000, 5 min write 2,000, uncached 200 at Anthropic's usual multipliers = 6,800
    equivalents. Where the price list names a price of its own (cached, write), that is used for the dollars.
    """
    amounts = (read, write, write_1h, uncached)
    equal = sum(n * x for n, x in zip(amounts, _multipliers(facts), strict=True))
    price = facts.price
    if price is None:
        return Cost(equal, None, facts.as_of, facts.source, facts.read_x.certain)
    tier = price.long_x if price.long_above is not None and prompt > price.long_above else 1.0
    usd = tier * sum(n * p for n, p in zip(amounts, _prices(facts, price), strict=True)) / 1e6
    return Cost(equal, usd, price.as_of, price.source, price.certain)


def _multipliers(facts: Facts) -> tuple[float, float, float, float]:
    return facts.read_x.value, facts.write_x.value, facts.write_1h_x.value, 1.0


def _prices(facts: Facts, price: Price) -> tuple[float, float, float, float]:
    read, write, write_1h, _ = (price.input * x for x in _multipliers(facts))
    return (
        price.cached if price.cached is not None else read,
        price.write if price.write is not None else write,
        price.write_1h if price.write_1h is not None else write_1h,
        price.input,
    )


def input_price(model: str | None, provider: str | None = None) -> Price | None:
    """Return the price list entry of a model, or None."""
    facts = provider_facts(model, provider)
    return facts.price if facts else None


def saved_per_token(facts: Facts) -> float | None:
    """Return the dollars that one cached instead of uncached input token saves, or None without a price."""
    if facts.price is None:
        return None
    read = _prices(facts, facts.price)[0]
    return (facts.price.input - read) / 1e6
