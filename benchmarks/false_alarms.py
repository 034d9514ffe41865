"""Run the checks over text that nobody of this project wrote, and list what they say, for a verdict by hand.

Usage: python benchmarks/false_alarms.py [--data FOLDER] [--text FOLDER ...] [--min-confidence medium] [--list]

``--data`` holds public data sets (tau-bench, SWE-agent, coding agent sessions, MCP and BFCL tool lists). ``--text`` are
folders whose Markdown, METADATA, text and template files are read as if each were a prompt, ``--strings`` are folders
of Python files whose long strings are.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import registry  # noqa: E402
from prefixlint.model import Hit, Prompt, Request, Segment, Span  # noqa: E402

LONG_CHARS = 200
LEVEL = {"low": 0, "medium": 1, "high": 2}
TEXT = (".md", ".markdown", ".rst", ".txt", ".mdx", ".mdc", ".prompt", ".prompty")
TEMPLATES = {".j2": "jinja", ".jinja": "jinja", ".jinja2": "jinja", ".hbs": "mustache", ".mustache": "mustache"}


def prompt(name: str, segments: list[Segment], kind: str, syntax: str = "") -> Prompt:
    """Wrap texts as the linter would."""
    del syntax
    return Prompt(Request("0", "raw", Span(name)), tuple(segments), "", False, kind)  # type: ignore[arg-type]


def of_text(folder: Path) -> Iterator[Prompt]:
    """Yield every text file below a folder as a prompt file."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        syntax = TEMPLATES.get(path.suffix, "")
        if path.suffix not in TEXT and path.name != "METADATA" and not syntax:
            continue
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        if path.name == "METADATA":
            text = text.partition("\n\n")[2]
        yield prompt(
            str(path), [Segment("system", "", text, "system", syntax=syntax)], "template" if syntax else "prompt-file"
        )


def of_data(folder: Path) -> Iterator[Prompt]:
    """Yield the prompts and tool lists of the public data sets."""
    for path in sorted((folder / "tau-bench").glob("*.gz")):
        rows = json.loads(gzip.decompress(path.read_bytes())) if ".json." in path.name else []
        for number, row in enumerate(rows):
            yield prompt(f"{path.name}#{number}", messages(row["traj"]), "body")
            yield prompt(f"{path.name}#{number} as file", messages(row["traj"]), "prompt-file")
    for path in sorted((folder / "swe-agent").glob("*.gz")):
        yield prompt(path.name, messages(json.loads(gzip.decompress(path.read_bytes()))["history"]), "body")
    for path in sorted((folder / "coding-agent-sessions").glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            yield prompt(f"{path.name}#{number}", list(texts(json.loads(line), "")), "prompt-file")
    for path in sorted((folder / "mcp-tools").glob("*.json")):
        yield prompt(path.name, list(texts(json.loads(path.read_text(encoding="utf-8")), "")), "tools")
    for path in sorted((folder / "bfcl").rglob("*.json*")):
        data = path.read_bytes()
        for number, line in enumerate((gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()):
            row = json.loads(line)
            yield prompt(f"{path.name}#{number}", list(texts(row.get("function", row), "/tools")), "tools")


def of_strings(folder: Path) -> Iterator[Prompt]:
    """Yield the long strings of Python files: in packages of agents most of them are prompts and tool descriptions."""
    for path in sorted(folder.rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= LONG_CHARS:
                yield prompt(f"{path}:{node.lineno}", [Segment("system", "", node.value, "system")], "prompt-file")


def messages(history: list[dict[str, Any]]) -> list[Segment]:
    """Return the string contents of messages."""
    found = [(i, m) for i, m in enumerate(history) if isinstance(m.get("content"), str)]
    return [Segment("message", f"/messages/{i}/content", m["content"], m["role"]) for i, m in found]


def texts(value: Any, pointer: str) -> Iterator[Segment]:
    """Yield every string of a JSON value that is more than a word."""
    if isinstance(value, str) and " " in value and not value.startswith("data:"):
        yield Segment("tools", pointer, value, "system")
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from texts(below, f"{pointer}/{key}")


def hits(one: Prompt) -> Iterator[Hit]:
    """Run every check on a prompt."""
    for module in registry.modules("checks", "check_prompt"):
        yield from module.check_prompt(one)


def main() -> None:
    """Print the findings and a count by rule."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--text", type=Path, nargs="*", default=[])
    parser.add_argument("--strings", type=Path, nargs="*", default=[])
    parser.add_argument("--min-confidence", default="medium", choices=list(LEVEL))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    prompts = list(of_data(options.data)) if options.data else []
    prompts += [p for folder in options.text for p in of_text(folder)]
    prompts += [p for folder in options.strings for p in of_strings(folder)]
    started, count, rules = time.perf_counter(), 0, Counter[str]()
    seen: set[tuple[str, str]] = set()
    for one in prompts:
        by_pointer = {s.pointer: s.text for s in one.segments}
        for hit in hits(one):
            if LEVEL[hit.confidence or "medium"] < LEVEL[options.min_confidence]:
                continue
            text = by_pointer.get(hit.pointer, "")
            line = text.count("\n", 0, hit.start_char) + 1
            shown = text[max(0, hit.start_char - 70) : hit.end_char + 30]
            if (hit.rule, shown) in seen:
                continue
            seen.add((hit.rule, shown))
            count += 1
            rules[hit.rule] += 1
            if options.list:
                flagged = text[hit.start_char : hit.end_char]
                print(
                    f"{one.request.span.path}{hit.pointer}:{line} {hit.rule} {hit.confidence} {flagged!r} in {shown!r}"
                )
    size = sum(len(s.text) for p in prompts for s in p.segments)
    seconds = time.perf_counter() - started
    print(f"{len(prompts)} prompts, {size / 1e6:.1f} MB, {seconds:.1f} s; {count} distinct findings: {dict(rules)}")


if __name__ == "__main__":
    main()
