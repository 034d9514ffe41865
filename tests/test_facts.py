"""Facts against the values of the published pages, written down by hand."""

from __future__ import annotations

import pytest

from prefixlint.api.prices import cost
from prefixlint.facts import base_model, families, known_providers, provider_facts

MINIMUMS = [
    ("claude-opus-4-5-20251101", None, "anthropic", 4096),
    ("anthropic/claude-opus-4.5", None, "anthropic", 4096),
    ("us.anthropic.claude-opus-4-7-20260201-v1:0", None, "bedrock", 4096),
    ("claude-opus-4-7", "anthropic", "anthropic", 2048),
    ("claude-haiku-4-5@20251001", "vertex-anthropic", "anthropic", 4096),
    ("claude-sonnet-4-20250514", None, "anthropic", 1024),
    ("claude-sonnet-4-6[1m]", None, "anthropic", 1024),
    ("claude-3-5-haiku-20241022", None, "anthropic", 2048),
    ("claude-opus-5", None, "anthropic", 512),
    ("gpt-4o-2024-08-06", None, "openai", 1024),
    ("gpt-5.6-sol", None, "openai", 1024),
    ("azure/gpt-4o", None, "azure", 1024),
    ("gpt-4o", "azure_openai", "azure", 1024),
    ("gemini-2.5-pro", None, "gemini", 2048),
    ("models/gemini-3.1-pro-preview", "gemini", "gemini", 4096),
    ("kimi-k3", None, "moonshot", 256),
    ("mistral-large-latest", None, "mistral", 64),
    ("openrouter/anthropic/claude-opus-4.6", None, "anthropic", 4096),
]


@pytest.mark.parametrize(("model", "provider", "owner", "minimum"), MINIMUMS, ids=lambda v: str(v))
def test_minimum(model: str, provider: str | None, owner: str, minimum: int) -> None:
    facts = provider_facts(model, provider)
    assert facts is not None
    assert (facts.provider, facts.min_tokens.tokens) == (owner, minimum)


def test_nothing_is_known_about_a_private_model() -> None:
    assert provider_facts("my-finetune-7b") is None
    assert provider_facts(None) is None


@pytest.mark.parametrize("provider", known_providers())
def test_every_fact_is_dated(provider: str) -> None:
    for facts in families(provider):
        for fact in (facts.min_tokens, facts.granularity, facts.ttl_s, facts.read_x, facts.write_x):
            assert fact.as_of[:3] == "202" and fact.source
            assert fact.low <= fact.value <= fact.high


def test_mixed_ttl_billing_matches_the_documented_example() -> None:
    # read 1000, 1 h write 2000, 5 min write 2000, input 200: 100 + 4000 + 2500 + 200 = 6800 equivalents
    facts = provider_facts("claude-opus-5")
    assert facts is not None
    paid = cost(facts, read=1000, write=2000, write_1h=2000, uncached=200)
    assert paid.equivalents == pytest.approx(6800)
    assert paid.usd == pytest.approx(6800 * 5 / 1e6)  # Opus 5 costs 5 USD per million


def test_openai_56_write_costs_a_quarter_more() -> None:
    facts = provider_facts("gpt-5.6-sol")
    assert facts is not None
    assert cost(facts, read=3200, write=500).equivalents == pytest.approx(945)


def test_long_prompts_cost_more_above_the_tier() -> None:
    facts = provider_facts("claude-haiku-5-5")
    assert facts is not None
    short = cost(facts, uncached=100_000, prompt=100_000).usd
    long = cost(facts, uncached=100_001, prompt=100_001).usd
    assert short == pytest.approx(0.01)
    assert long == pytest.approx(0.0500005)


def test_names_lose_routing_and_dates() -> None:
    assert base_model("us.anthropic.claude-opus-4-5-20251101-v1:0") == "claude-opus-4-5"
    assert base_model("gpt-4o-mini-2024-07-18") == "gpt-4o-mini"
    assert base_model("GPT-5-mini") == "gpt-5-mini"
