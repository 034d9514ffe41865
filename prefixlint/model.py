"""Every type that the stages share: frozen, slotted dataclasses without logic beyond properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Severity = Literal["info", "warning", "error"]
Confidence = Literal["low", "medium", "high"]
Trust = Literal["safe", "unsafe", "display"]
Part = Literal["tools", "system", "message", "setting"]
PromptKind = Literal["body", "prompt-file", "template", "chat-template", "settings", "tools"]
SegmentKind = Literal["text", "role", "json", "image"]
ForkKind = Literal["string", "number", "type", "missing", "key-set", "key-order"]
Json = Any  # a decoded JSON value: the one boundary where Any is allowed


@dataclass(frozen=True, slots=True)
class Span:
    """Locate a half-open byte range in a file.

    ``record`` counts requests of the file from 0; ``line`` and ``column`` count from 1, columns in code points.
    """

    path: str
    record: int = 0
    start_byte: int = 0
    end_byte: int = 0
    line: int = 1
    column: int = 1
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Hold what a log recorded; ``input_tokens`` includes cached ones whatever the provider's habit."""

    input_tokens: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Say that characters of a rendered text come from the string at ``pointer``, from ``char_offset`` on."""

    start_char: int
    end_char: int
    pointer: str
    char_offset: int


@dataclass(frozen=True, slots=True)
class Request:
    """Hold one request as the log has it; key order and number spelling of the body survive.

    ``members`` maps each top-level member of the body to the raw JSON bytes of its value, in document order.
    ``text`` is set instead when the whole input is one raw prompt (pointer ``""``).
    ``tokens`` and ``output`` are set instead for token traces (ids).
    ``body_pointer`` is where the body lies in its record (``""``, ``/body``, ``/request`` ...).
    ``completion`` is the text that was generated, where the log has it (raw prompts continue with it).
    ``truncated`` says that the log cut the prompt, so nothing behind the cut is known.
    ``no_prompt`` says that the record holds usage only.
    ``partial`` says that the log leaves out a part of the prompt, such as system prompt and tools.
    ``rebuilt`` says that the body was put together from several places; it lies nowhere in the file as it is.
    ``blocks`` holds the block ids of block traces, ``block_size`` their tokens per block.
    ``places`` says where ``text`` comes from when a chat template made it of a body.
    """

    id: str
    provider: str
    span: Span
    members: Mapping[str, bytes] = field(default_factory=dict)
    model: str | None = None
    session: str | None = None
    at_s: float | None = None
    usage: Usage | None = None
    body_pointer: str = ""
    scope: str = ""
    text: str | None = None
    completion: str | None = None
    tokens: Sequence[int] | None = None
    output: Sequence[int] | None = None
    truncated: bool = False
    no_prompt: bool = False
    partial: bool = False
    rebuilt: bool = False
    blocks: Sequence[int] | None = None
    block_size: int = 0
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """Hold one piece of prompt in send order.

    ``pointer`` is the RFC 6901 pointer of the string in the body; ``breakpoint`` says that a cache_control marker
    (or its equivalent) stands on it. ``syntax`` names the placeholder language where the file says it (``jinja``,
    ``mustache``, ``f-string``, ``dollar``, ``erb``); empty means plain text, or unknown. ``kind`` tells what ``text``
    is: ``text`` the decoded string at ``pointer`` (only these are worth linting), ``role`` the name of a role,
    ``json`` keys, numbers and punctuation between the strings of a tool or tool input, ``image`` a hash of bytes.
    """

    part: Part
    pointer: str
    text: str
    role: str = ""
    breakpoint: str = ""
    syntax: str = ""
    kind: SegmentKind = "text"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Hold a rendered request: segments in the order in which this provider feeds them to the model.

    ``scope`` splits caches (model, salt, key, adapter). ``exact`` is False where the rendering is approximated.
    ``kind`` says what it was taken from: a request body, or a file that is linted without traffic.
    ``places`` says where the text of a chat template's one segment comes from, in order; what lies between them was
    written by the template.
    """

    request: Request
    segments: tuple[Segment, ...]
    scope: str
    exact: bool
    kind: PromptKind = "body"
    places: tuple[Place, ...] = ()


class Tokenizer(Protocol):
    """Encode text; the property names say which vocabulary and whether its counts are exact for the model."""

    @property
    def name(self) -> str:
        """Return the public name, such as ``o200k_base``."""

    @property
    def exact(self) -> bool:
        """Return False where the vendor's tokenizer is not public and counts are estimates."""

    def encode(self, text: str) -> list[int]:
        """Encode ordinary text (no special tokens)."""

    def count(self, text: str) -> int:
        """Count the tokens of ordinary text, tokenizing unique text once."""

    def fork(self, left: str, right: str, char_offset: int) -> int:
        """Return the index of the first differing token of two texts whose first ``char_offset`` code points agree."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold what a check yields; it knows no file. Offsets are code points in the decoded string at ``pointer``.

    ``on_key`` places it on the key of the member instead of its value; ``related`` names other places as
    ``path#pointer``.
    """

    rule: str
    pointer: str
    start_char: int = 0
    end_char: int = 0
    values: tuple[str, ...] = ()
    new: str | None = None
    confidence: Confidence | None = None
    severity: Severity | None = None
    message: str | None = None
    on_key: bool = False
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Hold one decoded settings file with what it belongs to.

    ``kind`` is the name of its kind (``prefixlint.kinds``). ``prompts`` maps the pointer of each prompt text in it to
    that text, ``files`` the pointer of a file name in it to that file's text, None when there is no such file.
    ``peers`` are the other settings files of this kind in the run. ``partner`` is the other half of a pair,
    ``partner_given`` says that it is linted too.
    """

    path: str
    kind: str
    value: Json
    prompts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    peers: tuple[Settings, ...] = ()
    partner: Settings | None = None
    partner_given: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes ``[start_byte, end_byte)`` of the original by ``new``."""

    start_byte: int
    end_byte: int
    new: bytes
    rule: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """Describe a repair; ``trust`` says whether it is applied by default, on request, or only shown."""

    title: str
    trust: Trust
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """Name one station of a value's way through source code."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold one reported problem with its place.

    ``fingerprint`` is a hash that stays when the lines above it move; it holds no text.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    span: Span
    pointer: str = ""
    char_offset: int | None = None
    related: tuple[Span, ...] = ()
    lost_tokens: int | None = None
    fix: Fix | None = None
    trace: tuple[Step, ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """Hold the first position at which two prompts differ, in send order.

    ``char_offset`` is None where ``kind`` has no position inside a string. ``token`` counts from the start of the
    later prompt. ``lost_tokens`` are those that the earlier prompt held beyond the fork and the later one repeats;
    ``recoverable_tokens`` the shared prefix after masking the cause, less the shared prefix now.
    """

    before: Span
    after: Span
    pointer: str
    char_offset: int | None
    kind: ForkKind
    token: int
    cause: str
    wanted: bool
    fix: Trust
    left: str
    right: str
    shared_tokens: int
    lost_tokens: int
    recoverable_tokens: int
    also: tuple[str, ...] = ()
    session: str = ""
    context: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Site:
    """Aggregate the forks of one place and cause."""

    pointer: str
    cause: str
    requests: int
    lost_tokens: int
    recoverable_tokens: int
    example: int
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class InputFile:
    """Say what was read from one input."""

    path: str
    format: str
    requests: int
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffResult:
    """Hold all that ``diff`` found, ready for any report."""

    inputs: tuple[InputFile, ...]
    tokenizer: str
    exact: bool
    requests: int
    sessions: int
    prompt_tokens: int
    shared_tokens: int
    recoverable_tokens: int
    usage: Usage
    forks: tuple[Fork, ...]
    sites: tuple[Site, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Hold all that ``check`` found, ready for any report."""

    inputs: tuple[InputFile, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixNote:
    """Say what ``fix`` left alone, and why; ``pointer`` and ``record`` locate it in the file."""

    path: str
    message: str
    rule: str = ""
    record: int = 0
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Hold one file before and after ``fix``, decompressed, with the edits between the two."""

    path: str
    before: bytes
    after: bytes
    edits: tuple[Edit, ...] = ()
    compression: str = ""

    @property
    def changed(self) -> bool:
        """Return whether anything is to be written."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class FixResult:
    """Hold what ``fix`` would write, what it left alone, and what it could not read or not prove."""

    files: tuple[Fixed, ...]
    notes: tuple[FixNote, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CacheRead:
    """Hold what a cache model predicts for one request, in tokens.

    ``read_low == read_high`` for engines known exactly; a range for opaque hosts. ``blame`` maps a reason (forked,
    evicted, expired, rounded, cold ...) to the tokens lost to it.
    """

    record: int
    read_low: int
    read_high: int
    written: int
    recomputed: int
    blame: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """Hold a rule card: the definition, the documentation and the test cases in one.

    ``patterns`` are regular expressions in the common subset of ``re`` and RE2. ``bad`` and ``good`` are examples,
    the flagged place of a bad one marked ``«like this»``.
    """

    id: str
    summary: str
    why: str
    what: str
    instead: str
    message: str
    severity: Severity
    confidence: Confidence
    fix: Trust
    group: str = ""
    patterns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    bad: tuple[Mapping[str, Any], ...] = ()
    good: tuple[Mapping[str, Any], ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Say how a report is written; ``top`` bounds the sites shown, 0 means all; ``width`` 0 folds no line."""

    redact: bool = False
    top: int = 10
    color: bool = False
    width: int = 100


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Say what to read of a log.

    ``input_format`` names a format instead of detecting it. ``since`` (included) and ``until`` (excluded) are ISO 8601
    texts or seconds since 1970. ``models`` and ``sessions`` are exact names; empty means all.
    """

    input_format: str | None = None
    since: str | float | None = None
    until: str | float | None = None
    models: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    progress: Callable[[int, int], None] | None = None


Progress = Callable[[int, int], None]  # bytes read so far, bytes in all (0 when unknown)
