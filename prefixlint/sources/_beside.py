"""Join what some formats keep in two files: the requests in one, the answers (usage, time) in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from prefixlint.errors import InputError
from prefixlint.model import Request
from prefixlint.sources import _records, _response
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input


def others(source: Input, wanted: Callable[[Head], bool]) -> Iterator[Input]:
    """Open the other inputs of the log that a format wants to look into; they are closed afterwards."""
    for path in source.beside:
        if path in (source.path, "-"):  # standard input can be read once only
            continue
        other = Input(path)
        try:
            if wanted(Head(other)):
                yield other
        except (InputError, OSError):
            continue  # it is read on its own as well, and says there what is wrong
        finally:
            other.close()


def answers(
    source: Input, wanted: Callable[[Head], bool], parse: Callable[[Record], tuple[str, _response.Response] | None]
) -> dict[str, _response.Response]:
    """Collect the answers of the other inputs by the id that ties them to their requests."""
    found: dict[str, _response.Response] = {}
    for other in others(source, wanted):
        for record in _records.records(other):
            answer = None if isinstance(record, InputError) else parse(record)
            if answer:
                found[answer[0]] = answer[1]
    return found


def joined(request: Request, answer: _response.Response | None) -> Request:
    """Return the request with what its answer adds."""
    if answer is None:
        return request
    return replace(
        request,
        usage=answer.usage or request.usage,
        at_s=request.at_s if request.at_s is not None else answer.at_s,
        model=request.model or answer.model,
    )
