"""Tell OpenTelemetry what a guard sees: attributes and an event on the current span, and metrics.

Names follow the conventions for generative AI where they have one (``gen_ai.provider.name``, ``gen_ai.request.model``,
``gen_ai.conversation.id``; semantic conventions 1.37, read 2026-12); what they lack stands under ``prefixlint.``.
No text of a prompt leaves this way.
"""

from __future__ import annotations

from typing import Any

from prefixlint.runtime.guard import Checked, Guard

PROVIDERS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gcp.gemini",
    "bedrock-converse": "aws.bedrock",
}
TOKEN_BUCKETS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576]  # those of gen_ai.client.token.usage


def instrument(guard: Guard, *, meter_provider: Any = None) -> Guard:
    """Report each check of a guard; ``meter_provider`` is the global one by default. Returns the guard."""
    from opentelemetry import metrics

    meter = metrics.get_meter("prefixlint", meter_provider=meter_provider)
    guard.observe(_Reporter(meter).report)
    return guard


class _Reporter:
    """Hold the instruments."""

    def __init__(self, meter: Any) -> None:
        self._forks = meter.create_counter("prefixlint.forks", "{fork}", "Requests whose prefix forks.")
        self._lost = meter.create_counter("prefixlint.lost_tokens", "{token}", "Tokens that forks make to be repeated.")
        self._shared = meter.create_histogram(
            "prefixlint.shared_tokens",
            "{token}",
            "Tokens that a prompt shares with the best earlier one.",
            explicit_bucket_boundaries_advisory=TOKEN_BUCKETS,
        )

    def report(self, checked: Checked) -> None:
        """Report one check."""
        if checked.skipped:
            return
        common = {"gen_ai.provider.name": PROVIDERS.get(checked.provider, checked.provider)}
        if checked.model:
            common["gen_ai.request.model"] = checked.model
        self._shared.record(checked.shared_tokens, common)
        if checked.fork:
            attributes = {**common, "prefixlint.fork.cause": checked.fork.cause}
            self._forks.add(1, attributes)
            self._lost.add(checked.fork.lost_tokens, attributes)
        self._mark_span(checked)

    @staticmethod
    def _mark_span(checked: Checked) -> None:
        from opentelemetry import trace

        span = trace.get_current_span()
        if not span.is_recording():
            return
        span.set_attributes(
            {
                "gen_ai.conversation.id": checked.session,
                "prefixlint.fork.count": len(checked.forks),
                "prefixlint.prompt_tokens": checked.prompt_tokens,
                "prefixlint.shared_tokens": checked.shared_tokens,
            }
        )
        fork = checked.fork
        if fork:
            found: dict[str, str | int] = {
                "prefixlint.fork.cause": fork.cause,
                "prefixlint.fork.pointer": fork.pointer,
                "prefixlint.fork.token": fork.token,
                "prefixlint.fork.lost_tokens": fork.lost_tokens,
            }
            span.set_attributes(found)
            span.add_event("prefixlint.fork", found)
