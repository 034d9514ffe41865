"""Run every benchmark of this folder, one after the other: `make bench`, or name some: `run.py diff check`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HELPERS = {"run", "measure", "logs", "false_alarms", "source_findings"}


def main(names: list[str]) -> int:
    """Run the named benchmarks, all without names; return the number of failed ones."""
    folder = Path(__file__).parent
    failed = 0
    for path in sorted(folder.glob("*.py")):
        if path.stem in HELPERS or (names and path.stem not in names):
            continue
        print(f"\n== {path.stem}", flush=True)
        failed += subprocess.run([sys.executable, path], check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
