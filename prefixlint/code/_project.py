"""Modules of a package by path and name: files are lowered only when something asks for them."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

from prefixlint import registry
from prefixlint.code import _hazards, _ir, _names, _sinks
from prefixlint.code._engine import BUDGET, Engine, Module, Scope
from prefixlint.code._lang import Lang
from prefixlint.code._values import UNKNOWN, Value

Load = Callable[[str], bytes | None]
Listing = Callable[[str], list[str]]
SIBLINGS = 300  # files of one folder looked at for names that a package shares
_DEFINED = re.compile(
    rb"\b(?:func(?:\s*\([^)]*\))?|fn|class|struct|def|interface|object|record|enum|fun|type|static|const|"
    rb"let|var|val)\s+"
    rb"(?:self\.)?([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*\([^;{}()]*\)\s*\{"
)
_EXPORTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".mts", "/index.ts", "/index.js", "/index.tsx")


def languages() -> dict[str, ModuleType]:
    """Map each suffix to the module that reads it."""
    found: dict[str, ModuleType] = {}
    for module in registry.modules("code", "SUFFIXES"):
        for suffix in module.SUFFIXES:
            found[suffix] = module
    return found


@dataclass
class Project:
    """Hold the modules of one run; implements what the engine asks of its surroundings."""

    load: Load
    listing: Listing
    options: _sinks.SinkOptions = field(default_factory=_sinks.SinkOptions)
    modules: dict[str, Module | None] = field(default_factory=dict)
    folders: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    resolved: dict[tuple[str, str], str] = field(default_factory=dict)
    suffixes: dict[str, ModuleType] = field(default_factory=languages)

    def __post_init__(self) -> None:
        """Make the engine that runs the modules."""
        self.engine = Engine(self, self.options)

    def check(self, path: str, tree: _ir.Tree, data: bytes, lang: Lang) -> list[_sinks.Found]:
        """Run one file and return its findings, those in files that it uses included."""
        module = self.modules.get(path) or self._module(path, tree, data, lang)
        self.modules[path] = module
        self.engine.found = {}
        self.engine.memo = {}
        self.engine.budget = BUDGET
        self.engine.run_roots(module)
        _hazards.scan(self.engine, module)
        return [f for f in self.engine.found.values() if _touches(f, path)]

    def _module(self, path: str, tree: _ir.Tree, data: bytes, lang: Lang) -> Module:
        module = Module(path, data, lang, tree, Scope(), _names.has_evidence(data))
        module.is_seeded = bool(
            re.search(rb"\brandom\.seed\(\s*[\w\"']|np\.random\.seed\(\s*\w|rand\.Seed\(\s*\d|srand\(?\s*\d", data)
        )
        return module

    def _open(self, path: str) -> Module | None:
        if path in self.modules:
            return self.modules[path]
        self.modules[path] = None
        data = self.load(path)
        reader = self.suffixes.get(posixpath.splitext(path)[1])
        if data is None or reader is None or len(data) > 2_000_000:
            return None
        try:
            tree = reader.lower(data) if reader.NAME != "javascript" else reader.lower_file(path, data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        module = self._module(path, tree, data, reader.LANG)
        self.modules[path] = module
        return module

    # what the engine asks

    def imported(self, module: Module, item: _ir.Import) -> Value | None:
        """Resolve an import to what the other module binds."""
        if module.lang.name == "python":
            return self._python(module, item, 0)
        if module.lang.name == "javascript":
            return self._javascript(module, item)
        return self.by_name(module, item.name or item.alias)

    def by_name(self, module: Module, name: str) -> Value | None:
        """Resolve a name through the files beside, or a submodule of a Python package."""
        if module.lang.name == "python":
            if module.path.endswith("__init__.py"):
                return self._python(module, _ir.Import(0, 0, "", name, name, 1), 0)
            return None
        if module.lang.name == "javascript":
            return None
        path = self._index(module).get(name)
        if path is None or path == module.path:
            return None
        other = self._open(path)
        return self._bound(other, name) if other is not None else None

    def _bound(self, other: Module, name: str) -> Value | None:
        self.engine.run_module(other)
        return other.scope.names.get(name)

    def _index(self, module: Module) -> dict[str, str]:
        folder, suffix = posixpath.dirname(module.path), posixpath.splitext(module.path)[1]
        key = (folder, suffix)
        if key not in self.folders:
            found: dict[str, str] = {}
            for path in self.listing(folder)[:SIBLINGS]:
                if path.endswith(suffix) and path != module.path:
                    for match in _DEFINED.finditer(self.load(path) or b""):
                        found.setdefault((match[1] or match[2]).decode(), path)
            self.folders[key] = found
        return self.folders[key]

    def _python(self, module: Module, item: _ir.Import, depth: int) -> Value | None:
        path = self._python_path(module, item.module, item.level)
        other = self._open(path) if path else None
        if other is None or (other is module and item.name in other.imports and depth):
            return None
        if not item.name:
            self.engine.run_module(other)
            return Value(ref=other)
        if item.name == "*":
            self.engine.run_module(other)
            for name, bound in other.scope.names.items():
                module.scope.names.setdefault(name, bound)
            return None
        value = self._bound(other, item.name) if other is not module else None
        if value is not None:
            return value
        again = other.imports.get(item.name)
        if again is not None and depth < 5 and other is not module:
            return self._python(other, again, depth + 1)
        inner = self._submodule(path, item.name)
        return Value(ref=inner) if inner is not None else (None if item.name.isupper() else UNKNOWN)

    def _submodule(self, path: str, name: str) -> Module | None:
        if not path.endswith("__init__.py"):
            return None
        folder = posixpath.dirname(path)
        for candidate in (f"{folder}/{name}.py", f"{folder}/{name}/__init__.py"):
            other = self._open(candidate)
            if other is not None:
                self.engine.run_module(other)
                return other
        return None

    def _python_path(self, module: Module, name: str, level: int) -> str:
        folder = posixpath.dirname(module.path)
        key = (folder, "." * level + name)
        if key not in self.resolved:
            self.resolved[key] = self._find_python(folder, name, level)
        return self.resolved[key]

    def _find_python(self, folder: str, name: str, level: int) -> str:
        tail = name.replace(".", "/")
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._existing(posixpath.join(folder, tail) if tail else folder)
        if name.split(".")[0] in sys.stdlib_module_names:
            return ""
        for _ in range(8):
            found = self._existing(posixpath.join(folder, tail))
            if found or folder in ("", "/", "."):
                return found
            folder = posixpath.dirname(folder)
        return ""

    def _existing(self, base: str) -> str:
        for candidate in (f"{base}.py", f"{base}/__init__.py"):
            if candidate in self.modules or self.load(candidate) is not None:
                return candidate
        return ""

    def _javascript(self, module: Module, item: _ir.Import) -> Value | None:
        if not item.module.startswith("."):
            return None
        base = posixpath.normpath(posixpath.join(posixpath.dirname(module.path), item.module))
        bare = re.sub(r"\.[mc]?js$", "", base)
        for candidate in (base, *(bare + e for e in _EXPORTS)):
            if posixpath.splitext(candidate)[1] in self.suffixes:
                other = self._open(candidate)
                if other is not None:
                    self.engine.run_module(other)
                    return self._exported(other, item)
        return None

    def _exported(self, other: Module, item: _ir.Import) -> Value | None:
        if not item.name:
            return Value(ref=other)
        return other.scope.names.get(item.name)


def _touches(found: _sinks.Found, path: str) -> bool:
    # What happens wholly inside another file is reported when that file is checked.
    return path in (found.taint.place.path, found.sink.path) or any(p.path == path for p, _ in found.taint.steps)
