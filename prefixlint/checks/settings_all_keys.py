"""Find keys written into settings instead of the name of a variable that holds them; the value is never shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from prefixlint.model import Confidence, Hit, Json, Settings, Tokenizer
from prefixlint.pointers import escape_token

# Public shapes of keys, as the vendors' documents and secret scanners (detect-secrets 1.5, gitleaks 8.18) have them.
# Text until it is needed: it takes 10 ms to compile, and most values show no sign of a key.
_SIGNS = (
    "sk-",
    "pk-lf",
    "AIza",
    "gh",
    "glpat",
    "xox",
    "hf_",
    "gsk_",
    "r8_",
    "pplx",
    "xai",
    "nvapi",
    "fw",
    "csk",
    "AKIA",
    "sk_",
    "ya29",
    "eyJ",
)
_SHAPE = (
    r"(?<![A-Za-z0-9])(?:sk-(?:ant-|proj-|svcacct-|or-v1-|lf-)?[A-Za-z0-9_-]{12,250}|pk-lf-[0-9a-f-]{30,40}"
    r"|AIza[0-9A-Za-z_-]{30,40}|gh[pousr]_[A-Za-z0-9]{30,80}|github_pat_[A-Za-z0-9_]{40,100}|glpat-[A-Za-z0-9_-]{20,60}"
    r"|xox[abeprs]-[A-Za-z0-9-]{20,100}|hf_[A-Za-z0-9]{30,60}|gsk_[A-Za-z0-9]{30,80}|r8_[A-Za-z0-9]{30,60}"
    r"|(?:pplx|xai|nvapi|fw|csk)[-_][A-Za-z0-9_-]{24,120}|AKIA[0-9A-Z]{16}|sk_(?:live|test)_[A-Za-z0-9]{16,120}"
    r"|ya29\.[A-Za-z0-9_-]{20,250}|eyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,1000})"
)
_KEY_NAME = (
    r"(?:apikey|secret|secretkey|accesskey|authtoken|accesstoken|bearertoken|token|password|passwd|authorization"
    r"|masterkey|privatekey|clientsecret|credentials?)\Z"
)
_ENV_NAME = r"(?:env|envkey|envvar|environmentvariable)\Z"
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z"
_REFERENCE = r"(?i)\$|%\w+%|\{\{|\{[a-z]+:|<|os\.environ|env[:/.(]|secret[:/s]|vault:|op://|\binput:|file:"
_DUMMY = (
    r"(?i)(?:empty|none|null|dummy|fake|not?[-_ ]?(?:key|needed|required|used)?|ollama|lm[-_]?studio|llama\w*"
    r"|vllm|local(?:host)?|test(?:ing)?|change[-_]?me|todo|secret|token|password|api[-_]?key|bearer|true|false|anything|unused|na|n/a)\Z"
)
_FILLER = r"(?i)x{3,}|\.{3}|\*{3}|…|your|placeholder|redacted|insert|replace|no-?key"
_EXAMPLE = r"(?i)example|dummy|fake|token-abc123|sample"
_FOLD = str.maketrans("", "", "_-. ")


def check_settings(settings: Settings, tokenizer: Callable[[], Tokenizer]) -> Iterator[Hit]:
    """Yield every value that is a key."""
    yield from _walk(settings, "", "", settings.value, 0)


def _walk(settings: Settings, pointer: str, key: str, value: Json, depth: int) -> Iterator[Hit]:
    if depth > 200:
        return
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _walk(settings, f"{pointer}/{escape_token(str(name))}", str(name), below, depth + 1)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _walk(settings, f"{pointer}/{index}", key, below, depth + 1)
    elif isinstance(value, str) and pointer not in settings.prompts:
        yield from _judge(settings.kind, pointer, key, value)


def _judge(kind: str, pointer: str, key: str, value: str) -> Iterator[Hit]:
    folded = key.lower().translate(_FOLD)
    shape = re.search(_SHAPE, value) if any(sign in value for sign in _SIGNS) else None
    if shape and not re.search(_FILLER, shape[0]) and _has_digit(shape[0]):
        yield _hit(pointer, *shape.span(), "high", f"{key or 'this value'} holds a key")
    elif re.search(_ENV_NAME, folded) or folded == "envkey":
        yield from _variable_name(pointer, key, value)
    elif "://" in value:
        yield from _address(pointer, key, value)
    elif re.search(_KEY_NAME, folded) and kind != "unknown" and _is_literal(value, is_pair=kind == "generic-config"):
        yield _hit(pointer, 0, len(value), "medium", f"{key} holds a literal value")


def _hit(pointer: str, start: int, end: int, confidence: Confidence, what: str) -> Hit:
    message = f"{what}; name an environment variable instead (the value is not shown here)"
    return Hit("literal-key", pointer, start, end, confidence=confidence, message=message)


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _variable_name(pointer: str, key: str, value: str) -> Iterator[Hit]:
    """A field that wants the name of a variable must hold a name: capitals and underscores, not a key."""
    if not value or re.search(_REFERENCE, value):
        return
    # 20 characters with digits and no underscore: random, not a name that a person chose.
    looks_random = len(value) >= 20 and "_" not in value and _has_digit(value) and not value.isupper()
    if not re.match(_VARIABLE, value) or looks_random or re.fullmatch(r"[0-9a-fA-F]{24,}", value):
        yield _hit(pointer, 0, len(value), "medium", f"{key} must be the name of a variable, and this is no name")


def _address(pointer: str, key: str, value: str) -> Iterator[Hit]:
    """A key may stand in an address: ``https://user:key@host`` or ``?api_key=...``."""
    from urllib.parse import parse_qsl, urlsplit

    try:
        parts = urlsplit(value)
        password = parts.password or ""
    except ValueError:
        return
    queries = [
        v for k, v in parse_qsl(parts.query) if re.search(_KEY_NAME, k.lower().translate(_FOLD)) or k.lower() == "key"
    ]
    for secret in [password, *queries]:
        if len(secret) >= 6 and _is_literal(secret, is_pair=True):
            start = max(value.find(secret), 0)
            yield _hit(pointer, start, start + len(secret), "high", f"the address in {key} holds a key")


def _is_literal(value: str, *, is_pair: bool) -> bool:
    """Tell a key from a reference to one and from the words that people write when no key is needed."""
    text = value.strip()
    text = text[7:].strip() if text.lower().startswith("bearer ") else text
    if not text or re.search(_REFERENCE, text) or re.match(_DUMMY, text) or re.search(_FILLER, text) or " " in text:
        return False
    if is_pair:
        return True
    if re.search(_EXAMPLE, text):
        return False
    return len(text) >= 12 and _has_digit(text) and any(c.isalpha() for c in text)
