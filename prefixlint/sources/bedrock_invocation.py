"""Read Amazon Bedrock model invocation logs, from S3 (JSON lines) or CloudWatch (JSON in a message string)."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _response, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "bedrock-invocation-log"
_TYPE = "ModelInvocationLog"
_ELSEWHERE = "large bodies lie in S3 objects of their own (input.inputBodyS3Path); fetch them to see these prompts"
_NO_PROMPT = "no prompt text in this log; turn on text data delivery in Bedrock's model invocation logging"


def claims(head: Head) -> bool:
    """Tell whether a record, or the message inside it, is an invocation log."""
    return any(_json.text(_inner(r).get("schemaType")) == _TYPE for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every invocation; Converse bodies and vendor bodies (InvokeModel) are told apart by their members."""

    def convert(record: Record) -> Iterator[Request]:
        members = _inner(record.members)
        if _json.text(members.get("schemaType")) == _TYPE:
            yield _request(source, record, members)

    yield from _walk.walk(source, convert, lists=("events", "logEvents", "Records"))


def _inner(members: _json.Members) -> _json.Members:
    """Look one level down: CloudWatch wraps the log in a message."""
    for key in ("message", "@message"):
        inner = _json.opened(members.get(key))
        if inner and "schemaType" in inner:
            return inner
    return members


def _request(source: Input, record: Record, members: _json.Members) -> Request:
    given = _json.opened(members.get("input")) or {}
    body = _json.opened(given.get("inputBodyJson")) or {}
    found = _provider.candidates(body)
    operation = _json.text(members.get("operation")) or ""
    if found and operation.startswith("Converse"):
        found = (_provider.CONVERSE,)
    if not found:
        _walk.note_once(source, _ELSEWHERE if "inputBodyS3Path" in given else _NO_PROMPT)
    model = (_json.text(members.get("modelId")) or "").rpartition("/")[2]  # an ARN ends with the model
    outer = "" if members is record.members else "/message"
    return Request(
        id=_json.text(members.get("requestId")) or "",
        provider=found[0] if found else _provider.CONVERSE,
        span=record.span(0),
        members=body if found else {},
        model=model or None,
        session=_record.first_text((_json.opened(members.get("requestMetadata")) or {},), _record.SESSIONS),
        at_s=_record.time_of((members,)),
        usage=_usage_of(members, given),
        body_pointer=f"{outer}/input/inputBodyJson",
        no_prompt=not found,
    )


def _usage_of(members: _json.Members, given: _json.Members) -> Usage | None:
    output = _json.opened(members.get("output")) or {}
    counts = {k: _json.integer(v) for k, v in (*given.items(), *output.items()) if k.endswith("TokenCount")}
    return _usage.usage_of(counts) or _response.parse(output.get("outputBodyJson", b"null")).usage
