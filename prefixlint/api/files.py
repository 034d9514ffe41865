"""Decide what to lint: classify files by name and content, walk folders, respect ``.gitignore``."""

# os.scandir and os.path are three times as fast as pathlib, and a walk sees every file of a project.
# ruff: noqa: PTH100, PTH110, PTH112, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prefixlint import config, kinds
from prefixlint.errors import InputError

Sort = Literal["prompt", "template", "json", "yaml", "toml", "source", "log"]

_TEMPLATES = frozenset(
    ".jinja .jinja2 .j2 .mustache .hbs .handlebars .erb .liquid .tmpl .tpl .njk .ejs .gotmpl".split()
)
_SYNTAX = {
    ".jinja": "jinja", ".jinja2": "jinja", ".j2": "jinja", ".njk": "jinja", ".liquid": "jinja",
    ".mustache": "mustache", ".hbs": "mustache", ".handlebars": "mustache", ".prompt": "mustache",
    ".erb": "erb", ".ejs": "erb",
}  # fmt: skip
_PROMPTS = frozenset(".prompt .prompty .mdc .promptmd".split())
_PLAIN = frozenset(".md .txt .text .markdown .rst .xml .mdx".split())
_DATA: dict[str, Sort] = {
    ".json": "json", ".jsonc": "json", ".json5": "json", ".code-workspace": "json",
    ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
}  # fmt: skip
_LOGS = frozenset(".jsonl .ndjson .har .eval .flow .traj .gz .zst .log".split())
SOURCES = frozenset(
    ".py .pyi .ipynb .js .jsx .mjs .cjs .ts .tsx .mts .cts .go .rs .java .kt .kts .cs .rb .php .swift .scala .dart .ex"
    " .exs .lua .cpp .cc .cxx .hpp .c .h .sh".split()
)
# Whole file names that are prompts in some program (agent instructions).
_INSTRUCTIONS = frozenset(
    "CLAUDE.md CLAUDE.local.md AGENTS.md AGENTS.override.md AGENT.md GEMINI.md QWEN.md SKILL.md copilot-instructions.md"
    " .cursorrules .windsurfrules .clinerules .goosehints .rules .roorules .aider.prompt WARP.md CRUSH.md".split()
)
# Patterns stay text until they are used (`re` keeps what it compiled): a run on three files needs few of them.
_PROMPT_NAME = (
    r"(?i)(?:^|[_\-. ])(?:prompts?|system|instructions?|persona|chatmode|preamble|sysprompt|system[_-]?message"
    r"|shared[_-]?prefix)(?:[_\-. ]|$)"
)
_PROMPT_FOLDER = (
    r"(?i)(?:^|/)(?:[\w-]*prompts?|prompt[_-]?templates?|system[_-]?messages?|\.(?:claude|opencode|codex|gemini|agents?)"
    r"/(?:agents?|commands?|skills|rules|output-styles|prompts|modes?)|\.(?:cursor|windsurf|continue|amazonq|trae|kiro)"
    r"/(?:rules|prompts|steering)|\.roo/rules[\w-]*|\.clinerules|\.github/(?:prompts|instructions|chatmodes|agents))(?:/|$)"
)
_NO_PROMPT_NAME = (
    r"(?i)^(?:README|CHANGELOG|CHANGES|HISTORY|LICEN[CS]E|NOTICE|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY|AUTHORS|NEWS"
    r"|requirements|robots|CMakeLists|INSTALL|UPGRADING|MIGRATION|ROADMAP|TODO)\b"
)
# The first sentence of a prompt; headings, front matter and blank lines may stand before it.
_PROMPT_START = (
    r"(?s)\ufeff?(?:---\n.*?\n---\n)?(?:\s|#[^\n]*\n|<[\w-]+>\s)*"
    r"(?:You(?:'re| are| will act)\b(?! (?:here|done|viewing|looking))"
    r"|Act as (?:an?|the)\b|<\|im_start\|>|<\|system\|>|\[INST\]|<<SYS>>)"
)
# One look at the bytes decides whether an unknown JSON, YAML or TOML file is worth parsing.
_PROMPT_KEY = (
    rb"(?i)(?:system|prompts?|instructions?|preamble|persona|[_-]message|prefix_cache|messages|tools|contents"
    rb"|mcpServers|api_base|base_?url|llm_params|chat_template|template)[\"']?\s{0,4}[:=]"
)
_SKIPPED_FOLDERS = frozenset(
    ".git .hg .svn .jj node_modules __pycache__ .venv venv .tox .nox .mypy_cache .ruff_cache .pytest_cache .idea"
    " .eggs site-packages bower_components .terraform .next .nuxt .gradle .hypothesis".split()
)
_SKIPPED_FILES = frozenset(
    "package.json package-lock.json npm-shrinkwrap.json tsconfig.json jsconfig.json composer.json composer.lock"
    " pnpm-lock.yaml yarn.lock Cargo.toml Cargo.lock poetry.lock uv.lock pdm.lock Pipfile.lock pyproject.toml"
    " prefixlint.toml mkdocs.yml .pre-commit-config.yaml .pre-commit-hooks.yaml pre-commit-hooks.yaml action.yml"
    " docker-compose.yml docker-compose.yaml".split()
)
_SKIPPED_PATHS = r"(?:^|/)\.github/(?:workflows|ISSUE_TEMPLATE|actions)/|\.min\.\w+$|(?:^|/)locales?/"
_MAX_UNKNOWN_BYTES = 2_000_000  # a larger JSON file without a name that we know is data, not settings


@dataclass(frozen=True, slots=True)
class Target:
    """Hold one file to lint; ``named`` says that the user asked for it (or a settings file refers to it)."""

    path: str
    sort: Sort
    named: bool = True
    syntax: str = ""


def sort_of(path: str, *, named: bool = True) -> Sort | None:
    """Classify a file by its name alone; None means that it is nothing to lint.

    A file that was named is always taken, as prompt text where nothing better is known.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    suffix = _suffix(name)
    if suffix in _DATA:
        return _DATA[suffix]
    if suffix in SOURCES:
        return "source"
    if suffix in _LOGS:
        return "log" if named else None
    if suffix in _TEMPLATES:
        return "template" if named or _is_prompt_template(path, name) else None
    if suffix in _PROMPTS or name in _INSTRUCTIONS or named:
        return "prompt"
    return "prompt" if suffix in _PLAIN or _is_prompt_path(path, name) else None


def _suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def syntax_of(path: str) -> str:
    """Name the placeholder language that the file name says, else ''."""
    return _SYNTAX.get(_suffix(path.replace("\\", "/").rpartition("/")[2]), "")


def _is_prompt_path(path: str, name: str) -> bool:
    if re.match(_NO_PROMPT_NAME, name):
        return False
    folder = path.replace("\\", "/").rpartition("/")[0]
    return name in _INSTRUCTIONS or bool(re.search(_PROMPT_NAME, name)) or bool(re.search(_PROMPT_FOLDER, folder))


def _is_prompt_template(path: str, name: str) -> bool:
    """Tell a chat or prompt template from a web page or a deployment template."""
    inner = _suffix(name.rpartition(".")[0])
    if inner in (".html", ".htm", ".xml", ".css", ".js", ".py", ".yaml", ".yml", ".json", ".conf", ".sh", ".service"):
        return bool(re.search(_PROMPT_NAME, name)) or bool(re.search(_PROMPT_FOLDER, path.rpartition("/")[0]))
    return inner in (".txt", ".md", ".prompt") or _is_prompt_path(path, name) or "chat_template" in name


def wants(target: Target, head: Callable[[], bytes]) -> bool:
    """Decide by content about a file that a folder walk met; a named one is always wanted."""
    if target.named or target.sort == "source":
        return True
    path, name = target.path, target.path.replace("\\", "/").rpartition("/")[2]
    if target.sort in ("json", "yaml", "toml"):
        if kinds.by_name(path) is not None:
            return True
        data = head()
        return len(data) <= _MAX_UNKNOWN_BYTES and re.search(_PROMPT_KEY, data) is not None
    if target.sort == "template" or _suffix(name) in _PROMPTS or _is_prompt_path(path, name):
        return True
    if re.match(_NO_PROMPT_NAME, name):
        return False
    return re.match(_PROMPT_START, head()[:2000].decode("utf-8", "replace")) is not None


def find(
    paths: Iterable[str], *, settings: Callable[[str], config.Config], discover: bool = False
) -> Iterator[Target | InputError]:
    """Yield what to lint: named files as they are, the files of named folders that look like prompts.

    ``discover`` treats named files as if a folder walk had met them, which is what the pre-commit hook wants.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _find_one(path, settings, discover):
            key = found.path if isinstance(found, InputError) else os.path.abspath(found.path)
            if key not in seen:
                seen.add(key)
                yield found


def _find_one(path: str, settings: Callable[[str], config.Config], discover: bool) -> Iterator[Target | InputError]:
    if os.path.isdir(path):
        for name in walk(path):
            yield from _discovered(name, settings)
    elif not os.path.exists(path):
        yield InputError("no such file or folder", path=path)
    elif discover:
        yield from _discovered(path, settings)
    else:
        sort = sort_of(path)
        assert sort is not None
        yield Target(path, sort, True, syntax_of(path))


def _discovered(path: str, settings: Callable[[str], config.Config]) -> Iterator[Target]:
    name = path.replace("\\", "/").rpartition("/")[2]
    chosen = settings(path)
    relative = chosen.relative(path) if chosen.exclude or chosen.include else ""
    if any(config.matches(relative, glob) for glob in chosen.exclude):
        return
    is_included = any(config.matches(relative, glob) for glob in chosen.include) or bool(chosen.pointers_for(path))
    sort = sort_of(path, named=is_included)
    if sort is None or (not is_included and (name in _SKIPPED_FILES or re.search(_SKIPPED_PATHS, path))):
        return
    yield Target(path, sort, is_included, syntax_of(path))


def walk(folder: str) -> Iterator[str]:
    """Yield the files of a folder in name order; hidden tool folders and ignored files are left out."""
    yield from _walk(folder, _Ignored.of_parents(folder))


def _walk(folder: str, ignored: _Ignored) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError:
        return
    ignored = ignored.below(folder, any(e.name == ".gitignore" for e in entries))
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and (entry.name in _SKIPPED_FOLDERS or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))):
            continue
        if ignored.matches(entry.path, is_folder=is_folder):
            continue
        path = entry.path.removeprefix("./")
        if is_folder:
            yield from _walk(path, ignored)
        elif entry.is_file():
            yield path


class _Ignored:
    """Hold the ``.gitignore`` files from the top of the repository down to one folder."""

    def __init__(self, specs: tuple[tuple[str, object], ...] = ()) -> None:
        self.specs = specs

    @classmethod
    def of_parents(cls, folder: str) -> _Ignored:
        """Read the ignore files above a folder, up to the top of its repository."""
        above: list[str] = []
        path = Path(os.path.abspath(folder))
        while not (path / ".git").exists() and path.parent != path:
            path = path.parent
            above.append(str(path))
        ignored = cls()
        if (path / ".git").exists():
            for parent in reversed(above):
                ignored = ignored.below(parent, os.path.exists(os.path.join(parent, ".gitignore")))
        # Whoever names an ignored folder wants to see what is in it.
        return cls() if ignored.covers(folder) else ignored

    def covers(self, folder: str) -> bool:
        """Say whether a folder above is ignored."""
        full = os.path.abspath(folder)
        tops = [top for top, _ in self.specs]
        while any(full.startswith(top + os.sep) for top in tops):
            if self.matches(full, is_folder=True):
                return True
            full = os.path.dirname(full)
        return False

    def below(self, folder: str, has_file: bool) -> _Ignored:
        """Add the ignore file of a folder, if it has one."""
        if not has_file:
            return self
        import pathspec

        text = Path(folder, ".gitignore").read_text(encoding="utf-8", errors="replace")
        spec = pathspec.GitIgnoreSpec.from_lines(text.splitlines())
        return _Ignored((*self.specs, (os.path.abspath(folder), spec)))

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Say whether git would ignore a path; the deepest file that says anything wins."""
        full = os.path.abspath(path) if self.specs else path
        for folder, spec in reversed(self.specs):
            relative = os.path.relpath(full, folder).replace(os.sep, "/") + ("/" if is_folder else "")
            verdict = spec.check_file(relative).include  # type: ignore[attr-defined]
            if verdict is not None:
                return bool(verdict)
        return False
