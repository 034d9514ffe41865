"""Answer from an index: what is shared, and where prefixes part; all of it in SQL, so that DuckDB can spill to disk."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefixlint.api.index_plan import Entry, merged
from prefixlint.errors import ConfigError
from prefixlint.indexes import Branch, Family, IndexedRequest, IndexReport, Parting, View
from prefixlint.model import InputFile

MOST_ERRORS = 1_000
MEMORY = "1GB"  # what does not fit is spilled

# The order of requests is that of their times, then of paths and places: it is the same however a log was cut.
_REQUESTS = """
CREATE TEMP TABLE every AS
SELECT row_number() OVER (ORDER BY r.at_s NULLS FIRST, f.path, r.file, r.start) AS n,
       row_number() OVER (PARTITION BY r.file ORDER BY r.start) - 1 AS record, f.path, r.*
FROM read_parquet(?) r JOIN files f USING (file);
"""
# A request that the log holds twice counts once; its blocks count as those of the first one.
_UNIQUE = """
CREATE TEMP TABLE owner AS
SELECT *, CASE WHEN same IS NULL THEN n ELSE min(n) OVER (PARTITION BY same) END AS first_n FROM every;
"""
_BLOCKS = """
CREATE TEMP TABLE block AS
SELECT b.hash, b.parent, b.position, b.seen, o.n, o.first_n
FROM read_parquet(?) b JOIN owner o ON o.file = b.file AND o.start = b.request;
CREATE TEMP TABLE distinct_block AS
SELECT hash, min(parent) AS parent, min(position) AS position, min(first_n) AS first_n, sum(seen) AS seen
FROM block GROUP BY hash;
"""
_DEPTHS = """
CREATE TEMP TABLE depth AS
SELECT o.n, o.known + coalesce(d.more, 0) AS shared FROM owner o LEFT JOIN (
    SELECT b.n, count(*) AS more FROM block b JOIN distinct_block d USING (hash)
    WHERE d.first_n < b.first_n GROUP BY b.n
) d USING (n) WHERE o.n = o.first_n;
CREATE TEMP TABLE child AS
SELECT d.parent, o.family, min(d.first_n) AS before FROM distinct_block d JOIN owner o ON o.n = d.first_n GROUP BY ALL;
CREATE TEMP TABLE request AS
SELECT o.*, d.shared, c.before,
       CASE WHEN d.shared = o.blocks THEN 'repeated' WHEN c.before IS NULL AND d.shared = 0 THEN 'first'
            WHEN c.before IS NULL THEN 'appended' WHEN d.shared < o.front THEN 'front'
            WHEN d.shared < o.fresh THEN 'history' ELSE 'fresh' END AS kind
FROM owner o JOIN depth d USING (n)
LEFT JOIN block b ON b.n = o.n AND b.position = d.shared AND d.shared < o.blocks
LEFT JOIN child c ON c.parent = b.parent AND c.family = o.family AND c.before < o.n;
"""
_TOTALS = """
SELECT count(*), count(DISTINCT session) FILTER (session <> ''), coalesce(sum(size), 0), coalesce(sum(blocks), 0),
       coalesce(sum(shared), 0) FROM request
"""
_DISTINCT = "SELECT count(*), count(*) FILTER (seen > 1) FROM distinct_block"
_FAMILIES = """
SELECT family, min(provider), min(model), count(*), count(DISTINCT session) FILTER (session <> ''), sum(size),
       sum(blocks), sum(shared), count(*) FILTER (kind = 'first'), count(*) FILTER (kind = 'appended'),
       count(*) FILTER (kind = 'repeated'), count(*) FILTER (kind = 'front'), count(*) FILTER (kind = 'history'),
       count(*) FILTER (kind = 'fresh'), min(n)
FROM request GROUP BY family ORDER BY sum(size) DESC, family
"""
_OWN = """
SELECT o.family, count(*) FROM distinct_block d JOIN owner o ON o.n = d.first_n GROUP BY o.family
"""
_HISTOGRAM = """
SELECT family, CASE WHEN shared = 0 THEN 0 ELSE (1::BIGINT << floor(log2(shared))::INT) END AS bucket, count(*)
FROM request WHERE kind IN ('front', 'history') GROUP BY ALL ORDER BY ALL
"""
# Histories part in as many places as there are conversations, so they are one line for each family.
_PARTINGS = """
SELECT family, kind, min(shared), count(*), sum(fresh::BIGINT - shared), min(n), min_by(before, n)
FROM request WHERE kind IN ('front', 'history')
GROUP BY family, kind, CASE WHEN kind = 'front' THEN shared ELSE 0 END
ORDER BY sum(greatest(fresh::BIGINT - shared, 0)) DESC, family, kind, min(shared) LIMIT 1000
"""
_BRANCHES = """
SELECT o.family, min(d.position), count(*), d.seen, d.first_n
FROM distinct_block d JOIN owner o ON o.n = d.first_n WHERE d.seen > 1
GROUP BY o.family, d.seen, d.first_n ORDER BY count(*) * d.seen DESC, d.first_n, min(d.position) LIMIT 1000
"""
_ONE = 'SELECT path, record, start, "end", session, model FROM owner WHERE n = ?'


def report(folders: Sequence[str], view: View = "diff") -> IndexReport:
    """Answer from one index or several together. Raises ConfigError when DuckDB is missing or a folder is no index."""
    manifest, homes = merged(folders)
    names = [(o.name, homes[o.name] / "shards") for o in manifest.outcomes()]
    with tempfile.TemporaryDirectory() as spill:
        base = _connect(spill)
        base.execute("CREATE TEMP TABLE files (file UBIGINT, path VARCHAR)")
        if manifest.files:
            base.executemany("INSERT INTO files VALUES (?, ?)", [(e.file, e.path) for e in manifest.files.values()])
        _prepare(base, names)
        found = _read(base, view, manifest.block_bytes, tuple(map(_input, _by_path(manifest.files.values()))))
        base.close()
    return found


def _connect(spill: str) -> Any:
    try:
        import duckdb
    except ImportError:
        raise ConfigError("reading an index needs DuckDB: pip install 'prefixlint[scale]'") from None
    base = duckdb.connect(":memory:")
    base.execute(f"SET temp_directory = '{spill}'")
    base.execute(f"SET memory_limit = '{MEMORY}'")
    base.execute("SET preserve_insertion_order = false")
    return base


def _prepare(base: Any, names: list[tuple[str, Path]]) -> None:
    if not names:
        raise ConfigError("the index is empty: none of its inputs held a request")
    base.execute(_REQUESTS, [[str(place / f"{name}.requests.parquet") for name, place in names]])
    base.execute(_UNIQUE)
    create, *rest = _BLOCKS.split(";\n", 1)
    base.execute(create, [[str(place / f"{name}.blocks.parquet") for name, place in names]])
    for script in (*rest, _DEPTHS):
        base.execute(script)


def _by_path(entries: Any) -> list[Entry]:
    return sorted(entries, key=lambda e: (e.path, e.file))


def _input(entry: Entry) -> InputFile:
    """Say what was read from an input; lines of errors count from the start of the file."""
    errors, line = [entry.failure] if entry.failure else [], 0
    for outcome in entry.outcomes():
        for at, column, message in outcome.errors:
            errors.append(":".join(str(p) for p in (entry.path, at and at + line, column) if p) + f": {message}")
        line += outcome.lines
    requests = sum(o.requests for o in entry.outcomes())
    return InputFile(entry.path, entry.format or "unknown", requests, tuple(errors[:MOST_ERRORS]))


def _read(base: Any, view: View, block: int, inputs: tuple[InputFile, ...]) -> IndexReport:
    requests, sessions, size, blocks, shared = base.execute(_TOTALS).fetchone()
    distinct, shared_blocks = base.execute(_DISTINCT).fetchone()
    return IndexReport(
        view, block, inputs, requests, sessions, int(size), int(blocks), distinct, shared_blocks, int(shared) * block,
        families=tuple(_families(base, block)) if view != "tree" else (),
        partings=tuple(_partings(base, block)) if view == "diff" else (),
        branches=tuple(_branches(base)) if view == "tree" else (),
    )  # fmt: skip


def _families(base: Any, block: int) -> list[Family]:
    own = dict(base.execute(_OWN).fetchall())
    buckets: dict[int, list[tuple[int, int]]] = {}
    for family, bucket, count in base.execute(_HISTOGRAM).fetchall():
        buckets.setdefault(family, []).append((bucket * block, count))
    found = []
    for row in base.execute(_FAMILIES).fetchall():
        family, provider, model, requests, sessions, size, blocks, shared, *counts, n = row
        first, appended, repeated, front, history, fresh = counts
        found.append(
            Family(
                _name(family),
                provider,
                model,
                requests,
                sessions,
                int(size),
                int(blocks),
                own.get(family, 0),
                int(shared) * block,
                first,
                appended,
                repeated,
                front,
                history,
                fresh,
                histogram=tuple(buckets.get(family, ())),
                example=_request(base, n),
            )
        )
    return found


def _partings(base: Any, block: int) -> list[Parting]:
    return [
        Parting(
            _name(family), kind, position, requests, max(int(behind), 0) * block, _request(base, n), _request(base, b)
        )
        for family, kind, position, requests, behind, n, b in base.execute(_PARTINGS).fetchall()
    ]


def _branches(base: Any) -> list[Branch]:
    return [
        Branch(_name(family), first, blocks, int(seen), _request(base, n))
        for family, first, blocks, seen, n in base.execute(_BRANCHES).fetchall()
    ]


def _name(family: int) -> str:
    return f"{family:016x}"[:8]


def _request(base: Any, n: int) -> IndexedRequest:
    return IndexedRequest(*base.execute(_ONE, [n]).fetchone())
