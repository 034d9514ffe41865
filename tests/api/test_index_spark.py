"""One process and two Spark executors say the same, byte for byte; skipped where Java or PySpark is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prefixlint.api.index import IndexOptions, index

needed = [name for name in ("pyspark", "duckdb", "pyarrow", "xxhash") if importlib.util.find_spec(name) is None]
if needed:
    pytest.skip(f"Spark is not tested: {', '.join(needed)} is not installed", allow_module_level=True)
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark is not tested: there is no Java", allow_module_level=True)


def command(*arguments: str, folder: Path | None = None) -> str:
    """Run prefixlint in a process of its own, as Spark wants it."""
    done = subprocess.run(
        [sys.executable, "-m", "prefixlint", *arguments],
        check=True,
        capture_output=True,
        cwd=folder,
        text=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    return done.stdout


def test_two_executors_make_the_same_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__).parents[2] / "examples" / "agent.jsonl"
    log = tmp_path / "log.jsonl"
    log.write_bytes(source.read_bytes() * 12)
    monkeypatch.chdir(tmp_path)
    index(["log.jsonl"], "local", IndexOptions(jobs=1))
    master = "local-cluster[2,1,1200]"
    command("index", "log.jsonl", "-o", "spark", "--engine", "spark", "--master", master, folder=tmp_path)
    for verb in ("diff", "replay", "tree"):
        for form in ("text", "json"):
            local, spark = (command(verb, str(tmp_path / name), "--format", form) for name in ("local", "spark"))
            assert local == spark
    shards = sorted(p.name for p in (tmp_path / "local" / "shards").iterdir())
    assert shards == sorted(p.name for p in (tmp_path / "spark" / "shards").iterdir())
    for name in shards:
        assert (tmp_path / "local" / "shards" / name).read_bytes() == (
            tmp_path / "spark" / "shards" / name
        ).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif("PREFIXLINT_FUZZ" not in os.environ, reason="make fuzz starts Spark a second time")
def test_through_the_file_systems_of_hadoop(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes((Path(__file__).parents[2] / "examples" / "agent.jsonl").read_bytes())
    index([str(log)], str(tmp_path / "near"), IndexOptions(jobs=1))
    for _ in range(2):
        done = command("index", log.as_uri(), "-o", str(tmp_path / "far"), "--engine", "spark", "--master", "local[1]")
    assert "read 0 bytes" in done  # it had not changed
    near, far = (command("replay", str(tmp_path / name)).splitlines()[1:] for name in ("near", "far"))
    assert near == far
