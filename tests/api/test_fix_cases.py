"""Every case by what its ``fixable`` promises: the fork is gone, or moved into the last turn, or nothing is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.diff_log import LogOptions, diff_log
from prefixlint.api.fix import FixOptions, fix_paths, save
from prefixlint.model import FixResult

CASES = Path(__file__).parent.parent / "cases"
ALL = sorted(p.name for p in CASES.iterdir() if p.is_dir())
LOGS = ("jsonl", "bodies", "text")


def expectation(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / name / "expect.json").read_text())
    return found


def chosen(fixable: str) -> list[str]:
    """List the cases of one kind; clean ones are a kind of their own."""
    found = [(n, expectation(n)) for n in ALL]
    return [
        n for n, e in found if (e["cause"] == "none") == (fixable == "clean") and fixable in (e["fixable"], "clean")
    ]


def run(name: str, tmp_path: Path, *, unsafe: bool) -> tuple[list[str], list[bytes], FixResult]:
    """Fix a copy of the case; return its paths, the bytes before and the result."""
    paths = []
    for source in expectation(name)["inputs"]:
        shutil.copyfile(CASES / name / source, tmp_path / source)
        paths.append(str(tmp_path / source))
    before = [Path(p).read_bytes() for p in paths]
    result = fix_paths(paths, FixOptions(all_roles=True, unsafe=unsafe))
    assert save(result) == []
    assert result.errors == ()
    return paths, before, result


def unwanted(paths: list[str]) -> list[tuple[str, str]]:
    return [(f.pointer, f.cause) for f in diff_log(paths, LogOptions()).forks if not f.wanted]


@pytest.mark.parametrize("name", chosen("safe"))
def test_safe_edits_remove_the_fork(name: str, tmp_path: Path) -> None:
    paths, _, result = run(name, tmp_path, unsafe=False)
    assert any(f.changed for f in result.files)
    cause = expectation(name)["cause"]
    assert {e.rule for f in result.files for e in f.edits} == {cause}
    if expectation(name)["layout"] in LOGS and cause != "breakpoint-misplaced":
        assert unwanted(paths) == []
    if cause == "breakpoint-misplaced":  # the changing block stays where it is, behind the marker
        assert cause not in {f.rule for f in diff_log(paths, LogOptions()).findings}
    second = fix_paths(paths, FixOptions(all_roles=True))
    assert not any(f.changed for f in second.files)


@pytest.mark.parametrize("name", chosen("unsafe"))
def test_unsafe_edits_remove_the_fork_or_move_it_into_the_last_turn(name: str, tmp_path: Path) -> None:
    paths, _, result = run(name, tmp_path, unsafe=True)
    assert any(f.changed for f in result.files)
    if expectation(name)["layout"] in LOGS:
        assert unwanted(paths) == []
    second = fix_paths(paths, FixOptions(all_roles=True, unsafe=True))
    assert not any(f.changed for f in second.files)


@pytest.mark.parametrize("name", chosen("no"))
def test_what_only_a_person_can_decide_is_shown_and_not_written(name: str, tmp_path: Path) -> None:
    paths, before, result = run(name, tmp_path, unsafe=True)
    assert [Path(p).read_bytes() for p in paths] == before
    expected = expectation(name)
    assert expected["cause"] in {n.rule for n in result.notes}
    assert all(len(n.message) > 20 for n in result.notes)


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("name", chosen("clean"))
def test_clean_files_stay_byte_for_byte(name: str, unsafe: bool, tmp_path: Path) -> None:
    paths, before, result = run(name, tmp_path, unsafe=unsafe)
    assert not any(f.changed for f in result.files)
    assert [Path(p).read_bytes() for p in paths] == before
