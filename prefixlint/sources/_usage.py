"""Read the token counts that answers and logs carry, in every vendor's spelling, into one meaning.

``Usage.input_tokens`` includes what was cached. Vendors differ in what their input count means:

* includes: OpenAI, Gemini, DeepSeek, SGLang, LiteLLM (``prompt_tokens``), LangChain, OpenTelemetry
* excludes cache reads and writes: Anthropic, Bedrock Converse, Cline, llama.cpp timings
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prefixlint.model import Json, Usage


def usage_of(value: Json) -> Usage | None:
    """Convert a decoded usage object of any known spelling; None when it is none."""
    if not isinstance(value, Mapping):
        return None
    for key, convert in _SPELLINGS:
        if key in value:
            found = convert(value)
            if found is not None:
                return found
    return None


def added(usages: list[Usage]) -> Usage:
    """Sum usages; a count stays None where no usage has it."""
    return Usage(
        *(
            _sum([getattr(u, name) for u in usages])
            for name in ("input_tokens", "cache_read", "cache_write", "output_tokens")
        )
    )


def excluding(fresh: int | None, read: int | None, write: int | None, output: int | None) -> Usage:
    """Build a usage from an input count that leaves out what was read from and written to the cache."""
    total = None if fresh is None else fresh + (read or 0) + (write or 0)
    return Usage(total, read, write, output)


def count(value: Mapping[str, Json], *names: str) -> int | None:
    """Return the first of the named members that holds a count."""
    for name in names:
        found = value.get(name)
        if type(found) is int:
            return found
        if isinstance(found, float) and found - found == 0:
            return int(found)
    return None


def _details(value: Mapping[str, Json], *names: str) -> Mapping[str, Json]:
    """Return the first of the named members that is an object, else an empty one."""
    for name in names:
        found = value.get(name)
        if isinstance(found, Mapping):
            return found
    return {}


def _sum(counts: list[int | None]) -> int | None:
    known = [c for c in counts if c is not None]
    return sum(known) if known else None


def _gemini(value: Mapping[str, Json]) -> Usage | None:
    total = count(value, "promptTokenCount", "prompt_token_count")
    if total is None:
        return None
    output = _sum(
        [
            count(value, "candidatesTokenCount", "candidates_token_count"),
            count(value, "thoughtsTokenCount", "thoughts_token_count"),
        ]
    )
    # The API leaves the count out when nothing was cached.
    read = count(value, "cachedContentTokenCount", "cached_content_token_count")
    return Usage(total, read or 0, None, output)


def _converse(value: Mapping[str, Json]) -> Usage | None:
    fresh = count(value, "inputTokens", "inputTokenCount")
    if fresh is None:
        return None
    read = count(value, "cacheReadInputTokens", "cacheReadInputTokenCount", "cacheReadInputTokensCount")
    write = count(value, "cacheWriteInputTokens", "cacheWriteInputTokenCount", "cacheWriteInputTokensCount")
    return excluding(fresh, read, write, count(value, "outputTokens", "outputTokenCount"))


def _chat(value: Mapping[str, Json]) -> Usage | None:
    total = count(value, "prompt_tokens")
    if total is None:
        return None
    details = _details(value, "prompt_tokens_details", "prompt_token_details", "input_tokens_details")
    read = count(details, "cached_tokens", "cache_read")
    if read is None:
        read = count(value, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    write = count(details, "cache_write_tokens", "cache_creation_tokens")
    if write is None:
        write = count(value, "cache_creation_input_tokens")
    return Usage(total, read, write, count(value, "completion_tokens"))


def _anthropic_or_responses(value: Mapping[str, Json]) -> Usage | None:
    fresh = count(value, "input_tokens")
    if fresh is None:
        return None
    output = count(value, "output_tokens")
    if "cache_read_input_tokens" in value or "cache_creation_input_tokens" in value:
        read = count(value, "cache_read_input_tokens")
        return excluding(fresh, read, count(value, "cache_creation_input_tokens"), output)
    details = _details(value, "input_tokens_details", "input_token_details")
    read = count(details, "cached_tokens", "cache_read")
    if read is None:
        read = count(value, "cached_input_tokens")
    return Usage(fresh, read, count(details, "cache_write_tokens", "cache_creation"), output)


def _timings(value: Mapping[str, Json]) -> Usage | None:
    """Read llama.cpp's ``timings``: ``prompt_n`` counts only what was computed."""
    fresh, read = count(value, "prompt_n"), count(value, "cache_n")
    return None if fresh is None else excluding(fresh, read, None, count(value, "predicted_n"))


def _ollama(value: Mapping[str, Json]) -> Usage | None:
    total = count(value, "prompt_eval_count")
    return None if total is None else Usage(total, None, None, count(value, "eval_count"))


_SPELLINGS: tuple[tuple[str, Callable[[Mapping[str, Json]], Usage | None]], ...] = (
    ("prompt_tokens", _chat),
    ("input_tokens", _anthropic_or_responses),
    ("promptTokenCount", _gemini),
    ("prompt_token_count", _gemini),
    ("inputTokens", _converse),
    ("inputTokenCount", _converse),
    ("prompt_n", _timings),
    ("prompt_eval_count", _ollama),
)
