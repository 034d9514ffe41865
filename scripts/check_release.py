"""Install a wheel into a fresh environment, as a user does, and use it; say how long and how large a cold install is.

Usage: python scripts/check_release.py [dist/prefixlint-*.whl]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOG = ROOT / "examples" / "agent.jsonl"


def main(wheel: Path) -> None:
    """Install, run, measure; any failure ends the program."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "venv"
        venv.create(home, with_pip=True)
        empty = megabytes(home)
        start = time.perf_counter()
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-cache-dir", str(wheel)], check=True)
        seconds = time.perf_counter() - start
        program = str(home / "bin" / "prefixlint")
        version = run([program, "--version"], folder)
        assert version.split()[-1] == wheel.name.split("-")[1], version
        first, said = timed([program, "diff", str(LOG), "--top", "1"], folder)
        again, _ = timed([program, "diff", str(LOG), "--top", "1"], folder)
        assert "tool-order" in said, said
        grown = megabytes(home) - empty
    print(f"wheel {wheel.stat().st_size / 1e6:.1f} MB, installed with all it needs {grown:.0f} MB")
    print(f"pip install {seconds:.1f} s, first diff {first:.2f} s, second {again:.2f} s; {version}")


def run(command: list[str], folder: str) -> str:
    """Run a command outside the checkout; exit code 1 means findings."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.strip()


def timed(command: list[str], folder: str) -> tuple[float, str]:
    """Run a command and return its seconds with what it said."""
    start = time.perf_counter()
    said = run(command, folder)
    return time.perf_counter() - start, said


def megabytes(folder: Path) -> float:
    """Return the size of all files of a folder."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()) / 1e6


if __name__ == "__main__":
    found = sys.argv[1:] or [str(p) for p in sorted((ROOT / "dist").glob("prefixlint-*.whl"))]
    main(Path(found[-1]).resolve())
