"""Run a command and say what it took; all benchmarks print ratios taken in one run, never bare seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Run:
    """Hold what one process took: wall and CPU seconds, peak resident set in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    code: int


def run(command: Sequence[str], repeat: int = 1) -> Run:
    """Run a command ``repeat`` times and return the fastest run; its output is thrown away."""
    return min((_once(command) for _ in range(repeat)), key=lambda r: r.wall_s)


def _once(command: Sequence[str]) -> Run:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def python(code: str, *arguments: str, repeat: int = 1) -> Run:
    """Run a piece of Python in a process of its own."""
    return run([sys.executable, "-c", code, *arguments], repeat)


def prefixlint(*arguments: str, repeat: int = 1) -> Run:
    """Run the command line of this checkout."""
    return run([sys.executable, "-m", "prefixlint", *arguments], repeat)


def scratch() -> Path:
    """Return the folder for generated logs: ``PREFIXLINT_BENCH`` or one in the temporary folder."""
    folder = Path(os.environ.get("PREFIXLINT_BENCH", Path(tempfile.gettempdir()) / "prefixlint-bench"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def row(name: str, run_: Run, base: Run | None = None, limit: str = "") -> None:
    """Print one line of the table."""
    ratio = f"{run_.wall_s / base.wall_s:6.2f}" if base else "      "
    print(f"{name:58} {run_.wall_s:8.2f} s {run_.peak_mb:7.0f} MB  ratio {ratio}  {limit}", flush=True)
