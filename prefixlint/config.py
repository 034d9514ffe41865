"""Read the configuration: ``[tool.prefixlint]`` of the nearest ``pyproject.toml``, or ``prefixlint.toml``.

Every key, with its kind:

=================  ==================================================================================
select             rules to run (all when empty); a group name stands for its rules
ignore             rules not to run
per-path           glob -> rules that are not run there
allow              ``file#pointer`` -> rules that are accepted there; without ``#pointer`` the whole file
exclude            globs that a folder walk skips
include            globs that a folder walk takes although neither name nor content say "prompt"
rule-paths         cards of your own: files or folders
prompt-pointers    JSON pointers (``*`` stands for one step) where prompts lie; or glob -> such pointers
prompt-sinks       names in your code that hold a prompt: a list, or name -> system, tools, messages, prompt
min-confidence     low, medium or high
baseline           file of accepted findings
=================  ==================================================================================

Paths are relative to the folder of the configuration file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

from prefixlint.errors import ConfigError
from prefixlint.model import Confidence

FILES = ("prefixlint.toml", "pyproject.toml")
CONFIDENCES: tuple[str, ...] = get_args(Confidence)
_LISTS = ("select", "ignore", "exclude", "include", "rule-paths")
_TABLES = ("per-path", "allow")
_KEYS = (*_LISTS, *_TABLES, "prompt-pointers", "prompt-sinks", "min-confidence", "baseline")
PROMPT_PARTS = ("system", "tools", "messages", "prompt")


@dataclass(frozen=True, slots=True)
class Allow:
    """Accept some rules at one place; ``pointer`` None means the whole file, else that value and those below."""

    entry: str
    glob: str
    pointer: str | None
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """Hold one configuration file; ``path`` is empty when there is none."""

    root: Path
    path: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_path: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allow: tuple[Allow, ...] = ()
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    rule_paths: tuple[Path, ...] = ()
    prompt_pointers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prompt_sinks: Mapping[str, str] = field(default_factory=dict)
    min_confidence: Confidence | None = None
    baseline: Path | None = None

    def relative(self, path: str | Path) -> str:
        """Write ``path`` relative to the folder of the configuration, with forward slashes."""
        full = Path(path) if Path(path).is_absolute() else Path.cwd() / path
        try:
            return full.relative_to(self.root).as_posix()
        except ValueError:
            return full.as_posix()

    def pointers_for(self, path: str | Path) -> tuple[str, ...]:
        """List the configured prompt pointers that apply to a file."""
        if not self.prompt_pointers:
            return ()
        name = self.relative(path)
        return tuple(p for glob, found in self.prompt_pointers.items() if matches(name, glob) for p in found)


def load(start: Path, file: str | None = None) -> Config:
    """Return the configuration that applies to a file or folder, or the defaults.

    ``file`` names the configuration file outright. The nearest folder upwards that has one wins; in a folder
    ``prefixlint.toml`` comes before ``pyproject.toml``; a ``pyproject.toml`` without our table does not count.
    """
    if file is not None:
        return _read_named(Path(file))
    return _nearest(str(start if start.is_dir() else start.parent))


@cache
def _nearest(folder: str) -> Config:
    path = Path(folder)
    for name in FILES:
        candidate = path / name
        if candidate.is_file() and (found := _read(candidate)) is not None:
            return found
    parent = path.resolve().parent
    return Config(root=Path.cwd()) if parent == path.resolve() else _nearest(str(parent))


def _read_named(path: Path) -> Config:
    if not path.is_file():
        raise ConfigError(f"{path}: no such configuration file")
    found = _read(path)
    if found is None:
        raise ConfigError(f"{path}: no [tool.prefixlint] table in this file")
    return found


def _read(path: Path) -> Config | None:
    data = path.read_bytes()
    if path.name == "pyproject.toml" and b"prefixlint" not in data:
        return None  # tomllib costs more than the whole check of a small file
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    table = document.get("tool", {}).get("prefixlint")
    if table is None and path.name == "pyproject.toml":
        return None
    return _Reader(path, data.decode("utf-8-sig")).config(document if table is None else table)


class _Reader:
    """Turn a parsed table into a Config; errors name the file, the line and the nearest known key."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text

    def config(self, table: Mapping[str, Any]) -> Config:
        """Check every member and build the configuration."""
        table = {key.replace("_", "-"): value for key, value in table.items()}
        for key in table:
            if key not in _KEYS:
                from prefixlint.names import suggestion

                raise self.error(key, f"unknown key {key!r}; {suggestion(key, _KEYS)}")
        lists = {key: self.strings(key, table.get(key, [])) for key in _LISTS}
        per_path = {g: self.strings("per-path", r) for g, r in self.table("per-path", table).items()}
        allow = [self.allow(e, r) for e, r in self.table("allow", table).items()]
        root = self.path.parent.resolve()
        return Config(
            root=root,
            path=_shown(self.path),
            select=lists["select"],
            ignore=lists["ignore"],
            per_path=per_path,
            allow=tuple(allow),
            exclude=lists["exclude"],
            include=lists["include"],
            rule_paths=tuple(root / p for p in lists["rule-paths"]),
            prompt_pointers=self.pointers(table.get("prompt-pointers", [])),
            prompt_sinks=self.sinks(table.get("prompt-sinks", [])),
            min_confidence=self.confidence(table.get("min-confidence")),
            baseline=self.file("baseline", table.get("baseline")),
        )

    def allow(self, entry: str, rules: Any) -> Allow:
        """Split ``file#pointer``."""
        glob, mark, pointer = entry.partition("#")
        if pointer and not pointer.startswith("/"):
            raise self.error("allow", f"the part behind '#' in {entry!r} must be a JSON pointer such as '/system'")
        return Allow(entry, glob, pointer if mark else None, self.strings("allow", rules))

    def pointers(self, value: Any) -> dict[str, tuple[str, ...]]:
        """Accept a list that holds for every file, or a table from glob to list."""
        table = value if isinstance(value, dict) else {"**": value}
        found = {g: self.strings("prompt-pointers", p) for g, p in table.items()}
        for pointer in (p for group in found.values() for p in group):
            if pointer and not pointer.startswith("/"):
                raise self.error("prompt-pointers", f"{pointer!r} is no JSON pointer; it must start with '/'")
        return {g: p for g, p in found.items() if p}

    def sinks(self, value: Any) -> dict[str, str]:
        """Accept a list of names, which hold whole prompts, or a table from name to part."""
        table = value if isinstance(value, dict) else dict.fromkeys(self.strings("prompt-sinks", value), "prompt")
        for name, part in table.items():
            if part not in PROMPT_PARTS:
                raise self.error("prompt-sinks", f"the part of {name!r} must be one of {', '.join(PROMPT_PARTS)}")
        return table

    def table(self, key: str, table: Mapping[str, Any]) -> dict[str, Any]:
        """Check that a member is a table."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"{key!r} must be a table")
        return value

    def strings(self, key: str, value: Any) -> tuple[str, ...]:
        """Check that a member is a list of strings."""
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.error(key, f"{key!r} must be a list of strings")
        return tuple(value)

    def confidence(self, value: Any) -> Confidence | None:
        """Check the lowest confidence."""
        if value is None:
            return None
        if value not in CONFIDENCES:
            raise self.error("min-confidence", f"'min-confidence' must be one of {', '.join(CONFIDENCES)}")
        found: Confidence = value
        return found

    def file(self, key: str, value: Any) -> Path | None:
        """Check a member that names a file."""
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.error(key, f"{key!r} must be a string")
        return self.path.parent.resolve() / value

    def error(self, key: str, message: str) -> ConfigError:
        """Place an error at the line of its key."""
        line = _line_of(self.text, key)
        shown = _shown(self.path)
        return ConfigError(f"{shown}:{line}: {message}" if line else f"{shown}: {message}")


def _shown(path: Path) -> str:
    """Write a path below the current folder relative to it, as people do."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return str(path)


def _line_of(text: str, key: str) -> int:
    """Find the first line that mentions a key behind our table head, else 0."""
    start = max(text.find("[tool.prefixlint"), 0)
    spelled = re.escape(key).replace("\\-", "[-_]")
    found = re.compile(rf"^[ \t]*(?:\[[^\n]*)?[\"']?{spelled}\b", re.MULTILINE).search(text, start)
    return text.count("\n", 0, found.end()) + 1 if found else 0


def matches(name: str, glob: str) -> bool:
    """Say whether a relative path matches a glob of the configuration.

    ``**`` crosses folders, ``*`` does not; a glob without a slash matches the file name anywhere; a folder
    (``tests/`` or ``tests``) matches everything in it.
    """
    return _glob(glob).search(name) is not None


@cache
def _glob(glob: str) -> re.Pattern[str]:
    glob = glob.removeprefix("./")
    folder = glob.endswith("/")
    body = glob.rstrip("/")
    anchored = "/" in body
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", body.removeprefix("/"))
    pattern = "".join(_piece(p) for p in parts)
    return re.compile(rf"{'^' if anchored else '(?:^|/)'}{pattern}{'/' if folder else '(?:/|$)'}")


def _piece(piece: str) -> str:
    named = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece.startswith("[") and piece.endswith("]"):
        return "[^" + piece[2:] if piece.startswith("[!") else piece
    return named.get(piece, re.escape(piece))


def forget() -> None:
    """Drop what was read, so that a long-running program (an editor's server) sees changed files."""
    _nearest.cache_clear()
