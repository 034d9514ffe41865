"""Check what settings say about the prefix cache: the shared prefix, its length, the chunks, whether it is on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prefixlint import kinds
from prefixlint.model import Hit, Json, Settings, Severity, Tokenizer

KINDS = ("generic-settings", "generic-config", "vllm-serve", "claude-code")

SHARED_PREFIX = "/prefix_cache/shared_prefix_file"
MAX_PREFIX = "/prefix_cache/max_prefix_tokens"
CHUNK = "/prefix_cache/chunk_size"
MODEL_LEN = "/model/max_model_len"
# vLLM's default block size; its cache and the engines built on it store whole blocks (docs.vllm.ai, 2026-11).
BLOCK_TOKENS = 16
# The longest token of o200k_base and cl100k_base has 128 bytes, so a text has at least bytes / 128 tokens.
TOKEN_BYTES = 128
# Below this share of the prefix the last partial chunk is a rounding loss that nobody would act on.
WORTH_SHARE = 0.05


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield what keeps the prefix cache from being used."""
    if settings.kind == "vllm-serve":
        yield from _serve_flags(settings)
    elif settings.kind == "claude-code":
        yield from _claude_code(settings)
    else:
        yield from _disabled(settings)
        yield from _exceeds_model(settings)
        yield from _missing(settings)
        yield from _too_long(settings, tokenizer)
        yield from _chunks(settings, tokenizer)


def _at(settings: Settings | None, pointer: str) -> Json:
    found = list(kinds.select(settings.value, pointer)) if settings else []
    return found[0][1] if found else None


def _count(settings: Settings | None, pointer: str) -> int | None:
    value = _at(settings, pointer)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _sides(settings: Settings) -> tuple[Settings | None, Settings | None]:
    """Return (settings.json, config.toml) of the pair that a file belongs to."""
    if settings.kind == "generic-settings":
        return settings, settings.partner
    return settings.partner, settings


def _disabled(settings: Settings) -> Iterator[Hit]:
    client, server = _sides(settings)
    asked, given = _at(client, "/prefix_cache/enabled"), _at(server, "/prefix_cache/enable")
    mine, pointer = (asked, "/prefix_cache/enabled") if settings is client else (given, "/prefix_cache/enable")
    theirs = given if settings is client else asked
    if mine is False and theirs is not False:
        partner = f", but on in {settings.partner.path}" if settings.partner and theirs else ""
        severity: Severity = "warning" if theirs is True else "info"
        yield Hit("cache-disabled", pointer, severity=severity, message=f"the prefix cache is off here{partner}")
    if settings is client and asked is not False and _at(client, "/prefix_cache/reuse_across_requests") is False:
        message = "the shared prefix is not reused across requests, so every request pays for it again"
        yield Hit("cache-disabled", "/prefix_cache/reuse_across_requests", message=message)


def _exceeds_model(settings: Settings) -> Iterator[Hit]:
    client, server = _sides(settings)
    prefix, model = _count(client, MAX_PREFIX), _count(server, MODEL_LEN)
    if prefix is None or model is None or prefix <= model:
        return
    assert client is not None and server is not None
    if settings is client:
        message = f"max_prefix_tokens {prefix:,} is more than max_model_len {model:,} of {server.path}"
        yield Hit("prefix-exceeds-model", MAX_PREFIX, message=message, related=(f"{server.path}#{MODEL_LEN}",))
        return
    message = f"max_model_len {model:,} is less than max_prefix_tokens {prefix:,} of {client.path}"
    yield Hit("prefix-exceeds-model", MODEL_LEN, message=message, related=(f"{client.path}#{MAX_PREFIX}",))


def _missing(settings: Settings) -> Iterator[Hit]:
    name = _at(settings, SHARED_PREFIX)
    if settings.kind != "generic-settings" or not isinstance(name, str):
        return
    text = settings.files.get(SHARED_PREFIX)
    if not name:
        message = "shared_prefix_file is empty: no prefix is shared"
        yield Hit("shared-prefix-missing", SHARED_PREFIX, severity="info", message=message)
    elif text is None:
        message = f"shared_prefix_file {name!r} does not exist, so no request gets the shared prefix"
        yield Hit("shared-prefix-missing", SHARED_PREFIX, 0, len(name), message=message)
    elif not text.strip():
        message = f"shared_prefix_file {name!r} is empty, so there is nothing to share"
        yield Hit("shared-prefix-missing", SHARED_PREFIX, 0, len(name), message=message)


def _too_long(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    text = settings.files.get(SHARED_PREFIX)
    limit, server = _count(settings, MAX_PREFIX), settings.partner
    if settings.kind != "generic-settings" or not text:
        return
    size = len(text.encode("utf-8", "surrogatepass"))
    window = _count(server, MODEL_LEN)
    if limit is not None and size > limit:  # a token has at least one byte: only then a count can be over
        tokens = tokenizer().count(text)
        if tokens > limit:
            about = "" if tokenizer().exact else "about "
            message = f"the shared prefix has {about}{tokens:,} tokens, max_prefix_tokens is {limit:,}"
            yield Hit("prefix-too-long", MAX_PREFIX, message=message)
    if window is not None and size > window and (limit is None or limit > window):
        tokens = tokenizer().count(text)
        if tokens > window:
            message = f"the shared prefix has {tokens:,} tokens, the model takes {window:,}"
            yield Hit("prefix-exceeds-model", SHARED_PREFIX, message=message)


def _chunks(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Only whole chunks are cached: the tokens behind the last whole one are computed again by every request."""
    client, server = _sides(settings)
    chunk = _count(server, CHUNK)
    if chunk is None:
        return
    text = client.files.get(SHARED_PREFIX) if client else None
    if settings is client and settings.partner_given:
        return  # one loss, one finding: in config.toml where that is linted
    pointer = CHUNK if settings is server else SHARED_PREFIX
    lost = list(_lost(pointer, chunk, text, tokenizer)) if text and text.strip() else []
    yield from lost
    if settings is server and chunk % BLOCK_TOKENS and not lost:
        message = f"chunk_size {chunk:,} is no multiple of the engine's block of {BLOCK_TOKENS} tokens"
        yield Hit("chunk-prefix-mismatch", CHUNK, message=message)


def _lost(pointer: str, chunk: int, text: str, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size < chunk:
        message = f"the shared prefix is shorter than one chunk of {chunk:,} tokens, so none of it is cached"
        yield Hit("chunk-prefix-mismatch", pointer, message=message)
    elif chunk - 1 > WORTH_SHARE * size / TOKEN_BYTES:  # else even the largest loss is too small to count for
        yield from _partial_chunk(pointer, chunk, tokenizer(), text)


def _partial_chunk(pointer: str, chunk: int, tokenizer: Tokenizer, text: str) -> Iterator[Hit]:
    tokens = tokenizer.count(text)
    lost = tokens % chunk
    if not lost:
        return
    about = "" if tokenizer.exact else "about "
    if tokens < chunk:
        message = (
            f"the shared prefix has {about}{tokens:,} tokens, less than one chunk of {chunk:,}: none of it is cached"
        )
    else:
        message = (
            f"{about}{lost:,} of {tokens:,} tokens of the shared prefix lie behind the last whole chunk of {chunk:,}"
        )
    severity: Severity | None = "info" if lost < WORTH_SHARE * tokens else None
    yield Hit("chunk-prefix-mismatch", pointer, severity=severity, message=message)


def _serve_flags(settings: Settings) -> Iterator[Hit]:
    for key, off in (
        ("enable-prefix-caching", False),
        ("enable_prefix_caching", False),
        ("no-enable-prefix-caching", True),
    ):
        if _at(settings, f"/{key}") is off:
            yield Hit("cache-disabled", f"/{key}", message="the prefix cache of the server is off")


def _claude_code(settings: Settings) -> Iterator[Hit]:
    for pointer, value in kinds.select(settings.value, "/env/DISABLE_PROMPT_CACHING*"):
        if str(value).lower() in ("1", "true", "yes", "on"):
            yield Hit("cache-disabled", pointer, message="prompt caching is switched off for every session")
