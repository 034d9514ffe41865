"""The types that a user sees: a program with the public interface passes mypy --strict, a wrong one does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).parent / "data" / "user_sample.py"


def mypy(path: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Check one file as a user does, apart from our own configuration."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent)


def test_public_interface_is_typed(tmp_path: Path) -> None:
    done = mypy(SAMPLE, tmp_path / "cache")
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import prefixlint as pl\n\nTOKENS: str = pl.count({"model": "m"})\npl.Guard(on_fork=3)\n')
    done = mypy(wrong, tmp_path / "cache")
    assert "wrong.py:3:" in done.stdout and "wrong.py:4:" in done.stdout
