"""Read CSV exports: every row a record whose members are JSON strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.sources import _json
from prefixlint.sources._stream import Input

# A header: at least three columns that look like names. Prose with commas has blanks and full stops.
_HEADER = re.compile(r'^"?[A-Za-z_][\w $.-]{0,40}"?(?:,"?[A-Za-z_][\w $.-]{0,40}"?){2,}\r?$')
_MAX_FIELD_CHARS = 1 << 30


def is_header(line: bytes) -> bool:
    """Tell whether a line can be the header of a CSV file."""
    return bool(_HEADER.match(line.decode("utf-8", "replace")))


def header_members(line: bytes) -> _json.Members:
    """Return the columns as members with empty values, so that formats can look at their names."""
    import csv

    return dict.fromkeys(next(csv.reader([line.decode("utf-8", "replace")]), []), b'""')


def rows(source: Input) -> Iterator[tuple[int, int, int, _json.Members] | InputError]:
    """Yield line, start byte, end byte and members of every row."""
    import csv

    csv.field_size_limit(_MAX_FIELD_CHARS)
    places: list[tuple[int, int]] = []
    end = 0

    def lines() -> Iterator[str]:
        nonlocal end
        for line in source.lines():
            places.append((line.number, line.start_byte))
            end = line.start_byte + len(line.data)
            yield line.data.decode("utf-8", "replace") + "\n"

    reader = csv.reader(lines(), strict=True)
    header: list[str] = []
    while True:
        places.clear()
        try:
            row = next(reader, None)
        except csv.Error as error:
            line, _ = places[0] if places else (1, 0)
            yield InputError(f"broken CSV: {error}", path=source.path, line=line, column=1)
            continue
        if row is None:
            return
        if not header:
            header = row
        elif row:
            line, start = places[0]
            yield line, start, end, _members(header, row)


def _members(header: list[str], row: list[str]) -> _json.Members:
    return {name: _json.dumps(cell) for name, cell in zip(header, row, strict=False) if cell != ""}
