"""``check``: lint prompt files, templates, settings, tool lists, request bodies and source, without traffic."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prefixlint import config
from prefixlint.api import files, findings, fingerprints, locked
from prefixlint.api.files import Target
from prefixlint.api.lint import Linted, Linter, LintOptions
from prefixlint.display import plural
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import CheckResult, Confidence, Finding, InputFile, Json

OnFindings = Callable[[tuple[Finding, ...]], None]

_PARALLEL_FROM = 200  # files; a pool costs about 100 ms to start
_CHUNK = 32


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Say what to lint and how; empty fields leave the choice to the configuration.

    ``discover`` treats named files as a folder walk would (what the pre-commit hook wants). ``diff_base`` keeps only
    findings on lines changed since that git revision. ``jobs`` 0 means one process per core for many files.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence | None = None
    config_file: str | None = None
    baseline: str | None = None
    write_baseline: bool = False
    diff_base: str | None = None
    discover: bool = False
    jobs: int = 0

    def lint_options(self) -> LintOptions:
        """Return what the linting of one file needs."""
        return LintOptions(self.select, self.ignore, self.min_confidence, self.config_file)


def check_paths(
    paths: Sequence[str], options: CheckOptions | None = None, on_findings: OnFindings | None = None
) -> CheckResult:
    """Lint files and folders; findings come in the order of path, line and column.

    On a long run ``on_findings`` is called with what each file gave as soon as it is known; a run that holds findings
    back (a baseline, changed lines only) does not call it.
    """
    run = _Run(options or CheckOptions())
    linted = []
    for one in run.lint(paths):
        linted.append(one)
        if on_findings is not None and one.findings and run.streams(one.input.path):
            on_findings(one.findings)
    return run.result(paths, linted)


def check_bytes(path: str, data: bytes, options: CheckOptions | None = None) -> CheckResult:
    """Lint the contents of one file that need not exist, as an editor has them; ``path`` says what it is."""
    run = _Run(options or CheckOptions())
    sort = files.sort_of(path) or "prompt"
    if sort == "log":
        return _check_log(run, path, data)
    linted = run.linter.lint(Target(path, sort, True, files.syntax_of(path)), data)
    return run.result((), [linted] if linted else [], {path: data})


def _check_log(run: _Run, path: str, data: bytes) -> CheckResult:
    """Lint a log in memory: the readers of logs want a file, which may be larger than memory."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="prefixlint-") as folder:
        place = Path(folder, Path(path).name or "log.jsonl")
        place.write_bytes(data)
        linted = run.linter.lint(Target(str(place), "log"))
    assert linted is not None
    errors = tuple(e.replace(str(place), path) for e in linted.input.errors)
    moved = tuple(replace(f, span=replace(f.span, path=path)) for f in linted.findings)
    named = replace(linted, input=replace(linted.input, path=path, errors=errors), findings=moved)
    return run.result((), [named], {path: data})


def check_body(body: Json, provider: str | None = None) -> tuple[Finding, ...]:
    """Lint one request body; the provider is told by its members when it is not given."""
    from prefixlint.api import bodies, render
    from prefixlint.api.places import DocumentPlaces

    request = bodies.request_of(body, provider)
    if request is None:
        raise InputError("this body fits no known API; expected messages, input, contents or prompt")
    import json

    from prefixlint import json_spans

    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    places = DocumentPlaces("", data, lambda: json_spans.parse(data))
    return Linter(LintOptions()).of_prompt(render.render(request), places)


class _Run:
    """Hold one run: what is shared by its files, and what is judged when all of them are read."""

    def __init__(self, options: CheckOptions) -> None:
        self.options = options
        self.linter = Linter(options.lint_options())
        self.is_long = False

    def streams(self, path: str) -> bool:
        """Say whether the findings of a file are final as soon as it was linted."""
        held = self.options.baseline or self.options.write_baseline or self.options.diff_base
        return self.is_long and not held and self.configuration(path).baseline is None

    def configuration(self, path: str) -> config.Config:
        """Return the configuration of a file."""
        return self.linter.configuration(path)

    def lint(self, paths: Iterable[str]) -> Iterator[Linted]:
        """Yield what each file gives; files that settings refer to follow behind."""
        found = list(files.find(paths, settings=self.configuration, discover=self.options.discover))
        targets = [f for f in found if isinstance(f, Target)]
        for error in (f for f in found if isinstance(f, InputError)):
            yield Linted(InputFile(error.path, "unknown", 0, (str(error),)))
        seen: set[str] = set()
        self.is_long = len(targets) >= _PARALLEL_FROM
        while targets:
            refers: list[str] = []
            for linted in self._each(targets):
                refers += linted.refers
                seen.add(os.path.abspath(linted.input.path))  # noqa: PTH100 - must not resolve links
                yield linted
            targets = [Target(p, files.sort_of(p) or "prompt", True, files.syntax_of(p)) for p in _fresh(refers, seen)]

    def _each(self, targets: list[Target]) -> Iterator[Linted]:
        sources = [t for t in targets if t.sort == "source"]
        yield from self._lint_each([t for t in targets if t.sort != "source"])
        if sources:
            from prefixlint.api import sources_run

            yield from sources_run.lint(sources, self.linter, self.options.jobs)

    def _lint_each(self, targets: list[Target]) -> Iterator[Linted]:
        jobs = self.options.jobs or (os.cpu_count() or 1 if len(targets) >= _PARALLEL_FROM else 1)
        if jobs == 1 or len(targets) < 2:
            yield from filter(None, map(self.linter.lint, targets))
            return
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs, initializer=_start, initargs=(self.options.lint_options(),)) as pool:
            yield from filter(None, pool.map(_lint, targets, chunksize=_CHUNK))

    def result(
        self, paths: Sequence[str], linted: list[Linted], contents: dict[str, bytes] | None = None
    ) -> CheckResult:
        """Add the rules that look at several files, then drop what is not wanted."""
        found = [f for one in linted for f in one.findings]
        used = {name for one in linted for name in one.used}
        if any(one.settings for one in linted):
            from prefixlint.api import settings_files

            more, more_used = settings_files.check([one for one in linted if one.settings], self.linter, contents or {})
            found = [*more, *found]  # where both flag the same bytes, these say more
            used |= more_used
        found += locked.check(paths, self.linter, used)
        found = sorted(findings.unique(found), key=findings.sort_key)
        notes = (*dict.fromkeys(one.note for one in linted if one.note), *self._unused(paths, linted, used))
        if found:
            found = list(fingerprints.with_fingerprints(found, contents or {}))
        if self.options.diff_base:
            found = self._changed(found)
        wanted, more_notes = self._against_baseline(found, linted)
        return CheckResult(tuple(one.input for one in linted), wanted, (*notes, *more_notes))

    def _unused(self, paths: Sequence[str], linted: list[Linted], used: set[str]) -> tuple[str, ...]:
        pairs = [(one.input.path, self.linter.configuration(one.input.path)) for one in linted]
        if not any(c.allow or c.per_path or c.ignore for _, c in pairs):
            return ()
        from prefixlint.api.unused import unused

        select = frozenset(findings.expand(self.options.select))
        return tuple(unused(pairs, used, paths, select))

    def _changed(self, found: list[Finding]) -> list[Finding]:
        from prefixlint.api import changed

        assert self.options.diff_base
        return list(changed.on_changed_lines(found, changed.changed_lines(self.options.diff_base)))

    def _against_baseline(
        self, found: list[Finding], linted: list[Linted]
    ) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
        """Leave out what the baseline accepts, or write it."""
        path = self._baseline_path(linted)
        if path is None:
            if self.options.write_baseline:
                raise ConfigError("--write-baseline needs a file: --baseline FILE, or `baseline` in the configuration")
            return tuple(found), ()
        from prefixlint import baseline

        if self.options.write_baseline:
            path.write_text(baseline.dump(found, path.parent), encoding="utf-8")
            return (), (f"{path}: {plural(len(found), 'finding')} accepted",)
        fresh, left = baseline.split(found, baseline.load(path), path.parent)
        seen = {baseline.relative(one.input.path, path.parent) for one in linted}
        stale = [e for e in left if e.path in seen and not self.options.diff_base]
        notes = (f"{path}: {e.rule} in {e.path} is accepted but gone; write the baseline again" for e in stale)
        return fresh, tuple(notes)

    def _baseline_path(self, linted: list[Linted]) -> Path | None:
        if self.options.baseline:
            return Path(self.options.baseline)
        return next((c.baseline for c in map(self._configuration_of, linted) if c.baseline), None)

    def _configuration_of(self, one: Linted) -> config.Config:
        return self.linter.configuration(one.input.path)


def _fresh(paths: Iterable[str], seen: set[str]) -> Iterator[str]:
    for path in paths:
        key = os.path.abspath(path)  # noqa: PTH100
        if key not in seen:
            seen.add(key)
            yield path


_linter: Linter | None = None  # one per worker process of the pool, set when it starts


def _start(options: LintOptions) -> None:
    global _linter
    _linter = Linter(options)


def _lint(target: Target) -> Linted | None:
    assert _linter is not None
    return _linter.lint(target)
