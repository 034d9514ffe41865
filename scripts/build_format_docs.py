"""Write `docs/log-formats.md` from the modules in `prefixlint/sources`.

Usage: python scripts/build_format_docs.py
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import registry  # noqa: E402

PATH = ROOT / "docs" / "log-formats.md"
HEAD = """# Log formats

<!-- written by scripts/build_format_docs.py from prefixlint/sources; do not edit -->

`prefixlint diff`, `replay` and `tree` recognise a log by what is in it, never by its name alone. A file that two
formats claim is an error that names both; `--input-format NAME` decides. Files may be plain, gzip or zstd, and `-` is
standard input. Several files, a folder or a glob read as one log, ordered by time; files without times keep their
natural order.
Where a format keeps request and answer in two files (batches, stored completions, task folders), give both.

A log line of your own needs a body somewhere in it, as an object or as JSON in a string: `{"ts": ..., "session": ...,
"request": {...}, "response": {...}}`. Usage is taken from the answer; `input_tokens` includes what was cached, whatever
the provider's habit.

Reports mark what a log cannot show: prompts that it cut (`truncated`), parts that it never holds such as the system
prompt of coding agents (`partial`), and logs with usage only, with the switch that would put prompts into them.
"""


def text() -> str:
    """Return the whole page."""
    found = list(registry.modules("sources", "claims"))
    bodies = [m for m in found if getattr(m, "GENERIC", False)]
    logs = [m for m in found if m not in bodies]
    return f"{HEAD}\n## Bodies and prompts\n\n{table(bodies)}\n## Logs of tools\n\n{table(logs)}"


def table(modules: list[ModuleType]) -> str:
    """Return one row for each format: its name, what it is, what it is recognised by."""
    rows = [f"| `{m.NAME}` | {said(m)} | {known_by(m)} |\n" for m in modules]
    return "| name | what it is | recognised by |\n|---|---|---|\n" + "".join(rows)


def said(module: ModuleType) -> str:
    """Return the first paragraph of a module's docstring without its first word, which is always Read."""
    paragraph = inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]
    return cell(paragraph.removeprefix("Read ").removesuffix("."))


def known_by(module: ModuleType) -> str:
    """Return what the test for the format looks at."""
    line = inspect.cleandoc(module.claims.__doc__ or "").splitlines()[0]
    return cell(line.removeprefix("Tell whether ").removesuffix("."))


def cell(text: str) -> str:
    """Fit reStructuredText into a cell of a Markdown table."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
