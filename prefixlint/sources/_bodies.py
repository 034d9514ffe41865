"""Read request bodies of any API, bare or wrapped in a log record; the five body formats share this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _provider, _record, _records, _response
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

if TYPE_CHECKING:
    from prefixlint.sources._chain import Chains

# A document that is a page of bodies: {"requests": [...]}, {"data": [...]} ...
_LISTS = ("requests", "data", "records", "logs", "items", "bodies")


# What a plain log line has beside the body; the members of other formats are not among them.
_COMMON = frozenset(
    ("ts", "time", "timestamp", "at_s", "level", "session", "session_id", "request", "response", "usage")
)


def claims(head: Head, name: str) -> bool:
    """Tell whether the first request body among the records can be one of the API ``name``."""
    for record in head.records:
        found = _record.find(record)
        if found:
            return name in _candidates(found)
    return False


def plain(head: Head) -> str | None:
    """Name the API of an input whose first records can be nothing but bodies, bare or in a common log line.

    Most inputs are such, and the other formats need not be asked: each of them has members of its own, which these
    records have not. None means that every format has to be asked.
    """
    names: set[str] = set()
    for record in head.records[:3]:
        try:
            found = _record.find(record)
        except InputError:  # told again where the record is read
            return None
        if found is None or not found.members.keys() <= _provider.PARAMETERS or "model" not in found.members:
            return None
        if found.around and (len(found.around) > 1 or not record.keys() <= _COMMON):
            return None
        names.update(_candidates(found))
    return names.pop() if len(names) == 1 else None


def _candidates(found: _record.Found) -> tuple[str, ...]:
    told = _record._by_address(found.around)
    return (told,) if told else _provider.candidates(found.members)


def read(source: Input, options: ReadOptions, name: str) -> Iterator[Request | InputError]:
    """Read every record; the API is looked at for each record, unless the format was named by the user."""
    forced = name if options.input_format == name else None
    number = 0
    chains = None
    for record in _records.records(source, lists=_LISTS):
        if isinstance(record, InputError):
            yield record
            continue
        made = _request(record, number, forced)
        if isinstance(made, Request):
            number += 1
            if made.provider == _provider.RESPONSES:
                chains = chains or _new_chains()
                made = chains.complete(made, record.members)
        yield made


def _new_chains() -> Chains:
    from prefixlint.sources._chain import Chains

    return Chains()


def _request(record: _records.Record, number: int, forced: str | None) -> Request | InputError:
    try:
        found = _record.find(record.members)
        if found:
            return _record.build(found, record.span(number), forced, number)
        return usage_only(record, number) or record.error(_nothing(record.members))
    except InputError as error:
        return record.error(error.message)
    except _json.BrokenJsonError as error:
        return record.error(f"broken JSON: {error.message}")


def usage_only(record: _records.Record, number: int) -> Request | None:
    """Build a request without a prompt from a record that holds an answer only."""
    answer = _response.parse(b"{" + b",".join(_json.dumps(k) + b":" + v for k, v in record.members.items()) + b"}")
    if answer.usage is None:
        answer = _response.beside(record.members)
    if answer.usage is None:
        return None
    return Request(
        id=answer.id or str(number),
        provider=_provider.CHAT,
        span=record.span(number),
        model=answer.model,
        at_s=_record.time_of((record.members,)) or answer.at_s,
        session=_record.first_text((record.members,), _record.SESSIONS),
        usage=answer.usage,
        no_prompt=True,
    )


def _nothing(members: _json.Members) -> str:
    seen = ", ".join(list(members)[:8]) or "none"
    return f"no request body in this record (members: {seen}); expected messages, input, contents or prompt"
