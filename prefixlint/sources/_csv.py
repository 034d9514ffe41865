"""Read CSV exports: every row a record whose members are JSON strings."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.sources import _json
from prefixlint.sources._stream import Input

_MAX_FIELD_CHARS = 1 << 30


def is_header(line: bytes) -> bool:
    """Tell whether a line can be the header of a CSV file: three or more columns that look like names.

    Prose with commas is none: its parts begin with blanks, or are long.
    """
    columns = line.decode("utf-8", "replace").rstrip("\r").split(",")
    return len(columns) > 2 and all(map(_is_name, columns))


def _is_name(column: str) -> bool:
    name = column.strip('"')
    plain = name.replace(" ", "_").replace(".", "_").replace("-", "_").replace("$", "_")
    return len(name) < 40 and name[:1] != " " and plain.isidentifier()


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
