"""Put the real output of the first command of README.md behind it.

usage: python scripts/readme_output.py [--check]    (from the root of a checkout)
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
COMMAND = ["diff", "examples/agent.jsonl", "--top", "2"]
_BLOCK = re.compile(r"(?<=<!-- output -->\n).*?(?=\nEverything runs offline)", re.DOTALL)


def output() -> str:
    """Run the command in the root of the checkout."""
    done = subprocess.run(
        [sys.executable, "-m", "prefixlint", *COMMAND], cwd=README.parent, capture_output=True, check=False
    )
    return done.stdout.decode()


def updated(text: str) -> str:
    """Return the README with the output of today."""
    return _BLOCK.sub(lambda _: f"```text\n{output()}```\n", text)


def main() -> int:
    """Write the README, or only say whether it is up to date."""
    old = README.read_text(encoding="utf-8")
    new = updated(old)
    if "--check" not in sys.argv:
        README.write_text(new, encoding="utf-8")
        return 0
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
