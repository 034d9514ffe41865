"""Write recorded answers: the version of the engine, and per job its parameters and the hits in order."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "data" / "oracles"


def store(engine: str, version: str, answers: list[tuple[dict[str, Any], list[int]]]) -> None:
    """Write ``tests/data/oracles/ENGINE.json.gz``; the same answers give the same bytes."""
    document = {"engine": engine, "version": version, "jobs": [{**job, "hits": hits} for job, hits in answers]}
    data = json.dumps(document, separators=(",", ":")).encode()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{engine}.json.gz").open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as out:
        out.write(data)
    print(engine, version, sum(len(hits) for _, hits in answers), "requests")
